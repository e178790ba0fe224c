"""ase: atoms, and their energies by simple potentials."""

import numpy as np
from ase import Atoms
from ase.build import bulk, molecule
from ase.calculators.emt import EMT
from ase.calculators.lj import LennardJones
from ase.calculators.morse import MorsePotential
from ase.eos import birchmurnaghan, murnaghan
from ase.geometry import cellpar_to_cell, get_angles, get_distances
from ase.units import kB

from libraries.package import Package

package = Package("ase")

TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.2, 0.0, 0.1], [0.4, 1.1, 0.0]])


@package.call(TRIANGLE)
def energy_by_lennard_jones(positions):
    atoms = Atoms("Ar3", positions=positions, calculator=LennardJones(rc=20.0))
    return atoms.get_potential_energy()


@package.call(1.5)
def depth_of_the_potential(epsilon):
    atoms = Atoms("Ar3", positions=TRIANGLE, calculator=LennardJones(epsilon=epsilon, rc=20.0))
    return atoms.get_potential_energy()


@package.call(1.1)
def morse(distance):
    atoms = Atoms(
        "H2", positions=[[0, 0, 0], [0, 0, distance]], calculator=MorsePotential(r0=1.0, epsilon=2.0)
    )
    return atoms.get_potential_energy()


@package.call(1.1)
def effective_medium(distance):
    atoms = Atoms("CuNi", positions=[[0, 0, 0], [0, 0, 2.0 * distance]], calculator=EMT())
    return atoms.get_potential_energy()


@package.call(TRIANGLE)
def geometry(positions):
    atoms = Atoms("H2O", positions=positions)
    return atoms.get_distance(0, 1), atoms.get_angle(1, 0, 2), atoms.get_center_of_mass()


@package.call(4.05)
def volume_of_a_crystal(lattice):
    return bulk("Al", "fcc", a=lattice).get_volume()


@package.call(TRIANGLE)
def inertia(positions):
    return Atoms("H2O", positions=positions).get_moments_of_inertia()


@package.call(16.3, 0.6)
def equation_of_state(volume, modulus):
    return birchmurnaghan(volume, -3.7, modulus, 4.2, 16.5), murnaghan(volume, -3.7, modulus, 4.2, 16.5)


@package.call(np.array([3.0, 4.0, 5.0, 80.0, 95.0, 100.0]))
def cell_of_parameters(parameters):
    return cellpar_to_cell(parameters)


@package.call(TRIANGLE)
def distances(positions):
    _, lengths = get_distances(positions[:2], positions[2:])
    return lengths, get_angles(positions[:1] + 0.1, positions[1:2])


@package.call(0.4)
def displaced_molecule(angle):
    water = molecule("H2O")
    water.rotate(angle, "x")
    water.translate([0.1, 0.2, 0.3])
    return water.get_positions()


@package.call(310.0)
def kinetic_energy(temperature):
    atoms = Atoms("Ar3", positions=TRIANGLE)
    atoms.set_momenta(np.ones((3, 3)) * np.sqrt(kB * temperature * 40.0))
    return atoms.get_kinetic_energy(), atoms.get_temperature()
