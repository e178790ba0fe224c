"""anastruct: frames and trusses."""

from anastruct import SystemElements

from libraries.package import Package

package = Package("anastruct")


@package.call(-10.0, 5000.0)
def frame(load, stiffness):
    structure = SystemElements(EI=stiffness)
    structure.add_element(location=[[0, 0], [3, 4]])
    structure.add_element(location=[[3, 4], [8, 4]])
    structure.q_load(element_id=2, q=load)
    structure.add_support_hinged(node_id=1)
    structure.add_support_fixed(node_id=3)
    structure.solve()
    found = structure.get_node_displacements(node_id=2)
    return found["ux"], found["uy"], found["phi_z"]


@package.call(20.0)
def beam_with_a_point_load(force):
    structure = SystemElements(EI=2000.0, EA=1e5)
    structure.add_element(location=[2.0, 0.0])
    structure.add_element(location=[5.0, 0.0])
    structure.point_load(node_id=2, Fy=-force)
    structure.add_support_hinged(1)
    structure.add_support_roll(3)
    structure.solve()
    return structure.get_node_displacements(node_id=2)["uy"]


@package.call(300.0)
def cantilever(moment):
    structure = SystemElements(EI=2000.0)
    structure.add_element(location=[4.0, 0.0])
    structure.moment_load(node_id=2, Tz=moment)
    structure.add_support_fixed(1)
    structure.solve()
    found = structure.get_node_displacements(node_id=2)
    return found["uy"], found["phi_z"]
