//! The relation of labelled pairs of statements (`fixtures/pairs.txt`), the texts of conflicts, and
//! properties that hold for any text.
//!
//! A line of the fixture is `LABEL | OLD | NEW`, for example `near | Use tabs, not spaces | Use tabs`. A
//! known miss has the label `RIGHT today RESULT`: the right relation, and the one that is found today.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

const PAIRS: &str = include_str!("../../fixtures/pairs.txt");

/// A statement in the notation of the fixture.
struct FixtureStatement {
    text: String,
    files: Vec<ProjectPath>,
    kind: MemoryType,
}

impl FixtureStatement {
    /// Parses `(TYPE) TEXT @ FILE FILE`. Type and files may be left out.
    fn parse(side: &str) -> Self {
        let (kind, rest) = match side.strip_prefix('(').and_then(|it| it.split_once(") ")) {
            Some((kind, rest)) => (MemoryKind::parse(kind).unwrap(), rest),
            None => (MemoryKind::Gotcha, side),
        };
        let (text, files) = rest.split_once(" @ ").unwrap_or((rest, ""));
        let files = files.split_whitespace().map(|it| ProjectPath::parse(it).unwrap()).collect();
        Self { text: text.to_owned(), files, kind: MemoryType::Core(kind) }
    }

    fn statement(&self) -> MemoryStatement<'_> {
        MemoryStatement { text: &self.text, files: &self.files, kind: &self.kind }
    }
}

/// The relation of two statements in the notation of the fixture.
fn relation(old: &str, new: &str) -> StatementRelation {
    compare_statements(
        &FixtureStatement::parse(old).statement(),
        &FixtureStatement::parse(new).statement(),
    )
}

/// The label of a relation in the fixture.
const fn label_of(relation: &StatementRelation) -> &'static str {
    match relation {
        StatementRelation::Same => "same",
        StatementRelation::Near { .. } => "near",
        StatementRelation::Contradicts { .. } => "contradicts",
        StatementRelation::Unrelated => "unrelated",
    }
}

#[test]
fn labelled_pairs_are_judged_without_a_wrong_same_or_contradiction() {
    // Number of pairs by right label and result.
    let mut confusion: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut unexpected = Vec::new();
    for line in PAIRS.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [label, old, new] = parts[..] else { panic!("a line is `label | old | new`: {line}") };
        let (right, today) = label.split_once(" today ").unwrap_or((label, label));
        let result = label_of(&relation(old, new));
        *confusion.entry((right, result)).or_default() += 1;
        let is_symmetrical = label_of(&relation(new, old)) == result;
        if result != today || !is_symmetrical {
            unexpected.push(format!("{result}: {line}"));
        }
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));

    // A wrong `same` or `contradicts` would lose a memory, so that every pair with such a result has that
    // label.
    for result in ["same", "contradicts"] {
        let results_by_label = confusion.iter().filter(|((_, it), _)| *it == result);
        let n_results: usize = results_by_label.map(|(_, n)| n).sum();
        assert_eq!(confusion[&(result, result)], n_results, "precision of `{result}` is 1");
    }

    // The confusion matrix: one row per right label, one column per result.
    let mut table = String::from("label        same  near  contradicts  unrelated\n");
    for label in ["same", "near", "contradicts", "unrelated"] {
        let n = |result| confusion.get(&(label, result)).copied().unwrap_or(0);
        let (same, near) = (n("same"), n("near"));
        let (contradicts, unrelated) = (n("contradicts"), n("unrelated"));
        writeln!(table, "{label:11} {same:5} {near:5} {contradicts:12} {unrelated:10}").unwrap();
    }
    expect![[r"
        label        same  near  contradicts  unrelated
        same           12     0            0          0
        near            0    29            0          7
        contradicts     0     0           82         13
        unrelated       0     0            0        117
    "]]
    .assert_eq(&table);
}

/// Checks the text of the conflict between two statements.
fn check_conflict(old: &str, new: &str, expect: Expect) {
    let shown = match relation(old, new) {
        StatementRelation::Contradicts { conflict } => conflict.to_string(),
        other => label_of(&other).to_owned(),
    };
    expect.assert_eq(&shown);
}

#[test]
fn a_conflict_names_both_values() {
    check_conflict(
        "The TTL is 30 seconds",
        "The TTL is 5 minutes",
        expect!["the number was `30 seconds`, now it is `5 minutes`"],
    );
    check_conflict(
        "The TTL is 5 minutes",
        "The TTL is 30 seconds",
        expect!["the number was `5 minutes`, now it is `30 seconds`"],
    );
    check_conflict(
        "Use `make lint` before pushing",
        "Use `just lint` before pushing",
        expect!["the name was `make lint`, now it is `just lint`"],
    );
    check_conflict(
        "Flags are in src/a.rs",
        "Flags are in src/b.rs",
        expect!["the path was `src/a.rs`, now it is `src/b.rs`"],
    );
    check_conflict("Use tabs", "Use spaces", expect!["it was `tabs`, now it is `spaces`"]);
    check_conflict(
        "The protocol is v1.2",
        "The protocol is v1.3",
        expect!["the version was `v1.2`, now it is `v1.3`"],
    );
    check_conflict(
        "Builds are cached",
        "Builds are not cached",
        expect!["one says it is so, the other says it is not"],
    );
}

#[test]
fn the_strongest_relation_wins() {
    let statements: Vec<FixtureStatement> = [
        "Deploy on Tuesdays",
        "The retry limit is currently 3",
        "The retry limit is 5",
        "The retry limit is 7",
    ]
    .map(FixtureStatement::parse)
    .into();
    let candidates: Vec<_> = statements.iter().map(FixtureStatement::statement).collect();
    // The position and relation of the nearest one among the first `n` candidates.
    let nearest_of_first = |n: usize, text: &str| {
        find_nearest(&FixtureStatement::parse(text).statement(), &candidates[..n])
            .map(|(nth, it)| (nth, label_of(&it)))
    };
    // A contradiction is stronger than a near-duplicate, and the first of two contradictions wins.
    assert_eq!(nearest_of_first(4, "The retry limit is 3"), Some((2, "contradicts")));
    assert_eq!(nearest_of_first(2, "The retry limit is 3"), Some((1, "near")));
    // The same is stronger than a contradiction.
    assert_eq!(nearest_of_first(4, "Retry limit is 7"), Some((3, "same")));
    assert_eq!(nearest_of_first(4, "Write tests first"), None);
}

#[test]
fn exchanged_sides_of_a_direction_word_are_another_statement() {
    for word in ["before", "after", "above"] {
        let (one, other) = (
            format!("run the migration {word} the tests"),
            format!("run the tests {word} the migration"),
        );
        assert_eq!(label_of(&relation(&one, &other)), "unrelated", "{word}");
    }
}

#[test]
fn long_texts_are_compared() {
    let long = "never `x y` 5s a/b/c.rs not over is_it = ".repeat(1_500);
    assert_eq!(relation(&long, &long), StatementRelation::Same);
    assert_eq!(relation(&long, "short"), StatementRelation::Unrelated);
    assert_eq!(relation(&long, &format!("{long} more")), StatementRelation::Unrelated);
}

proptest! {
    #[test]
    fn a_statement_is_the_same_as_itself(text in "\\PC{0,300}") {
        prop_assert_eq!(relation(&text, &text), StatementRelation::Same);
    }

    /// With statements that often nearly agree.
    #[test]
    fn the_class_does_not_depend_on_the_order(old in statement(), new in statement()) {
        prop_assert_eq!(label_of(&relation(&old, &new)), label_of(&relation(&new, &old)));
    }

    #[test]
    fn any_two_texts_have_a_relation(old in "\\PC{0,200}", new in "\\PC{0,200}") {
        prop_assert_eq!(label_of(&relation(&old, &new)), label_of(&relation(&new, &old)));
    }
}

/// Statements of a small vocabulary, so that they often nearly agree.
fn statement() -> impl Strategy<Value = String> {
    let words = [
        "retry",
        "limit",
        "is",
        "3",
        "5",
        "not",
        "use",
        "tabs",
        "spaces",
        "for",
        "dev",
        "over",
        "before",
        "Redis",
        "src/a.rs,",
        "because",
        "jobs.",
        "`a b`",
        "5 seconds",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 1..8)
        .prop_map(|it| it.join(" "))
}
