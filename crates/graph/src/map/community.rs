//! Communities: groups with more between their members than chance would put there (Louvain, modularity).
//!
//! Nodes are visited in their order and ties go to the smaller number, so the same graph gives the same groups.

use std::collections::BTreeMap;

/// Rounds of moving, and of putting groups together, after which the rest would be noise.
const ROUNDS: usize = 20;

/// The group of every node; edges count both ways and add up.
pub fn communities(n_nodes: usize, edges: &[(usize, usize, f64)]) -> Vec<usize> {
    let mut links: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); n_nodes];
    for &(a, b, weight) in edges.iter().filter(|it| it.0 != it.1 && it.2 > 0.0) {
        *links[a].entry(b).or_default() += weight;
        *links[b].entry(a).or_default() += weight;
    }
    let mut loops = vec![0.0; n_nodes];
    let mut res: Vec<usize> = (0..n_nodes).collect();
    for _ in 0..ROUNDS {
        let groups = moved(&links, &loops);
        let n_groups = groups.iter().max().map_or(0, |it| it + 1);
        if n_groups == links.len() {
            break;
        }
        for it in &mut res {
            *it = groups[*it];
        }
        (links, loops) = together(&links, &loops, &groups, n_groups);
    }
    res
}

/// Moves nodes to where they gain most until nobody wants to move; groups numbered from 0.
fn moved(links: &[BTreeMap<usize, f64>], loops: &[f64]) -> Vec<usize> {
    let degrees: Vec<f64> =
        links.iter().zip(loops).map(|it| it.0.values().sum::<f64>() + 2.0 * it.1).collect();
    let all: f64 = degrees.iter().sum();
    let mut group: Vec<usize> = (0..links.len()).collect();
    let mut sums = degrees.clone();
    for _ in 0..ROUNDS {
        let mut n_moves = 0;
        for node in 0..links.len() {
            let from = group[node];
            let mut to_groups: BTreeMap<usize, f64> = BTreeMap::from([(from, 0.0)]);
            for (other, weight) in &links[node] {
                *to_groups.entry(group[*other]).or_default() += weight;
            }
            sums[from] -= degrees[node];
            let gain = |it: usize, weight: f64| weight - degrees[node] * sums[it] / all;
            let mut best = (from, gain(from, to_groups[&from]));
            for (it, weight) in &to_groups {
                let gain = gain(*it, *weight);
                if gain > best.1 + 1e-9 {
                    best = (*it, gain);
                }
            }
            sums[best.0] += degrees[node];
            group[node] = best.0;
            n_moves += usize::from(best.0 != from);
        }
        if n_moves == 0 {
            break;
        }
    }
    let mut numbers = BTreeMap::new();
    for it in &group {
        let next = numbers.len();
        numbers.entry(*it).or_insert(next);
    }
    group.iter().map(|it| numbers[it]).collect()
}

/// The groups as nodes.
fn together(
    links: &[BTreeMap<usize, f64>],
    loops: &[f64],
    groups: &[usize],
    n_groups: usize,
) -> (Vec<BTreeMap<usize, f64>>, Vec<f64>) {
    let (mut new_links, mut new_loops) = (vec![BTreeMap::new(); n_groups], vec![0.0; n_groups]);
    for (node, own) in links.iter().enumerate() {
        let from = groups[node];
        new_loops[from] += loops[node];
        for (other, weight) in own {
            let to = groups[*other];
            if to == from {
                // Seen from both ends.
                new_loops[from] += weight / 2.0;
            } else {
                *new_links[from].entry(to).or_default() += weight;
            }
        }
    }
    (new_links, new_loops)
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
        assert_eq!(communities(6, &edges), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn who_knows_nobody_is_alone() {
        assert_eq!(communities(3, &[(0, 2, 1.0)]), [0, 1, 0]);
        assert!(communities(0, &[]).is_empty());
    }

    #[test]
    fn rings_of_cliques_fall_into_their_cliques() {
        let mut edges = Vec::new();
        for clique in 0..6 {
            for a in 0..5 {
                for b in 0..a {
                    edges.push((clique * 5 + a, clique * 5 + b, 1.0));
                }
            }
            edges.push((clique * 5, (clique * 5 + 6) % 30, 0.5));
        }
        let groups = communities(30, &edges);
        let expected: Vec<usize> = (0..30).map(|it| it / 5).collect();
        assert_eq!(groups, expected);
    }
}
