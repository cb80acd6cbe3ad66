//! The same thing was searched for; the query that hit, and where, is kept.

use std::collections::BTreeMap;

use model::{SignalKind, ToolKind};

use crate::names::Name;
use crate::scratchpad::{Does, State};
use crate::sighting::{Evidence, Sighting, paths};
use crate::{Modules, Scratchpad};

/// Shorter queries find everything.
const TELLING: usize = 6;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    let mut seen: BTreeMap<String, (u32, Option<Name>, Option<String>)> = BTreeMap::new();
    let mut missed: Option<String> = None;
    for call in &pad.calls {
        let searches = call.tool == ToolKind::Search || call.does.any(Does::SEARCH);
        let Some(query) = call.query.filter(|_| searches && call.state == State::Ok) else {
            continue;
        };
        let query = pad.names.text(query).to_owned();
        if !is_specific(&query) {
            continue;
        }
        let it = seen.entry(query.clone()).or_insert((0, None, None));
        it.0 += 1;
        if call.matches == Some(0) {
            missed = Some(query);
        } else if call.hit.is_some() {
            it.1 = it.1.or(call.hit);
            it.2 = missed.take().filter(|it| *it != query).or(it.2.take());
        }
    }
    for (query, (n, hit, instead_of)) in seen.into_iter().filter(|it| it.1.1.is_some()) {
        let key = query.to_lowercase();
        let evidence = Evidence {
            query: Some(query),
            files: paths(pad, hit),
            before: instead_of,
            ..Evidence::default()
        };
        acc.push(Sighting::new(SignalKind::RepeatedGrep, key, evidence).times(n));
    }
}

/// Whether a query names one thing: an identifier, not a word or a list of alternatives.
fn is_specific(query: &str) -> bool {
    let name = query.rsplit(' ').next().unwrap_or(query);
    let plain = name.trim_end_matches(['(', '\\', ')']).trim_start_matches('^');
    plain.len() >= TELLING
        && plain.chars().all(|it| it.is_alphanumeric() || it == '_')
        && (plain.contains('_') || plain.chars().skip(1).any(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::RepeatedGrep;

    #[test]
    fn a_query_that_hits_is_kept_with_its_place() {
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
