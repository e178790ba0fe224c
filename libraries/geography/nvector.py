"""nvector: positions without singularities."""

import numpy as np
import nvector as nv

from libraries.package import Package

package = Package("nvector")

wgs84 = nv.FrameE(name="WGS84")


@package.call(1.1, 2.0, -3.0)
def from_a_to_b(latitude, longitude, depth):
    a = wgs84.GeoPoint(latitude=latitude, longitude=longitude, z=depth, degrees=True)
    b = wgs84.GeoPoint(latitude=4.0, longitude=5.0, z=-6.0, degrees=True)
    delta = a.delta_to(b)
    return delta.length, delta.azimuth_deg


@package.call(0.02, 0.05)
def unit_vector(latitude, longitude):
    return nv.lat_lon2n_E(latitude, longitude)


@package.call(np.array([[0.5], [0.4], [0.6]]))
def back_to_angles(vector):
    return nv.n_E2lat_lon(nv.unit(vector))


@package.call(88.0, 10.0)
def great_circle_distance(latitude, longitude):
    a = wgs84.GeoPoint(latitude, longitude, degrees=True)
    b = wgs84.GeoPoint(89.0, -170.0, degrees=True)
    return nv.great_circle_distance(a.to_nvector().normal, b.to_nvector().normal, radius=6371e3)


@package.call(1000.0, 200.0)
def displaced(distance, azimuth):
    start = wgs84.GeoPoint(latitude=80.0, longitude=-90.0, degrees=True)
    end, _ = start.displace(distance=distance, azimuth=azimuth, degrees=True)
    return end.latitude_deg, end.longitude_deg


@package.call(0.1, 0.2, 0.3)
def rotation(x, y, z):
    return nv.R2xyz(nv.xyz2R(x, y, z) @ nv.zyx2R(z, y, x))


@package.call(np.array([6371e3, 1e5, 2e5]))
def from_cartesian(position):
    normal, depth = nv.p_EB_E2n_EB_E(position.reshape(3, 1))
    return normal.ravel(), depth
