"""seawater: the equation of state of sea water (EOS-80)."""

import numpy as np
import seawater as sw

from libraries.package import Package

package = Package("seawater")

DEPTHS = np.array([0.0, 100.0, 500.0, 1000.0])


@package.call(35.0, 12.0, 500.0)
def density(salinity, temperature, pressure):
    return sw.dens(salinity, temperature, pressure)


@package.call(np.array([34.5, 34.8, 35.0, 35.1]), np.array([18.0, 14.0, 9.0, 5.0]))
def profile_of_density(salinities, temperatures):
    return sw.dens(salinities, temperatures, DEPTHS)


@package.call(35.0, 10.0)
def heat_capacity(salinity, temperature):
    return sw.cp(salinity, temperature, 100.0)


@package.call(35.0, 8.0, 2000.0)
def potential_temperature(salinity, temperature, pressure):
    return sw.ptmp(salinity, temperature, pressure, 0.0)


@package.call(34.0, 6.0, 800.0)
def speed_of_sound(salinity, temperature, depth):
    return sw.svel(salinity, temperature, sw.pres(depth, 45.0))


@package.call(np.array([34.5, 34.8, 35.0, 35.1]), np.array([18.0, 14.0, 9.0, 5.0]))
def buoyancy(salinities, temperatures):
    n2, _, _ = sw.bfrq(salinities, temperatures, DEPTHS, 45.0)
    return n2 * 1e4


@package.call(35.0, 500.0)
def freezing_point(salinity, pressure):
    return sw.fp(salinity, pressure)


@package.call(1.02, 15.0)
def salinity_from_conductivity(ratio, temperature):
    return sw.salt(ratio, temperature, 50.0)


@package.call(np.array([45.0, 46.0, 47.5]), np.array([-10.0, -9.0, -7.0]))
def distances(latitudes, longitudes):
    along, _ = sw.dist(latitudes, longitudes, units="km")
    return along
