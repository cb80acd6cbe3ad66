//! Facts about searches: repeated, refined, without a match.

use std::collections::{BTreeMap, HashSet};

use model::ToolKind;

use crate::Scratchpad;
use crate::scratchpad::{CallEffects, CallState, LoggedCall};
use crate::strings::StringId;

/// Calls within which a second search can refine the first.
const REFINE_WINDOW_CALLS: u32 = 3;

/// Searches of all tools in order, each with its call number and its query.
fn search_calls(pad: &Scratchpad) -> impl Iterator<Item = (u32, &LoggedCall, StringId)> {
    let numbered = (0_u32..).zip(&pad.calls);
    numbered.filter_map(|(number, call)| {
        let is_search =
            call.tool == ToolKind::Search || call.effects.has_any(CallEffects::RUNS_SEARCH);
        call.query.filter(|_| is_search).map(|it| (number, call, it))
    })
}

/// Queries in lower case that were searched more than once, with their counts.
pub fn repeated_searches(pad: &Scratchpad) -> BTreeMap<String, u32> {
    let mut acc: BTreeMap<String, u32> = BTreeMap::new();
    for (_, _, query) in search_calls(pad) {
        *acc.entry(pad.strings.text(query).to_lowercase()).or_insert(0) += 1;
    }
    acc.retain(|_, n| *n > 1);
    acc
}

/// Pairs of a query and one that soon followed, differs and shares a word with it.
pub fn refined_searches(pad: &Scratchpad) -> Vec<(StringId, StringId)> {
    let all: Vec<(u32, &LoggedCall, StringId)> = search_calls(pad).collect();
    let mut acc = Vec::new();
    for (nth, second) in all.iter().enumerate() {
        let recent =
            all[..nth].iter().rev().take_while(|it| second.0 - it.0 <= REFINE_WINDOW_CALLS);
        for first in recent {
            let (a, b) = (pad.strings.text(first.2), pad.strings.text(second.2));
            // The same query again is a repetition, another topic no refinement.
            if a != b && shares_word(a, b) {
                acc.push((first.2, second.2));
            }
        }
    }
    acc
}

/// Queries without a match.
pub fn missed_searches(pad: &Scratchpad) -> Vec<StringId> {
    let has_missed = |call: &LoggedCall| {
        call.tool == ToolKind::Search && call.state == CallState::Ok && call.n_matches == Some(0)
    };
    search_calls(pad).filter(|it| has_missed(it.1)).map(|it| it.2).collect()
}

fn shares_word(a: &str, b: &str) -> bool {
    let words = |it: &str| -> HashSet<String> {
        let parts = model::words::identifier_parts(it);
        parts.into_iter().filter(|it| it.len() >= 3).collect()
    };
    let a = words(a);
    words(b).iter().any(|it| a.contains(it))
}
