"""ta: indicators of technical analysis on data frames."""

import numpy as np
import pandas as pd
import ta

from libraries.package import Package

package = Package("ta")

rng = np.random.default_rng(6)
CLOSE = 100.0 + np.cumsum(rng.normal(size=30))
FRAME = pd.DataFrame(
    {"high": CLOSE + 1.0 + rng.random(30), "low": CLOSE - 1.0 - rng.random(30), "close": CLOSE}
)


@package.call(2.0)
def bollinger_of_a_frame(deviations):
    bands = ta.volatility.BollingerBands(FRAME["close"], window=10, window_dev=2)
    return (bands.bollinger_mavg().to_numpy()[-3:] * deviations).sum()


@package.call(1.1)
def strength_index(scale):
    found = ta.momentum.RSIIndicator(FRAME["close"], window=7).rsi()
    return scale * found.iloc[-1]


@package.call(CLOSE)
def mean_of_prices(prices):
    return ta.trend.SMAIndicator(pd.Series(prices), window=5).sma_indicator().to_numpy()[-3:]


@package.call(0.7)
def true_range(weight):
    found = ta.volatility.average_true_range(FRAME["high"], FRAME["low"], FRAME["close"], window=5).to_numpy()
    return np.tanh(weight * found[-4:])


@package.call(CLOSE)
def daily_return(prices):
    return ta.others.DailyReturnIndicator(pd.Series(prices)).daily_return().to_numpy()[1:]
