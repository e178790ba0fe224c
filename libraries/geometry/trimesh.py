"""trimesh: meshes of triangles."""

import numpy as np
import trimesh
from trimesh import transformations as tf

from libraries.package import Package

package = Package("trimesh")

BOX = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 1.2, 0.3]])


@package.call(CORNERS)
def area_of_triangles(corners):
    return trimesh.triangles.area(corners[None, :, :])


@package.call(np.array(BOX.vertices))
def volume_of_vertices(vertices):
    return trimesh.triangles.mass_properties(vertices[BOX.faces]).volume


@package.call(CORNERS)
def normals(corners):
    return trimesh.triangles.normals(corners[None, :, :])[0]


@package.call(1.3)
def scaled_constant(scale):
    return BOX.volume * scale**3 + BOX.area * scale**2


@package.call(0.4)
def rotation(angle):
    return tf.rotation_matrix(angle, [0.0, 0.6, 0.8], [1.0, 2.0, 3.0])


@package.call(0.4, 0.2, -0.7)
def euler(a, b, c):
    return tf.euler_matrix(a, b, c, "rxyz"), tf.quaternion_from_euler(a, b, c)


@package.call(0.4)
def points_moved(angle):
    return trimesh.transform_points(CORNERS, tf.rotation_matrix(angle, [0, 0, 1]))


@package.call(np.array([0.3, 0.2, 2.0]))
def closest_point(point):
    return trimesh.triangles.closest_point(CORNERS[None, :, :], point.reshape(1, 3))[0]


@package.call(CORNERS)
def barycentric(corners):
    return trimesh.triangles.points_to_barycentric(corners[None, :, :], np.array([[0.3, 0.3, 0.1]]))[0]


@package.call(1.4)
def volume_of_a_mesh(length):
    return trimesh.creation.box(extents=(length, 2.0, 3.0)).volume


@package.call(np.array([0.3, -0.2, 0.9]))
def projected_on_a_plane(normal):
    return trimesh.points.plane_fit(CORNERS)[0] @ trimesh.unitize(normal)
