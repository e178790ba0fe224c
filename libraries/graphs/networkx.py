"""networkx: measures of graphs with weights."""

import networkx as nx
import numpy as np
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

from libraries.package import Package

package = Package("networkx")

GRAPH = nx.Graph()
GRAPH.add_weighted_edges_from(
    [("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 4.0), ("c", "d", 1.5), ("b", "d", 5.0)]
)


def with_weight(weight):
    graph = GRAPH.copy()
    graph["b"]["c"]["weight"] = weight
    return graph


@package.call(1.3)
def shortest_path(weight):
    return nx.shortest_path_length(with_weight(weight), "a", "d", weight="weight")


@package.call(1.3)
def all_distances(weight):
    found = dict(nx.all_pairs_dijkstra_path_length(with_weight(weight)))
    return sum(sum(lengths.values()) for lengths in found.values())


@package.call(1.3)
def bellman_ford(weight):
    return nx.bellman_ford_path_length(with_weight(weight), "a", "d")


@package.call(0.85)
def page_rank(damping):
    ranks = _pagerank_python(GRAPH, alpha=damping, max_iter=300, tol=1e-12)
    return list(ranks.values())


@package.call(0.8)
def page_rank_with_scipy(damping):
    return list(nx.pagerank(GRAPH, alpha=damping, tol=1e-13).values())


@package.call(1.3)
def spanning_tree(weight):
    return nx.minimum_spanning_tree(with_weight(weight)).size(weight="weight")


@package.call(1.3)
def laplacian(weight):
    return nx.laplacian_matrix(with_weight(weight)).toarray()


@package.call(1.3)
def adjacency(weight):
    return nx.to_numpy_array(with_weight(weight))


@package.call(1.3)
def strength(weight):
    return with_weight(weight).degree("c", weight="weight")


@package.call(1.3)
def clustering(weight):
    return list(nx.clustering(with_weight(weight), weight="weight").values())


@package.call(3.3)
def maximum_flow(capacity):
    graph = nx.DiGraph()
    graph.add_edge("s", "a", capacity=capacity)
    graph.add_edge("s", "b", capacity=2.0)
    graph.add_edge("a", "t", capacity=5.0)
    graph.add_edge("b", "t", capacity=4.0)
    return nx.maximum_flow_value(graph, "s", "t")


@package.call(0.7)
def path_of_a_constant_graph(x):
    path = nx.shortest_path(GRAPH, "a", "d", weight="weight")
    return sum(x**k * GRAPH[u][v]["weight"] for k, (u, v) in enumerate(nx.utils.pairwise(path)))


@package.call(0.4)
def katz(alpha):
    return list(nx.katz_centrality(GRAPH, alpha=0.1 * alpha, tol=1e-13).values())


@package.call(0.6)
def spring_energy(stiffness):
    places = nx.circular_layout(GRAPH)
    return sum(stiffness * np.sum((places[u] - places[v]) ** 2) ** 1.5 for u, v in GRAPH.edges)
