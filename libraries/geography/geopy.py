"""geopy: distances between places."""

from geopy import Point
from geopy.distance import Distance, geodesic, great_circle
from geopy.units import miles

from libraries.package import Package

package = Package("geopy")

NEWPORT = Point(41.49008, -71.312796)


@package.call(41.499498, -81.695391)
def ellipsoidal(latitude, longitude):
    return geodesic((41.49008, -71.312796), (latitude, longitude)).kilometers


@package.call(48.85, 2.35)
def on_a_sphere(latitude, longitude):
    return great_circle((51.5, -0.12), (latitude, longitude)).km


@package.call(35.0, 120.0)
def destination(kilometres, bearing):
    place = geodesic(kilometers=kilometres).destination(NEWPORT, bearing=bearing)
    return place.latitude, place.longitude


@package.call(47.0, 8.5)
def a_tour(latitude, longitude):
    stops = [Point(47.37, 8.54), Point(latitude, longitude), Point(46.2, 6.15), Point(46.95, 7.44)]
    return sum((great_circle(a, b) for a, b in zip(stops, stops[1:], strict=False)), Distance()).miles


@package.call(12.0)
def units(kilometres):
    return Distance(kilometres).nautical + miles(kilometers=kilometres)


@package.call(250.0)
def on_another_ellipsoid(kilometres):
    airy = geodesic(kilometers=kilometres, ellipsoid="Airy (1830)")
    return airy.destination((52.2, 0.1), 45.0).latitude
