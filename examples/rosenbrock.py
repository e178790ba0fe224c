"""The first thing to differentiate: a loop over a list, with no import of anything.

python -m adbc grad examples.rosenbrock:rosenbrock "[1.3, 0.7, 0.8, 1.9, 1.2]"
"""


def rosenbrock(x: list[float]) -> float:
    """The banana-shaped valley; its only minimum is at all ones."""
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total
