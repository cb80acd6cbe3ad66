//! Facts about searches: again, refined, in vain.

use std::collections::{BTreeMap, HashSet};

use model::ToolKind;

use crate::Scratchpad;
use crate::names::Name;
use crate::scratchpad::{Call, Does, State};

/// Calls within which a second search refines the first.
const REFINES: u32 = 3;

/// Searches in order, whichever tool made them, with the number of their call.
fn searches(pad: &Scratchpad) -> impl Iterator<Item = (u32, &Call, Name)> {
    let numbered = (0_u32..).zip(&pad.calls);
    numbered.filter_map(|(number, call)| {
        let is_search = call.tool == ToolKind::Search || call.does.any(Does::SEARCH);
        call.query.filter(|_| is_search).map(|it| (number, call, it))
    })
}

/// Queries in lower case that were asked more than once, with how often.
pub fn repeated_searches(pad: &Scratchpad) -> BTreeMap<String, u32> {
    let mut acc: BTreeMap<String, u32> = BTreeMap::new();
    for (_, _, query) in searches(pad) {
        *acc.entry(pad.names.text(query).to_lowercase()).or_insert(0) += 1;
    }
    acc.retain(|_, n| *n > 1);
    acc
}

/// Queries that followed another one soon, share a word with it and differ.
pub fn refined(pad: &Scratchpad) -> Vec<(Name, Name)> {
    let all: Vec<(u32, &Call, Name)> = searches(pad).collect();
    let mut acc = Vec::new();
    for (nth, second) in all.iter().enumerate() {
        let soon = all[..nth].iter().rev().take_while(|it| second.0 - it.0 <= REFINES);
        for first in soon {
            let (a, b) = (pad.names.text(first.2), pad.names.text(second.2));
            if a != b && shares_word(a, b) {
                acc.push((first.2, second.2));
            }
        }
    }
    acc
}

/// Queries that found nothing.
pub fn misses(pad: &Scratchpad) -> Vec<Name> {
    let missed = |call: &Call| {
        call.tool == ToolKind::Search && call.state == State::Ok && call.matches == Some(0)
    };
    searches(pad).filter(|it| missed(it.1)).map(|it| it.2).collect()
}

fn shares_word(a: &str, b: &str) -> bool {
    let words = |it: &str| -> HashSet<String> {
        let parts = model::words::parts(it);
        parts.into_iter().filter(|it| it.len() >= 3).collect()
    };
    let a = words(a);
    words(b).iter().any(|it| a.contains(it))
}
