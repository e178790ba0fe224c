"""py_vollib: prices and greeks of options."""

from py_vollib.black import black
from py_vollib.black.implied_volatility import implied_volatility as implied_black
from py_vollib.black_scholes import black_scholes
from py_vollib.black_scholes.greeks import analytical, numerical
from py_vollib.black_scholes.implied_volatility import implied_volatility
from py_vollib.black_scholes_merton import black_scholes_merton
from py_vollib.ref_python.black_scholes import black_scholes as reference

from libraries.package import Package

package = Package("py_vollib")


@package.call(100.0, 90.0, 0.5, 0.2)
def call_price(spot, strike, years, volatility):
    return black_scholes("c", spot, strike, years, 0.01, volatility)


@package.call(100.0, 0.25)
def put_on_a_future(future, volatility):
    return black("p", future, 105.0, 0.75, 0.02, volatility)


@package.call(100.0, 0.04, 0.02)
def with_dividends(spot, rate, dividends):
    return black_scholes_merton("c", spot, 95.0, 1.0, rate, 0.3, dividends)


@package.call(12.0, 100.0)
def implied(price, spot):
    return implied_volatility(price, spot, 90.0, 0.5, 0.01, "c")


@package.call(6.0)
def implied_of_a_future(price):
    return implied_black(price, 101.0, 100.0, 0.02, 0.5, "c")


@package.call(100.0, 0.2)
def greeks(spot, volatility):
    return (
        analytical.delta("c", spot, 95.0, 0.5, 0.01, volatility),
        analytical.gamma("c", spot, 95.0, 0.5, 0.01, volatility),
        analytical.vega("c", spot, 95.0, 0.5, 0.01, volatility),
        analytical.theta("p", spot, 95.0, 0.5, 0.01, volatility),
    )


@package.call(100.0, 0.2)
def delta_by_differences(spot, volatility):
    return numerical.delta("c", spot, 95.0, 0.5, 0.01, volatility)


@package.call(100.0, 90.0, 0.5, 0.2)
def reference_price(spot, strike, years, volatility):
    return reference("p", spot, strike, years, 0.01, volatility)
