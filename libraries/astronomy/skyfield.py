"""skyfield: times and places."""

import numpy as np
from skyfield import earthlib, functions, sgp4lib
from skyfield.api import Angle, Distance, load, wgs84
from skyfield.framelib import itrs
from skyfield.relativity import add_aberration

from libraries.package import Package

package = Package("skyfield")

timescale = load.timescale(builtin=True)


@package.call(0.25)
def sidereal_time(day):
    return timescale.tt_jd(2460000.5 + day).gmst


@package.call(0.25)
def rotation_of_the_earth(day):
    return itrs.rotation_at(timescale.tt_jd(2460000.5 + day))


@package.call(42.36, -71.06)
def place_on_the_ground(latitude, longitude):
    return wgs84.latlon(latitude, longitude, elevation_m=43.0).itrs_xyz.km


@package.call(1.2)
def distance(au):
    found = Distance(au=au)
    return found.km, found.light_seconds()


@package.call(25.0)
def angle(degrees):
    found = Angle(degrees=degrees)
    return found.radians, found.hours


@package.call(np.array([0.4, -0.8, 0.3]))
def spherical(position):
    return functions.to_spherical(position), functions.length_of(position)


@package.call(12.0)
def refraction(altitude):
    return earthlib.refraction(altitude, 15.0, 1010.0)


@package.call(np.array([0.4, -0.8, 0.3]))
def aberration(position):
    moved = position + 0.0
    add_aberration(moved, np.array([0.01, 0.0, 0.002]), 0.005)
    return moved


@package.call(0.3)
def rotated(angle):
    return functions.mxm(functions.rot_x(angle), functions.rot_z(2.0 * angle))


@package.call(0.4)
def frame_of_satellites(day):
    return sgp4lib.theta_GMST1982(2460000.5, day)[0]
