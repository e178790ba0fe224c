"""simple-pid: a controller in a loop."""

from simple_pid import PID

from libraries.package import Package

package = Package("simple-pid")


@package.call(1.2, 0.3, 0.05)
def heated_water(proportional, integral, derivative):
    controller = PID(proportional, integral, derivative, setpoint=60.0, sample_time=None)
    temperature = 20.0
    for _ in range(10):
        power = controller(temperature, dt=0.1)
        temperature += 0.1 * (power - 0.1 * (temperature - 20.0))
    return temperature


@package.call(35.0)
def set_point(goal):
    controller = PID(0.8, 0.1, 0.0, setpoint=goal, sample_time=None)
    outputs = [controller(20.0 + k, dt=0.5) for k in range(4)]
    return outputs


@package.call(0.7)
def components(gain):
    controller = PID(gain, 0.4, 0.2, setpoint=5.0, sample_time=None)
    controller(1.0, dt=0.1)
    controller(1.5, dt=0.1)
    return controller.components


@package.call(0.7)
def on_measurement(gain):
    controller = PID(gain, 0.4, 0.2, setpoint=5.0, sample_time=None, proportional_on_measurement=True)
    controller.output_limits = (-100.0, 100.0)
    return [controller(0.2 * k * k, dt=0.1) for k in range(4)]


@package.call(0.7)
def with_an_error_map(gain):
    controller = PID(gain, 0.1, 0.0, setpoint=1.0, sample_time=None, error_map=lambda error: error**3)
    return [controller(0.2 * k, dt=0.1) for k in range(3)]
