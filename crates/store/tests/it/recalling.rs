//! What ranking is made of: vectors that belong to the text that is there, outlines that keep in
//! step, matches that are filtered before they are cut.

use expect_test::expect;
use model::{Grain, MemoryId, Status};
use waylore_store::{Embedding, Lookup, News, Outline, Part, Position, Store};

use crate::kit::{Bench, MODEL, NOW, id, memory};

fn news(bench: &Bench, store: &Store, since: Option<&Position>) -> Option<News> {
    bench.wait(store.news(MODEL.to_owned(), since.cloned())).unwrap()
}

fn ids(outlines: &[Outline]) -> Vec<MemoryId> {
    outlines.iter().map(|it| it.id).collect()
}

fn vectors(bench: &Bench, store: &Store, of: MemoryId) -> Vec<Part> {
    bench.wait(store.vectors(of, MODEL.to_owned())).unwrap()
}

#[test]
fn news_are_what_changed_and_nothing_else() {
    let bench = Bench::new();
    let store = bench.open();
    for n in 1..=3 {
        bench.add(&store, n, "a wren");
    }
    bench.embed(&store, id(1), vec![1.0, 0.0], vec![64, 0]);
    let all = news(&bench, &store, None).unwrap();
    assert!(all.everything);
    assert_eq!(ids(&all.outlines), [id(1), id(2), id(3)]);
    assert_eq!(all.codes.len(), 1);
    assert!(news(&bench, &store, Some(&all.position)).is_none(), "nothing happened");

    bench.edit(&store, id(2), |it| it.states.deleted_at = Some(NOW));
    bench.embed(&store, id(3), vec![0.0, 1.0], vec![0, 64]);
    // Another process wrote; this one learns of it like of its own.
    let some = news(&bench, &bench.open(), Some(&all.position)).unwrap();
    assert!(!some.everything);
    assert_eq!(ids(&some.outlines), [id(2)]);
    assert_eq!(some.outlines[0].status, Status::Deleted);
    assert_eq!(some.codes.iter().map(|it| it.owner).collect::<Vec<_>>(), [id(3)]);
}

#[test]
fn erasing_makes_everything_news() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "a wren");
    bench.add(&store, 2, "another wren");
    let all = news(&bench, &store, None).unwrap();
    bench.wait(store.erase(vec![id(1)], NOW)).unwrap();
    let after = news(&bench, &store, Some(&all.position)).unwrap();
    assert!(after.everything);
    assert_eq!(ids(&after.outlines), [id(2)]);
}

#[test]
fn rewording_drops_vectors_and_pinning_does_not() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "a wren");
    bench.embed(&store, id(1), vec![1.0, 0.0], vec![64, 0]);
    bench.edit(&store, id(1), |it| it.flags.pinned = true);
    assert_eq!(vectors(&bench, &store, id(1)).len(), 1);
    let known = news(&bench, &store, None).unwrap();
    bench.edit(&store, id(1), |it| it.content = "an owl".to_owned());
    assert!(vectors(&bench, &store, id(1)).is_empty());
    let after = news(&bench, &store, Some(&known.position)).unwrap();
    assert_eq!(ids(&after.outlines), [id(1)]);
    assert!(after.codes.is_empty(), "whoever kept the code learns that it is gone");
}

#[test]
fn vectors_of_an_older_text_are_not_kept() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "a wren");
    let part = Part { grain: Grain::Part, values: vec![1.0], code: vec![64] };
    let embedding = |owner, version| Embedding {
        owner,
        version,
        model: MODEL.to_owned(),
        parts: vec![part.clone()],
    };
    bench.edit(&store, id(1), |it| it.content = "an owl".to_owned());
    let given = vec![embedding(id(1), 1), embedding(id(9), 1), embedding(id(1), 2)];
    assert_eq!(bench.wait(store.put_vectors(given)).unwrap(), [false, false, true]);
    let broken = Part { values: vec![f32::NAN], ..part.clone() };
    let embedding = Embedding { parts: vec![broken], ..embedding(id(1), 2) };
    assert!(bench.wait(store.put_vectors(vec![embedding])).is_err());
    assert_eq!(vectors(&bench, &store, id(1)).len(), 1, "what was there stays");
}

#[test]
fn models_do_not_mix() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "a wren");
    bench.embed(&store, id(1), vec![1.0, 0.0], vec![64, 0]);
    let other = bench.wait(store.news("another".to_owned(), None)).unwrap().unwrap();
    assert!(other.codes.is_empty());
    assert_eq!(bench.wait(store.drop_other_models("another".to_owned())).unwrap(), 1);
    assert!(vectors(&bench, &store, id(1)).is_empty());
}

/// The number of each memory that matches, with how often it holds each term.
fn holders(bench: &Bench, store: &Store, expression: &str) -> Vec<String> {
    let expression = expression.to_owned();
    let look = move |it: &Lookup<'_>| {
        let holders = it.holders(&expression)?;
        Ok(holders.iter().map(|(n, counts)| format!("{n} {counts:?}")).collect())
    };
    bench.wait(store.look(look)).unwrap()
}

#[test]
fn terms_are_counted_column_by_column() {
    let bench = Bench::new();
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
    .assert_debug_eq(&holders(&bench, &store, "\"wren\" OR \"owl\""));
    assert_eq!(holders(&bench, &store, "\"heron\""), [""; 0]);
    bench.edit(&store, id(2), |it| it.states.deleted_at = Some(NOW));
    assert_eq!(holders(&bench, &store, "\"owl\""), [""; 0], "what is forgotten is not searched");
}

#[test]
fn an_outline_knows_how_long_a_text_is() {
    let bench = Bench::new();
    let store = bench.open();
    let long = "owl ".repeat(300);
    bench.insert(&store, memory(1, "wren"));
    bench.insert(&store, memory(2, &long));
    let words = |it: &News| it.outlines.iter().map(|it| it.words).collect::<Vec<_>>();
    let all = news(&bench, &store, None).unwrap();
    // Three of the words are tags and files.
    assert_eq!(words(&all), [4, 303]);
    bench.edit(&store, id(1), |it| it.content = "wren and owl".to_owned());
    bench.edit(&store, id(2), |it| it.states.deleted_at = Some(NOW));
    let some = news(&bench, &store, Some(&all.position)).unwrap();
    assert_eq!(words(&some), [6, 0]);
}
