"""colour-science: colorimetry."""

import colour
import numpy as np

from libraries.package import Package

package = Package("colour-science")

RGB = np.array([0.45620519, 0.03081071, 0.04091952])
XYZ = np.array([0.20654008, 0.12197225, 0.05136952])


@package.call(RGB)
def from_srgb(rgb):
    return colour.sRGB_to_XYZ(rgb)


@package.call(XYZ)
def to_lab(xyz):
    return colour.XYZ_to_Lab(xyz)


@package.call(np.array([41.5, 52.6, 26.9]))
def from_lab(lab):
    return colour.Lab_to_XYZ(lab)


@package.call(np.array([41.5, 52.6, 26.9]))
def difference_of_2000(lab):
    return colour.delta_E(lab, np.array([48.0, 38.0, 20.0]), method="CIE 2000")


@package.call(XYZ)
def chromaticity(xyz):
    return colour.XYZ_to_xy(xyz)


@package.call(5500.0)
def colour_of_a_temperature(kelvin):
    return colour.CCT_to_xy(kelvin, method="Kang 2002")


@package.call(XYZ)
def to_oklab(xyz):
    return colour.XYZ_to_Oklab(xyz)


@package.call(XYZ)
def adapted(xyz):
    return colour.adaptation.chromatic_adaptation_VonKries(
        xyz, np.array([0.95, 1.0, 1.09]), np.array([0.96, 1.0, 0.82])
    )


@package.call(0.4)
def lightness(luminance):
    return colour.lightness(100.0 * luminance, method="CIE 1976")


@package.call(0.18)
def encoded(value):
    return colour.models.eotf_inverse_sRGB(value), colour.models.log_encoding_ACEScct(value)


@package.call(np.array([0.3, 0.6, 0.2]))
def by_hue(rgb):
    return colour.RGB_to_HSV(rgb)
