"""tmm: light in thin films."""

import numpy as np
import tmm

from libraries.package import Package

package = Package("tmm")


@package.call(120.0, 300.0)
def reflected_by_two_films(first, second):
    found = tmm.coh_tmm("s", [1.0, 2.2, 1.46, 3.5], [np.inf, first, second, np.inf], 0.2, 550.0)
    return found["R"], found["T"]


@package.call(0.3, 600.0)
def polarised_at_an_angle(angle, wavelength):
    return tmm.coh_tmm("p", [1.0, 1.8 + 0.01j, 1.5], [np.inf, 250.0, np.inf], angle, wavelength)["R"]


@package.call(90.0, 0.4)
def unpolarised(thickness, angle):
    found = tmm.unpolarized_RT([1.0, 2.0, 1.5], [np.inf, thickness, np.inf], angle, 500.0)
    return found["R"] + 2.0 * found["T"]


@package.call(120.0, 3e4)
def with_a_thick_layer(film, glass):
    found = tmm.inc_tmm(
        "s",
        [1.0, 2.1 + 0.02j, 1.5 + 1e-4j, 1.0],
        [np.inf, film, glass, np.inf],
        ["i", "c", "i", "i"],
        0.1,
        500.0,
    )
    return found["R"], found["T"]


@package.call(80.0)
def ellipsometry(thickness):
    found = tmm.ellips([1.0, 1.46, 3.8 + 0.02j], [np.inf, thickness, np.inf], 1.1, 633.0)
    return found["psi"], found["Delta"]


@package.call(1.6, 50.0)
def absorbed_in_each_layer(index, thickness):
    found = tmm.coh_tmm(
        "s", [1.0, index + 0.1j, 2.5 + 0.3j, 1.0], [np.inf, thickness, 70.0, np.inf], 0.0, 500.0
    )
    return tmm.absorp_in_each_layer(found)


@package.call(1.5, 0.3)
def at_an_interface(index, angle):
    inside = tmm.snell(1.0, index, angle)
    return abs(tmm.interface_r("p", 1.0, index, angle, inside)) ** 2
