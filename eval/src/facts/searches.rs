//! Facts about searches: repeated, refined, without a match.
//!
//! The input is the scratchpad, the log of one session. Searches in the shell (`rg`, `grep`) count like those
//! of the search tool. Only misses are an exception, because a search in the shell without a match is a
//! failed command. Example: `computeTotal`, then `compute_sum` → the second refines the first, because both
//! contain `compute`.

use std::collections::{BTreeMap, HashSet};

use model::ToolKind;
use observe::{CallEffects, CallState, LoggedCall, Scratchpad, StringId};

/// Calls within which a second search can refine the first.
const REFINE_WINDOW_CALLS: u32 = 3;
/// Shorter words are shared by chance.
const MIN_SHARED_WORD_BYTES: usize = 3;

/// Queries in lower case that were searched more than once, with their counts.
pub(crate) fn repeated_searches(pad: &Scratchpad) -> BTreeMap<String, u32> {
    let mut acc: BTreeMap<String, u32> = BTreeMap::new();
    for search in search_calls(pad) {
        *acc.entry(pad.strings.text(search.query).to_lowercase()).or_insert(0) += 1;
    }
    acc.retain(|_, n| *n > 1);
    acc
}

/// Pairs of a query and a different one that soon followed and shares a word with it.
pub(crate) fn refined_searches(pad: &Scratchpad) -> Vec<(StringId, StringId)> {
    let searches: Vec<SearchCall<'_>> = search_calls(pad).collect();
    let mut acc = Vec::new();
    for (nth, second) in searches.iter().enumerate() {
        let is_recent =
            |it: &&SearchCall<'_>| second.call_number - it.call_number <= REFINE_WINDOW_CALLS;
        for first in searches[..nth].iter().rev().take_while(is_recent) {
            let (a, b) = (pad.strings.text(first.query), pad.strings.text(second.query));
            // The same query again is a repetition, and a query on another topic refines nothing.
            if a != b && shares_word(a, b) {
                acc.push((first.query, second.query));
            }
        }
    }
    acc
}

/// Queries of the search tool without a match.
pub(crate) fn missed_searches(pad: &Scratchpad) -> Vec<StringId> {
    let has_missed = |call: &LoggedCall| {
        call.tool == ToolKind::Search && call.state == CallState::Ok && call.n_matches == Some(0)
    };
    search_calls(pad).filter(|it| has_missed(it.call)).map(|it| it.query).collect()
}

/// A call that searched.
struct SearchCall<'a> {
    call_number: u32,
    call: &'a LoggedCall,
    query: StringId,
}

/// The searches of all tools, in order.
fn search_calls(pad: &Scratchpad) -> impl Iterator<Item = SearchCall<'_>> {
    (0_u32..).zip(&pad.calls).filter_map(|(call_number, call)| {
        let is_search =
            call.tool == ToolKind::Search || call.effects.has_any(CallEffects::RUNS_SEARCH);
        // A host can omit the query.
        let query = if is_search { call.query? } else { return None };
        Some(SearchCall { call_number, call, query })
    })
}

/// Returns whether two queries have a part of an identifier in common.
fn shares_word(a: &str, b: &str) -> bool {
    let words = |query: &str| -> HashSet<String> {
        let parts = model::words::identifier_parts(query);
        parts.into_iter().filter(|it| it.len() >= MIN_SHARED_WORD_BYTES).collect()
    };
    let a = words(a);
    words(b).iter().any(|it| a.contains(it))
}
