//! What ranking is made of: vectors that belong to the text that is there, outlines that keep in
//! step, matches that are filtered before they are cut.

use model::{Grain, MemoryId, Status};
use waylore_store::{Embedding, Match, News, Outline, Part, Position, Store, Wanted};

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

fn matches(bench: &Bench, store: &Store, words: &str, limit: usize, also: &[i64]) -> Vec<Match> {
    let wanted = Wanted { may_answer: |n: i64| n != 1, limit, also: also.to_vec() };
    bench.wait(store.matches(words.to_owned(), wanted)).unwrap()
}

#[test]
fn a_filter_comes_before_the_limit() {
    let bench = Bench::new();
    let store = bench.open();
    bench.insert(&store, memory(1, "wren wren wren"));
    bench.insert(&store, memory(2, "a wren in the long grass by the old mill"));
    bench.insert(&store, memory(3, "the wren"));
    bench.insert(&store, memory(4, "an owl and a wren and a crow and a lark and a rook and a jay"));
    let numbers = |found: Vec<Match>| found.iter().map(|it| it.n).collect::<Vec<_>>();
    assert_eq!(numbers(matches(&bench, &store, "\"wren\"", 1, &[])), [3]);
    assert_eq!(numbers(matches(&bench, &store, "\"wren\"", 1, &[4])), [3, 4]);
    assert_eq!(numbers(matches(&bench, &store, "\"wren\"", 9, &[])), [3, 2, 4]);
    assert_eq!(numbers(matches(&bench, &store, "\"lark\" OR \"wren\"", 1, &[])), [4]);
}

#[test]
fn closeness_is_bm25_with_our_constants() {
    let bench = Bench::new();
    let store = bench.open();
    for (n, text) in [(1, "crow"), (2, "wren wren owl"), (3, "wren lark")] {
        bench.insert(&store, memory(n, text));
    }
    let found = matches(&bench, &store, "\"wren\" OR \"owl\"", 9, &[]);
    // Three rows of five words on average, three of them in tags and files; `wren` is in two rows,
    // `owl` in one.
    let weight = |holding: f64| ((3.0 - holding + 0.5) / (holding + 0.5)).ln_1p();
    let said = |n: f64, words: f64| n * 1.8 / (n + 0.8 * (0.5 + 0.5 * words / 5.0));
    let expected = weight(2.0) * said(2.0, 6.0) + weight(1.0) * said(1.0, 6.0);
    assert_eq!(found[0].n, 2);
    assert!((found[0].score - expected).abs() < 1e-9, "{found:?} {expected}");
    assert!((found[0].share - 1.0).abs() < 1e-9);
    assert!((found[1].mass - weight(2.0)).abs() < 1e-9);
}
