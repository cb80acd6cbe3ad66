//! Detects the signal `repeated_grep`: an identifier was searched for and found in one file. One search is
//! a sighting; the repetition that gives the signal its name is a second session with the same query.
//!
//! Input is the scratchpad, the log of one session. Each query becomes a sighting: the key, by which
//! sessions are compared, is the query in lower case; the evidence has the query, the file, and the last
//! query before it that found nothing. Example: `getTotals` finds nothing, then `func computeTotal` is
//! found in `src/total.rs` only.

use std::collections::BTreeMap;

use model::ToolKind;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::scratchpad::{CallEffects, CallState};
use crate::sighting::{Sighting, to_path};
use crate::strings::StringId;
use crate::{ModuleLookup, Scratchpad};

/// Shorter identifiers match too much.
const MIN_IDENTIFIER_BYTES: usize = 6;

/// The searches of one query.
#[derive(Default)]
struct QueryHistory {
    n_searches: u32,
    /// The file that has all matches; `None` if no search had all its matches in one file.
    only_hit: Option<StringId>,
    /// The last query before it that matched nothing.
    missed_query: Option<String>,
}

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    let mut queries: BTreeMap<String, QueryHistory> = BTreeMap::new();
    let mut last_missed: Option<String> = None;
    for call in &pad.calls {
        // By the search tool, or by a command such as `rg`.
        let is_search =
            call.tool == ToolKind::Search || call.effects.has_any(CallEffects::RUNS_SEARCH);
        if !is_search || call.state != CallState::Ok {
            continue;
        }
        // A host can omit the query.
        let Some(query) = call.query else { continue };
        let query = pad.strings.text(query).to_owned();
        // A plain word is found in many places, so that its file is no answer.
        if !names_identifier(&query) {
            continue;
        }
        let history = queries.entry(query.clone()).or_default();
        history.n_searches += 1;
        if call.n_matches == Some(0) {
            last_missed = Some(query);
        } else if call.only_hit.is_some() {
            // The first file that was found stays.
            history.only_hit = history.only_hit.or(call.only_hit);
            // A miss belongs to the first hit after it. The same query cannot be its own better query.
            let missed = last_missed.take().filter(|it| *it != query);
            if missed.is_some() {
                history.missed_query = missed;
            }
        }
    }
    for (query, history) in queries {
        let Some(file) = history.only_hit.and_then(|it| to_path(pad, it)) else { continue };
        let key = PatternKey::repeated_grep(&query);
        let evidence = Evidence::RepeatedGrep { query, file, missed_query: history.missed_query };
        acc.push(Sighting::new(key, evidence).with_occurrences(history.n_searches));
    }
}

/// The name that a query searches for: `computeTotal` of `fn computeTotal(`.
fn searched_name(query: &str) -> &str {
    let last_word = query.rsplit(' ').next().unwrap_or(query);
    last_word.trim_end_matches(['(', '\\', ')']).trim_start_matches('^')
}

/// Returns whether a query searches for one identifier: `computeTotal`, `compute_total`.
fn names_identifier(query: &str) -> bool {
    let name = searched_name(query);
    // `a|b` is a list of alternatives, `total.*` a pattern.
    let is_one_word = name.chars().all(|it| it.is_alphanumeric() || it == '_');
    // `totals` is a plain word.
    let has_inner_case = name.chars().skip(1).any(char::is_uppercase);
    let is_compound = name.contains('_') || has_inner_case;
    name.len() >= MIN_IDENTIFIER_BYTES && is_one_word && is_compound
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::RepeatedGrep;

    #[test]
    fn a_query_that_matches_is_recorded_with_its_file() {
        check(
            RepeatedGrep,
            "grep getTotals\ngrep func computeTotal → src/total.rs\ngrep func computeTotal → src/total.rs",
            expect![[r#"
                func computetotal ×2 {"files":["src/total.rs"],"before":"getTotals","query":"func computeTotal"}
            "#]],
        );
        // A plain word, a list of alternatives, a query without a match.
        check(RepeatedGrep, "grep total → a.rs\ngrep a|b → a.rs\ngrep missingThing", expect![""]);
    }
}
