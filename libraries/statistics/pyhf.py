"""pyhf: likelihoods of counting experiments in particle physics."""

import numpy as np
import pyhf

from libraries.package import Package

package = Package("pyhf")

model = pyhf.simplemodels.uncorrelated_background([5.0, 10.0], [50.0, 60.0], [5.0, 12.0])
DATA = [55.0, 65.0] + model.config.auxdata
workspace = pyhf.Workspace({
    "channels": [{"name": "signal", "samples": [
        {"name": "mu", "data": [6.0, 3.0], "modifiers": [{"name": "mu", "type": "normfactor", "data": None}]},
        {"name": "background", "data": [20.0, 30.0], "modifiers": [
            {"name": "scale", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}]},
    ]}],
    "observations": [{"name": "signal", "data": [25.0, 35.0]}],
    "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
    "version": "1.0.0",
})  # fmt: skip
parsed = workspace.model()


@package.call(np.array([1.1, 0.9, 1.05]))
def expected_counts(parameters):
    return model.expected_data(parameters, include_auxdata=False)


@package.call(np.array([1.1, 0.9, 1.05]))
def log_likelihood(parameters):
    return model.logpdf(parameters, DATA)


@package.call(np.array([0.8, 0.4]))
def log_likelihood_of_a_workspace(parameters):
    return parsed.logpdf(parameters, workspace.data(parsed))


@package.call(np.array([0.8, 0.4]))
def twice_negative(parameters):
    return pyhf.infer.mle.twice_nll(parameters, workspace.data(parsed), parsed)


@package.call(np.array([1.5, 0.3]))
def interpolation(alphas):
    found = pyhf.interpolators.code4([[[[0.9], [1.0], [1.1]]]])
    return found(np.array([alphas[:1]])) + alphas[1]


@package.call(np.array([55.0, 65.0]), np.array([52.0, 61.0]))
def poisson(counts, rates):
    return pyhf.probability.Poisson(rates).log_prob(counts)
