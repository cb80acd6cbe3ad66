//! Lookup of the targets that a user or an agent writes: paths, symbols, lines.
//!
//! People shorten paths and names, so the end of a path or of a qualified name is enough:
//!
//! ```text
//! auth.ts               the file src/auth.ts, if no other path ends with /auth.ts
//! src/auth.ts:12        the innermost definition around line 12
//! auth.ts:Token.check   the member `check` of the class `Token` in that file
//! check                 every `check` and every member `….check` of the project
//! ```
//!
//! A *node* is a file or a definition of the [`QueryGraph`]. An *outline* is the list of
//! definitions of one file. In C and C++ a *declaration* (a prototype in a header) and its
//! definition are two nodes, joined by an edge.

use model::edit_distance;

use super::traversal::is_declaration_edge;
use super::{NodeId, QueryGraph};
use crate::facts::DefId;

/// Most suggestions for a target that names nothing.
const MAX_SUGGESTIONS: usize = 3;

/// Shortest text, in bytes, that is compared with names: nearly every name is close to a shorter one.
const MIN_WRITTEN_LEN: usize = 3;

/// A misspelling differs from a name in at most one of this many bytes: one edit in `run`, two in
/// `verify`.
const BYTES_PER_TYPO: usize = 3;

/// The result of looking up a written target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetLookup {
    /// The matching nodes; several if several symbols have the name.
    Found(Vec<NodeId>),
    /// The file exists, the symbol does not.
    NoSymbol {
        path: String,
    },
    NotFound,
}

/// Looks up `path:symbol`, `path:line`, `path`, `symbol` or `Type.member`. A path may be shortened
/// to its end if only one file ends with it.
pub fn find_target(graph: &QueryGraph, text: &str) -> TargetLookup {
    if let Some(position) = find_file(graph, text) {
        return TargetLookup::Found(vec![graph.files[position].file_node]);
    }
    // `path::symbol` leaves a colon at the end of the path.
    if let Some((path, line_or_name)) = text.rsplit_once(':')
        && let Some(position) = find_file(graph, path.trim_end_matches(':'))
    {
        let found = match line_or_name.parse::<u32>() {
            Ok(line) => vec![node_at_line(graph, position, line)],
            Err(_) => nodes_named(graph, line_or_name, Some(position)),
        };
        return if found.is_empty() {
            TargetLookup::NoSymbol { path: graph.files[position].path.to_string() }
        } else {
            TargetLookup::Found(found)
        };
    }
    match nodes_named(graph, text, None) {
        found if found.is_empty() => TargetLookup::NotFound,
        found => TargetLookup::Found(without_declarations(graph, found)),
    }
}

/// The symbols or paths whose name is closest to a text that names nothing, most similar first. The
/// last part of the text counts: the symbol of `path:symbol`, else the file name. Generated files are
/// left out.
pub fn suggest_targets(graph: &QueryGraph, text: &str) -> Vec<String> {
    let written = text.rsplit([':', '/', '.', '#']).find(|it| !it.is_empty()).unwrap_or(text);
    let file_name = text.rsplit('/').next().unwrap_or(text);
    let mut found: Vec<(usize, String)> = Vec::new();
    for file in graph.files.iter().filter(|it| !it.is_generated) {
        let own_name = file.path.rsplit('/').next().unwrap_or(&file.path);
        if let Some(distance) = typo_distance(own_name, file_name) {
            found.push((distance, file.path.to_string()));
        }
        // The strings of an outline are the names of its definitions, each once, so that a name
        // which many definitions share is compared once.
        for (name_index, name) in file.outline.strings.iter().enumerate() {
            let Some(distance) = typo_distance(name, written) else { continue };
            for (id, def) in file.outline.defs_with_ids() {
                if def.name.index() == name_index {
                    let qualified_name = file.outline.qualified_name(id);
                    found.push((distance, format!("{}:{qualified_name}", file.path)));
                }
            }
        }
    }
    // By distance, then by name.
    found.sort();
    found.dedup();
    found.into_iter().take(MAX_SUGGESTIONS).map(|(_, target)| target).collect()
}

/// The names closest to a text that is none of them, most similar first. The last part of a path counts:
/// `store` of `crates/store`.
pub fn suggest_names<'n>(names: impl Iterator<Item = &'n str>, text: &str) -> Vec<String> {
    let last_part =
        |it: &'_ str| it.trim_end_matches('/').rsplit('/').next().unwrap_or(it).to_owned();
    let written = last_part(text);
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| typo_distance(&last_part(name), &written).map(|it| (it, name)))
        .collect();
    found.sort_unstable();
    found.into_iter().take(MAX_SUGGESTIONS).map(|it| it.1.to_owned()).collect()
}

/// The edit distance between a name and a text that may be a misspelling of it; `None` if they
/// differ too much. Letters in another case are no difference, two swapped letters are one.
fn typo_distance(name: &str, written: &str) -> Option<usize> {
    let max_distance = (name.len() / BYTES_PER_TYPO).max(1);
    // Cheaper than the distance, and most names fail here.
    if written.len() < MIN_WRITTEN_LEN || name.len().abs_diff(written.len()) > max_distance {
        return None;
    }
    let (name, written) = (name.to_ascii_lowercase(), written.to_ascii_lowercase());
    let distance = if is_swap(name.as_bytes(), written.as_bytes()) {
        1
    } else {
        edit_distance(name.as_bytes(), written.as_bytes())
    };
    (distance <= max_distance).then_some(distance)
}

/// Returns whether two texts differ only by two neighbouring bytes in the other order.
fn is_swap(left: &[u8], right: &[u8]) -> bool {
    let Some(first) = left.iter().zip(right).position(|(a, b)| a != b) else { return false };
    let mut swapped = left.to_vec();
    if first + 1 < swapped.len() {
        swapped.swap(first, first + 1);
    }
    swapped == right
}

/// Drops the declarations whose definition is among the nodes: the two are one symbol. Only C and
/// C++ have such pairs.
fn without_declarations(graph: &QueryGraph, mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    let all = nodes.clone();
    nodes.retain(|node| {
        // A definition has an `Implements` edge to its declaration.
        let edges = graph.incoming(*node).iter();
        let mut definitions = edges.filter(|it| is_declaration_edge(graph, it, *node));
        let is_declaration_of_another = definitions.any(|it| all.contains(&it.node));
        !is_declaration_of_another
    });
    nodes
}

/// The position in `graph.files` of the file with this path, or of the only one whose path ends
/// with it.
fn find_file(graph: &QueryGraph, path: &str) -> Option<usize> {
    let path = path.trim_start_matches("./");
    if path.is_empty() {
        return None;
    }
    if let Some(exact) = graph.position_of_path(path) {
        return Some(exact);
    }
    // Whole folder names only: `th.ts` is not the end of `auth.ts`.
    let suffix = format!("/{path}");
    let mut matches = graph.files.iter().enumerate().filter(|(_, it)| it.path.ends_with(&suffix));
    let (first, _) = matches.next()?;
    let is_only_match = matches.next().is_none();
    is_only_match.then_some(first)
}

/// The innermost definition around a line, or the file.
fn node_at_line(graph: &QueryGraph, file_position: usize, line: u32) -> NodeId {
    let file = &graph.files[file_position];
    // People count lines from 1, the facts from 0.
    let line = line.saturating_sub(1);
    // The definition around the line with the fewest lines.
    let mut innermost: Option<(u32, DefId)> = None;
    for (id, def) in file.outline.defs_with_ids() {
        let (first, last) = def.lines;
        let is_around = first <= line && line <= last;
        // Of two with the same lines, the later one is inside the other.
        if is_around && innermost.is_none_or(|(n_lines, _)| last - first <= n_lines) {
            innermost = Some((last - first, id));
        }
    }
    innermost.map_or(file.file_node, |(_, id)| file.node_of(id))
}

/// The definitions that a name denotes: `run`, `Server.run`, `Server::run`. Exact matches come
/// before those whose qualified name only ends with the name, and in a single file they exclude
/// them. In a search of all files `run` may mean the function as well as any `Server.run`.
fn nodes_named(graph: &QueryGraph, name: &str, only_file: Option<usize>) -> Vec<NodeId> {
    // The separators of Rust, C++ and PHP, and that of Ruby and SCIP.
    let name = name.replace("::", ".").replace('#', ".");
    let last = name.rsplit('.').next().unwrap_or(&name);
    let suffix = format!(".{name}");
    let (mut exact, mut by_suffix) = (Vec::new(), Vec::new());
    let files = match only_file {
        Some(position) => &graph.files[position..=position],
        None => &graph.files[..],
    };
    for file in files {
        let outline = &file.outline;
        // One search of the string table spares building the qualified name of every definition.
        let Some(last_id) = outline.strings.iter().position(|it| it == last) else { continue };
        for (id, _) in outline.defs_with_ids().filter(|it| it.1.name.index() == last_id) {
            let (node, qualified) = (file.node_of(id), outline.qualified_name(id));
            if qualified == name {
                exact.push(node);
            } else if qualified.ends_with(&suffix) {
                by_suffix.push(node);
            }
        }
    }
    let is_search_of_all_files = only_file.is_none();
    if is_search_of_all_files || exact.is_empty() {
        exact.extend(by_suffix);
    }
    exact
}
