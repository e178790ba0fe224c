"""blackscholes: options as objects."""

from blackscholes import (
    BinaryCall,
    Black76Call,
    BlackScholesCall,
    BlackScholesIronCondorLong,
    BlackScholesPut,
    BlackScholesStraddleLong,
)

from libraries.package import Package

package = Package("blackscholes")


@package.call(55.0, 0.15)
def price(spot, volatility):
    return BlackScholesCall(S=spot, K=50.0, T=1.0, r=0.0025, sigma=volatility, q=0.01).price()


@package.call(55.0, 0.15)
def greeks(spot, volatility):
    found = BlackScholesPut(S=spot, K=50.0, T=1.0, r=0.0025, sigma=volatility).get_core_greeks()
    return found["delta"], found["gamma"], found["vega"], found["theta"], found["rho"]


@package.call(55.0)
def higher_greeks(spot):
    option = BlackScholesCall(S=spot, K=50.0, T=1.0, r=0.0025, sigma=0.15)
    return option.speed(), option.zomma(), option.color(), option.ultima()


@package.call(55.0, 1.3)
def on_a_future(future, years):
    return Black76Call(F=future, K=50.0, T=years, r=0.0025, sigma=0.15).price()


@package.call(55.0)
def straddle(spot):
    return BlackScholesStraddleLong(S=spot, K=50.0, T=1.0, r=0.0025, sigma=0.15).price()


@package.call(55.0, 0.2)
def iron_condor(spot, volatility):
    condor = BlackScholesIronCondorLong(
        S=spot, K1=20.0, K2=25.0, K3=45.0, K4=50.0, T=1.0, r=0.0025, sigma=volatility
    )
    return condor.price(), condor.delta(), condor.vega()


@package.call(55.0)
def binary(spot):
    return BinaryCall(S=spot, K=50.0, T=1.0, r=0.0025, sigma=0.15).price()
