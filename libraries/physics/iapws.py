"""iapws: properties of water and steam."""

from iapws import IAPWS97, SeaWater, _iapws
from iapws.humidAir import _virial
from iapws.iapws97 import _Backward1_T_Ph, _Region1, _Region2, _TSat_P

from libraries.package import Package

package = Package("iapws")


@package.call(420.0, 3.0)
def steam_at(temperature, pressure):
    water = IAPWS97(T=temperature, P=pressure)
    return water.h, water.s, water.rho, water.cp


@package.call(600.0, 1.0)
def superheated(temperature, pressure):
    steam = IAPWS97(T=temperature, P=pressure)
    return steam.h - IAPWS97(P=0.01, s=steam.s).h


@package.call(0.4)
def wet_steam(quality):
    return IAPWS97(P=1.2, x=quality).h


@package.call(300.0, 2.5)
def region_of_liquid(temperature, pressure):
    found = _Region1(temperature, pressure)
    return found["v"], found["h"], found["cp"]


@package.call(700.0, 5.0)
def region_of_steam(temperature, pressure):
    found = _Region2(temperature, pressure)
    return found["v"], found["s"], found["w"]


@package.call(2.3)
def saturation_temperature(pressure):
    return _TSat_P(pressure)


@package.call(3.0, 500.0)
def temperature_from_enthalpy(pressure, enthalpy):
    return _Backward1_T_Ph(pressure, enthalpy)


@package.call(300.0, 0.1, 0.035)
def sea_water(temperature, pressure, salinity):
    water = SeaWater(T=temperature, P=pressure, S=salinity)
    return water.rho, water.cp


@package.call(998.0, 298.15)
def viscosity_of_water(density, temperature):
    return _iapws._Viscosity(density, temperature)


@package.call(320.0)
def surface_tension(temperature):
    return _iapws._Tension(temperature)


@package.call(998.0, 290.0)
def dielectric_constant(density, temperature):
    return _iapws._Dielectric(density, temperature)


@package.call(310.0)
def virial_of_air(temperature):
    found = _virial(temperature)
    return found["Baa"], found["Baw"]
