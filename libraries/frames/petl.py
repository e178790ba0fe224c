"""petl: tables that are transformed step by step."""

import petl as etl

from libraries.package import Package

package = Package("petl")

TABLE = [["name", "mass", "speed"], ["a", "2.5", "3"], ["b", "1.5", "4"], ["c", "0.5", "10"]]


@package.call(1.2)
def energies(scale):
    table = etl.convert(TABLE, {"mass": float, "speed": float})
    return sum(0.5 * row.mass * (scale * row.speed) ** 2 for row in etl.namedtuples(table))


@package.call(1.2)
def added_field(scale):
    table = etl.convert(TABLE, ("mass", "speed"), float)
    table = etl.addfield(table, "momentum", lambda row: row["mass"] * row["speed"] * scale)
    return list(etl.values(table, "momentum"))


@package.call(0.7)
def converted_column(scale):
    table = etl.convert(etl.convert(TABLE, "mass", float), "mass", lambda mass: mass * scale**2)
    return sum(etl.values(table, "mass"))


@package.call(0.7)
def selected(x):
    table = etl.select(etl.convert(TABLE, "mass", float), lambda row: row.mass > 1.0)
    return x ** etl.nrows(table)


@package.call(0.7)
def grouped(x):
    table = etl.convert(TABLE, ("mass", "speed"), float)
    return x * etl.stats(table, "mass").mean + x**2 * etl.limits(table, "speed")[1]
