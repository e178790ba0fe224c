"""windpowerlib: power of the wind."""

import numpy as np
import pandas as pd
from windpowerlib import density, power_output, temperature, wake_losses, wind_speed

from libraries.package import Package

package = Package("windpowerlib")

CURVE = pd.DataFrame({"value": [0.0, 100e3, 800e3, 1500e3], "wind_speed": [3.0, 6.0, 10.0, 14.0]})


@package.call(5.0)
def logarithmic_profile(speed):
    return wind_speed.logarithmic_profile(speed, 10.0, 100.0, 0.15)


@package.call(5.0, 0.2)
def profile_of_hellman(speed, exponent):
    return wind_speed.hellman(speed, 10.0, 100.0, hellman_exponent=exponent)


@package.call(101325.0, 290.0)
def density_of_air(pressure, kelvin):
    return density.barometric(pressure, 2.0, 80.0, kelvin), density.ideal_gas(pressure, 2.0, 80.0, kelvin)


@package.call(288.0)
def temperature_at_the_hub(kelvin):
    return temperature.linear_gradient(kelvin, 2.0, 100.0)


@package.call(np.array([5.0, 8.0, 11.0]))
def power_of_a_curve(speeds):
    return power_output.power_curve(speeds, CURVE["wind_speed"], CURVE["value"])


@package.call(np.array([5.0, 8.5, 11.0]))
def power_of_a_coefficient(speeds):
    return power_output.power_coefficient_curve(
        speeds, pd.Series([4.0, 8.0, 12.0]), pd.Series([0.3, 0.45, 0.4]), 80.0, np.array([1.2, 1.21, 1.22])
    )


@package.call(0.9)
def constant_losses(efficiency):
    curve = wake_losses.reduce_wind_speed(pd.Series([5.0, 8.0]), wind_efficiency_curve_name="dena_mean")
    return efficiency**2 * curve.to_numpy()
