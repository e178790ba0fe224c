"""pydantic: models of settings, whose methods compute."""

import pydantic
from pydantic import BaseModel, Field, TypeAdapter, computed_field

from libraries.package import Package

package = Package("pydantic")


class Tank(BaseModel):
    radius: float = Field(gt=0)
    height: float
    name: str = "tank"

    @computed_field
    @property
    def volume(self) -> float:
        return 3.141592653589793 * self.radius**2 * self.height


class Plant(BaseModel):
    tanks: list[Tank]
    price: float = 2.0

    def cost(self, exponent):
        return sum(self.price * tank.volume**exponent for tank in self.tanks)


@pydantic.dataclasses.dataclass
class Spring:
    stiffness: float
    length: float = 1.0

    def energy(self, extension):
        return 0.5 * self.stiffness * (extension - self.length) ** 2


PLANT = Plant.model_validate_json(
    '{"tanks": [{"radius": 1.0, "height": 2.0}, {"radius": 0.5, "height": 3.0}]}'
)


@package.call(0.6)
def cost_of_a_plant(exponent):
    return PLANT.cost(exponent)


@package.call(1.3, 2.0)
def validated_floats(radius, height):
    return Tank(radius=radius, height=height).volume


@package.call(1.3)
def made_without_validation(radius):
    return Tank.model_construct(radius=radius, height=2.0).volume


@package.call(1.3)
def energy_of_a_spring(extension):
    return Spring(20.0).energy(extension)


@package.call(1.3)
def adapted_constants(x):
    weights = TypeAdapter(list[float]).validate_json("[1, 2.5, 3]")
    return sum(w * x**k for k, w in enumerate(weights))


@package.call(0.7)
def copied(exponent):
    dearer = PLANT.model_copy(update={"price": 3.0})
    return dearer.cost(exponent) - PLANT.cost(exponent)
