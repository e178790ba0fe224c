"""SALib: functions and indices of sensitivity analysis."""

import numpy as np
from SALib.analyze import dgsm, sobol
from SALib.test_functions import Ishigami, Sobol_G, linear_model_1, oakley2004
from SALib.util import scale_samples

from libraries.package import Package

package = Package("SALib")

PROBLEM = {"num_vars": 3, "names": ["a", "b", "c"], "bounds": [[-3.0, 3.0], [-3.0, 3.0], [-3.0, 3.0]]}
SAMPLES = np.random.default_rng(2).uniform(0.1, 0.9, (4, 3))


@package.call(SAMPLES * 2.0)
def ishigami(samples):
    return Ishigami.evaluate(samples)


@package.call(7.0, 0.1)
def parameters_of_ishigami(a, b):
    return Ishigami.evaluate(SAMPLES, A=a, B=b)


@package.call(np.random.default_rng(3).uniform(0.05, 0.45, (2, 8)))
def sobol_g(samples):
    return Sobol_G.evaluate(samples)


@package.call(np.array([[0.3, 0.2]]))
def linear(samples):
    return linear_model_1.evaluate(samples)


@package.call(np.random.default_rng(4).uniform(0.1, 0.9, (1, 15)))
def oakley(samples):
    rng = np.random.default_rng(1)
    return oakley2004.evaluate(samples, rng.normal(size=(3, 15)), rng.normal(size=(15, 15)))


@package.call(SAMPLES)
def scaled(samples):
    return scale_samples(samples, PROBLEM)


@package.call(np.linspace(0.0, 1.0, 16) ** 2)
def first_order(values):
    return sobol.first_order(values[:4], values[4:8], values[8:12])


@package.call(np.linspace(0.1, 1.0, 16) ** 2)
def derivative_based(values):
    return dgsm.calc_vi_mean(values[:4], values[4:8], 0.01)
