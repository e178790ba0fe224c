"""pint: quantities with units."""

import numpy as np
import pint

from libraries.package import Package

package = Package("Pint")

ureg = pint.UnitRegistry()
GRAVITY = 9.81 * ureg.meter / ureg.second**2


@package.call(12.0)
def kinetic_energy(speed):
    energy = 0.5 * (3.0 * ureg.kilogram) * (speed * ureg.kilometer / ureg.hour) ** 2
    return energy.to(ureg.joule).magnitude


@package.call(2.0)
def length_in_feet(metres):
    return ureg.Quantity(metres, "meter").to("foot").magnitude


@package.call(0.8)
def pendulum(length):
    period = 2 * np.pi * np.sqrt(length * ureg.meter / GRAVITY)
    return period.to("millisecond").m


@package.call(np.array([1.0, 2.0, 3.0]))
def array_of_distances(values):
    distances = values * ureg.kilometer
    return (distances**2).sum().to("m**2").magnitude


@package.call(25.0)
def temperatures(celsius):
    return ureg.Quantity(celsius, ureg.degC).to("kelvin").magnitude * 2.0


@package.call(3.5)
def parsed_units(x):
    speed = ureg.parse_expression("36 km/h")
    return (x * speed * ureg("2 minutes")).to_base_units().magnitude


@package.call(2.5)
def compared(x):
    a = x * ureg.meter
    b = 180.0 * ureg.centimeter
    return (max(a, b) + b).to("m").magnitude


@package.call(5.0)
def dimensionless(pressure):
    ratio = (pressure * ureg.bar) / (101325 * ureg.pascal)
    return np.log(ratio.to("").magnitude)


@package.call(1.5)
def in_a_wrapped_function(length):
    @ureg.wraps(ureg.meter**2, (ureg.meter, ureg.meter))
    def area(a, b):
        return a * b

    return area(length * ureg.foot, 2.0 * ureg.meter).magnitude
