"""PyYAML: settings in texts, and what is computed from them."""

import yaml

from libraries.package import Package

package = Package("PyYAML")

TEXT = """
beam: {length: 4.0, width: 0.1, height: 0.2}
loads:
  - {at: 1.0, force: 500.0}
  - {at: 2.5, force: 250.0}
"""


@package.call(2.1e11)
def deflection_of_a_beam(modulus):
    beam = yaml.safe_load(TEXT)["beam"]
    inertia = beam["width"] * beam["height"] ** 3 / 12
    return 1000.0 * beam["length"] ** 3 / (48 * modulus * inertia)


@package.call(1.5)
def factor_of_loads(factor):
    settings = yaml.safe_load(TEXT)
    moments = [
        factor * load["force"] * (settings["beam"]["length"] - load["at"]) for load in settings["loads"]
    ]
    return moments


@package.call(0.3)
def written_and_read(x):
    again = yaml.safe_load(yaml.safe_dump({"rate": 0.25, "steps": 5}))
    for _ in range(again["steps"]):
        x = x + again["rate"] * x * (1.0 - x)
    return x


@package.call(2.0)
def own_tags(x):
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!square", lambda loader, node: float(loader.construct_scalar(node)) ** 2)
    return x * yaml.load("side: !square 3.0", Loader=Loader)["side"]
