"""vector: momenta and positions in two to four dimensions."""

import numpy as np
import vector

from libraries.package import Package

package = Package("vector")


@package.call(3.0, 4.0)
def polar(x, y):
    v = vector.obj(x=x, y=y)
    return v.rho, v.phi


@package.call(1.0, 2.0, 3.0)
def pseudorapidity(x, y, z):
    v = vector.obj(x=x, y=y, z=z)
    return v.eta, v.theta, v.mag


@package.call(25.0, 1.2, 40.0)
def invariant_mass(pt, eta, other):
    a = vector.obj(pt=pt, eta=eta, phi=0.3, mass=0.105)
    b = vector.obj(pt=other, eta=-0.4, phi=2.9, mass=0.105)
    return (a + b).mass


@package.call(0.4)
def boosted(beta):
    v = vector.obj(px=1.0, py=2.0, pz=3.0, E=5.0).boostZ(beta=beta)
    return v.E, v.pz


@package.call(0.3, 0.5)
def turned(angle, tilt):
    v = vector.obj(x=1.0, y=2.0, z=3.0).rotateZ(angle).rotateX(tilt)
    return v.x, v.y, v.z


@package.call(1.5, 0.7)
def separation(eta, phi):
    return vector.obj(pt=10.0, eta=eta, phi=phi).deltaR(vector.obj(pt=20.0, eta=0.1, phi=-0.5))


@package.call(np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0]))
def arrays(x, y):
    v = vector.array({"x": x, "y": y})
    return np.asarray(v.rho)


@package.call(2.0)
def products(scale):
    a, b = vector.obj(x=1.0, y=2.0, z=3.0), vector.obj(x=-1.0, y=0.5, z=2.0)
    return (a * scale).dot(b), (scale * a).cross(b).mag
