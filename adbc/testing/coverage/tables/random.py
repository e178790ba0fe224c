"""Calls of random generators, each new and with the same seed: the drawn number moves with its parameters."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "DRAWS"]

DRAWS: dict[str, Sequence[str]] = {
    "normal": ["normal(x, y)", "normal(v, 2.0, (2, 5))", "normal(x, y, 3)"],
    "uniform": ["uniform(x, y + 1.0)", "uniform(v, 2.0, (2, 5))"],
    "laplace": ["laplace(x, y)", "laplace(v, 2.0, 5)"],
    "gumbel": ["gumbel(x, y)"],
    "logistic": ["logistic(x, y)"],
    "exponential": ["exponential(x)", "exponential(v, (2, 5))"],
    "lognormal": ["lognormal(x, y)"],
    "rayleigh": ["rayleigh(x)"],
    "weibull": ["weibull(x + 0.5)"],
    "pareto": ["pareto(x + 0.5)"],
    "power": ["power(x + 0.5)"],
    "triangular": ["triangular(x - 2.0, x, y + 2.0)"],
    "standard_t": ["standard_t(x + 2.0)", "standard_t(x)"],
    "standard_gamma": ["standard_gamma(x)", "standard_gamma(v, (4, 5))", "standard_gamma(v + 1.0, (4, 5))"],
    "gamma": ["gamma(2.0, x)", "gamma(x, y)", "gamma(v, 2.0, (4, 5))"],
    "beta": ["beta(x, y)", "beta(x, 2.0)", "beta(2.0, x)"],
    "dirichlet": ["dirichlet(v)", "dirichlet(0.1 * v)", "dirichlet(v + 1.0, 2)"],
    "chisquare": ["chisquare(x)", "chisquare(x + 2.0)"],
    "f": ["f(x, y)", "f(x + 2.0, y + 3.0)"],
    "noncentral_chisquare": [
        "noncentral_chisquare(x, y)",
        "noncentral_chisquare(x + 2.0, y)",
        "noncentral_chisquare(x, 9.0)",
        "noncentral_chisquare(x, 0.0)",
    ],
    "noncentral_f": [
        "noncentral_f(x, y, z)",
        "noncentral_f(x + 2.0, y + 3.0, z)",
        "noncentral_f(x, y, 0.0)",
    ],
    "vonmises": [
        "vonmises(x, y)",
        "vonmises(x, 30.0 * y)",
        "vonmises(x, 2e6 * (y + 1.0))",
        "vonmises(0.0, 5e-6 * y) * 1e5",
        "vonmises(x, 1e-9 * y)",
    ],
    "wald": ["wald(x, y)", "wald(v, u, (4, 5))"],
    "multivariate_normal": [
        "multivariate_normal(v[:3], S)",
        "multivariate_normal(v[:3], S, 4)",
        "multivariate_normal(v[:3], np.eye(3))",
    ],
    "binomial": ["binomial(10, x)"],
    "geometric": ["geometric(x)"],
    "hypergeometric": ["hypergeometric(5, 6, 3)"],
    "logseries": ["logseries(x)"],
    "multinomial": ["multinomial(10, p)"],
    "multivariate_hypergeometric": ["multivariate_hypergeometric([3, 4], 2)"],
    "negative_binomial": ["negative_binomial(4, x)"],
    "poisson": ["poisson(x)", "poisson(v)"],
    "zipf": ["zipf(x + 1.5)"],
    "permutation": ["permutation(v)", "permutation(A)", "permutation(5)"],
    "permuted": ["permuted(A, axis=1)"],
    "shuffle": ["shuffle(v)", "shuffle(A)"],
    "choice": [
        "choice(v)",
        "choice(v, 3)",
        "choice(v, 3, replace=False)",
        "choice(4, 3, p=[0.1, 0.2, 0.3, 0.4])",
        "choice(5)",
    ],
    "integers": ["integers(5, size=3)"],
    "random": ["random(3) * v[0]"],
    "standard_normal": ["standard_normal(3) * v[0]"],
    "standard_exponential": ["standard_exponential(3) * v[0]"],
    "standard_cauchy": ["standard_cauchy(3) * v[0]"],
    "rand": ["rand(3) * v[0]"],
    "randn": ["randn(3) * v[0]"],
    "randint": ["randint(5, size=3)"],
    "random_sample": ["random_sample(3) * v[0]"],
    "ranf": ["ranf(3) * v[0]"],
    "sample": ["sample(3) * v[0]"],
    "random_integers": ["random_integers(4)"],
    "tomaxint": ["tomaxint()"],
    "bytes": ["bytes(3)"],
    "spawn": ["spawn(2)[0].random() * v[0]"],
}
"""Calls of the methods of generators, by name."""

_OLD = {"rand", "randn", "randint", "random_sample", "ranf", "sample", "random_integers", "tomaxint"}
_NEW = {"integers", "permuted", "spawn", "multivariate_hypergeometric"}
_ONLY_NEW = {
    "vonmises": ["vonmises(0.0, 2e6 * (y + 1.0)) * 1e3"],
    "multivariate_normal": [
        f"multivariate_normal(v[:3], S, 2, method={root!r})" for root in ("svd", "eigh", "cholesky")
    ],
}
"""Calls of forms that the old generators do not have, or round too much for differences."""

CALLS: dict[str, Sequence[str]] = {
    **{
        f"numpy.random.Generator.{name}": [
            f"np.random.default_rng(5).{text}" for text in (*texts, *_ONLY_NEW.get(name, ()))
        ]
        for name, texts in DRAWS.items()
        if name not in _OLD
    },
    **{
        f"numpy.random.RandomState.{name}": [f"np.random.RandomState(5).{text}" for text in texts]
        for name, texts in DRAWS.items()
        if name not in _NEW and name not in ("ranf", "sample")
    },
    **{
        f"numpy.random.{name}": [f"(np.random.seed(5), np.random.{text})[1]" for text in texts]
        for name, texts in DRAWS.items()
        if name not in _NEW
    },
    "numpy.random.seed": ["np.random.seed(3)"],
    "numpy.random.default_rng": ["np.random.default_rng(3).normal() * v[0]"],
}
