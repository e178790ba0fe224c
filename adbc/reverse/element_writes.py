"""Writes of numbers into elements of arrays in the forwards pass."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from adbc.ir import intrinsics
from adbc.ir.values import Instruction
from adbc.reverse.adjoints import StoreAdjoint
from adbc.reverse.fields import stands_for
from adbc.types.callsites import CallSite

if TYPE_CHECKING:  # the builder has this function among its handlers
    from adbc.reverse.forwards import ForwardsPass

__all__ = ["store"]


def store(builder: ForwardsPass, call: Instruction, site: CallSite) -> None:
    """Write ``u[i] = v`` of a number, and keep the number that was there.

    Where a handler may see what is raised, it is one step, by a function of the runtime: what stands in
    front of the only call of a block that is protected belongs to no region.
    """
    container, index, value = site.arguments
    u, fu, i = builder.p(container), builder.s(container), builder.p(index)
    is_active = value in builder.active
    write = builder.builder.call
    if builder.is_protected:
        old = write(builder.support.exchange, u, fu, i, builder.p(value), is_active)
        stands_for(builder, call, old)
    else:
        if is_active:
            write(intrinsics._require_, fu, builder.support.check_slot, u)
            builder.activate(fu)
        old = write(operator.getitem, u, i)
        builder.effects.append(old)  # an index that is wrong is found here
        builder.copy(call)
    builder.leave(StoreAdjoint(value, u, fu, i, old))
