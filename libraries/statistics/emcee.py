"""emcee: densities and autocorrelations of Markov chains."""

import emcee
import numpy as np
from emcee.autocorr import function_1d, integrated_time

from libraries.package import Package

package = Package("emcee")

CHAIN = np.cumsum(np.random.default_rng(5).normal(size=40)) * 0.2


@package.call(CHAIN)
def autocorrelation(chain):
    return function_1d(chain)[1:4]


@package.call(CHAIN)
def autocorrelation_time(chain):
    return integrated_time(chain, quiet=True)


@package.call(np.array([0.3, -0.2]))
def density_of_the_sampler(position):
    def density(x):
        return -0.5 * np.sum(x**2 / np.array([1.0, 2.0]))

    sampler = emcee.EnsembleSampler(8, 2, density)
    values, _ = sampler.compute_log_prob(np.tile(position, (8, 1)) * np.arange(1.0, 9.0)[:, None])
    return values


@package.call(0.7)
def stretch(scale):
    def density(x, scale):
        return -0.5 * scale * np.sum(x**2)

    sampler = emcee.EnsembleSampler(4, 1, density, args=[scale])
    state = emcee.State(np.array([[0.1], [0.2], [-0.3], [0.4]]))
    return sampler.compute_log_prob(state.coords)[0]
