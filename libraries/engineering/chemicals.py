"""chemicals: properties of pure substances and mixtures."""

import chemicals
import numpy as np
from chemicals import iapws, rachford_rice, vapor_pressure, viscosity

from libraries.package import Package

package = Package("chemicals")

WATER = chemicals.CAS_from_any("water")
CRITICAL = chemicals.Tc(WATER), chemicals.Pc(WATER), chemicals.omega(WATER)


@package.call(320.0)
def antoine(temperature):
    return chemicals.Antoine(T=temperature, A=8.7687, B=395.744, C=-6.469)


@package.call(170.0)
def wagner(temperature):
    return vapor_pressure.Wagner(temperature, 190.53, 4596420.0, -6.00435, 1.1885, -0.834082, -1.22833)


@package.call(400.0)
def lee_kesler(temperature):
    critical, pressure, acentric = CRITICAL
    return chemicals.Lee_Kesler(temperature, critical, pressure, acentric)


@package.call(np.array([0.5, 0.3, 0.2]), np.array([1.685, 0.742, 0.532]))
def flash(fractions, constants):
    vapour, liquid, gas = rachford_rice.flash_inner_loop(fractions.tolist(), constants.tolist())
    return vapour, liquid, gas


@package.call(0.3, 0.45)
def rachford_rice_residual(first, vapour):
    return chemicals.Rachford_Rice_flash_error(vapour, [first, 0.3, 0.7 - first], [1.685, 0.742, 0.532])


@package.call(300.0, 998.0)
def water_viscosity(temperature, density):
    return viscosity.mu_IAPWS(temperature, density)


@package.call(647.35, 750.0)
def water_conductivity(temperature, density):
    return chemicals.k_IAPWS(T=temperature, rho=density)


@package.call(500.0)
def water_saturation(temperature):
    return iapws.iapws95_Psat(temperature), iapws.iapws95_rhol_sat(temperature)


@package.call(400.0, 8e5)
def water_density(temperature, pressure):
    return iapws.iapws97_rho(temperature, pressure)


@package.call(330.0)
def rackett(temperature):
    return chemicals.Rackett(T=temperature, Tc=508.1, Pc=4700000.0, Zc=0.233)


@package.call(300.0, np.array([0.4, 0.6]))
def heat_capacity(temperature, fractions):
    gases = [chemicals.TRCCp(temperature, 4.0, 7.65e5, 720.0, 3.565, -0.052, -1.55e6, 52.0, 201.0), 33.6]
    return chemicals.mixing_simple(fractions.tolist(), gases)


@package.call(np.array([1.1, 0.4]))
def wilson(temperatures):
    return chemicals.Wilson_K_value(
        T=270.0 * temperatures[0], P=7.6e5, Tc=305.4, Pc=4.88e6, omega=temperatures[1]
    )
