"""Derivatives in the form that SciPy's solvers take: keywords for ``scipy.optimize`` and ``scipy.integrate``.

The functions here give what a solver asks for, and call nothing of SciPy's.  Unknowns may have any structure:
`unknowns` takes them to a vector and back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.api import grad, jvp, value_and_grad
from adbc.jacobians import hessian, jacfwd, jacobian
from adbc.tangents.array_vectors import ravel

__all__ = ["for_least_squares", "for_minimize", "for_root", "for_solve_ivp", "unknowns"]

Array = np.ndarray[Any, Any]


def for_minimize(f: Callable[..., Any], *, hess: bool = False, hessp: bool = False) -> dict[str, Any]:
    """The keywords of ``scipy.optimize.minimize`` for a function of a vector and of what `args` gives
    besides: ``fun`` gives the value and the gradient (``jac=True``).

    hess: also the Hessian, for the methods "trust-exact", "dogleg" and "Newton-CG".
    hessp: also products of the Hessian with a vector, for "Newton-CG", "trust-ncg", "trust-krylov".

    >>> import adbc.scipy, numpy as np, scipy.optimize
    >>> def rosenbrock(x, a):
    ...     return np.sum(a * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    >>> how = adbc.scipy.for_minimize(rosenbrock)
    >>> scipy.optimize.minimize(x0=np.zeros(2), args=(100.0,), method="BFGS", **how).x.round(4)
    array([1., 1.])
    """
    both = value_and_grad(f)

    def fun(x: Array, *args: Any) -> tuple[float, Array]:
        value, gradient = both(_own(x), *args)
        return float(value), gradient

    found: dict[str, Any] = {"fun": fun, "jac": True}
    if hess:
        matrix = hessian(f)

        def hess_of(x: Array, *args: Any) -> Array:
            return np.asarray(matrix(_own(x), *args))

        found["hess"] = hess_of
    if hessp:
        gradient_of = grad(f)

        def hessp_of(x: Array, p: Array, *args: Any) -> Array:
            given = (_own(x), *args)
            directions = (_own(p), *[None] * len(args))
            return np.asarray(jvp(gradient_of, given, directions)[1])

        found["hessp"] = hessp_of
    return found


def for_least_squares(f: Callable[..., Any]) -> dict[str, Any]:
    """The keywords of ``scipy.optimize.least_squares`` for residuals `f` of a vector and of what `args` gives
    besides: ``fun`` and ``jac``.

    >>> import adbc.scipy, numpy as np, scipy.optimize
    >>> t = np.linspace(0.0, 1.0, 20)
    >>> def residuals(p, t, y):
    ...     return p[0] * np.exp(-p[1] * t) - y
    >>> how = adbc.scipy.for_least_squares(residuals)
    >>> scipy.optimize.least_squares(x0=np.ones(2), args=(t, 2.0 * np.exp(-3.0 * t)), **how).x.round(6)
    array([2., 3.])
    """
    return {"fun": f, "jac": _jacobian(f)}


def for_root(f: Callable[..., Any]) -> dict[str, Any]:
    """The keywords of ``scipy.optimize.root`` for equations ``f(x, *args) = 0``: ``fun`` and ``jac``.

    >>> import adbc.scipy, numpy as np, scipy.optimize
    >>> def equations(x):
    ...     return np.array([x[0] + x[1] - 3.0, x[0] * x[1] - 2.0])
    >>> scipy.optimize.root(x0=np.array([0.0, 5.0]), **adbc.scipy.for_root(equations)).x.round(6)
    array([1., 2.])
    """
    return {"fun": f, "jac": _jacobian(f)}


def for_solve_ivp(f: Callable[..., Any]) -> dict[str, Any]:
    """The keywords of ``scipy.integrate.solve_ivp`` for ``dy/dt = f(t, y, *args)``: ``fun``, and ``jac`` for
    the implicit methods "Radau", "BDF" and "LSODA".

    >>> import adbc.scipy, numpy as np, scipy.integrate
    >>> def decay(t, y, k):
    ...     return np.array([-k * y[0], k * y[0] - y[1] ** 2])
    >>> how = adbc.scipy.for_solve_ivp(decay)
    >>> end = scipy.integrate.solve_ivp(t_span=(0.0, 1.0), y0=[1.0, 0.0], args=(2.0,), method="BDF", **how)
    >>> end.y[0, -1].round(2)
    np.float64(0.14)
    """
    matrix = jacfwd(f, 1)

    def jac(t: float, y: Array, *args: Any) -> Array:
        return np.asarray(matrix(float(t), _own(y), *args))

    return {"fun": f, "jac": jac}


def unknowns(f: Callable[..., Any], x0: Any) -> tuple[Callable[..., Any], Array, Callable[[Array], Any]]:
    """``(g, vector, back)``: the function `g` of a vector that is `f` of a value like `x0`, the vector of
    `x0`, and what takes a vector to such a value (`adbc.ravel`).

    >>> import adbc.scipy, scipy.optimize
    >>> def cost(p):
    ...     return (p["a"] - 1.0) ** 2 + (p["b"] - p["a"]) ** 2
    >>> g, start, back = adbc.scipy.unknowns(cost, {"a": 0.0, "b": 5.0})
    >>> found = scipy.optimize.minimize(x0=start, **adbc.scipy.for_minimize(g))
    >>> {name: round(x, 4) for name, x in back(found.x).items()}
    {'a': 1.0, 'b': 1.0}
    """
    vector, back = ravel(x0)
    # What `back` does is followed slowly: for usual containers a function is written that is plain code.
    taken = _written(x0, back(np.arange(float(vector.size)))) or back

    def of_vector(x: Array, *args: Any) -> Any:
        return f(taken(x), *args)

    return of_vector, vector, back


def _written(tree: Any, places: Any) -> Callable[[Array], Any] | None:
    """The function that makes a value like `tree` of a vector, whose places are the numbers in `places`.

    None if `tree` has other parts than containers of Python's own, floats and arrays of floats, or one of
    them twice.
    """
    scope: dict[str, Any] = {}
    seen: set[int] = set()

    def expression(x: Any, at: Any) -> str:
        cls = type(x)
        if cls is float:
            return f"float(x[{int(at)}])"
        if cls in (int, bool, str, bytes, type(None)):
            scope[f"k{len(scope)}"] = x
            return f"k{len(scope) - 1}"
        if id(x) in seen or cls not in (list, tuple, dict, np.ndarray):
            raise ValueError
        seen.add(id(x))
        if cls is dict:
            for key in x:
                scope[f"k{len(scope)}"] = key
            names = [f"k{len(scope) - len(x) + i}" for i in range(len(x))]
            parts = [expression(v, at[key]) for key, v in x.items()]
            return f"{{{', '.join(f'{k}: {v}' for k, v in zip(names, parts, strict=True))}}}"
        if cls is np.ndarray:
            if x.dtype != np.float64 or x.base is not None:
                raise ValueError
            scope[f"k{len(scope)}"] = at.astype(np.int64)
            return f"x[k{len(scope) - 1}]"
        parts = [expression(v, p) for v, p in zip(x, at, strict=True)]
        return f"[{', '.join(parts)}]" if cls is list else f"({''.join(f'{p}, ' for p in parts)})"

    try:
        source = f"def taken(x):\n return {expression(tree, places)}"
    except ValueError:
        return None
    exec(compile(source, __file__, "exec"), scope)
    made: Callable[[Array], Any] = scope["taken"]
    return made


def _jacobian(f: Callable[..., Any]) -> Callable[..., Array]:
    matrix = jacobian(f)

    def jac(x: Array, *args: Any) -> Array:
        return np.asarray(matrix(_own(x), *args))

    return jac


def _own(x: Any) -> Array:
    """`x` as a vector of floats that nobody else has: solvers use theirs again."""
    return np.array(x, dtype=float)
