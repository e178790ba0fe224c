"""pvlib: power of the sun."""

import numpy as np
import pandas as pd
from pvlib import atmosphere, iam, irradiance, pvsystem, singlediode, temperature
from pvlib.location import Location

from libraries.package import Package

package = Package("pvlib")


@package.call(30.0, 180.0)
def angle_of_incidence(tilt, azimuth):
    return irradiance.aoi(tilt, azimuth, 40.0, 150.0)


@package.call(800.0, 100.0)
def plane_of_the_array(direct, diffuse):
    found = irradiance.get_total_irradiance(
        30.0, 180.0, 40.0, 150.0, direct, 700.0, diffuse, model="isotropic"
    )
    return found["poa_global"], found["poa_direct"]


@package.call(120.0)
def sky_by_hay_and_davies(diffuse):
    return irradiance.haydavies(30.0, 180.0, diffuse, 700.0, 1360.0, 40.0, 150.0)


@package.call(55.0)
def relative_air_mass(zenith):
    return atmosphere.get_relative_airmass(zenith, model="kastenyoung1989")


@package.call(900.0, 25.0, 3.0)
def cell_temperature(irradiance_of_plane, air, wind):
    parameters = temperature.TEMPERATURE_MODEL_PARAMETERS["sapm"]["open_rack_glass_glass"]
    return temperature.sapm_cell(irradiance_of_plane, air, wind, **parameters)


@package.call(900.0, 45.0)
def parameters_of_a_diode(effective, cell):
    return pvsystem.calcparams_desoto(
        effective, cell, alpha_sc=0.003, a_ref=1.5, I_L_ref=9.0, I_o_ref=1e-9, R_sh_ref=400.0, R_s=0.3
    )


@package.call(8.5, 0.35)
def explicit_diode(photocurrent, series):
    return singlediode.bishop88(20.0, photocurrent, 1e-9, series, 400.0, 1.5)


@package.call(8.5)
def current_by_lambert(photocurrent):
    return pvsystem.i_from_v(20.0, photocurrent, 1e-9, 0.35, 400.0, 1.5, method="lambertw")


@package.call(8.5)
def maximum_power(photocurrent):
    return pvsystem.singlediode(photocurrent, 1e-9, 0.35, 400.0, 1.5, method="brentq")["p_mp"]


@package.call(48.0)
def losses_by_incidence(angle):
    return iam.physical(angle), iam.ashrae(angle), iam.martin_ruiz(angle)


@package.call(800.0)
def direct_by_erbs(horizontal):
    return irradiance.erbs(horizontal, 40.0, 172)["dni"]


@package.call(0.85)
def clear_sky_as_a_constant(efficiency):
    times = pd.date_range("2024-06-21 10:00", periods=3, freq="h", tz="UTC")
    sky = Location(48.1, 11.6, altitude=520).get_clearsky(times, model="haurwitz")
    return np.sqrt(efficiency * sky["ghi"].to_numpy())


@package.call(5.0, 60.0)
def alternating_power(direct, limit):
    from pvlib import inverter

    return inverter.pvwatts(10.0 * direct, limit)
