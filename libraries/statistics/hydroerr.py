"""HydroErr: how well simulated and observed flows agree."""

import HydroErr as he
import numpy as np

from libraries.package import Package

package = Package("HydroErr")

OBSERVED = np.array([4.7, 6.0, 10.0, 2.5, 4.0, 7.1])
SIMULATED = np.array([5.0, 7.0, 9.0, 2.0, 4.5, 6.7])


@package.call(SIMULATED)
def nash_sutcliffe(simulated):
    return he.nse(simulated, OBSERVED)


@package.call(SIMULATED)
def kling_gupta(simulated):
    return he.kge_2012(simulated, OBSERVED)


@package.call(SIMULATED, OBSERVED)
def root_mean_square(simulated, observed):
    return he.rmse(simulated, observed)


@package.call(SIMULATED)
def pearson(simulated):
    return he.pearson_r(simulated, OBSERVED)


@package.call(SIMULATED)
def index_of_agreement(simulated):
    return he.d(simulated, OBSERVED)


@package.call(SIMULATED)
def spectral_angle(simulated):
    return he.sa(simulated, OBSERVED) + he.sc(simulated, OBSERVED)


@package.call(SIMULATED)
def logarithmic(simulated):
    return he.rmsle(simulated, OBSERVED), he.mle(simulated, OBSERVED)
