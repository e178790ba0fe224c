"""bezier: curves and triangles of Bézier."""

import bezier
import numpy as np

from libraries.package import Package

package = Package("bezier")

NODES = np.asfortranarray([[0.0, 0.5, 1.0], [0.0, 1.0, 0.3]])


@package.call(0.4)
def point(s):
    return bezier.Curve(NODES, degree=2).evaluate(s)


@package.call(NODES)
def moved_nodes(nodes):
    return bezier.Curve.from_nodes(nodes).evaluate(0.3)


@package.call(NODES)
def length(nodes):
    return bezier.Curve(nodes, degree=2).length


@package.call(1.3)
def constant_length(scale):
    return scale**2 * bezier.Curve(NODES, degree=2).length


@package.call(NODES)
def elevated(nodes):
    return bezier.Curve(nodes, degree=2).elevate().nodes
