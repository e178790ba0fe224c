"""bctpy: measures of brain networks."""

import bct
import numpy as np

from libraries.package import Package

package = Package("bctpy")

rng = np.random.default_rng(8)
W = rng.random((6, 6))
W = (W + W.T) / 2.0
np.fill_diagonal(W, 0.0)
UPPER = np.triu_indices(6, 1)
BINARY = (W > 0.4).astype(float)


def network(edges):
    weights = np.zeros((6, 6))
    weights[UPPER] = edges
    return weights + weights.T


@package.call(W)
def strengths(weights):
    return bct.strengths_und(weights)


@package.call(W[UPPER])
def clustering(edges):
    return bct.clustering_coef_wu(network(edges))


@package.call(W[UPPER])
def transitivity(edges):
    return bct.transitivity_wu(network(edges))


@package.call(W)
def efficiency(weights):
    return bct.efficiency_wei(weights)


@package.call(W)
def shortest_distances(weights):
    distances, _ = bct.distance_wei(1.0 / (weights + 2.0 * np.eye(6)))
    return distances


@package.call(W)
def density_of_signed_strengths(weights):
    return bct.strengths_und_sign(weights - 0.5 * (1 - np.eye(6)))[2]


@package.call(W[UPPER])
def normalised(edges):
    return bct.weight_conversion(network(edges), "normalize")


@package.call(W[UPPER])
def participation(edges):
    return bct.participation_coef(network(edges), np.array([1, 1, 2, 2, 3, 3]))


@package.call(0.3)
def degrees_of_a_constant(x):
    return np.sum(x ** bct.degrees_und(BINARY))


@package.call(0.85)
def page_rank(damping):
    return bct.pagerank_centrality(W, damping)


@package.call(W)
def subgraphs(weights):
    return bct.subgraph_centrality(weights)
