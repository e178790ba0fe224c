"""ht: heat transfer."""

import ht
import numpy as np
from ht import boiling_nucleic, condensation, conv_internal, hx, insulation

from libraries.package import Package

package = Package("ht")


@package.call(130.0, 110.0, 30.0, 80.0)
def log_mean_difference(hot_in, hot_out, cold_in, cold_out):
    return ht.LMTD(Thi=hot_in, Tho=hot_out, Tci=cold_in, Tco=cold_out)


@package.call(1e5, 1.2)
def nusselt_in_a_pipe(reynolds, prandtl):
    return ht.Nu_conv_internal(Re=reynolds, Pr=prandtl, eD=1e-4)


@package.call(2e5, 5.0)
def nusselt_by_gnielinski(reynolds, prandtl):
    return conv_internal.turbulent_Gnielinski(Re=reynolds, Pr=prandtl, fd=0.0185)


@package.call(2e4, 0.7)
def cylinder_across(reynolds, prandtl):
    return ht.Nu_cylinder_Churchill_Bernstein(Re=reynolds, Pr=prandtl)


@package.call(0.9, 1.5)
def free_convection(prandtl, grashof):
    return ht.Nu_sphere_Churchill(Pr=prandtl, Gr=1e7 * grashof)


@package.call(5.2, 1.6, 3.0)
def exchanger_by_ntu(hot, cold, conductance):
    found = hx.effectiveness_NTU_method(
        mh=hot, mc=cold, Cph=1.9, Cpc=4.2, subtype="counterflow", Thi=130.0, Tci=15.0, UA=conductance
    )
    return found["Q"], found["Tho"], found["Tco"], found["effectiveness"]


@package.call(0.7, 2.5)
def shell_and_tube(capacity, units):
    return hx.effectiveness_from_NTU(NTU=units, Cr=capacity, subtype="S&T")


@package.call(4.5)
def boiling_flux(excess):
    return boiling_nucleic.Rohsenow(
        rhol=957.9, rhog=0.6, mul=2.79e-4, kl=0.68, Cpl=4217.0, Hvap=2.257e6, sigma=0.0589, Te=excess,
        Csf=0.011, n=1.26,
    )  # fmt: skip


@package.call(0.8, 2e-4)
def condensing_film(quality, viscosity):
    return condensation.Shah(
        m=1.0, x=quality, D=0.3, rhol=800.0, mul=viscosity, kl=0.6, Cpl=2300.0, P=1e6, Pc=2e7
    )


@package.call(900.0, 300.0)
def radiation(hot, cold):
    return ht.q_rad(emissivity=0.8, T=hot, T2=cold)


@package.call(np.array([0.0, 0.1, 0.4]), np.array([0.6, 1.1, 0.05]))
def wall_of_layers(offsets, conductivities):
    thicknesses = 0.02 + offsets
    return sum(ht.R_value_to_k(0.18, 0.025) * t / k for t, k in zip(thicknesses, conductivities, strict=True))


@package.call(320.0)
def conductivity_of_a_wall(temperature):
    return insulation.k_material("Mineral fiber") * temperature / insulation.Cp_material("Mineral fiber")
