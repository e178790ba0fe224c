"""simpy: events in time."""

import simpy

from libraries.package import Package

package = Package("simpy")


@package.call(1.5, 0.7)
def delays(first, second):
    done = []

    def worker(environment, delay):
        yield environment.timeout(delay)
        yield environment.timeout(2.0 * delay)
        done.append(environment.now)

    environment = simpy.Environment()
    environment.process(worker(environment, first))
    environment.process(worker(environment, second))
    environment.run()
    return done


@package.call(2.0)
def one_counter(service):
    waits = []

    def customer(environment, counter, arrival):
        yield environment.timeout(arrival)
        with counter.request() as request:
            yield request
            waits.append(environment.now - arrival)
            yield environment.timeout(service)

    environment = simpy.Environment()
    counter = simpy.Resource(environment, capacity=1)
    for k in range(3):
        environment.process(customer(environment, counter, 0.5 * k))
    environment.run()
    return sum(waits)


@package.call(0.3)
def level_of_a_tank(rate):
    def filling(environment, tank):
        for _ in range(4):
            yield environment.timeout(1.0)
            yield tank.put(rate)

    environment = simpy.Environment()
    tank = simpy.Container(environment, capacity=10.0, init=1.0)
    environment.process(filling(environment, tank))
    environment.run(until=10)
    return tank.level


@package.call(1.2)
def constant_events(scale):
    counts = []

    def clock(environment):
        while True:
            yield environment.timeout(1)
            counts.append(environment.now)

    environment = simpy.Environment()
    environment.process(clock(environment))
    environment.run(until=5)
    return sum(scale**k for k in counts)


@package.call(0.4)
def value_of_a_process(x):
    def inner(environment):
        yield environment.timeout(1)
        return x * x

    def outer(environment):
        result = yield environment.process(inner(environment))
        return result + x

    environment = simpy.Environment()
    return environment.run(environment.process(outer(environment)))
