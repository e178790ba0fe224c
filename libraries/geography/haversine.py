"""haversine: distances on a sphere."""

import numpy as np
from haversine import Direction, Unit, haversine, haversine_vector, inverse_haversine

from libraries.package import Package

package = Package("haversine")

PARIS = 48.8567, 2.3508


@package.call(45.7597, 4.8422)
def from_paris(latitude, longitude):
    return haversine((latitude, longitude), PARIS)


@package.call(45.7597, 4.8422)
def in_miles(latitude, longitude):
    return haversine(PARIS, (latitude, longitude), unit=Unit.MILES)


@package.call(np.array([45.7597, 40.7033]), np.array([4.8422, -74.0041]))
def to_several(latitudes, longitudes):
    return haversine_vector([PARIS, PARIS], np.column_stack([latitudes, longitudes]), Unit.KILOMETERS)


@package.call(32.0)
def northwards(distance):
    return inverse_haversine(PARIS, distance, Direction.NORTHEAST)


@package.call(32.0, 0.7)
def in_a_direction(distance, bearing):
    return inverse_haversine(PARIS, distance, bearing, unit=Unit.NAUTICAL_MILES)
