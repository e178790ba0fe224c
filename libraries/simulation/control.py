"""control: linear systems."""

import control as ct
import numpy as np

from libraries.package import Package

package = Package("control")

TIMES = np.linspace(0.0, 2.0, 6)


@package.call(0.5, 2.0)
def frequency_response(damping, frequency):
    plant = ct.tf([frequency**2], [1.0, 2.0 * damping * frequency, frequency**2])
    return abs(plant(1.5j))


@package.call(0.5)
def closed_loop(gain):
    loop = ct.feedback(gain * ct.tf([1.0], [1.0, 2.0, 0.5]), 1)
    return loop.dcgain()


@package.call(1.3)
def step_response(rate):
    _, values = ct.step_response(ct.ss([[-rate]], [[rate]], [[1.0]], [[0.0]]), T=TIMES)
    return values


@package.call(0.8)
def margins(gain):
    gain_margin, phase_margin, _, _ = ct.margin(gain * ct.tf([1.0], [1.0, 3.0, 2.0, 0.5]))
    return gain_margin, phase_margin


@package.call(0.8)
def coefficients_of_a_series(gain):
    system = ct.series(ct.tf([gain], [1.0, 1.0]), ct.tf([1.0, 2.0], [1.0, gain]))
    return system.num[0][0], system.den[0][0]


@package.call(2.0)
def poles(stiffness):
    return np.sort(ct.ss([[0.0, 1.0], [-stiffness, -3.5]], [[0.0], [1.0]], [[1.0, 0.0]], 0.0).poles().real)


@package.call(1.5)
def regulator(weight):
    gain, _, _ = ct.lqr(
        np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), np.eye(2), np.array([[weight]])
    )
    return gain


@package.call(np.array([0.0, 1.0]))
def simulated(start):
    system = ct.ss([[0.0, 1.0], [-2.0, -0.5]], [[0.0], [1.0]], [[1.0, 0.0]], [[0.0]])
    return ct.initial_response(system, TIMES, start).outputs


@package.call(3.0)
def decibels(magnitude):
    return ct.mag2db(magnitude) + ct.db2mag(magnitude)


@package.call(0.4)
def nonlinear_system(damping):
    system = ct.NonlinearIOSystem(
        lambda t, x, u, params: np.array([x[1], -np.sin(x[0]) - damping * x[1] + u[0]]),
        None,
        inputs=1,
        states=2,
    )
    return system.dynamics(0.0, np.array([0.3, 0.1]), np.array([0.2]))
