"""Enclosing subgraphs by plain searches, one pair at a time."""


def neighbor_sets(graph):
    """The neighbours of each node."""
    neighbors = {w: set() for w in range(graph.n)}
    for a, b in graph.edges.tolist():
        neighbors[a].add(b), neighbors[b].add(a)
    return neighbors


def searched(neighbors, source, allowed):
    """Distances from a node to those that paths over allowed nodes reach."""
    distance, frontier = {source: 0}, [source]
    while frontier:
        frontier = sorted({w for x in frontier for w in neighbors[x] if w in allowed and w not in distance})
        distance |= {w: 1 + min(distance[x] for x in neighbors[w] if x in distance) for w in frontier}
    return distance


def enclosed(graph, u, v, hops):
    """Nodes within ``hops`` links of ``u`` or ``v``, and the links among them, both ways, without ``u - v``."""
    neighbors = neighbor_sets(graph)
    nodes = {w for end in (u, v) for w, d in searched(neighbors, end, set(neighbors)).items() if d <= hops}
    return nodes, {(a, b) for a in nodes for b in neighbors[a] & nodes if {a, b} != {u, v}}
