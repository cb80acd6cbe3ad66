//! Community detection: groups of nodes with more edges among themselves than chance would give
//! (the Louvain method, Blondel et al. 2008, which maximises modularity).
//!
//! The method repeats two phases: nodes move between groups while modularity rises, then each group
//! becomes one node of a smaller graph. Nodes are visited in order; in a tie a node stays where it is,
//! or moves to the lower group number. So the same graph always gives the same groups. `partition`
//! splits large folders by it:
//!
//! ```text
//! nodes 0, 1, 2 all joined, 3, 4, 5 all joined, a weak edge between 2 and 3   → [0, 0, 0, 1, 1, 1]
//! ```
//!
//! *Modularity* is the share of the edge weight inside groups, less the share that would be inside if
//! every node kept its *degree* (the weight of its edges) and the edges were drawn at random.

use std::collections::BTreeMap;

/// Bound on the rounds of both phases. Graphs of files settle in a few; the bound only guarantees
/// that the loops end.
const MAX_ROUNDS: usize = 20;

/// Smallest gain for which a node moves. Below it, rounding errors could move nodes to and fro.
const MIN_GAIN: f64 = 1e-9;

/// A weighted undirected graph.
struct WeightedGraph {
    /// Neighbours of each node with the weight of the edge; each edge is listed at both ends.
    edges: Vec<BTreeMap<usize, f64>>,
    /// Weight of each node's edges to itself: the edges inside a group that became a node.
    self_loops: Vec<f64>,
}

/// Returns the group of every node, numbered from 0. Edges are undirected; several edges between
/// two nodes add up.
pub fn detect_communities(n_nodes: usize, edges: &[(usize, usize, f64)]) -> Vec<usize> {
    let mut graph =
        WeightedGraph { edges: vec![BTreeMap::new(); n_nodes], self_loops: vec![0.0; n_nodes] };
    for &(a, b, weight) in edges {
        // An edge from a node to itself joins no two nodes.
        let joins_two_nodes = a != b && weight > 0.0;
        if !joins_two_nodes {
            continue;
        }
        *graph.edges[a].entry(b).or_default() += weight;
        *graph.edges[b].entry(a).or_default() += weight;
    }
    // The group of every node of the original graph; `graph` shrinks from round to round.
    let mut community: Vec<usize> = (0..n_nodes).collect();
    for _ in 0..MAX_ROUNDS {
        let groups = move_nodes(&graph);
        let n_groups = groups.iter().max().map_or(0, |it| it + 1);
        // Each node is a group of its own: no move improves modularity any more.
        if n_groups == graph.edges.len() {
            break;
        }
        // A group of the previous round is a node of `graph`, so its number is an index here.
        for group in &mut community {
            *group = groups[*group];
        }
        graph = aggregate_groups(&graph, &groups, n_groups);
    }
    community
}

/// First phase: moves each node to the neighbouring group with the largest gain in modularity,
/// until a round moves none. Groups are numbered from 0 in order of their first node.
fn move_nodes(graph: &WeightedGraph) -> Vec<usize> {
    let n_nodes = graph.edges.len();
    let mut degrees: Vec<f64> = Vec::with_capacity(n_nodes);
    for (edges, self_loop) in graph.edges.iter().zip(&graph.self_loops) {
        // A self-loop has both its ends at the node, so it counts twice.
        degrees.push(edges.values().sum::<f64>() + 2.0 * self_loop);
    }
    let total_degree: f64 = degrees.iter().sum();
    let mut group: Vec<usize> = (0..n_nodes).collect();
    let mut group_degrees = degrees.clone();
    for _ in 0..MAX_ROUNDS {
        let mut n_moves = 0;
        for node in 0..n_nodes {
            let from = group[node];
            // Weight of the node's edges into each neighbouring group. Its own group is always a
            // candidate, even without an edge into it.
            let mut weights: BTreeMap<usize, f64> = BTreeMap::from([(from, 0.0)]);
            for (other, weight) in &graph.edges[node] {
                *weights.entry(group[*other]).or_default() += weight;
            }
            // The node leaves its group first, so that all candidates are compared without it.
            group_degrees[from] -= degrees[node];
            // Change of modularity up to a constant factor: the weight of the edges into the group
            // minus the weight that chance would give.
            let gain_of = |candidate: usize, weight: f64| {
                weight - degrees[node] * group_degrees[candidate] / total_degree
            };
            let (mut best_group, mut best_gain) = (from, gain_of(from, weights[&from]));
            for (candidate, weight) in &weights {
                let gain = gain_of(*candidate, *weight);
                if gain > best_gain + MIN_GAIN {
                    (best_group, best_gain) = (*candidate, gain);
                }
            }
            group_degrees[best_group] += degrees[node];
            group[node] = best_group;
            n_moves += usize::from(best_group != from);
        }
        if n_moves == 0 {
            break;
        }
    }
    renumber(&group)
}

/// Numbers groups from 0 in order of their first node.
fn renumber(group: &[usize]) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    for old_number in group {
        let next = numbers.len();
        numbers.entry(*old_number).or_insert(next);
    }
    group.iter().map(|it| numbers[it]).collect()
}

/// Second phase: makes each group one node of a smaller graph.
fn aggregate_groups(graph: &WeightedGraph, groups: &[usize], n_groups: usize) -> WeightedGraph {
    let mut smaller =
        WeightedGraph { edges: vec![BTreeMap::new(); n_groups], self_loops: vec![0.0; n_groups] };
    for (node, edges) in graph.edges.iter().enumerate() {
        let from = groups[node];
        smaller.self_loops[from] += graph.self_loops[node];
        for (other, weight) in edges {
            let to = groups[*other];
            if to == from {
                // Each edge is listed at both ends, so it is added twice.
                smaller.self_loops[from] += weight / 2.0;
            } else {
                *smaller.edges[from].entry(to).or_default() += weight;
            }
        }
    }
    smaller
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_with_a_bridge_are_two_groups() {
        let edges = [
            (0, 1, 1.0),
            (1, 2, 1.0),
            (0, 2, 1.0),
            (3, 4, 1.0),
            (4, 5, 1.0),
            (3, 5, 1.0),
            (2, 3, 0.2),
        ];
        assert_eq!(detect_communities(6, &edges), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn a_node_without_edges_is_a_group_of_its_own() {
        assert_eq!(detect_communities(3, &[(0, 2, 1.0)]), [0, 1, 0]);
        assert!(detect_communities(0, &[]).is_empty());
    }

    #[test]
    fn a_ring_of_cliques_is_split_into_its_cliques() {
        let (n_cliques, clique_size) = (6, 5);
        let n_nodes = n_cliques * clique_size;
        let mut edges = Vec::new();
        for first in (0..n_nodes).step_by(clique_size) {
            for a in 0..clique_size {
                for b in 0..a {
                    edges.push((first + a, first + b, 1.0));
                }
            }
            // A weaker edge to the next clique closes the ring.
            edges.push((first, (first + clique_size + 1) % n_nodes, 0.5));
        }
        let groups = detect_communities(n_nodes, &edges);
        let expected: Vec<usize> = (0..n_nodes).map(|it| it / clique_size).collect();
        assert_eq!(groups, expected);
    }
}
