//! Every filter holds, with and without words to search for.

use model::{MemoryType, Scope, Source, Status, words};
use waylore_store::{Filter, Store};

use crate::kit::{Bench, NOW, Seed, everything, id, memory, path};

/// Memory 1 is what every filter below wants; the others each miss it in one respect.
fn shelf(bench: &Bench) -> Store {
    let store = bench.open();
    for n in 1..=8 {
        let mut it = memory(n, "the wren sings");
        it.kind = MemoryType::from_slug("decision").unwrap();
        (it.source, it.scope, it.flags.pinned) = (Source::QaAuto, Scope::Module, true);
        it.files = vec![path("src/wanted.rs")];
        (it.modules, it.tags) = (vec!["wanted".to_owned()], vec!["wanted".to_owned()]);
        match n {
            2 => it.kind = MemoryType::from_slug("gotcha").unwrap(),
            3 => it.source = Source::ToolAuto,
            4 => it.scope = Scope::Session,
            5 => it.flags.pinned = false,
            6 => it.files = vec![path("src/wanted.rs.bak")],
            7 => it.modules = vec!["wanted/inner".to_owned()],
            8 => it.tags = vec!["unwanted".to_owned()],
            _ => {}
        }
        bench.insert(&store, it);
    }
    store
}

fn asked(bench: &Bench, store: &Store, filter: &Filter) -> Vec<u32> {
    let number = |it: &model::Memory| (1..=20).find(|n| id(*n) == it.id).unwrap();
    let mut listed: Vec<u32> =
        bench.wait(store.list(filter.clone())).unwrap().iter().map(number).collect();
    let mut found: Vec<u32> = bench
        .wait(store.search("\"wren\"".into(), filter.clone()))
        .unwrap()
        .iter()
        .map(|it| number(&it.memory))
        .collect();
    listed.sort_unstable();
    found.sort_unstable();
    assert_eq!(listed, found, "with and without words: {filter:?}");
    listed
}

#[test]
fn each_filter_leaves_out_exactly_what_misses_it() {
    let bench = Bench::new();
    let store = shelf(&bench);
    let all = || Filter::standing(100);
    let wanted = || Some("wanted".to_owned());
    let filters = [
        (2, Filter { kind: Some("decision".to_owned()), ..all() }),
        (3, Filter { source: Some(Source::QaAuto), ..all() }),
        (4, Filter { scope: Some(Scope::Module), ..all() }),
        (5, Filter { pinned: Some(true), ..all() }),
        (6, Filter { file: Some(path("src/wanted.rs")), ..all() }),
        (7, Filter { module: wanted(), ..all() }),
        (8, Filter { tag: wanted(), ..all() }),
    ];
    assert_eq!(asked(&bench, &store, &all()), (1..=8).collect::<Vec<u32>>());
    for (missing, filter) in filters {
        let expected: Vec<u32> = (1..=8).filter(|it| *it != missing).collect();
        assert_eq!(asked(&bench, &store, &filter), expected, "{filter:?}");
    }
    let both =
        Filter { tag: wanted(), module: wanted(), file: Some(path("src/wanted.rs")), ..all() };
    assert_eq!(asked(&bench, &store, &both), vec![1, 2, 3, 4, 5]);
    let none = Filter { kind: Some("custom:nobody.knows".to_owned()), ..all() };
    assert_eq!(asked(&bench, &store, &none), Vec::<u32>::new());
}

#[test]
fn each_status_is_asked_for_by_itself() {
    let bench = Bench::new();
    let store = bench.open();
    for (n, status) in (1..).zip(Status::ALL) {
        let mut it = memory(n, "the wren sings");
        match status {
            Status::Deleted => it.states.deleted_at = Some(NOW),
            Status::Deprecated => it.states.deprecated_at = Some(NOW),
            Status::Stale => it.states.stale_at = Some(NOW),
            Status::Tainted => (it.flags.tainted, it.flags.needs_review) = (true, true),
            Status::NeedsReview => it.flags.needs_review = true,
            Status::Live => {}
        }
        bench.insert(&store, it);
    }
    for (n, status) in (1..).zip(Status::ALL) {
        let filter = Filter { statuses: vec![*status], ..everything() };
        let listed = bench.wait(store.list(filter.clone())).unwrap();
        assert_eq!(listed.iter().map(|it| it.id).collect::<Vec<_>>(), vec![id(n)], "{status}");
        let found = bench.wait(store.search("\"wren\"".into(), filter)).unwrap();
        // What was forgotten is not in the index of words at all.
        assert_eq!(found.len(), usize::from(*status != Status::Deleted), "{status}");
    }
    let nothing = Filter { statuses: vec![], ..everything() };
    assert_eq!(bench.wait(store.list(nothing)).unwrap(), vec![]);
    let tally = bench.wait(store.tally()).unwrap();
    assert_eq!(tally.iter().map(|it| it.status).collect::<Vec<_>>(), Status::ALL);
    assert!(tally.iter().all(|it| it.count == 1 && it.kind == "gotcha"));
}

#[test]
fn the_status_of_every_combination_is_the_same_in_every_answer() {
    let bench = Bench::new();
    let store = bench.open();
    for n in 0..32_u32 {
        let mut it = memory(n, "the wren sings");
        let has = |bit: u32| n & (1 << bit) != 0;
        it.states.deleted_at = has(0).then_some(NOW);
        it.states.deprecated_at = has(1).then_some(NOW);
        it.states.stale_at = has(2).then_some(NOW);
        (it.flags.tainted, it.flags.needs_review) = (has(3), has(4));
        bench.insert(&store, it);
    }
    let tally = bench.wait(store.tally()).unwrap();
    let mut n_listed = 0;
    for status in Status::ALL {
        let filter = Filter { statuses: vec![*status], ..everything() };
        let listed = bench.wait(store.list(filter)).unwrap();
        assert!(listed.iter().all(|it| it.status() == *status), "{status}");
        let counted = tally.iter().find(|it| it.status == *status).unwrap().count;
        assert_eq!(counted, listed.len() as u64, "{status}");
        n_listed += listed.len();
    }
    assert_eq!(n_listed, 32);
}

#[test]
fn pages_follow_one_another_without_gap_or_overlap() {
    let bench = Bench::new();
    let store = shelf(&bench);
    let page = |offset| {
        let filter = Filter { offset, tag: Some("wanted".to_owned()), ..Filter::standing(3) };
        let found = bench.wait(store.list(filter)).unwrap();
        found.iter().map(|it| it.id).collect::<Vec<_>>()
    };
    let all = [page(0), page(3), page(6), page(9)].concat();
    assert_eq!(all, (1..=7).rev().map(id).collect::<Vec<_>>());
}

#[test]
fn quoted_keywords_never_upset_the_index() {
    let bench = Bench::new();
    let store = shelf(&bench);
    let pieces = [
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "*",
        "\"",
        "''",
        "(",
        ")",
        "{",
        "col:",
        "-",
        "+",
        "^",
        "\\",
        "--",
        ";",
        "/*",
        "é",
        "日本語",
        "😀",
        "a_b",
        "x.y",
        "src/a.rs",
        "\u{0}",
        "\u{200b}",
        "1e9",
        "%",
        "wren",
        "\n",
    ];
    let mut random = Seed(11);
    for _ in 0..300 {
        let text: Vec<&str> =
            (0..=random.below(12)).map(|_| pieces[random.below(pieces.len())]).collect();
        let terms = words::keywords(&text.join(if random.below(2) == 0 { " " } else { "" }));
        if terms.is_empty() {
            continue;
        }
        let quoted: Vec<String> = terms.iter().map(|it| format!("\"{it}\"")).collect();
        for joined in [quoted.join(" OR "), quoted.join(" ")] {
            bench.wait(store.search(joined.clone(), Filter::standing(5))).expect(&joined);
        }
    }
}
