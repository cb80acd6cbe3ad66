//! The data that ranking reads: vectors match the stored text, deltas bring an index up to date,
//! terms are counted by column.

use expect_test::expect;
use model::{Grain, MemoryId, MemoryStatus};
use waylore_store::{
    IndexDelta, IndexPosition, MemoryEmbedding, MemoryOutline, Store, TermLookup, VectorPart,
};

use crate::kit::{MODEL, NOW, TestBench, id, memory};

fn index_delta(
    bench: &TestBench,
    store: &Store,
    since: Option<&IndexPosition>,
) -> Option<IndexDelta> {
    bench.block_on(store.memories().index_delta(MODEL.to_owned(), since.cloned())).unwrap()
}

fn ids(outlines: &[MemoryOutline]) -> Vec<MemoryId> {
    outlines.iter().map(|it| it.id).collect()
}

fn vectors(bench: &TestBench, store: &Store, of: MemoryId) -> Vec<VectorPart> {
    bench.block_on(store.vectors().get(of, MODEL.to_owned())).unwrap()
}

#[test]
fn a_delta_holds_only_the_changes() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 1..=3 {
        bench.add(&store, n, "a wren");
    }
    bench.embed(&store, id(1), vec![1.0, 0.0], vec![64, 0]);
    let all = index_delta(&bench, &store, None).unwrap();
    assert!(all.is_full);
    assert_eq!(ids(&all.outlines), [id(1), id(2), id(3)]);
    assert_eq!(all.codes.len(), 1);
    assert!(index_delta(&bench, &store, Some(&all.position)).is_none(), "nothing happened");

    bench.edit(&store, id(2), |it| it.states.deleted_at = Some(NOW));
    bench.embed(&store, id(3), vec![0.0, 1.0], vec![0, 64]);
    // A write of another process is noticed like one of this process.
    let some = index_delta(&bench, &bench.open(), Some(&all.position)).unwrap();
    assert!(!some.is_full);
    assert_eq!(ids(&some.outlines), [id(2)]);
    assert_eq!(some.outlines[0].status, MemoryStatus::Deleted);
    assert_eq!(some.codes.iter().map(|it| it.owner).collect::<Vec<_>>(), [id(3)]);
}

#[test]
fn an_erasure_makes_the_delta_full() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "a wren");
    bench.add(&store, 2, "another wren");
    let all = index_delta(&bench, &store, None).unwrap();
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    let after = index_delta(&bench, &store, Some(&all.position)).unwrap();
    assert!(after.is_full);
    assert_eq!(ids(&after.outlines), [id(2)]);
}

#[test]
fn rewording_drops_vectors_and_pinning_does_not() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "a wren");
    bench.embed(&store, id(1), vec![1.0, 0.0], vec![64, 0]);
    bench.edit(&store, id(1), |it| it.flags.pinned = true);
    assert_eq!(vectors(&bench, &store, id(1)).len(), 1);
    let known = index_delta(&bench, &store, None).unwrap();
    bench.edit(&store, id(1), |it| it.content = "an owl".to_owned());
    assert!(vectors(&bench, &store, id(1)).is_empty());
    let after = index_delta(&bench, &store, Some(&known.position)).unwrap();
    assert_eq!(ids(&after.outlines), [id(1)]);
    assert!(after.codes.is_empty(), "an index removes the code of a memory that comes without one");
}

#[test]
fn vectors_of_an_older_text_are_not_stored() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "a wren");
    let part = VectorPart { grain: Grain::Part, values: vec![1.0], code: vec![64] };
    let embedding = |owner, version| MemoryEmbedding {
        owner,
        version,
        model: MODEL.to_owned(),
        parts: vec![part.clone()],
    };
    bench.edit(&store, id(1), |it| it.content = "an owl".to_owned());
    // The earlier version, a memory that does not exist, and the current version.
    let given = vec![embedding(id(1), 1), embedding(id(9), 1), embedding(id(1), 2)];
    assert_eq!(bench.block_on(store.put_vectors(given)).unwrap(), [false, false, true]);
    let broken = VectorPart { values: vec![f32::NAN], ..part.clone() };
    let embedding = MemoryEmbedding { parts: vec![broken], ..embedding(id(1), 2) };
    assert!(bench.block_on(store.put_vectors(vec![embedding])).is_err());
    assert_eq!(vectors(&bench, &store, id(1)).len(), 1, "the stored vector stays");
}

#[test]
fn models_do_not_mix() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "a wren");
    bench.embed(&store, id(1), vec![1.0, 0.0], vec![64, 0]);
    let other =
        bench.block_on(store.memories().index_delta("another".to_owned(), None)).unwrap().unwrap();
    assert!(other.codes.is_empty());
    assert_eq!(bench.block_on(store.drop_other_models("another".to_owned())).unwrap(), 1);
    assert!(vectors(&bench, &store, id(1)).is_empty());
}

/// Row number of each matching memory, with the occurrences of each term in the columns content,
/// tags and files. `2 [[2, 0, 0], [1, 0, 0]]` is memory 2 with the first term twice and the second
/// once, both in the content.
fn term_matches(bench: &TestBench, store: &Store, expression: &str) -> Vec<String> {
    let expression = expression.to_owned();
    let look = move |it: &TermLookup<'_>| {
        let matches = it.find_matches(&expression)?;
        Ok(matches.iter().map(|(n, counts)| format!("{n} {counts:?}")).collect())
    };
    bench.block_on(store.memories().look_up_terms(look)).unwrap()
}

#[test]
fn terms_are_counted_column_by_column() {
    let bench = TestBench::new();
    let store = bench.open();
    let mut tagged = memory(3, "a lark");
    tagged.tags = vec!["wren".to_owned()];
    for it in [memory(1, "crow"), memory(2, "wren owl wrens"), tagged] {
        bench.insert(&store, it);
    }
    expect![[r#"
        [
            "2 [[2, 0, 0], [1, 0, 0]]",
            "3 [[0, 1, 0], [0, 0, 0]]",
        ]
    "#]]
    .assert_debug_eq(&term_matches(&bench, &store, "\"wren\" OR \"owl\""));
    assert_eq!(term_matches(&bench, &store, "\"heron\""), [""; 0]);
    bench.edit(&store, id(2), |it| it.states.deleted_at = Some(NOW));
    assert_eq!(
        term_matches(&bench, &store, "\"owl\""),
        [""; 0],
        "forgotten memories are not searched"
    );
}

#[test]
fn an_outline_has_the_length_of_the_search_text() {
    let bench = TestBench::new();
    let store = bench.open();
    let long = "owl ".repeat(300);
    bench.insert(&store, memory(1, "wren"));
    bench.insert(&store, memory(2, &long));
    let words = |it: &IndexDelta| it.outlines.iter().map(|it| it.n_words).collect::<Vec<_>>();
    let all = index_delta(&bench, &store, None).unwrap();
    // Three of the words come from tags and files.
    assert_eq!(words(&all), [4, 303]);
    bench.edit(&store, id(1), |it| it.content = "wren and owl".to_owned());
    bench.edit(&store, id(2), |it| it.states.deleted_at = Some(NOW));
    let some = index_delta(&bench, &store, Some(&all.position)).unwrap();
    assert_eq!(words(&some), [6, 0]);
}
