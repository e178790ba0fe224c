"""sgp4: satellites from their elements."""

from math import radians

from sgp4 import ext
from sgp4.api import jday
from sgp4.model import Satrec
from sgp4.propagation import gstime

from libraries.package import Package

package = Package("sgp4")

FIRST = "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991"
SECOND = "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482"


@package.call(0.25)
def position(fraction):
    satellite = Satrec.twoline2rv(FIRST, SECOND)
    _, place, velocity = satellite.sgp4(2458827.5, fraction)
    return place, velocity


@package.call(30.0)
def minutes_after_the_epoch(minutes):
    satellite = Satrec.twoline2rv(FIRST, SECOND)
    _, place, _ = satellite.sgp4_tsince(minutes)
    return place


@package.call(0.0007417, 51.6439)
def elements(eccentricity, inclination):
    satellite = Satrec()
    satellite.sgp4init(
        2, "i", 25544, 25545.69339541, 3.8792e-05, 0.0, 0.0, eccentricity, 0.3083, radians(inclination),
        1.4947, 0.06763, 3.6861,
    )  # fmt: skip
    _, place, _ = satellite.sgp4(2458827.5, 0.3)
    return place


@package.call(0.3)
def sidereal_time(fraction):
    return gstime(2458827.5 + fraction)


@package.call(30.5)
def julian_day(seconds):
    day, fraction = jday(2019, 12, 9, 12, 0, seconds)
    return fraction * 1e3 + day * 0.0


@package.call(0.4, 1.1)
def angle_of_vectors(a, b):
    return ext.angle([a, 1.0, 0.2], [0.3, b, 1.0]), ext.mag([a, b, 1.0])
