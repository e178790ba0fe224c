"""numpy-financial: interest, payments and returns."""

import numpy as np
import numpy_financial as npf

from libraries.package import Package

package = Package("numpy-financial")


@package.call(0.05, 100.0)
def future_value(rate, payment):
    return npf.fv(rate / 12, 120, -payment, -100.0)


@package.call(0.075, 200000.0)
def payment(rate, loan):
    return npf.pmt(rate / 12, 12 * 15, loan)


@package.call(0.07)
def present_value(rate):
    return npf.pv(rate / 12, 10 * 12, -100.0, 15692.93)


@package.call(0.08, np.array([-40_000.0, 5000.0, 8000.0, 12000.0, 30000.0]))
def net_present_value(rate, values):
    return npf.npv(rate, values)


@package.call(np.array([-100.0, 39.0, 59.0, 55.0, 20.0]))
def internal_rate(values):
    return npf.irr(values)


@package.call(np.array([-100.0, 39.0, -12.0, 55.0, 90.0]), 0.05)
def modified_rate(values, finance):
    return npf.mirr(values, finance, 0.07)


@package.call(0.07, 150.0)
def number_of_payments(rate, payment):
    return npf.nper(rate / 12, -payment, 8000.0)


@package.call(0.0824)
def interest_and_principal(rate):
    periods = np.arange(1, 7)
    return npf.ipmt(rate / 12, periods, 12, 2500.0), npf.ppmt(rate / 12, periods, 12, 2500.0)


@package.call(9000.0)
def rate_of_a_loan(present):
    return npf.rate(10, -1000.0, present, 2000.0)
