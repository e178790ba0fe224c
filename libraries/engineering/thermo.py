"""thermo: equations of state and activities."""

import numpy as np
from thermo import PR, PRMIX, SRK, VDW
from thermo.nrtl import NRTL
from thermo.regular_solution import RegularSolution
from thermo.unifac import UFSG, UNIFAC
from thermo.wilson import Wilson

from libraries.package import Package

package = Package("thermo")


@package.call(299.0, 1e6)
def peng_robinson(temperature, pressure):
    state = PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=temperature, P=pressure)
    return state.V_l, state.H_dep_l, state.S_dep_l


@package.call(400.0, 1e5)
def gas_of_soave(temperature, pressure):
    state = SRK(Tc=507.6, Pc=3025000.0, omega=0.2975, T=temperature, P=pressure)
    return state.V_g, state.fugacity_g, state.Cp_dep_g


@package.call(350.0)
def gas_of_van_der_waals(temperature):
    return VDW(Tc=190.6, Pc=4.6e6, T=temperature, P=1e6).V_g


@package.call(299.0)
def saturation_pressure(temperature):
    return PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=299.0, P=1e6).Psat(temperature)


@package.call(0.4)
def mixture(fraction):
    state = PRMIX(
        T=115.0, P=1e6, Tcs=[126.1, 190.6], Pcs=[33.94e5, 46.04e5], omegas=[0.04, 0.011],
        zs=[fraction, 1 - fraction], kijs=[[0, 0.03], [0.03, 0]],
    )  # fmt: skip
    return state.V_l, state.fugacities_l


@package.call(0.3, 330.0)
def activities_by_nrtl(fraction, temperature):
    taus = [[0.0, 200.0], [150.0, 0.0]]
    model = NRTL(T=temperature, xs=[fraction, 1.0 - fraction], tau_bs=taus, alpha_cs=[[0.0, 0.3], [0.3, 0.0]])
    return model.gammas(), model.GE()


@package.call(0.3)
def activities_by_wilson(fraction):
    model = Wilson(T=330.0, xs=[fraction, 1.0 - fraction], lambda_bs=[[0.0, -200.0], [-150.0, 0.0]])
    return model.gammas()


@package.call(np.array([0.2, 0.3, 0.5]))
def regular_solution(fractions):
    model = RegularSolution(T=300.0, xs=fractions.tolist(), Vs=[1e-4, 8e-5, 9e-5], SPs=[2e4, 1.8e4, 1.6e4])
    return model.gammas()


@package.call(0.3)
def activities_by_groups(fraction):
    model = UNIFAC.from_subgroups(
        T=330.0, xs=[fraction, 1.0 - fraction], chemgroups=[{1: 2, 2: 4}, {1: 1, 2: 1, 18: 1}], subgroups=UFSG
    )
    return model.gammas()
