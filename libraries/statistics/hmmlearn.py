"""hmmlearn: hidden Markov models, whose parameters are known."""

import numpy as np
from hmmlearn import hmm

from libraries.package import Package

package = Package("hmmlearn")

SERIES = np.array([[0.1], [0.3], [2.1], [1.9], [2.2], [0.2], [-0.1]])


def model_of(means, spread):
    model = hmm.GaussianHMM(n_components=2, covariance_type="diag")
    model.startprob_ = np.array([0.6, 0.4])
    model.transmat_ = np.array([[0.8, 0.2], [0.3, 0.7]])
    model.n_features = 1
    model.means_ = means
    model.covars_ = np.array([[spread], [0.4]])
    return model


@package.call(np.array([[0.0], [2.0]]))
def likelihood(means):
    return model_of(means, 0.3).score(SERIES)


@package.call(0.3)
def posterior(spread):
    return model_of(np.array([[0.0], [2.0]]), spread).predict_proba(SERIES)[2]


@package.call(SERIES)
def likelihood_of_data(series):
    return model_of(np.array([[0.0], [2.0]]), 0.3).score(series)


@package.call(np.array([[0.0], [2.0]]))
def log_density(means):
    return model_of(means, 0.3)._compute_log_likelihood(SERIES)[:, 0]
