"""colormath: conversions and differences of colours."""

from colormath.color_conversions import convert_color
from colormath.color_objects import HSLColor, LabColor, LCHabColor, XYZColor, sRGBColor

from libraries.package import Package

package = Package("colormath")


@package.call(0.6, 0.2)
def to_lab(red, green):
    return convert_color(sRGBColor(red, green, 0.3), LabColor).get_value_tuple()


@package.call(50.0, 25.0)
def to_srgb(lightness, a):
    return convert_color(LabColor(lightness, a, 10.0), sRGBColor).get_value_tuple()


@package.call(0.6)
def to_hsl(red):
    return convert_color(sRGBColor(red, 0.2, 0.3), HSLColor).get_value_tuple()


@package.call(0.3, 0.4)
def from_hsl(saturation, lightness):
    return convert_color(HSLColor(200.0, saturation, lightness), XYZColor).get_value_tuple()


@package.call(0.3)
def adapted(x):
    return convert_color(XYZColor(x, 0.25, 0.2, illuminant="d50"), LCHabColor).get_value_tuple()
