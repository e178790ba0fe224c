"""xarray: arrays with named axes."""

import numpy as np
import xarray as xr

from libraries.package import Package

package = Package("xarray")

FIELD = xr.DataArray(
    np.arange(6.0).reshape(2, 3) ** 1.5,
    dims=("time", "place"),
    coords={"time": [0, 1], "place": ["a", "b", "c"]},
)
DATA = xr.Dataset({"field": FIELD, "weight": ("place", np.array([0.2, 0.3, 0.5]))})


@package.call(0.4)
def values_of_a_field(rate):
    return np.exp(-rate * FIELD.values).sum()


@package.call(0.4)
def selected(rate):
    return rate * float(FIELD.sel(time=1, place="b")) + rate**2 * float(FIELD.mean())


@package.call(0.4)
def reduced_constants(rate):
    weighted = (DATA["field"] * DATA["weight"]).sum("place")
    return np.sin(rate * weighted.to_numpy())


@package.call(1.4)
def times_a_field(scale):
    return (scale * FIELD).sum().item()


@package.call(np.array([1.0, 2.0, 4.0]))
def array_of_values(values):
    return xr.DataArray(values, dims="x").mean("x").values * 3.0


@package.call(1.4)
def applied(scale):
    return xr.apply_ufunc(lambda values: scale * values**2, FIELD).values


@package.call(0.6)
def interpolated_constants(x):
    line = FIELD.isel(time=1, place=slice(0, 2)).to_numpy()
    return line[0] + (line[1] - line[0]) * x**2
