"""ambiance: the standard atmosphere."""

import numpy as np
from ambiance import Atmosphere

from libraries.package import Package

package = Package("ambiance")


@package.call(4200.0)
def temperature(height):
    return Atmosphere(height).temperature[0]


@package.call(np.array([500.0, 5000.0, 15000.0, 25000.0]))
def densities(heights):
    return Atmosphere(heights).density


@package.call(9000.0, 0.8)
def dynamic_pressure(height, mach):
    air = Atmosphere(height)
    speed = mach * air.speed_of_sound
    return (0.5 * air.density * speed**2)[0]


@package.call(np.array([1000.0, 12000.0]))
def transport(heights):
    air = Atmosphere(heights)
    return air.kinematic_viscosity, air.thermal_conductivity


@package.call(7000.0)
def from_pressure(height):
    pressure = Atmosphere(height).pressure
    return Atmosphere.from_pressure(0.9 * pressure).h[0]


@package.call(11500.0)
def kinetic(height):
    air = Atmosphere(height)
    return air.mean_free_path[0], air.collision_frequency[0], air.grav_accel[0]
