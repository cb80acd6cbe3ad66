//! Detects the signal `repeated_grep`: an identifier was searched for and found in one file. The query and
//! the file are recorded, and the last query before it that found nothing.

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
    only_hit: Option<StringId>,
    /// The last query before it that matched nothing.
    missed_query: Option<String>,
}

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    let mut queries: BTreeMap<String, QueryHistory> = BTreeMap::new();
    let mut last_missed: Option<String> = None;
    for call in &pad.calls {
        let is_search =
            call.tool == ToolKind::Search || call.effects.has_any(CallEffects::RUNS_SEARCH);
        let Some(query) = call.query.filter(|_| is_search && call.state == CallState::Ok) else {
            continue;
        };
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
            history.only_hit = history.only_hit.or(call.only_hit);
            // A miss belongs to the first hit after it.
            let missed = last_missed.take().filter(|it| *it != query);
            history.missed_query = missed.or(history.missed_query.take());
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
pub(crate) fn searched_name(query: &str) -> &str {
    let last_word = query.rsplit(' ').next().unwrap_or(query);
    last_word.trim_end_matches(['(', '\\', ')']).trim_start_matches('^')
}

/// Returns whether a query searches for one identifier, not for a plain word or a list of alternatives.
fn names_identifier(query: &str) -> bool {
    let name = searched_name(query);
    name.len() >= MIN_IDENTIFIER_BYTES
        && name.chars().all(|it| it.is_alphanumeric() || it == '_')
        && (name.contains('_') || name.chars().skip(1).any(char::is_uppercase))
}

#[cfg(test)]
mod tests {
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
        check(RepeatedGrep, "grep total → a.rs\ngrep a|b → a.rs\ngrep missingThing", expect![""]);
    }
}
