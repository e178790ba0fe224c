"""PyMeeus: astronomical algorithms."""

from pymeeus.Angle import Angle
from pymeeus.Coordinates import angular_separation, ecliptical2equatorial, length_orbit
from pymeeus.CurveFitting import CurveFitting
from pymeeus.Earth import Earth
from pymeeus.Epoch import Epoch
from pymeeus.Interpolation import Interpolation
from pymeeus.Sun import Sun
from pymeeus.Venus import Venus

from libraries.package import Package

package = Package("PyMeeus")


@package.call(12.5)
def sum_of_angles(degrees):
    return float(Angle(degrees) + Angle(10, 30, 15.0)), Angle(degrees).rad()


@package.call(139.7, 4.9)
def to_equatorial(longitude, latitude):
    right_ascension, declination = ecliptical2equatorial(Angle(longitude), Angle(latitude), Angle(23.44))
    return float(right_ascension), float(declination)


@package.call(213.9, 19.2)
def separation(right_ascension, declination):
    return float(angular_separation(Angle(right_ascension), Angle(declination), Angle(201.3), Angle(-11.2)))


@package.call(0.2)
def sun(day):
    longitude, distance = Sun.apparent_longitude_coarse(Epoch(2458827.5 + day))
    return float(longitude), distance


@package.call(0.2)
def venus(day):
    longitude, latitude, distance = Venus.geometric_heliocentric_position(Epoch(2448976.5 + day))
    return float(longitude), float(latitude), distance


@package.call(42.0)
def earth(latitude):
    ellipsoid = Earth()
    return ellipsoid.rho(latitude), ellipsoid.rp(latitude), ellipsoid.linear_velocity(latitude)


@package.call([0.5, 1.4, 3.9, 9.2])
def interpolated(values):
    return Interpolation([0.0, 1.0, 2.0, 3.0], values)(1.3)


@package.call([0.5, 1.4, 3.9, 9.2])
def fitted_line(values):
    return CurveFitting([0.0, 1.0, 2.0, 3.0], values).linear_fitting()


@package.call(0.6)
def length_of_an_orbit(eccentricity):
    return length_orbit(eccentricity, 17.9)
