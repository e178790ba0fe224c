"""Calls of the functions and distributions of ``scipy.stats``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_S = "scipy.stats"

CONTINUOUS: dict[str, tuple[str, ...]] = {
    "alpha": ("3.0",),
    "anglit": (),
    "arcsine": (),
    "argus": ("1.5",),
    "beta": ("2.0", "3.0"),
    "betaprime": ("2.0", "3.0"),
    "bradford": ("0.7",),
    "burr": ("2.0", "1.5"),
    "burr12": ("2.0", "1.5"),
    "cauchy": (),
    "chi": ("3.0",),
    "chi2": ("3.0",),
    "cosine": (),
    "crystalball": ("1.5", "3.0"),
    "dgamma": ("1.5",),
    "dweibull": ("1.5",),
    "erlang": ("2",),
    "expon": (),
    "exponnorm": ("1.5",),
    "exponpow": ("1.5",),
    "exponweib": ("1.5", "2.0"),
    "f": ("3.0", "5.0"),
    "fatiguelife": ("1.5",),
    "fisk": ("2.0",),
    "foldcauchy": ("1.5",),
    "foldnorm": ("1.5",),
    "gamma": ("2.0",),
    "genexpon": ("1.5", "1.0", "0.7"),
    "genextreme": ("0.3",),
    "gengamma": ("2.0", "1.5"),
    "genhalflogistic": ("0.5",),
    "genlogistic": ("1.5",),
    "gennorm": ("1.5",),
    "genpareto": ("0.3",),
    "gibrat": (),
    "gompertz": ("1.5",),
    "gumbel_l": (),
    "gumbel_r": (),
    "halfcauchy": (),
    "halfgennorm": ("1.5",),
    "halflogistic": (),
    "halfnorm": (),
    "hypsecant": (),
    "invgamma": ("3.0",),
    "invgauss": ("1.5",),
    "invweibull": ("2.0",),
    "johnsonsb": ("0.5", "1.5"),
    "johnsonsu": ("0.5", "1.5"),
    "kappa3": ("1.5",),
    "laplace": (),
    "laplace_asymmetric": ("1.5",),
    "levy": (),
    "loggamma": ("1.5",),
    "logistic": (),
    "loglaplace": ("2.0",),
    "lognorm": ("0.7",),
    "loguniform": ("0.1", "3.0"),
    "lomax": ("2.0",),
    "maxwell": (),
    "mielke": ("2.0", "1.5"),
    "moyal": (),
    "nakagami": ("1.5",),
    "norm": (),
    "pareto": ("2.0",),
    "pearson3": ("0.5",),
    "powerlaw": ("1.5",),
    "powerlognorm": ("1.5", "0.7"),
    "powernorm": ("1.5",),
    "rayleigh": (),
    "reciprocal": ("0.1", "3.0"),
    "rdist": ("3.0",),
    "rice": ("1.5",),
    "recipinvgauss": ("1.5",),
    "semicircular": (),
    "skewcauchy": ("0.3",),
    "skewnorm": ("1.5",),
    "t": ("4.0",),
    "trapezoid": ("0.2", "0.7"),
    "triang": ("0.4",),
    "truncexpon": ("2.0",),
    "truncnorm": ("-1.0", "2.0"),
    "truncpareto": ("2.0", "5.0"),
    "truncweibull_min": ("1.5", "0.1", "3.0"),
    "tukeylambda": ("0.3",),
    "uniform": (),
    "vonmises": ("1.5",),
    "wald": (),
    "weibull_max": ("1.5",),
    "weibull_min": ("1.5",),
    "wrapcauchy": ("0.5",),
    "gausshyper": ("2.0", "3.0", "1.5", "0.5"),
    "genhyperbolic": ("0.5", "1.5", "0.3"),
    "geninvgauss": ("1.5", "1.0"),
    "norminvgauss": ("1.5", "0.5"),
    "ncx2": ("3.0", "1.0"),
    "ncf": ("3.0", "5.0", "1.0"),
    "nct": ("4.0", "0.5"),
    "kappa4": ("0.3", "0.2"),
    "irwinhall": ("3",),
    "jf_skew_t": ("2.0", "3.0"),
    "rel_breitwigner": ("2.0",),
    "kstwobign": (),
    "ksone": ("5",),
    "kstwo": ("5",),
    "landau": (),
    "levy_l": (),
    "levy_stable": ("1.5", "0.3"),
    "studentized_range": ("3.0", "5.0"),
    "dpareto_lognorm": ("0.2", "0.5", "2.0", "1.5"),
    "vonmises_line": ("1.5",),
}
"""Continuous distributions with their shapes."""

NEGATIVE = ("weibull_max", "levy_l", "genextreme")
"""The distributions of numbers below zero."""

WHOLE = ("erlang", "irwinhall", "ksone", "kstwo")
"""The distributions whose shapes are whole numbers."""

DIRECT = ("beta", "chi2", "expon", "gamma", "norm", "t")
"""The distributions that have rows of their own, by all parameters."""

INVERTED = ("cauchy", "kstwobign", "landau", "skewnorm")
"""The distributions whose survival functions have inverses of their own."""

DISCRETE: dict[str, str] = {
    "bernoulli": "1, p[1]",
    "binom": "2, 5, p[1]",
    "geom": "2, p[1]",
    "poisson": "2, 3.0 * v",
    "nbinom": "2, 5, p[1]",
    "betabinom": "2, 5, 3.0 * v, 2.0 * u",
    "boltzmann": "2, v, 5",
    "dlaplace": "2, v",
    "logser": "2, v",
    "planck": "2, v",
    "skellam": "1, 3.0 * v, 2.0 * u",
    "zipf": "2, v + 1.5",
    "yulesimon": "2, v",
    "betanbinom": "2, 5, 3.0 * v, 2.0 * u",
    "zipfian": "2, v + 1.5, 5",
    "hypergeom": "2, 10, 5, 4",
    "randint": "2, 0, 5",
    "nhypergeom": "2, 10, 5, 2",
    "nchypergeom_fisher": "2, 10, 5, 4, v[0]",
    "nchypergeom_wallenius": "2, 10, 5, 4, v[0]",
    "poisson_binom": "1, p",
}
"""Discrete distributions, with the arguments of their probabilities."""


def _continuous(name: str, shapes: tuple[str, ...]) -> list[str]:
    given = "".join(f", {shape}" for shape in shapes)
    x = (
        "-0.5 * v"
        if name in NEGATIVE
        else "2.0 + 0.1 * v"
        if name in ("pareto", "loglaplace", "truncpareto")
        else "0.9 * v"
    )
    if name == "arcsine":
        x = "0.9 * v"
    scaled = "0.1 * u[0], 1.0 + 0.2 * v[1]"
    by = "" if name in DIRECT else "0.1 * "  # for others are bounded
    moved = "".join(f", {shape} + {by}u[{i + 1}]" for i, shape in enumerate(shapes))
    more = [] if name in WHOLE or not shapes else [f"{_S}.{name}.logpdf({x}{moved}, {scaled})"]
    if name in DIRECT:
        methods = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
        more += [f"{_S}.{name}.{method}({x}{moved}, {scaled})" for method in methods]
        more += [f"{_S}.{name}.{method}(2.0 * v - 0.8{moved}, {scaled})" for method in ("pdf", "cdf", "sf")]
    return [
        f"{_S}.{name}.logpdf({x}{given}, {scaled})",
        f"{_S}.{name}.pdf({x}{given}, {scaled})",
        f"{_S}.{name}.cdf({x}{given}, {scaled})",
        f"{_S}.{name}.ppf(v{given}, {scaled})",
        f"{_S}.{name}.sf({x}{given})",
        *([f"{_S}.{name}.isf(v{given}, {scaled})"] if name in INVERTED else []),
        *more,
    ]


CALLS: dict[str, Sequence[str]] = {
    **{f"{_S}.{name}": _continuous(name, shapes) for name, shapes in CONTINUOUS.items()},
    f"{_S}.norm": [
        *_continuous("norm", ()),
        f"{_S}.norm(v[0], u[0]).logpdf(u)",
        f"{_S}.norm(v[0], u[0]).mean()",
        f"{_S}.norm.isf(v)",
        f"{_S}.norm.logcdf(v)",
        f"{_S}.norm.logsf(v)",
        f"{_S}.norm.interval(0.9, v[0], u[0])",
        f"{_S}.norm.entropy(v[0], u[0])",
        f"{_S}.norm.std(v[0], u[0])",
        f"{_S}.norm.rvs(v[0], u[0], size=3, random_state=1)",
    ],
    f"{_S}.beta": [
        *_continuous("beta", CONTINUOUS["beta"]),
        f"{_S}.beta.ppf(v, 2.0 + u[1], 3.0 + u[2])",
        f"{_S}.beta._pdf(v, 2.0 + u[1], 3.0 + u[2])",  # which other methods integrate
        *[
            f"{_S}.beta.{method}(0.3, 2.0, 1.0 + u)"  # by the second shape alone, which moves least
            for method in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "_pdf")
        ],
    ],
    f"{_S}.skewnorm": [
        *_continuous("skewnorm", CONTINUOUS["skewnorm"]),
        *[f"{_S}.skewnorm.{method}(v, 1.5 + u[1])" for method in ("cdf", "ppf", "isf")],
    ],
    f"{_S}.vonmises": [
        *_continuous("vonmises", CONTINUOUS["vonmises"]),
        f"{_S}.vonmises.cdf(v, 1.5 + u[1])",
    ],
    f"{_S}.triang": [  # of which some lie outside of the support
        *_continuous("triang", CONTINUOUS["triang"]),
        f"{_S}.triang.pdf(2.0 * v - 0.8, 0.4, 0.1 * u[0], 1.0 + 0.2 * v[1])",
        f"{_S}.triang.cdf(2.0 * v - 0.8, 0.4, 0.1 * u[0], 1.0 + 0.2 * v[1])",
    ],
    **{
        f"{_S}.{name}": [
            f"{_S}.{name}.pmf({given})",
            f"{_S}.{name}.logpmf({given})",
            f"{_S}.{name}.cdf({given})",
        ]
        for name, given in DISCRETE.items()
    },
    f"{_S}.poisson": [
        *[
            f"{_S}.poisson.{method}({k}, 3.0 * v{loc})"
            for method in ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf")
            for k, loc in (("2", ""), ("2.0", ", 1"))
        ],
        f"{_S}.poisson.cdf([-1, 0, 2, 3, 9], 3.0 * v)",
        f"{_S}.poisson.pmf([-1, 0, 2, 3, 9], 3.0 * v)",
    ],
    f"{_S}.multivariate_normal": [
        f"{_S}.multivariate_normal.logpdf(C, v[:3], S)",
        f"{_S}.multivariate_normal.pdf(C, v[:3], S)",
        f"{_S}.multivariate_normal(v[:3], S).logpdf(u[:3])",
        f"{_S}.multivariate_normal.entropy(v[:3], S)",
        f"{_S}.multivariate_normal.logpdf(u, v, 2.0)",
    ],
    f"{_S}.multivariate_t": [f"{_S}.multivariate_t.logpdf(C, v[:3], S, 4.0)"],
    f"{_S}.dirichlet": [
        f"{_S}.dirichlet.logpdf(p / np.sum(p), v[:4] + 1.0)",
        f"{_S}.dirichlet.pdf(p / np.sum(p), v[:4] + 1.0)",
        f"{_S}.dirichlet.pdf(p[:3], v[:4] + 1.0)",
        f"{_S}.dirichlet.logpdf(np.stack([p, p[::-1]]).T / np.sum(p), v[:4] + 1.0)",
        f"{_S}.dirichlet.mean(v[:4])",
        f"{_S}.dirichlet.entropy(v[:4])",
    ],
    f"{_S}.multinomial": [
        f"{_S}.multinomial.logpmf([1, 2, 0, 2], 5, p / np.sum(p))",
        f"{_S}.multinomial.pmf([1, 2, 0, 2], 5, p / np.sum(p))",
    ],
    f"{_S}.dirichlet_multinomial": [f"{_S}.dirichlet_multinomial.logpmf([1, 2, 0, 2], v[:4], 5)"],
    f"{_S}.multivariate_hypergeom": [f"{_S}.multivariate_hypergeom.pmf([1, 2], [3, 4], 3) * x"],
    f"{_S}.wishart": [f"{_S}.wishart.logpdf(S, 5, T @ T.T)"],
    f"{_S}.invwishart": [f"{_S}.invwishart.logpdf(S, 5, T @ T.T)"],
    f"{_S}.matrix_normal": [f"{_S}.matrix_normal.logpdf(A, B, S, T @ T.T)"],
    f"{_S}.matrix_t": [f"{_S}.matrix_t.logpdf(A, B, S, T @ T.T, 5)"],
    f"{_S}.normal_inverse_gamma": [f"{_S}.normal_inverse_gamma.logpdf(v[0], v[1], 0.5, 2.0, 3.0, 1.0)"],
    f"{_S}.vonmises_fisher": [
        f"{_S}.vonmises_fisher.logpdf(v[:3] / np.linalg.norm(v[:3]), [0.0, 0.0, 1.0], u[0])"
    ],
    f"{_S}.gaussian_kde": [
        f"{_S}.gaussian_kde(v)(u)",
        f"{_S}.gaussian_kde(C.T)(A)",
        f"{_S}.gaussian_kde([0.0, 1.0, 3.0])(u)",
    ],
    f"{_S}.rv_histogram": [f"{_S}.rv_histogram(np.histogram([0.1, 0.2, 0.7], 3)).pdf(v) * u"],
    f"{_S}.Normal": [
        f"{_S}.Normal(mu=v[0], sigma=u[0]).logpdf(u)",
        f"{_S}.Normal(mu=v[0], sigma=u[0]).cdf(u)",
    ],
    f"{_S}.Uniform": [f"{_S}.Uniform(a=-v[0], b=u[0] + 1.0).logpdf(u)"],
    f"{_S}.Logistic": [f"{_S}.Logistic().logpdf(u)"],
    f"{_S}.Mixture": [
        f"{_S}.Mixture([{_S}.Normal(mu=v[0], sigma=u[0]), {_S}.Normal(mu=0.0, sigma=1.0)], weights=[0.4, 0.6]).logpdf(u)"
    ],
    f"{_S}.Covariance": [f"{_S}.multivariate_normal.logpdf(v[:3], u[:3], {_S}.Covariance.from_cholesky(T))"],
    f"{_S}.make_distribution": [f"{_S}.make_distribution({_S}.gamma)(a=2.0).logpdf(v)"],
    # summaries
    f"{_S}.median_abs_deviation": [  # of numbers of which no two are as far from the middle
        f"{_S}.median_abs_deviation(v * v)",
        f"{_S}.median_abs_deviation(D[0] * D[0], axis=1)",
    ],
    **{
        f"{_S}.{name}": [f"{_S}.{name}(v)", f"{_S}.{name}(D[0], axis=1)"]
        for name in (
            "gmean",
            "hmean",
            "skew",
            "kurtosis",
            "sem",
            "variation",
            "zscore",
            "gstd",
            "iqr",
            "circmean",
            "circvar",
            "circstd",
            "kstatvar",
            "moment",
            "tmean",
            "tvar",
            "tstd",
            "tsem",
            "tmin",
            "tmax",
            "gzscore",
            "lmoment",
            "differential_entropy",
            "rankdata",
            "describe",
            "expectile",
            "kstat",
            "mode",
            "bayes_mvs",
        )
    },
    f"{_S}.bayes_mvs": [f"{_S}.bayes_mvs(v)"],
    f"{_S}.expectile": [f"{_S}.expectile(v, 0.3)"],
    f"{_S}.kstat": [f"{_S}.kstat(v, 3)"],
    f"{_S}.moment": [f"{_S}.moment(v, 3)", f"{_S}.moment(A, 2, axis=1)"],
    f"{_S}.pmean": [f"{_S}.pmean(v, 3)"],
    f"{_S}.zmap": [f"{_S}.zmap(v, u)"],
    f"{_S}.entropy": [f"{_S}.entropy(v)", f"{_S}.entropy(v, u)"],
    f"{_S}.trim_mean": [f"{_S}.trim_mean(v, 0.2)"],
    f"{_S}.trimboth": [f"{_S}.trimboth(v, 0.2)"],
    f"{_S}.trim1": [f"{_S}.trim1(v, 0.2)"],
    f"{_S}.sigmaclip": [f"{_S}.sigmaclip(v)[0]"],
    f"{_S}.percentileofscore": [f"{_S}.percentileofscore(v, 0.5)"],
    f"{_S}.scoreatpercentile": [f"{_S}.scoreatpercentile(v, 30)"],
    f"{_S}.quantile": [f"{_S}.quantile(v, 0.3)"],
    f"{_S}.order_statistic": [f"{_S}.order_statistic({_S}.Normal(), r=2, n=4).pdf(v)"],
    f"{_S}.directional_stats": [f"{_S}.directional_stats(C).mean_direction"],
    f"{_S}.boxcox": [f"{_S}.boxcox(v, 0.3)"],
    f"{_S}.boxcox_llf": [f"{_S}.boxcox_llf(v[0], u)"],
    f"{_S}.yeojohnson": [f"{_S}.yeojohnson(v, 0.3)"],
    f"{_S}.yeojohnson_llf": [f"{_S}.yeojohnson_llf(v[0], u)"],
    f"{_S}.boxcox_normmax": [f"{_S}.boxcox_normmax(v)"],
    f"{_S}.yeojohnson_normmax": [f"{_S}.yeojohnson_normmax(v)"],
    # correlation and regression
    **{
        f"{_S}.{name}": [f"{_S}.{name}(v, u)[0]"]
        for name in ("pearsonr", "linregress", "theilslopes", "siegelslopes", "somersd")
    },
    f"{_S}.somersd": [f"{_S}.somersd(v, u).statistic"],
    f"{_S}.linregress": [f"{_S}.linregress(v, u).slope", f"{_S}.linregress(v, u).stderr"],
    f"{_S}.pointbiserialr": [f"{_S}.pointbiserialr([0, 1, 1, 0, 1], v)[0]"],
    **{
        f"{_S}.{name}": [f"{_S}.{name}(v, u)[0]"]
        for name in ("spearmanr", "kendalltau", "weightedtau", "chatterjeexi", "spearmanrho")
    },
    f"{_S}.wasserstein_distance": [f"{_S}.wasserstein_distance(v, u)"],
    f"{_S}.energy_distance": [f"{_S}.energy_distance(v, u)"],
    f"{_S}.wasserstein_distance_nd": [f"{_S}.wasserstein_distance_nd(C, A)"],
    # tests: their statistics
    f"{_S}.ttest_1samp": [f"{_S}.ttest_1samp(v, 0.4).statistic", f"{_S}.ttest_1samp(v, 0.4).pvalue"],
    **{
        f"{_S}.{name}": [f"{_S}.{name}(v, u).statistic", f"{_S}.{name}(v, u).pvalue"]
        for name in ("ttest_ind", "ttest_rel", "f_oneway")
    },
    f"{_S}.ttest_ind_from_stats": [f"{_S}.ttest_ind_from_stats(v[0], u[0], 5, v[1], u[1], 6).statistic"],
    **{
        f"{_S}.{name}": [f"{_S}.{name}(v, u).statistic"]
        for name in (
            "levene",
            "bartlett",
            "fligner",
            "alexandergovern",
            "kruskal",
            "ks_2samp",
            "cramervonmises_2samp",
            "mannwhitneyu",
            "ranksums",
            "wilcoxon",
            "brunnermunzel",
            "ansari",
            "mood",
        )
    },
    **{
        f"{_S}.{name}": [f"{_S}.{name}(v, u, v * u).statistic"] for name in ("friedmanchisquare", "tukey_hsd")
    },
    f"{_S}.jarque_bera": [f"{_S}.jarque_bera(v).statistic"],
    **{
        f"{_S}.{name}": [f"{_S}.{name}(wave).statistic"]
        for name in ("skewtest", "kurtosistest", "normaltest")
    },
    f"{_S}.shapiro": [f"{_S}.shapiro(v).statistic"],
    f"{_S}.anderson": [f"{_S}.anderson(v).statistic"],
    f"{_S}.kstest": [f"{_S}.kstest(v, 'norm').statistic"],
    f"{_S}.ks_1samp": [f"{_S}.ks_1samp(v, {_S}.norm.cdf).statistic"],
    f"{_S}.cramervonmises": [f"{_S}.cramervonmises(v, 'norm').statistic"],
    f"{_S}.chisquare": [f"{_S}.chisquare(v, v[::-1]).statistic", f"{_S}.chisquare(v).pvalue"],
    f"{_S}.power_divergence": [f"{_S}.power_divergence(v, lambda_='log-likelihood').statistic"],
    f"{_S}.chi2_contingency": [f"{_S}.chi2_contingency(np.abs(A)).statistic"],
    f"{_S}.combine_pvalues": [f"{_S}.combine_pvalues(v).statistic"],
    f"{_S}.false_discovery_control": [f"{_S}.false_discovery_control(v)"],
    f"{_S}.ecdf": [f"{_S}.ecdf(v).cdf.evaluate(0.4)"],
    f"{_S}.probplot": [f"{_S}.probplot(v)[0]"],
    f"{_S}.binned_statistic": [f"{_S}.binned_statistic([0.1, 0.3, 0.6, 0.8, 0.9], v, bins=2)[0]"],
    f"{_S}.binned_statistic_2d": [
        f"{_S}.binned_statistic_2d([0.1, 0.3, 0.6, 0.8, 0.9], [0.1, 0.7, 0.6, 0.8, 0.2], v, bins=2)[0]"
    ],
    f"{_S}.binned_statistic_dd": [
        f"{_S}.binned_statistic_dd(np.array([[0.1], [0.3], [0.6], [0.8], [0.9]]), v, bins=2)[0]"
    ],
    f"{_S}.cumfreq": [f"{_S}.cumfreq(v, 3)[0]"],
    f"{_S}.relfreq": [f"{_S}.relfreq(v, 3)[0]"],
    f"{_S}.obrientransform": [f"{_S}.obrientransform(v, u)"],
    f"{_S}.logrank": [f"{_S}.logrank(v, u).statistic"],
}

SKIPPED: dict[str, str] = {
    **{
        f"{_S}.{name}": "draws numbers"
        for name in (
            "bootstrap",
            "permutation_test",
            "monte_carlo_test",
            "goodness_of_fit",
            "ortho_group",
            "special_ortho_group",
            "unitary_group",
            "random_correlation",
            "random_table",
            "uniform_direction",
            "dunnett",
            "sobol_indices",
            "power",
            "multiscale_graphcorr",
            "bws_test",
            "fit",
        )
    },
    **{
        f"{_S}.{name}": "describes a method or a family"
        for name in (
            "BootstrapMethod",
            "MonteCarloMethod",
            "PermutationMethod",
            "CensoredData",
            "rv_continuous",
            "rv_discrete",
            "Binomial",
            "truncate",
            "abs",
            "exp",
            "log",
        )
    },
    **{
        f"{_S}.{name}": "plots, or searches by a plot"
        for name in ("boxcox_normplot", "ppcc_max", "ppcc_plot", "yeojohnson_normplot")
    },
    **{
        f"{_S}.{name}": "is about counts"
        for name in (
            "barnard_exact",
            "boschloo_exact",
            "binomtest",
            "fisher_exact",
            "median_test",
            "poisson_means_test",
            "page_trend_test",
            "quantile_test",
            "tiecorrect",
            "epps_singleton_2samp",
            "anderson_ksamp",
            "mvsdist",
        )
    },
}
