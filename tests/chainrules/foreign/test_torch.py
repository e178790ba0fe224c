"""Rules of PyTorch's, tried where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules as cr
from adbc.chainrules.testing import test_frule as check_frule
from adbc.chainrules.testing import test_rrule as check_rrule

X, Y = np.array([0.3, -0.7]), np.array([1.5, 2.0])


def test_of_torch() -> None:
    torch = pytest.importorskip("torch")

    class Blend(torch.autograd.Function):  # type: ignore[misc,name-defined]
        """Saves its result, which the caller may change."""

        @staticmethod
        def forward(ctx: Any, x: Any, k: Any, n: int) -> Any:
            out = x.exp() * k**n
            ctx.save_for_backward(out, k)
            ctx.n = n
            return out, k * 1.0

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            out, k = ctx.saved_tensors
            return g * out.conj(), (g * (out * ctx.n / k).conj()).sum() + h, None

        @staticmethod
        def jvp(ctx: Any, dx: Any, dk: Any, dn: Any) -> Any:
            return None

    blend = cr.from_torch(Blend)
    check_rrule(blend, X, 0.3, 2)
    check_rrule(blend, X + 0.5j, 0.3 + 0.1j, 2)
    check_rrule(blend, X.astype(np.float32), np.float32(0.3), 2)

    def f(x: Any, k: float) -> Any:
        out, second = blend(x, k, 2)
        total = out.sum() + second
        out *= 0.0
        return total

    dx, dk = adbc.grad(f, (0, 1))(X, 0.3)
    assert dx == pytest.approx(np.exp(X) * 0.09)
    assert dk == pytest.approx((np.exp(X) * 0.6).sum() + 1.0)


@pytest.mark.filterwarnings("ignore:`torch.jit")  # PyTorch's own, on its first use of forward mode
def test_forward_mode_of_torch() -> None:
    torch = pytest.importorskip("torch")

    class Product(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * y, g * x

        @staticmethod
        def jvp(ctx: Any, dx: Any, dy: Any) -> Any:
            x, y = ctx.saved_tensors
            zero = torch.zeros_like(x)
            return (zero if dx is None else dx * y) + (zero if dy is None else x * dy)

    class Same(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    product, same = cr.from_torch(Product), cr.from_torch(Same)
    check_frule(product, X, Y)
    check_rrule(product, X, Y)
    assert adbc.jvp(lambda x: product(x, Y).sum(), (X,), (X,))[1] == pytest.approx((X * Y).sum())
    check_rrule(same, X)
    with pytest.raises(adbc.errors.UnsupportedError, match="no jvp"):
        adbc.jvp(lambda x: same(x).sum(), (X,), (X,))
