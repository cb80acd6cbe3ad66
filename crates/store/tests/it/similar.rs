//! Finding memories that share words with a text, in small notebooks and in large ones.

use model::MemoryStatus;
use waylore_store::{AuditAction, MemoryFilter, Store, StoreChange};

use crate::kit::{TestBench, id, memory};

/// More memories than are ranked by a common word.
const MANY: u32 = 2_100;

/// A store with `n` memories that share two words, and one more that has a rare one, too.
fn fill(bench: &TestBench, n: u32) -> Store {
    let store = bench.open();
    let insert = |n: u32, text: &str| StoreChange::Insert(Box::new(memory(n, text)));
    let mut changes: Vec<StoreChange> = (1..=n).map(|n| insert(n, "the cache limit")).collect();
    changes.push(insert(n + 1, "the cache limit of the zebrafinch"));
    bench.apply(&store, AuditAction::Import, changes).unwrap();
    store
}

fn find(bench: &TestBench, store: &Store, words: &[&str], filters: Vec<MemoryFilter>) -> Vec<u32> {
    let terms = words.iter().map(|it| format!("\"{it}\"")).collect();
    let found = bench.block_on(store.memories().find_similar(terms, filters)).unwrap();
    found.iter().map(|it| (1..=MANY + 1).find(|n| id(*n) == it.id).unwrap()).collect()
}

#[test]
fn a_small_notebook_is_searched_for_every_word() {
    let bench = TestBench::new();
    let store = fill(&bench, 3);
    let found = find(&bench, &store, &["cache", "zebrafinch"], vec![MemoryFilter::active(30)]);
    assert_eq!(found, [4, 1, 2, 3]);
}

#[test]
fn a_large_notebook_is_searched_for_the_rarest_words() {
    let bench = TestBench::new();
    let store = fill(&bench, MANY);
    let find = |words: &[&str]| find(&bench, &store, words, vec![MemoryFilter::active(30)]);
    assert_eq!(find(&["cache", "zebrafinch", "limit"]), [MANY + 1]);
    assert_eq!(find(&["cache", "limit"]).len(), 30, "common words alone are searched all the same");
    assert_eq!(find(&["nowhere"]), Vec::<u32>::new());
}

#[test]
fn each_filter_has_its_own_matches() {
    let bench = TestBench::new();
    let store = fill(&bench, 3);
    bench.edit(&store, id(2), |it| it.flags.candidate = true);
    let active = MemoryFilter::active(2);
    let candidates =
        MemoryFilter { statuses: vec![MemoryStatus::Candidate], ..MemoryFilter::active(2) };
    assert_eq!(find(&bench, &store, &["cache"], vec![active, candidates]), [1, 3, 2]);
}
