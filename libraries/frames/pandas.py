"""pandas: data frames as constants, and as what is computed with."""

import io

import numpy as np
import pandas as pd

from libraries.package import Package

package = Package("pandas")

TEXT = """date,city,load,price
2024-01-01,A,10.5,0.21
2024-01-02,A,11.0,0.25
2024-01-01,B,7.5,0.19
2024-01-02,B,8.0,0.31
"""
FRAME = pd.read_csv(io.StringIO(TEXT), parse_dates=["date"])
SERIES = FRAME["load"]


@package.call(0.3)
def column_of_a_frame(rate):
    return float((FRAME["load"].to_numpy() * np.exp(-rate * FRAME["price"].to_numpy())).sum())


@package.call(1.5)
def parsed_inside(scale):
    frame = pd.read_csv(io.StringIO(TEXT))
    return scale * frame["load"].mean() + scale**2 * frame.groupby("city")["price"].sum()["A"]


@package.call(1.5)
def selected_rows(scale):
    chosen = FRAME[(FRAME["city"] == "B") & (FRAME["load"] > 7.8)]
    return scale**2 * chosen["price"].iloc[0]


@package.call(0.5)
def pivoted(weight):
    table = FRAME.pivot_table(index="date", columns="city", values="load")
    return np.tanh(weight * table.values)


@package.call(1.1)
def rows(factor):
    total = 0.0
    for row in FRAME.itertuples():
        total += factor**row.load * row.price
    return total


@package.call(np.array([1.0, 2.0, 4.0]))
def series_of_values(values):
    return pd.Series(values).mean(), pd.Series(values).std()


@package.call(np.array([1.0, 2.0, 4.0]))
def frame_of_values(values):
    frame = pd.DataFrame({"x": values, "k": [1, 2, 3]})
    frame["y"] = frame["x"] ** 2 * frame["k"]
    return frame["y"].to_numpy()


@package.call(1.5)
def times_a_series(scale):
    return (SERIES * scale).sum()


@package.call(1.5)
def applied(scale):
    return FRAME["price"].apply(lambda price: price * scale).to_numpy()


@package.call(np.array([1.0, 2.0, 4.0, 3.0]))
def rolling(values):
    return pd.Series(values).rolling(2).mean().to_numpy()[1:]


@package.call(0.7)
def merged_constants(rate):
    tariffs = pd.DataFrame({"city": ["A", "B"], "tariff": [1.5, 2.5]})
    merged = FRAME.merge(tariffs, on="city").sort_values("load")
    return sum(rate**k * cost for k, cost in enumerate(merged["load"] * merged["tariff"]))


@package.call(0.7)
def interpolated(x):
    known = pd.Series([1.0, np.nan, 3.0, 5.0]).interpolate()
    return np.interp(x, np.arange(4.0), known)
