"""deap: functions that optimisers are tried on."""

import numpy as np
from deap import benchmarks
from deap.benchmarks import tools

from libraries.package import Package

package = Package("deap")


@package.call([0.4, -1.2, 0.7])
def rastrigin(individual):
    return benchmarks.rastrigin(individual)


@package.call([0.4, -1.2, 0.7])
def rosenbrock(individual):
    return benchmarks.rosenbrock(individual)


@package.call([0.4, -1.2, 0.7])
def ackley(individual):
    return benchmarks.ackley(individual)


@package.call([40.0, -120.0])
def griewank(individual):
    return benchmarks.griewank(individual)


@package.call([0.4, -1.2])
def himmelblau(individual):
    return benchmarks.himmelblau(individual)


@package.call([0.4, -1.2, 0.7, 0.2])
def schaffer(individual):
    return benchmarks.schaffer(individual)


@package.call([0.4, 0.2, 0.7])
def dtlz2(individual):
    return benchmarks.dtlz2(individual, 2)


@package.call([0.4, 0.2, 0.7])
def zdt1(individual):
    return benchmarks.zdt1(individual)


@package.call(np.array([0.3, 0.4]))
def shekel(individual):
    return benchmarks.shekel(individual, [[0.5, 0.5], [0.25, 0.75]], [0.1, 0.3])


@package.call([0.4, -1.2])
def moved_by_a_decorator(individual):
    @tools.translate([0.25, 0.5])
    def bowl(individual):
        return sum(x * x for x in individual)

    return bowl(individual)
