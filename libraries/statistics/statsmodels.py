"""statsmodels: likelihoods and estimates of statistical models."""

import numpy as np
import statsmodels.api as sm
from statsmodels.nonparametric.smoothers_lowess import lowess
from statsmodels.stats import moment_helpers, power, weightstats
from statsmodels.tools.tools import add_constant
from statsmodels.tsa import stattools

from libraries.package import Package

package = Package("statsmodels")

rng = np.random.default_rng(3)
X = add_constant(rng.normal(size=(30, 2)))
Y = X @ [1.0, 0.5, -0.3] + 0.2 * rng.normal(size=30)
COUNTS = rng.poisson(np.exp(X @ [0.3, 0.2, -0.1]))
CHOICES = (Y > 1.0).astype(float)
linear = sm.OLS(Y, X)
fitted = linear.fit()


@package.call(np.array([1.0, 0.4, -0.2]))
def loglike_of_least_squares(parameters):
    return linear.loglike(parameters)


@package.call(np.array([0.3, 0.4, -0.2]))
def loglike_of_logit(parameters):
    return sm.Logit(CHOICES, X).loglike(parameters)


@package.call(np.array([0.3, 0.4, -0.2]))
def loglike_of_probit(parameters):
    return sm.Probit(CHOICES, X).loglike(parameters)


@package.call(np.array([0.3, 0.2, -0.1]))
def loglike_of_poisson(parameters):
    return sm.Poisson(COUNTS, X).loglike(parameters)


@package.call(np.array([0.3, 0.2, -0.1]))
def score_of_poisson(parameters):
    return sm.Poisson(COUNTS, X).score(parameters)


@package.call(np.array([1.0, 0.4, -0.2]))
def deviance_of_a_generalised_model(parameters):
    model = sm.GLM(COUNTS, X, family=sm.families.Poisson())
    mean = model.predict(parameters)
    return model.family.deviance(COUNTS, mean)


@package.call(np.array([1.0, 0.3, -0.7]))
def prediction(row):
    return fitted.predict(row)


@package.call(Y)
def estimated_by_least_squares(observed):
    return sm.OLS(observed, X).fit().params


@package.call(Y)
def standard_errors(observed):
    return sm.OLS(observed, X).fit().bse


@package.call(Y[:12])
def residual_sum(observed):
    return sm.OLS(observed, X[:12]).fit().ssr


@package.call(np.abs(Y) + 0.1)
def weighted_least_squares(weights):
    return sm.WLS(Y, X, weights=weights).fit().params


@package.call(Y)
def autocovariance(series):
    return stattools.acovf(series, fft=False)[:4]


@package.call(Y[:15])
def autocorrelation(series):
    return stattools.acf(series, nlags=3, fft=False)


@package.call(Y[:12], np.linspace(0.5, 2.0, 12))
def weighted_mean(data, weights):
    described = weightstats.DescrStatsW(data, weights=weights)
    return described.mean, described.std, described.std_mean


@package.call(Y[:10])
def durbin_watson(residuals):
    return sm.stats.stattools.durbin_watson(residuals)


@package.call(0.4)
def moments_to_cumulants(mean):
    return moment_helpers.mc2mnc([mean, 1.3, 0.2, 4.0])


@package.call(Y[:12])
def smoothed(series):
    return lowess(series, np.arange(12.0), frac=0.6, it=0, return_sorted=False)


@package.call(0.5)
def effect_size(difference):
    return power.normal_power(difference, 40, 0.05)
