//! A life in which every statement of the store is run.

use std::fs;

use model::{Actor, DAY, Hlc, ProjectId, RelationKind, Source, Timestamp};
use waylore_store::tape::Tape;
use waylore_store::{Action, Batch, Change, Filter, Lookup, Milestone, PlaceRow, Store};

use crate::kit::{Bench, NOW, batch, everything, full, id, memory, path};
use crate::lessons::lesson;

pub(crate) fn play(tape: &Tape) {
    let bench = Bench::new();
    let store = Store::taped(bench.home(), NOW, tape.clone());
    write(&bench, &store);
    lessons(&bench, &store);
    read(&bench, &store);
    look_back(&bench, &store);
    places(&bench, &store);
    drop(store);
    let store = lose(&bench, tape);
    keep_up(&bench, &store);
    read(&bench, &store);
}

fn write(bench: &Bench, store: &Store) {
    let mut keyed = batch(Action::Remember, vec![Change::Insert(Box::new(full(1, "wren")))]);
    (keyed.key, keyed.detail) = (Some("wren".to_owned()), Some("told by the wren".to_owned()));
    keyed.actor = Actor::Agent("wren".to_owned());
    bench.wait(store.apply(keyed.clone())).unwrap();
    assert!(bench.wait(store.apply(keyed)).unwrap().repeated);
    bench.add(store, 2, "the plain wren sings in verifyJwt");
    bench.add(store, 3, "erased later");
    bench.add(store, 4, "removed later");
    bench.edit(store, id(1), |it| it.summary.push_str(", edited"));
    bench.edit(store, id(2), |it| it.states.deleted_at = Some(NOW));
    bench.edit(store, id(2), |it| it.states.deleted_at = None);
    for n in 1..=3 {
        let values = vec![0.5, -0.25, 1e-7];
        bench.embed(store, id(n), values, vec![64, -32, 0]);
    }
    let set =
        |value: Option<&str>| Change::Setting { key: "k".into(), value: value.map(str::to_owned) };
    bench
        .apply(store, Action::Settings, vec![set(Some("a")), set(None), set(Some("the wren"))])
        .unwrap();
    let count = |used| Change::Count { id: id(2), used };
    bench.apply(store, Action::Flag, vec![count(true), count(false)]).unwrap();
    // Far ahead, and back again.
    for days in [400, 1, 2] {
        let now = NOW.plus(days * DAY);
        let after = Hlc(bench.wait(store.clock()).unwrap().0 + 7);
        bench.wait(store.apply(Batch { now, after, ..batch(Action::Settings, vec![]) })).unwrap();
    }
    let missing =
        bench.apply(store, Action::Edit, vec![Change::Replace(Box::new(memory(77, "no")))]);
    assert!(missing.is_err(), "a write that is taken back is on the tape, too");
}

fn read(bench: &Bench, store: &Store) {
    let all = everything;
    let filters = [
        all(),
        Filter { file: Some(path("src/auth.rs")), ..all() },
        Filter { tag: Some("tag".to_owned()), kind: Some("gotcha".to_owned()), ..all() },
        Filter { module: Some("auth".to_owned()), pinned: Some(false), ..all() },
        Filter { source: Some(Source::UserTaught), limit: 2, offset: 1, ..all() },
    ];
    for filter in &filters {
        bench.wait(store.list(filter.clone())).unwrap();
        bench.wait(store.search("\"wren\" OR \"jwt\"".into(), filter.clone())).unwrap();
    }
    for n in 1..=5 {
        bench.wait(store.get(id(n))).unwrap();
        bench.wait(store.vectors(id(n), "tiny".into())).unwrap();
    }
    bench.wait(store.by_short("0000".into())).unwrap();
    bench.wait(store.pointing_at(id(4_000), RelationKind::DerivedFrom)).unwrap();
    bench.wait(store.tally()).unwrap();
    bench.wait(store.quiet()).unwrap();
    bench.wait(store.settings()).unwrap();
    let news = bench.wait(store.news("tiny".into(), None)).unwrap().unwrap();
    bench.edit(store, id(2), |it| it.content.push_str(" again"));
    bench.embed(store, id(2), vec![0.5], vec![64]);
    bench.wait(store.news("tiny".into(), Some(news.position))).unwrap();
    for filter in filters {
        bench.wait(store.about(filter)).unwrap();
    }
    let look = |it: &Lookup<'_>| {
        it.n_holding("\"wren\"")?;
        Ok(it.holders("\"wren\"")?.iter().map(|it| it.0).collect::<Vec<_>>())
    };
    bench.wait(store.look(look)).unwrap();
    bench.wait(store.numbered(vec![2, 1, 99])).unwrap();
    bench.wait(store.warnings(vec![path("src/auth.rs"), path("src/b.rs")], 4)).unwrap();
    bench.wait(store.drop_other_models("small".into())).unwrap();
    bench.wait(store.is_erased(id(3))).unwrap();
    assert!(bench.wait(store.examine()).is_ok());
}

/// The session says what the wren said, and the plain one was made of it.
fn lessons(bench: &Bench, store: &Store) {
    let lesson = lesson(1, "the wren", Some(id(2)));
    let (session, signal) = (lesson.session.id, lesson.sightings[0].signal);
    bench.apply(store, Action::Promote, vec![Change::Learn(Box::new(lesson.clone()))]).unwrap();
    bench.apply(store, Action::Promote, vec![Change::Learn(Box::new(lesson))]).unwrap();
    bench.wait(store.session(session)).unwrap().unwrap();
    bench.wait(store.sessions()).unwrap();
    bench.wait(store.sightings_of(vec![(signal, "the wren".to_owned())])).unwrap();
    bench.wait(store.sightings_in(session)).unwrap();
    bench.wait(store.sightings_for(id(2))).unwrap();
    bench.wait(store.editors(vec![path("src/auth.rs")])).unwrap();
    bench.wait(store.session_files(session)).unwrap();
    bench.wait(store.judged()).unwrap();
    bench.wait(store.touched_by_all()).unwrap();
    bench.wait(store.edited_by_children(session)).unwrap();
    bench.wait(store.coupled()).unwrap();
    bench.wait(store.touched()).unwrap();
    bench.wait(store.touched_with(vec!["src/auth.rs".to_owned()])).unwrap();
    bench.wait(store.editors_in(vec!["src".to_owned()])).unwrap();
    bench.wait(store.stumbles(Timestamp(0), Timestamp(100))).unwrap();
    let milestone = Milestone { what: "the wren".to_owned(), mark: 5 };
    bench.apply(store, Action::Promote, vec![Change::Pass(milestone)]).unwrap();
    bench.wait(store.milestones()).unwrap();
    let relink = Change::Relink { from: id(2), to: id(1) };
    bench.apply(store, Action::Promote, vec![relink]).unwrap();
}

fn look_back(bench: &Bench, store: &Store) {
    bench.wait(store.versions(id(2))).unwrap();
    bench.wait(store.entries_of(id(2))).unwrap();
    bench.wait(store.recent(3)).unwrap();
    let last = bench.wait(store.last_undoable(Some(id(2)))).unwrap().unwrap();
    bench.wait(store.last_undoable(None)).unwrap();
    bench.wait(store.every_version()).unwrap();
    bench.wait(store.steps(last.batch)).unwrap();
    bench.apply(store, Action::Undo, vec![Change::Undoes(last.batch)]).unwrap();
}

fn places(bench: &Bench, store: &Store) {
    for (n, name) in [(1, "wren"), (1, "again"), (2, "two")] {
        let place = PlaceRow {
            project: ProjectId::new(NOW, [n; 10]),
            name: name.to_owned(),
            root_commit: Some("the wren".to_owned()),
            remote: Some("ssh://wren".to_owned()),
            key_dir: format!("/wren/{name}"),
            dir_key: None,
            last_seen: NOW,
        };
        bench.wait(store.put_place(place)).unwrap();
    }
    bench.wait(store.place_at("/wren/again".into())).unwrap();
    bench.wait(store.drop_project(ProjectId::new(NOW, [2; 10]))).unwrap();
    bench.wait(store.places()).unwrap();
}

/// Opens the store again with a mark that is ahead of it, as after the loss of a log.
fn lose(bench: &Bench, tape: &Tape) -> Store {
    let other = Bench::new();
    let ahead = other.open();
    for n in 0..60 {
        other.add(&ahead, n, "further on");
    }
    drop(ahead);
    fs::copy(other.data().root.join("user.mark"), bench.data().root.join("user.mark")).unwrap();
    Store::taped(bench.home(), NOW, tape.clone())
}

fn keep_up(bench: &Bench, store: &Store) {
    bench.add(store, 5, "after the loss");
    bench.wait(store.backup(NOW)).unwrap();
    bench.wait(store.mend(NOW)).unwrap();
    bench.wait(store.remove(vec![id(4)])).unwrap();
    bench.wait(store.erase(vec![id(3)], NOW)).unwrap();
    assert!(!bench.wait(store.holds(vec![id(3)])).unwrap());
    let clean = |text: &str| text.contains("wren").then(|| text.replace("wren", "bird"));
    assert_eq!(bench.wait(store.scrub(clean)).unwrap(), vec![id(1), id(2)]);
}
