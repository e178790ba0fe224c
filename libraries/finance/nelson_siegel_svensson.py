"""nelson-siegel-svensson: curves of interest rates."""

import numpy as np
from nelson_siegel_svensson import NelsonSiegelCurve, NelsonSiegelSvenssonCurve
from nelson_siegel_svensson.calibrate import betas_ns_ols, errorfn_ns_ols

from libraries.package import Package

package = Package("nelson-siegel-svensson")

MATURITIES = np.array([0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0])
YIELDS = np.array([0.01, 0.011, 0.013, 0.016, 0.019, 0.021, 0.022])


@package.call(0.03, -0.01, 0.02, 1.5)
def zero_rates(level, slope, hump, decay):
    return NelsonSiegelCurve(level, slope, hump, decay)(MATURITIES)


@package.call(0.03, 1.5)
def forward_rates(level, decay):
    return NelsonSiegelCurve(level, -0.01, 0.02, decay).forward(MATURITIES)


@package.call(3.7)
def at_a_maturity(maturity):
    return NelsonSiegelCurve(0.03, -0.01, 0.02, 1.5)(maturity)


@package.call(0.028, 0.01, 2.0, 3.0)
def of_svensson(level, second, tau1, tau2):
    return NelsonSiegelSvenssonCurve(level, -0.03, -0.04, second, tau1, tau2).zero(MATURITIES)


@package.call(2.0)
def factors(decay):
    curve = NelsonSiegelCurve(0.03, -0.01, 0.02, decay)
    return curve.factors(MATURITIES)


@package.call(1.7)
def error_of_a_fit(decay):
    return 1e6 * errorfn_ns_ols(decay, MATURITIES, YIELDS)


@package.call(YIELDS)
def fitted(yields):
    curve, _ = betas_ns_ols(1.7, MATURITIES, yields)
    return curve.beta0, curve.beta1, curve.beta2
