"""pymap3d: coordinates on and above the Earth."""

import numpy as np
import pymap3d as pm
from pymap3d.haversine import anglesep
from pymap3d.lox import loxodrome_inverse, meridian_arc
from pymap3d.vincenty import vdist, vreckon

from libraries.package import Package

package = Package("pymap3d")


@package.call(42.0, -82.0, 200.0)
def geodetic_to_ecef(latitude, longitude, height):
    return pm.geodetic2ecef(latitude, longitude, height)


@package.call(660675.0, -4700949.0, 4245738.0)
def ecef_to_geodetic(x, y, z):
    return pm.ecef2geodetic(x, y, z)


@package.call(42.1, -81.9, 1000.0)
def azimuth_and_range(latitude, longitude, height):
    return pm.geodetic2aer(latitude, longitude, height, 42.0, -82.0, 200.0)


@package.call(33.0, 20.0, 50000.0)
def where_an_antenna_points(azimuth, elevation, distance):
    return pm.aer2geodetic(azimuth, elevation, distance, 42.0, -82.0, 200.0)


@package.call(np.array([10.0, 200.0]), np.array([20.0, -50.0]), np.array([5.0, 7.0]))
def local_to_ecef(east, north, up):
    return pm.enu2ecef(east, north, up, 42.0, -82.0, 200.0)


@package.call(10.0, 20.0, 13.0, 24.0)
def distance_by_vincenty(lat1, lon1, lat2, lon2):
    distance, azimuth = vdist(lat1, lon1, lat2, lon2)
    return distance, azimuth


@package.call(3e5, 38.0)
def destination_by_vincenty(distance, azimuth):
    return vreckon(10.0, 20.0, distance, azimuth)


@package.call(40.0, -80.0, 65.0, -148.0)
def rhumb_line(lat1, lon1, lat2, lon2):
    return loxodrome_inverse(lat1, lon1, lat2, lon2)


@package.call(40.0, 42.0)
def arc_of_a_meridian(south, north):
    return meridian_arc(south, north)


@package.call(1.2, 0.4, 1.3, 0.9)
def angular_separation(lon0, lat0, lon1, lat1):
    return anglesep(lon0, lat0, lon1, lat1, deg=False)


@package.call(50.0)
def kinds_of_latitude(latitude):
    return pm.geodetic2isometric(latitude), pm.geodetic2rectifying(latitude), pm.geodetic2authalic(latitude)
