"""padasip: adaptive filters."""

import numpy as np
import padasip as pa

from libraries.package import Package

package = Package("padasip")

rng = np.random.default_rng(0)
INPUTS = rng.normal(size=(12, 3))
TARGET = INPUTS @ [0.5, -1.0, 2.0] + 0.1 * rng.normal(size=12)


@package.call(0.1)
def least_mean_squares(rate):
    outputs, errors, weights = pa.filters.FilterLMS(n=3, mu=rate, w="zeros").run(TARGET, INPUTS)
    return outputs, errors, weights[-1]


@package.call(0.9)
def recursive_least_squares(forgetting):
    _, _, weights = pa.filters.FilterRLS(n=3, mu=forgetting, w="zeros").run(TARGET, INPUTS)
    return weights[-1]


@package.call(TARGET)
def normalised(target):
    outputs, _, _ = pa.filters.FilterNLMS(n=3, mu=0.5, w="zeros").run(target, INPUTS)
    return outputs


@package.call(0.2, 0.1)
def with_its_own_rate(rate, mixing):
    _, errors, _ = pa.filters.FilterGNGD(n=3, mu=rate, eps=1.0, ro=mixing, w="zeros").run(TARGET, INPUTS)
    return np.sum(errors**2)


@package.call(np.array([0.4, -0.2, 0.7]))
def one_step(row):
    kept = pa.filters.FilterLMS(n=3, mu=0.3, w="zeros")
    kept.adapt(0.7, row)
    return kept.predict(np.array([1.0, 2.0, 3.0]))


@package.call(TARGET)
def standardised(series):
    return pa.standardize(series)


@package.call(TARGET)
def history(series):
    return pa.input_from_history(series, 4)


@package.call(TARGET)
def mean_square_error(series):
    return pa.misc.MSE(series, INPUTS[:, 0]), pa.misc.RMSE(series, INPUTS[:, 1])


@package.call(INPUTS)
def principal_components(samples):
    return np.abs(pa.preprocess.PCA(samples, n=2)).sum()
