"""coloraide: colours as objects."""

from coloraide import Color

from libraries.package import Package

package = Package("coloraide")


@package.call(0.6, 0.2)
def converted(red, green):
    return Color("srgb", [red, green, 0.3]).convert("oklch").coords()


@package.call(0.4)
def mixed(amount):
    return Color("red").mix("blue", amount, space="lab").coords()


@package.call(0.6)
def contrast(red):
    return Color("srgb", [red, 0.2, 0.3]).contrast("white")


@package.call(0.6)
def difference(red):
    return Color("srgb", [red, 0.2, 0.3]).delta_e("steelblue", method="2000")


@package.call(0.3)
def interpolated(position):
    return Color.interpolate(["orange", "purple", "green"], space="oklab")(position).coords()


@package.call(0.6)
def luminance_of_a_colour(green):
    return Color("srgb", [0.1, green, 0.3]).luminance()


@package.call(1.3)
def constant_colour(scale):
    lightness, chroma, _ = Color("rebeccapurple").convert("oklch").coords()
    return scale**2 * lightness + scale * chroma
