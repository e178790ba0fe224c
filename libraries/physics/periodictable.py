"""periodictable: masses of formulas, and how they scatter neutrons and X-rays."""

import numpy as np
import periodictable as pt
from periodictable import formula, neutron_scattering, xray_sld

from libraries.package import Package

package = Package("periodictable")

WATER = formula("H2O", density=1.0)


@package.call(2.33)
def neutron_contrast(density):
    real, imaginary, incoherent = pt.neutron_sld("SiO2", density=density, wavelength=4.75)
    return real, imaginary, incoherent


@package.call(4.0)
def penetration(wavelength):
    _, _, depth = neutron_scattering("CaCO3", density=2.71, wavelength=wavelength)
    return depth


@package.call(1.1, 9.5)
def x_ray_contrast(density, energy):
    return xray_sld("C6H12O6", density=density, energy=energy)


@package.call(0.02)
def form_factor(momentum):
    return pt.Fe.xray.f0(10.0 * momentum)


@package.call(2.5)
def mass_of_a_mixture(amount):
    return (WATER.mass * amount + formula("NaCl").mass * 0.1) / WATER.density


@package.call(0.25)
def magnetic_form_factor(momentum):
    return pt.Fe.magnetic_ff[2].j0_Q(np.array([momentum, 2.0 * momentum]))


@package.call(1.5)
def wavelength_of_a_neutron(angstroms):
    return pt.nsf.neutron_energy(angstroms)
