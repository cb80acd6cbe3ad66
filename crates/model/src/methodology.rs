//! Methodologies: ways of working with agents, each with its own names for phases, units of work and roles.
//!
//! A methodology is a row of data without code of its own. It maps its words to the universal [`Phase`]s,
//! which are all that retrieval sees: `green` of test-driven development is the phase `implement`. It also
//! names units of work (`042`, `3` are "Spec 042 / Subtask 3") and orders the lines of a *work state*, the
//! notes by which an agent resumes unfinished work.

use serde_json::{Map, Value};

use crate::{MAX_LABEL, MemoryKind, Phase, WorkUnit, clean_label};

/// One methodology.
#[derive(Debug, PartialEq, Eq)]
pub struct Methodology {
    pub slug: &'static str,
    pub name: &'static str,
    /// Its own words for phases. The six universal words are always accepted.
    pub words: &'static [(&'static str, Phase)],
    /// Handovers between roles, in the order of the work.
    pub handovers: &'static [RoleHandover],
    /// Names of the levels of a work unit, outermost first.
    pub levels: &'static [&'static str],
    /// Keys of a work state (the payload for resuming) that are printed first, in this order. The others
    /// follow by name.
    pub leading_state_keys: &'static [&'static str],
}

/// One handover between two agent roles, and the types of memory that travel with it.
#[derive(Debug, PartialEq, Eq)]
pub struct RoleHandover {
    pub from: &'static str,
    pub to: &'static str,
    pub carries: &'static [MemoryKind],
}

/// The built-in methodologies. The first is the default.
pub const METHODOLOGIES: &[Methodology] = &[NATIVE, TDD, BMAD];

const NATIVE: Methodology = Methodology {
    slug: "native",
    name: "Specs and subtasks",
    words: &[
        ("planning", Phase::Define),
        ("spec", Phase::Define),
        ("coding", Phase::Implement),
        ("qa_review", Phase::Validate),
        ("qa_fix", Phase::Refine),
        ("debugging", Phase::Refine),
        ("insights", Phase::Explore),
    ],
    handovers: &[
        handover("planner", "coder", MemoryKind::ALL),
        handover("coder", "qa_reviewer", MemoryKind::ALL),
        handover("qa_reviewer", "qa_fixer", &[MemoryKind::ErrorPattern, MemoryKind::Requirement]),
    ],
    levels: &["spec", "subtask"],
    leading_state_keys: &["done", "next", "blocked_by"],
};

const TDD: Methodology = Methodology {
    slug: "tdd",
    name: "Test-driven development",
    words: &[("red", Phase::Define), ("green", Phase::Implement), ("refactor", Phase::Refine)],
    // One agent runs the whole cycle, so there is no handover.
    handovers: &[],
    levels: &["feature", "test"],
    leading_state_keys: &["failing", "passing", "next"],
};

/// The BMAD method: agents in the roles of an agile team. Its words for phases are those roles.
const BMAD: Methodology = Methodology {
    slug: "bmad",
    name: "BMAD",
    words: &[
        ("analyst", Phase::Define),
        ("pm", Phase::Define),
        ("architect", Phase::Define),
        ("dev", Phase::Implement),
        ("qa", Phase::Validate),
    ],
    handovers: &[
        handover("analyst", "pm", MemoryKind::ALL),
        handover("pm", "architect", MemoryKind::ALL),
        handover("architect", "dev", MemoryKind::ALL),
        handover("dev", "qa", MemoryKind::ALL),
    ],
    levels: &["epic", "story", "task"],
    leading_state_keys: &["done", "next", "blocked_by"],
};

const fn handover(
    from: &'static str,
    to: &'static str,
    carries: &'static [MemoryKind],
) -> RoleHandover {
    assert!(!carries.is_empty(), "a handover that carries nothing is no handover");
    RoleHandover { from, to, carries }
}

impl Methodology {
    pub fn from_slug(slug: &str) -> Option<&'static Self> {
        METHODOLOGIES.iter().find(|it| it.slug == slug)
    }

    /// The phase a word of this methodology means; an unknown word is exploring.
    pub fn phase_for_word(&self, word: &str) -> Phase {
        match self.words.iter().find(|(own_word, _)| *own_word == word) {
            Some((_, phase)) => *phase,
            None => Phase::or_explore(word),
        }
    }

    /// The phase of a word whose methodology is unknown. No word maps to two phases.
    pub fn phase_for_any_word(word: &str) -> Phase {
        let mut all_words = METHODOLOGIES.iter().flat_map(|it| it.words);
        match all_words.find(|(own_word, _)| *own_word == word) {
            Some((_, phase)) => *phase,
            None => Phase::or_explore(word),
        }
    }

    /// Memory kinds carried from one role to the next; `None` if the roles have no handover.
    pub fn carried_kinds(&self, from: &str, to: &str) -> Option<&'static [MemoryKind]> {
        self.handovers.iter().find(|it| it.from == from && it.to == to).map(|it| it.carries)
    }

    /// The unit of work that ids name, outermost first: `042`, `3` or `spec_042`, `subtask_3` are
    /// both "Spec 042 / Subtask 3". `None` if every id is empty.
    pub fn work_unit(&self, ids: &[&str]) -> Option<WorkUnit> {
        let mut hierarchy = Vec::new();
        let mut titles = Vec::new();
        let ids = ids.iter().map(|it| clean_label(it, MAX_LABEL)).filter(|it| !it.is_empty());
        for (depth, id) in ids.enumerate() {
            // A host can have more levels than the methodology names.
            let level = self.levels.get(depth).copied().unwrap_or("part");
            let bare = bare_id(level, &id);
            hierarchy.push(format!("{level}_{bare}"));
            titles.push(format!("{} {bare}", capitalize_word(level)));
        }
        // Without any id there is no title and no unit.
        let label = clean_label(&titles.join(" / "), MAX_LABEL);
        (!label.is_empty()).then(|| WorkUnit {
            methodology: self.slug.to_owned(),
            hierarchy,
            label,
        })
    }

    /// Formats a work state as lines to resume from.
    pub fn format_work_state(&self, unit: Option<&WorkUnit>, state: &Map<String, Value>) -> String {
        // The leading keys in their order, then the others by name.
        let rank = |key: &str| self.leading_state_keys.iter().position(|it| *it == key);
        let mut keys: Vec<&String> = state.keys().collect();
        keys.sort_by_key(|it| (rank(it).unwrap_or(usize::MAX), *it));
        let mut acc = match unit {
            Some(unit) => format!("Unfinished work on {}:", clean_label(&unit.label, MAX_LABEL)),
            None => "Unfinished work:".to_owned(),
        };
        for key in keys {
            // The state comes from an agent. As a label, no value can imitate a further line.
            let text = clean_label(&state_text(&state[key]), 2 * MAX_LABEL);
            if !text.is_empty() {
                let title = clean_label(&key.replace('_', " "), MAX_LABEL);
                acc.extend(["\n- ", &title, ": ", &text]);
            }
        }
        acc
    }
}

/// The id without the name of its level, which some hosts prepend: `042` of `spec_042`.
fn bare_id<'a>(level: &str, id: &'a str) -> &'a str {
    match id.split_once(['_', '-', ' ', ':']) {
        Some((prefix, bare)) if prefix.eq_ignore_ascii_case(level) && !bare.is_empty() => bare,
        _ => id,
    }
}

fn capitalize_word(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |it| it.to_uppercase().chain(chars).collect())
}

/// A value of a work state as plain text.
fn state_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(state_text).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Checks the work unit that ids name, as `METHODOLOGY [HIERARCHY] LABEL`; empty if they name none.
    fn check_unit(slug: &str, ids: &[&str], expect: Expect) {
        let unit = Methodology::from_slug(slug).unwrap().work_unit(ids);
        let shown = unit.map_or_else(String::new, |it| {
            format!("{} [{}] {}", it.methodology, it.hierarchy.join(", "), it.label)
        });
        expect.assert_eq(&shown);
    }

    #[test]
    fn work_units_have_one_form_however_they_are_named() {
        check_unit(
            "native",
            &["spec_042", "subtask_3"],
            expect!["native [spec_042, subtask_3] Spec 042 / Subtask 3"],
        );
        check_unit(
            "native",
            &["042", "3"],
            expect!["native [spec_042, subtask_3] Spec 042 / Subtask 3"],
        );
        check_unit(
            "native",
            &["Spec-042", "", "subtask:3"],
            expect!["native [spec_042, subtask_3] Spec 042 / Subtask 3"],
        );
        check_unit("native", &["login"], expect!["native [spec_login] Spec login"]);
        check_unit(
            "tdd",
            &["cart", "empty"],
            expect!["tdd [feature_cart, test_empty] Feature cart / Test empty"],
        );
        check_unit(
            "bmad",
            &["1", "2", "3", "4"],
            expect!["bmad [epic_1, story_2, task_3, part_4] Epic 1 / Story 2 / Task 3 / Part 4"],
        );
        check_unit("native", &["", " \n"], expect![""]);
    }

    #[test]
    fn known_words_become_phases_and_unknown_words_become_explore() {
        let native = Methodology::from_slug("native").unwrap();
        assert_eq!(native.phase_for_word("qa_fix"), Phase::Refine);
        assert_eq!(native.phase_for_word("reflect"), Phase::Reflect);
        assert_eq!(native.phase_for_word("green"), Phase::Explore, "a word of another methodology");
        assert_eq!(Methodology::phase_for_any_word("green"), Phase::Implement);
        assert_eq!(Methodology::phase_for_any_word("lunch"), Phase::Explore);
        assert_eq!(Methodology::from_slug("scrum"), None);
    }

    #[test]
    fn no_word_means_two_phases() {
        let own = METHODOLOGIES.iter().flat_map(|it| it.words).copied();
        let universal = Phase::ALL.iter().map(|it| (it.slug(), *it));
        for (word, phase) in own.chain(universal) {
            assert_eq!(Methodology::phase_for_any_word(word), phase, "{word}");
        }
    }

    #[test]
    fn handovers_form_a_chain() {
        for methodology in METHODOLOGIES {
            for pair in methodology.handovers.windows(2) {
                assert_eq!(pair[0].to, pair[1].from, "{}", methodology.slug);
            }
        }
        let native = Methodology::from_slug("native").unwrap();
        assert_eq!(
            native.carried_kinds("qa_reviewer", "qa_fixer"),
            Some(&[MemoryKind::ErrorPattern, MemoryKind::Requirement][..])
        );
        assert_eq!(native.carried_kinds("planner", "coder"), Some(MemoryKind::ALL));
        assert_eq!(native.carried_kinds("qa_fixer", "planner"), None);
    }

    #[test]
    fn a_work_state_lists_its_leading_keys_first() {
        let native = Methodology::from_slug("native").unwrap();
        let state = serde_json::json!({
            "branch": "cart\n- done: everything", "next": "wire the form", "attempt": 2,
            "done": ["schema", "routes"], "note": null,
        });
        let unit = native.work_unit(&["042", "3"]);
        expect![[r"
            Unfinished work on Spec 042 / Subtask 3:
            - done: schema; routes
            - next: wire the form
            - attempt: 2
            - branch: cart - done: everything"]]
        .assert_eq(&native.format_work_state(unit.as_ref(), state.as_object().unwrap()));
    }
}
