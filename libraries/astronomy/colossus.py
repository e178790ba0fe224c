"""colossus: cosmology and haloes."""

import numpy as np
from colossus.cosmology import cosmology
from colossus.halo import mass_so, profile_nfw
from colossus.lss import bias, peaks

from libraries.package import Package

package = Package("colossus")

planck = cosmology.setCosmology("planck18", persistence="")


@package.call(0.5)
def hubble_rate(redshift):
    return planck.Ez(redshift), planck.Hz(redshift), planck.Om(redshift)


@package.call(0.5)
def densities(redshift):
    return planck.rho_m(redshift), planck.rho_c(redshift)


@package.call(0.5)
def age(redshift):
    return planck.age(redshift)


@package.call(np.array([10.0, 50.0, 200.0]))
def profile(radii):
    halo = profile_nfw.NFWProfile(rhos=1e7, rs=40.0)
    return np.log(halo.density(radii)), np.log(halo.enclosedMass(radii))


@package.call(5.0)
def mass_of_a_concentration(factor):
    return np.log(profile_nfw.NFWProfile.M(1e7, 40.0, 1.0 + factor))


@package.call(1.3)
def halo_bias(height):
    return bias.haloBiasFromNu(height, z=0.0, mdef="200m", model="tinker10")


@package.call(0.5)
def overdensity(redshift):
    return mass_so.deltaVir(redshift), peaks.collapseOverdensity(z=redshift)


@package.call(0.5)
def radius_of_a_mass(redshift):
    return mass_so.M_to_R(1e12, redshift, "200c")
