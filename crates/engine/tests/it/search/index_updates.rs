//! The index in memory follows the store, whichever process writes to it.

use expect_test::expect;
use model::{Grain, MemoryId, Timestamp};
use store::{MemoryEmbedding, VectorPart};
use testkit::TestWorld;
use waylore_engine::{
    DisabledStages, Error, MemoryEdit, NewMemory, NotebookScope, OnDuplicate, OnSecret, Project,
    RankingStage, SearchQuery, TaskProgress,
};

use super::{question, search};
use crate::check;

#[test]
fn a_removed_memory_is_not_found_and_a_restored_one_is() {
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

fn teaching(content: &str) -> NewMemory {
    NewMemory {
        content: content.to_owned(),
        kind: None,
        scope: NotebookScope::Project,
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

async fn found(engine: &Project, text: &str) -> Result<Vec<MemoryId>, Error> {
    let hits = search(engine, &question(text)).await?.hits;
    Ok(hits.into_iter().map(|it| it.rated.memory.id).collect())
}

/// The best hit.
async fn first(engine: &Project, text: &str) -> Result<Option<MemoryId>, Error> {
    Ok(found(engine, text).await?.first().copied())
}

#[test]
fn a_search_sees_what_another_process_wrote() {
    let mut world = TestWorld::new(1);
    world.run_script("teach invoices are rendered by a worker");
    let now: Timestamp = world.now.plus_millis(120_000);
    let asked = "where is the session cache kept";
    world
        .with_project(async |one| {
            let (config, root) = (one.config.clone(), one.place.root.clone());
            let mut other = Project::open(config, &root, now).await?;
            let kept =
                other.editor().remember(teaching("the session cache lives in redis")).await?.memory;
            assert_eq!(first(one, asked).await?, Some(kept.id), "the other process taught it");
            assert_eq!(first(&other, asked).await?, Some(kept.id));
            let id = kept.id.to_string();
            one.editor().forget(std::slice::from_ref(&id)).await?;
            assert!(!found(&other, asked).await?.contains(&kept.id), "this process forgot it");
            other.editor().restore(&id, None).await?;
            assert_eq!(first(one, asked).await?, Some(kept.id), "the other process restored it");
            let edit = MemoryEdit {
                content: Some("the build runs on a machine in the cellar".to_owned()),
                kind: None,
                tags: None,
                files: None,
                modules: None,
                confidence: None,
                cwd: root,
                on_secret: OnSecret::Refuse,
            };
            other.editor().edit(&id, edit).await?;
            assert!(!found(one, asked).await?.contains(&kept.id), "the other process edited it");
            assert_eq!(first(one, "where does the build run").await?, Some(kept.id));
            other.maintenance().purge_memories(&[id]).await?;
            assert!(!found(one, "where does the build run").await?.contains(&kept.id), "purged");
            Ok(())
        })
        .unwrap();
}

#[test]
fn vectors_of_another_model_are_never_compared() {
    let mut world = TestWorld::new(1);
    world.run_script(
        "teach the session cache lives in redis\nteach invoices are rendered by a worker",
    );
    let asked = "where is the session cache kept";
    let ids = world.memory_ids().to_vec();
    world
        .with_project(async |engine| {
            let before = found(engine, asked).await?;
            // Vectors of another model with the same length and the largest values.
            let values = vec![1.0; 384];
            let store = engine.writer(&engine.notebooks()[0]);
            for id in &ids {
                let part =
                    VectorPart { grain: Grain::Part, values: values.clone(), code: vec![127; 384] };
                let embedding = MemoryEmbedding {
                    owner: *id,
                    version: 1,
                    model: "another/384/p1".to_owned(),
                    parts: vec![part],
                };
                assert_eq!(store.put_vectors(vec![embedding]).await?, [true]);
            }
            assert_eq!(found(engine, asked).await?, before);
            assert_eq!(engine.embedding_indexer().count_unembedded().await?.0, 0);
            let dropped =
                engine.embedding_indexer().embed_all(&TaskProgress::default()).await?.n_dropped;
            assert_eq!(dropped, ids.len(), "no memory needs them any more");
            assert_eq!(found(engine, asked).await?, before);
            Ok(())
        })
        .unwrap();
}

#[test]
fn searches_work_while_vectors_are_computed() {
    let mut world = TestWorld::new(1);
    world.run_script("teach the session cache lives in redis");
    for n in 0..90 {
        world.run_line(&format!("smuggle --plain errand {n}: fetch {n} loaves and {} eggs", n * 7));
    }
    let asked = question("where is the session cache kept");
    let words = SearchQuery {
        disabled_stages: DisabledStages(vec![RankingStage::Dense, RankingStage::Abstain]),
        ..asked.clone()
    };
    let now = world.now;
    world
        .with_project(async |engine| {
            let (config, root) = (engine.config.clone(), engine.place.root.clone());
            let asking = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(async {
                    let engine = Project::open(config, &root, now).await.unwrap();
                    for _ in 0..8 {
                        let hits = search(&engine, &words).await.unwrap().hits;
                        assert_eq!(
                            hits[0].rated.memory.content,
                            "the session cache lives in redis"
                        );
                    }
                });
            });
            let progress = TaskProgress::default();
            let done = engine.embedding_indexer().embed_all(&progress).await?;
            asking.join().unwrap();
            assert_eq!(
                (done.n_missing, engine.embedding_indexer().count_unembedded().await?.0),
                (0, 0)
            );
            assert_eq!(progress.n_done(), progress.n_total());
            Ok(())
        })
        .unwrap();
    let hits = world.with_project(async |engine| search(engine, &asked).await).unwrap().hits;
    assert_eq!(hits[0].rated.memory.content, "the session cache lives in redis");
}

/// Memories in a read-only folder are found by their words.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_searched_by_words() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    let mut world = TestWorld::new(1);
    world.run_script("teach the session cache lives in redis");
    let set = |mode: u32, path: &std::path::Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut paths = vec![world.data_folder()];
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
    let said = world.run_script("search session cache");
    for path in &paths {
        write(path, true);
    }
    assert!(said.contains("the session cache lives in redis"), "{said}");
}
