"""Random numbers move with their parameters, and generators are left as plain calls leave them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.rules.numpy import composed_draws
from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient

V = np.array([0.3, 0.7, 0.2, 0.5, 0.8])
W = V[::-1] * 1.1
A = np.arange(12.0).reshape(4, 3) + 0.5


def new() -> Any:
    return np.random.default_rng(5)


def old() -> Any:
    return np.random.RandomState(5)


TWO: list[Callable[[Any, Any], Any]] = [
    lambda x, y: new().normal(x, y),
    lambda x, y: new().normal(x, y, (3, 5)),
    lambda x, y: (x, new().normal(scale=y, size=(3, 5))),
    lambda x, y: new().laplace(x, y),
    lambda x, y: new().gumbel(x, y),
    lambda x, y: old().logistic(x, y, (2, 5)),
    lambda x, y: new().uniform(x, y + 1.0),
    lambda x, y: old().uniform(low=x, high=y + 1.0),
    lambda x, y: new().lognormal(x, y),
    lambda x, y: new().triangular(x - 2.0, x, y + 1.0, (3, 5)),
    lambda x, y: old().triangular(x - 2.0, x, y + 1.0),
    lambda x, y: y * new().exponential(x),
    lambda x, y: y * old().rayleigh(x),
    lambda x, y: y * new().weibull(x + 0.5),
    lambda x, y: y * new().power(x + 0.5),
    lambda x, y: y * new().pareto(x + 0.5),
    lambda x, y: y * new().gamma(2.0, x),
    lambda x, y: y + new().vonmises(x, 2.0),
    lambda x, y: (np.random.seed(3), np.random.normal(x, y), np.random.exponential(x))[1:],  # noqa: NPY002
]


@pytest.mark.parametrize("number", range(len(TWO)))
def test_numbers_move_with_their_parameters(number: int) -> None:
    check_rule(TWO[number], V, W)
    check_rule(TWO[number], 0.4, 0.7)
    if number == 0:
        single = adbc.grad(lambda x, y: TWO[0](x, y).sum())(V.astype(np.float32), W)
        assert single.dtype == np.float32


REJECTED: list[Callable[[Any, Any, Any], Any]] = [
    lambda r, x, y: y * r.standard_gamma(x),
    lambda r, x, y: r.gamma(x, y),
    lambda r, x, y: y * r.chisquare(x, (3, *np.shape(x))),
    lambda r, x, y: y * r.standard_t(df=x, size=(3, *np.shape(x))),
    lambda r, x, y: r.f(x, y),
    lambda r, x, y: r.noncentral_chisquare(x, y),
    lambda r, x, y: r.noncentral_f(x, y, x * y),
    lambda r, x, y: r.beta(b=x, a=y),
    lambda r, x, y: y * r.beta(x, 0.5 * x),
    lambda r, x, y: r.wald(x, y),
    lambda r, x, y: r.vonmises(x, y, (2, *np.shape(x))),
    lambda r, x, y: r.vonmises(x, 1e-6 * y),
    lambda r, x, y: r.vonmises(x, 1e7 * y),
]
"""Of a generator and two parameters, which are below 1 and above it."""


MOVING: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: new().permutation(x), V),
    (lambda x: new().permutation(x, axis=1), A),
    (lambda x: new().permutation(x), [0.1, 0.2, 0.3]),
    (lambda x: new().permuted(x, axis=1), A),
    (lambda x: new().permuted(x), A),
    (lambda x: new().shuffle(x), V),
    (lambda x: new().shuffle(x, axis=1), A),
    (lambda x: new().shuffle(x), [0.1, 0.2, 0.3]),
    (lambda x: new().choice(x), V),
    (lambda x: new().choice(x, (2, 2), False), A),
    (lambda x: new().choice(x, 2, axis=1), A),
    (lambda x: new().choice(x, 3, p=[0.1, 0.2, 0.7]), [0.1, 0.2, 0.3]),
    (lambda x: old().permutation(x), A),
    (lambda x: old().shuffle(x), A[::2]),
    (lambda x: old().choice(x, 3), V),
    (lambda x: x * new().choice(5, 5), V),
    (lambda x: new().poisson(x), V),
    (lambda x: old().binomial(4, x), V),
    (lambda x: new().multivariate_normal(x, np.eye(5), 3), V),
]


@pytest.mark.parametrize("number", range(len(MOVING)))
def test_what_is_given_moves(number: int) -> None:
    f, x = MOVING[number]
    check_rule(f, x)


GENERATORS: list[Callable[[Any, Any], Any]] = [
    lambda r, x: r.normal(x, 2.0).sum(),
    lambda r, x: r.permutation(x)[0] + r.choice(x, 2)[1] + r.normal(x[0]),
    lambda r, x: (r.shuffle(x), x[1] * r.poisson(2.0) * r.uniform(x[0], 2.0))[1],
]


@pytest.mark.parametrize("f", GENERATORS)
@pytest.mark.parametrize("make", [new, old])
def test_generators_are_left_as_by_a_plain_call(f: Any, make: Any) -> None:
    plain, forward, reverse = make(), make(), make()
    value = f(plain, V.copy())
    assert adbc.jvp(lambda x: f(forward, x), (V.copy(),), (W,))[0] == value
    assert adbc.value_and_grad(lambda x: f(reverse, x))(V.copy())[0] == value
    assert plain.random() == forward.random() == reverse.random()


@pytest.mark.parametrize("make", [new, old])
def test_any_angle_does_not_depend_on_the_middle(make: Any) -> None:
    check_rule(lambda mu: make().vonmises(mu, [1e-9, 0.0, 0.5, 9e-9]), 0.4)
    assert adbc.grad(lambda mu: make().vonmises(mu, 1e-9))(0.4) == 0.0


def test_no_scale_says_nothing_of_the_draw() -> None:
    assert np.isnan(adbc.grad(lambda s: new().normal(0.0, s))(0.0))
    assert adbc.grad(lambda m: new().normal(m, 0.0))(0.0) == 1.0


@pytest.mark.parametrize("make", [new, old])
@pytest.mark.parametrize("number", range(len(REJECTED)))
def test_what_is_drawn_by_rejection_moves_as_what_was_accepted(number: int, make: Any) -> None:
    f = REJECTED[number]
    check_rule(lambda x, y: f(make(), x, y), V, 5.0 * W)
    check_rule(lambda x, y: f(make(), x, y), 0.4, 2.7)
    check_rule(lambda x, y: f(make(), x, y), 1.7, 0.6, width=2)


@pytest.mark.parametrize("number", range(len(REJECTED)))
def test_second_derivatives_of_what_was_accepted(number: int) -> None:
    check_rule(lambda x, y: REJECTED[number](new(), x, y), 0.4, 2.7, order=2)


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_each_root_of_a_covariance(method: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return new().multivariate_normal(x, np.diag(y) + np.outer(x, x), (2, 3), method=method)

    check_rule(f, V, W)


def test_vectors_are_made_of_gamma_or_of_beta_numbers() -> None:
    alpha = np.concatenate([V, W])
    for scale in (1.0, 0.05):  # below 0.1 the new generators break a stick
        for make in (new, old):
            check_rule(lambda x, make=make: make().dirichlet(x, (2, 3)), scale * alpha)
            check_rule(lambda x, make=make: make().dirichlet((x, 2.5 * x, 0.3)), scale * 1.7)


def test_where_the_way_of_drawing_changes_the_derivative_is_nan_by_that_parameter_alone() -> None:
    assert np.isnan(adbc.grad(lambda a: new().standard_gamma(a))(1.0))
    assert np.isnan(adbc.grad(lambda df: new().standard_t(df))(2.0))
    assert np.isnan(adbc.grad(lambda x: new().noncentral_chisquare(3.0, x))(0.0))
    check_rule(lambda x: new().beta(1.0, x), 2.5)
    check_rule(lambda x: new().noncentral_chisquare(x, 0.0), 2.5)
    check_rule(lambda x: new().f(2.0, x, (2, 2)), 2.5)


def test_nothing_is_drawn_of_size_zero() -> None:
    for draw in (lambda x: new().beta(x, 2.0, 0), lambda x: old().standard_t(x, (0, 2))):
        assert adbc.grad(lambda x, draw=draw: draw(x).sum() + x)(0.5) == 1.0


def test_a_version_that_draws_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, number = composed_draws.COMPOSED["f"]
    monkeypatch.setitem(composed_draws.COMPOSED, "f", (lambda g, a, b: parts(g, b, a), number))
    with pytest.raises(UnsupportedError, match="draws them in another way"):
        adbc.grad(lambda x: new().f(x, 3.0))(2.5)


COVARIANCES: list[Callable[[], Any]] = [
    lambda: [[1.0, 0.0], [0.0, 1.0]],
    lambda: np.diag([2.0, 2.0]),
    lambda: np.array([[1.0, 0.0], [0.0, 1.0]]) * 3,
]


@pytest.mark.parametrize("number", range(len(COVARIANCES)))
@pytest.mark.parametrize("make", [new, old], ids=["new", "old"])
def test_a_covariance_that_is_constant_may_have_equal_eigenvalues(make: Any, number: int) -> None:
    def f(x: Any) -> Any:
        cov = COVARIANCES[number]()
        return make().multivariate_normal(x * np.ones(2), cov) * make().multivariate_normal([x, x], cov)

    for _ in range(3):
        check_gradient(lambda x: f(x).sum(), 0.7)
    with adbc.use(adbc.Config(warm_after=0)):
        check_gradient(lambda x: f(x).sum(), 0.7)
        with pytest.raises(UnsupportedError, match="equal eigenvalues"):
            adbc.grad(lambda x: make().multivariate_normal([0.0, 0.0], [[x, 0.0], [0.0, x]]).sum())(0.7)


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: new().multivariate_normal(np.zeros(2), x * np.eye(2)).sum(), "np.linalg.cholesky"),
    (lambda x: new().permuted(x * V, out=np.zeros(5)).sum(), "Assign the result"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(number: int) -> None:
    f, words = REFUSED[number]
    for run in (lambda: adbc.grad(f)(2.0), lambda: adbc.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(UnsupportedError, match=words.replace(".", r"\.")):
            run()


@pytest.mark.parametrize("new", [np.random.RandomState, np.random.default_rng])
def test_a_choice_of_no_shape_is_an_array(new: Any) -> None:
    def f(x: Any) -> Any:
        kept = [new(3).choice(a, (), replace=True) for a in ([None], ["a", "b"], [x, 2 * x])]
        return kept[2] ** 2 + 0 * x, kept

    (square, plainly), x = f(1.5), 1.5
    (value, kept), slope = adbc.value_and_grad(f, has_aux=True)(x)
    (forward, others), (tangent, _) = adbc.jvp(f, (x,), (1.0,))
    assert value == forward == square and slope == tangent == pytest.approx(2 * square / x)
    for found in (kept, others):
        assert [(type(a), repr(a)) for a in found] == [(type(a), repr(a)) for a in plainly]
