//! Every filter works, with and without a text search.

use model::{MemoryScope, MemorySource, MemoryStatus, MemoryType, words};
use waylore_store::{MemoryFilter, Store};

use crate::kit::{NOW, SeededRandom, TestBench, everything, id, memory, path};

/// Memory 1 matches every filter below; each of the others misses one criterion.
fn fill(bench: &TestBench) -> Store {
    let store = bench.open();
    for n in 1..=8 {
        let mut it = memory(n, "the wren sings");
        it.kind = MemoryType::from_slug("decision").unwrap();
        (it.source, it.scope, it.flags.pinned) = (MemorySource::QaAuto, MemoryScope::Module, true);
        it.files = vec![path("src/wanted.rs")];
        (it.modules, it.tags) = (vec!["wanted".to_owned()], vec!["wanted".to_owned()]);
        match n {
            2 => it.kind = MemoryType::from_slug("gotcha").unwrap(),
            3 => it.source = MemorySource::ToolAuto,
            4 => it.scope = MemoryScope::Session,
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

/// Numbers of the memories that pass a filter; asserts that listing and searching agree.
fn list_and_search(bench: &TestBench, store: &Store, filter: &MemoryFilter) -> Vec<u32> {
    let number = |it: &model::Memory| (1..=20).find(|n| id(*n) == it.id).unwrap();
    let mut listed: Vec<u32> =
        bench.block_on(store.memories().list(filter.clone())).unwrap().iter().map(number).collect();
    let mut found: Vec<u32> = bench
        .block_on(store.memories().search("\"wren\"".into(), filter.clone()))
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
fn each_filter_excludes_exactly_what_does_not_match() {
    let bench = TestBench::new();
    let store = fill(&bench);
    let all = || MemoryFilter::active(100);
    let wanted = || Some("wanted".to_owned());
    // The number of the memory that the filter excludes.
    let filters = [
        (2, MemoryFilter { kind: Some("decision".to_owned()), ..all() }),
        (3, MemoryFilter { source: Some(MemorySource::QaAuto), ..all() }),
        (4, MemoryFilter { scope: Some(MemoryScope::Module), ..all() }),
        (5, MemoryFilter { pinned: Some(true), ..all() }),
        (6, MemoryFilter { file: Some(path("src/wanted.rs")), ..all() }),
        (7, MemoryFilter { module: wanted(), ..all() }),
        (8, MemoryFilter { tag: wanted(), ..all() }),
    ];
    assert_eq!(list_and_search(&bench, &store, &all()), (1..=8).collect::<Vec<u32>>());
    for (missing, filter) in filters {
        let expected: Vec<u32> = (1..=8).filter(|it| *it != missing).collect();
        assert_eq!(list_and_search(&bench, &store, &filter), expected, "{filter:?}");
    }
    let both = MemoryFilter {
        tag: wanted(),
        module: wanted(),
        file: Some(path("src/wanted.rs")),
        ..all()
    };
    assert_eq!(list_and_search(&bench, &store, &both), vec![1, 2, 3, 4, 5]);
    let none = MemoryFilter { kind: Some("custom:not.known".to_owned()), ..all() };
    assert_eq!(list_and_search(&bench, &store, &none), Vec::<u32>::new());
}

#[test]
fn each_status_can_be_filtered_alone() {
    let bench = TestBench::new();
    let store = bench.open();
    for (n, status) in (1..).zip(MemoryStatus::ALL) {
        let mut it = memory(n, "the wren sings");
        match status {
            MemoryStatus::Deleted => it.states.deleted_at = Some(NOW),
            MemoryStatus::Deprecated => it.states.deprecated_at = Some(NOW),
            MemoryStatus::Stale => it.states.stale_at = Some(NOW),
            MemoryStatus::Tainted => (it.flags.tainted, it.flags.needs_review) = (true, true),
            MemoryStatus::Candidate => it.flags.candidate = true,
            MemoryStatus::NeedsReview => it.flags.needs_review = true,
            MemoryStatus::Live => {}
        }
        bench.insert(&store, it);
    }
    for (n, status) in (1..).zip(MemoryStatus::ALL) {
        let filter = MemoryFilter { statuses: vec![*status], ..everything() };
        let listed = bench.block_on(store.memories().list(filter.clone())).unwrap();
        assert_eq!(listed.iter().map(|it| it.id).collect::<Vec<_>>(), vec![id(n)], "{status}");
        let found = bench.block_on(store.memories().search("\"wren\"".into(), filter)).unwrap();
        // Forgotten memories are not in the full-text index.
        assert_eq!(found.len(), usize::from(*status != MemoryStatus::Deleted), "{status}");
    }
    let nothing = MemoryFilter { statuses: vec![], ..everything() };
    assert_eq!(bench.block_on(store.memories().list(nothing)).unwrap(), vec![]);
    let counts = bench.block_on(store.memories().count_by_status()).unwrap();
    assert_eq!(counts.iter().map(|it| it.status).collect::<Vec<_>>(), MemoryStatus::ALL);
    assert!(counts.iter().all(|it| it.count == 1 && it.kind == "gotcha"));
}

#[test]
fn every_query_computes_the_same_status() {
    let bench = TestBench::new();
    let store = bench.open();
    // Every combination of the six flags.
    for n in 0..64_u32 {
        let mut it = memory(n, "the wren sings");
        let has = |bit: u32| n & (1 << bit) != 0;
        it.states.deleted_at = has(0).then_some(NOW);
        it.states.deprecated_at = has(1).then_some(NOW);
        it.states.stale_at = has(2).then_some(NOW);
        (it.flags.tainted, it.flags.needs_review) = (has(3), has(4));
        it.flags.candidate = has(5);
        bench.insert(&store, it);
    }
    let counts = bench.block_on(store.memories().count_by_status()).unwrap();
    let mut n_listed = 0;
    for status in MemoryStatus::ALL {
        let filter = MemoryFilter { statuses: vec![*status], ..everything() };
        let listed = bench.block_on(store.memories().list(filter)).unwrap();
        assert!(listed.iter().all(|it| it.status() == *status), "{status}");
        let counted = counts.iter().find(|it| it.status == *status).unwrap().count;
        assert_eq!(counted, listed.len() as u64, "{status}");
        n_listed += listed.len();
    }
    assert_eq!(n_listed, 64);
}

#[test]
fn pages_follow_one_another_without_gap_or_overlap() {
    let bench = TestBench::new();
    let store = fill(&bench);
    let page = |offset| {
        let filter =
            MemoryFilter { offset, tag: Some("wanted".to_owned()), ..MemoryFilter::active(3) };
        let found = bench.block_on(store.memories().list(filter)).unwrap();
        found.iter().map(|it| it.id).collect::<Vec<_>>()
    };
    let all = [page(0), page(3), page(6), page(9)].concat();
    assert_eq!(all, (1..=7).rev().map(id).collect::<Vec<_>>());
}

#[test]
fn quoted_keywords_are_always_a_valid_expression() {
    let bench = TestBench::new();
    let store = fill(&bench);
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
    let mut random = SeededRandom(11);
    for _ in 0..300 {
        let text: Vec<&str> =
            (0..=random.below(12)).map(|_| pieces[random.below(pieces.len())]).collect();
        let terms = words::query_keywords(&text.join(if random.below(2) == 0 { " " } else { "" }));
        if terms.is_empty() {
            continue;
        }
        let quoted: Vec<String> = terms.iter().map(|it| format!("\"{it}\"")).collect();
        for joined in [quoted.join(" OR "), quoted.join(" ")] {
            bench
                .block_on(store.memories().search(joined.clone(), MemoryFilter::active(5)))
                .expect(&joined);
        }
    }
}
