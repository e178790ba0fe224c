"""utm: transverse Mercator coordinates."""

import numpy as np
import utm

from libraries.package import Package

package = Package("utm")


@package.call(51.2, 7.5)
def to_grid(latitude, longitude):
    easting, northing, _, _ = utm.from_latlon(latitude, longitude)
    return easting, northing


@package.call(395201.3, 5673135.2)
def from_grid(easting, northing):
    return utm.to_latlon(easting, northing, 32, "U")


@package.call(np.array([51.2, 49.0]), np.array([7.5, 8.4]))
def many_to_grid(latitudes, longitudes):
    easting, northing, _, _ = utm.from_latlon(latitudes, longitudes)
    return easting, northing


@package.call(np.array([395201.3, 456114.6]), np.array([5673135.2, 5427629.2]))
def many_from_grid(eastings, northings):
    return utm.to_latlon(eastings, northings, 32, northern=True)


@package.call(-33.9, 18.4)
def forced_zone(latitude, longitude):
    easting, northing, _, _ = utm.from_latlon(latitude, longitude, 34, "H")
    return np.hypot(easting - 260000.0, northing - 6240000.0)
