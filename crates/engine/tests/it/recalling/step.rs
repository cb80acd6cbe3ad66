//! The index a process keeps in its head is in step with the store, whoever writes to it.

use expect_test::expect;
use model::{Grain, MemoryId, Timestamp};
use store::{Embedding, Part};
use testkit::World;
use waylore_engine::{
    Edit, Engine, Error, OnDuplicate, OnSecret, Progress, Question, Reach, Stage, Teaching, Without,
};

use super::question;
use crate::check;

#[test]
fn what_was_taken_away_is_gone_at_once_and_back_with_its_return() {
    check(
        r"
            teach the session cache lives in redis
            search where is the session cache
            forget m1
            search where is the session cache
            restore m1
            search where is the session cache
            edit m1 the build runs on a machine in the cellar
            search where is the session cache
            search where does the build run
            undo
            search where is the session cache
            purge m1
            search where is the session cache
        ",
        expect![[r#"
            m1 new: module_insight "the session cache lives in redis"
            m1 "the session cache lives in redis" by session cache
            m1 module_insight "the session cache lives in redis" [deleted]
            nothing
            m1 module_insight "the session cache lives in redis"
            m1 "the session cache lives in redis" by session cache
            m1 module_insight "the build runs on a machine in the cellar"
            nothing
            m1 "the build runs on a machine in the cellar" by build run
            undid edit
            m1 module_insight "the session cache lives in redis"
            m1 "the session cache lives in redis" by session cache
            purged m1, not found anywhere
            nothing
        "#]],
    );
}

fn teaching(content: &str) -> Teaching {
    Teaching {
        content: content.to_owned(),
        kind: None,
        reach: Reach::Project,
        tags: Vec::new(),
        files: Vec::new(),
        modules: Vec::new(),
        cwd: std::path::PathBuf::new(),
        pinned: false,
        on_secret: OnSecret::Refuse,
        on_duplicate: OnDuplicate::Keep,
        key: None,
        dry_run: false,
    }
}

async fn found(engine: &Engine, text: &str) -> Result<Vec<MemoryId>, Error> {
    let hits = engine.recall(&question(text)).await?.hits;
    Ok(hits.into_iter().map(|it| it.shown.memory.id).collect())
}

/// The first of what is found.
async fn first(engine: &Engine, text: &str) -> Result<Option<MemoryId>, Error> {
    Ok(found(engine, text).await?.first().copied())
}

#[test]
fn what_another_process_writes_is_seen_by_the_next_question() {
    let mut world = World::new(1);
    world.play("teach invoices are rendered by a worker");
    let now: Timestamp = world.now.plus(120_000);
    let asked = "where is the session cache kept";
    world
        .with(async |one| {
            let (config, root) = (one.config.clone(), one.place.root.clone());
            let mut other = Engine::open(config, &root, now).await?;
            let kept = other.remember(teaching("the session cache lives in redis")).await?.memory;
            assert_eq!(first(one, asked).await?, Some(kept.id), "taught by the other");
            assert_eq!(first(&other, asked).await?, Some(kept.id));
            let id = kept.id.to_string();
            one.forget(std::slice::from_ref(&id)).await?;
            assert!(!found(&other, asked).await?.contains(&kept.id), "forgotten by the one");
            other.restore(&id, None).await?;
            assert_eq!(first(one, asked).await?, Some(kept.id), "restored by the other");
            let edit = Edit {
                content: Some("the build runs on a machine in the cellar".to_owned()),
                kind: None,
                tags: None,
                files: None,
                modules: None,
                confidence: None,
                cwd: root,
                on_secret: OnSecret::Refuse,
            };
            other.edit(&id, edit).await?;
            assert!(!found(one, asked).await?.contains(&kept.id), "edited by the other");
            assert_eq!(first(one, "where does the build run").await?, Some(kept.id));
            other.purge_memories(&[id]).await?;
            assert!(!found(one, "where does the build run").await?.contains(&kept.id), "purged");
            Ok(())
        })
        .unwrap();
}

#[test]
fn vectors_of_another_model_are_never_compared() {
    let mut world = World::new(1);
    world.play("teach the session cache lives in redis\nteach invoices are rendered by a worker");
    let asked = "where is the session cache kept";
    let ids = world.ids().to_vec();
    world
        .with(async |engine| {
            let before = found(engine, asked).await?;
            // A stranger's vectors, of the same length and very sure of themselves.
            let values = vec![1.0; 384];
            let store = engine.notebooks().remove(0).store;
            for id in &ids {
                let part =
                    Part { grain: Grain::Part, values: values.clone(), code: vec![127; 384] };
                let embedding = Embedding {
                    owner: *id,
                    version: 1,
                    model: "another/384/p1".to_owned(),
                    parts: vec![part],
                };
                assert_eq!(store.put_vectors(vec![embedding]).await?, [true]);
            }
            assert_eq!(found(engine, asked).await?, before);
            assert_eq!(engine.unembedded().await?.0, 0);
            let dropped = engine.embed_all(&Progress::default()).await?.dropped;
            assert_eq!(dropped, ids.len(), "and nobody needs them any more");
            assert_eq!(found(engine, asked).await?, before);
            Ok(())
        })
        .unwrap();
}

#[test]
fn questions_are_answered_while_vectors_are_made() {
    let mut world = World::new(1);
    world.play("teach the session cache lives in redis");
    for n in 0..90 {
        world.line(&format!("smuggle --plain errand {n}: fetch {n} loaves and {} eggs", n * 7));
    }
    let asked = question("where is the session cache kept");
    let words = Question { without: Without(vec![Stage::Dense, Stage::Abstain]), ..asked.clone() };
    let now = world.now;
    world
        .with(async |engine| {
            let (config, root) = (engine.config.clone(), engine.place.root.clone());
            let asking = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(async {
                    let engine = Engine::open(config, &root, now).await.unwrap();
                    for _ in 0..8 {
                        let hits = engine.recall(&words).await.unwrap().hits;
                        assert_eq!(
                            hits[0].shown.memory.content,
                            "the session cache lives in redis"
                        );
                    }
                });
            });
            let progress = Progress::default();
            let done = engine.embed_all(&progress).await?;
            asking.join().unwrap();
            assert_eq!((done.left, engine.unembedded().await?.0), (0, 0));
            assert_eq!(progress.done(), progress.total());
            Ok(())
        })
        .unwrap();
    let hits = world.with(async |engine| engine.recall(&asked).await).unwrap().hits;
    assert_eq!(hits[0].shown.memory.content, "the session cache lives in redis");
}

/// What cannot be written to is still read; its memories are found by their words.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_searched_by_words() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    let mut world = World::new(1);
    world.play("teach the session cache lives in redis");
    let set = |mode: u32, path: &std::path::Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut paths = vec![world.data()];
    let mut at = 0;
    while let Some(path) = paths.get(at).cloned() {
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            paths.push(entry.path());
        }
        at += 1;
    }
    let write = |path: &std::path::Path, yes: bool| match (path.is_dir(), yes) {
        (true, true) => set(0o700, path),
        (true, false) => set(0o500, path),
        (false, true) => set(0o600, path),
        (false, false) => set(0o400, path),
    };
    for path in paths.iter().rev() {
        write(path, false);
    }
    let said = world.play("search session cache");
    for path in &paths {
        write(path, true);
    }
    assert!(said.contains("the session cache lives in redis"), "{said}");
}
