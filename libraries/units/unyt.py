"""unyt: arrays with units."""

import numpy as np
import unyt

from libraries.package import Package

package = Package("unyt")


@package.call(3.0)
def force(mass):
    return float((mass * unyt.kg * (9.81 * unyt.m / unyt.s**2)).to("kN").value)


@package.call(np.array([1.0, 2.0, 3.0]))
def array(values):
    return unyt.unyt_array(values, "km").to("mile").value


@package.call(300.0)
def thermal_energy(kelvin):
    return (unyt.physical_constants.kb * unyt.unyt_quantity(kelvin, "K")).to("eV").value


@package.call(2.0)
def converted_number(scale):
    factor = unyt.mile.get_conversion_factor(unyt.km)[0]
    return scale**2 * factor


@package.call(1.5)
def constants(mass):
    speed = float(unyt.c.to("km/s").value)
    return mass * speed**2 / float(unyt.G.to("m**3/kg/s**2").value) * 1e-22
