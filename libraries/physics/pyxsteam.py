"""pyXSteam: steam tables."""

from pyXSteam.XSteam import XSteam

from libraries.package import Package

package = Package("pyXSteam")

tables = XSteam(XSteam.UNIT_SYSTEM_MKS)


@package.call(12.0)
def saturation(pressure):
    return tables.tsat_p(pressure), tables.hV_p(pressure), tables.sL_p(pressure)


@package.call(50.0, 320.0)
def enthalpy(pressure, temperature):
    return tables.h_pt(pressure, temperature)


@package.call(1.0, 2500.0)
def temperature_of(pressure, enthalpy):
    return tables.t_ph(pressure, 1.1 * enthalpy)


@package.call(3.0, 80.0)
def liquid(pressure, temperature):
    return tables.rho_pt(pressure, temperature), tables.Cp_pt(pressure, temperature)


@package.call(20.0, 400.0)
def speed_of_sound(pressure, temperature):
    return tables.w_pt(pressure, temperature)


@package.call(1.0, 25.0)
def transport(pressure, temperature):
    return tables.my_pt(pressure, temperature), tables.tc_pt(pressure, temperature)


@package.call(90.0)
def surface_tension(temperature):
    return tables.st_t(temperature)


@package.call(100.0, 500.0, 0.05)
def turbine(pressure, temperature, condenser):
    before = tables.h_pt(pressure, temperature)
    after = tables.h_ps(condenser, tables.s_pt(pressure, temperature))
    return before - after
