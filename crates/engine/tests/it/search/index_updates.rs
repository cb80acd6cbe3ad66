//! Index updates: the search index in memory follows the store, also if another process writes to
//! it, while vectors are computed, and in a read-only folder. The notation of the scripts is in
//! `main.rs`, that of the hits in `search.rs`.

use expect_test::expect;
use model::{Grain, MemoryId, Timestamp};
use store::{MemoryEmbedding, VectorPart};
use testkit::TestWorld;
use waylore_engine::{
    DisabledStages, Error, MemoryEdit, NewMemory, NotebookScope, OnDuplicate, OnSecret, Project,
    RankingStage, SearchQuery, TaskProgress,
};

use super::{query, search};
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
            > teach the session cache lives in redis
            m1 new: module_insight "the session cache lives in redis"
            > search where is the session cache
            m1 "the session cache lives in redis" by session cache
            > forget m1
            m1 module_insight "the session cache lives in redis" [deleted]
            > search where is the session cache
            nothing
            > restore m1
            m1 module_insight "the session cache lives in redis"
            > search where is the session cache
            m1 "the session cache lives in redis" by session cache
            > edit m1 the build runs on a machine in the cellar
            m1 module_insight "the build runs on a machine in the cellar"
            > search where is the session cache
            nothing
            > search where does the build run
            m1 "the build runs on a machine in the cellar" by build run
            > undo
            undid edit
            m1 module_insight "the session cache lives in redis"
            > search where is the session cache
            m1 "the session cache lives in redis" by session cache
            > purge m1
            purged m1, not found anywhere
            > search where is the session cache
            nothing
        "#]],
    );
}

/// A statement to remember, with defaults.
fn statement(content: &str) -> NewMemory {
    NewMemory {
        content: content.to_owned(),
        kind: None,
        scope: NotebookScope::Project,
        tags: Vec::new(),
        files: Vec::new(),
        modules: Vec::new(),
        payload: None,
        cwd: std::path::PathBuf::new(),
        pinned: false,
        on_secret: OnSecret::Refuse,
        origin: waylore_engine::StatementOrigin::Command,
        on_duplicate: OnDuplicate::Keep,
        key: None,
        dry_run: false,
    }
}

/// The ids of the hits, best first.
async fn search_ids(project: &Project, text: &str) -> Result<Vec<MemoryId>, Error> {
    let hits = search(project, &query(text)).await?.hits;
    Ok(hits.into_iter().map(|it| it.rated.memory.id).collect())
}

/// The id of the best hit.
async fn best_id(project: &Project, text: &str) -> Result<Option<MemoryId>, Error> {
    Ok(search_ids(project, text).await?.first().copied())
}

#[test]
fn a_search_sees_what_another_process_wrote() {
    let mut world = TestWorld::new(1);
    world.run_script("teach invoices are rendered by a worker");
    let now: Timestamp = world.now.plus_millis(120_000);
    let question = "where is the session cache kept";
    world
        .with_project(async |one| {
            // Two handles stand for two processes; each has an index of its own.
            let (config, root) = (one.config.clone(), one.place.root.clone());
            let mut other = Project::open(config, &root, now).await?;

            // Remembered by the other process: both find it.
            let cache_note = other
                .editor()
                .remember(statement("the session cache lives in redis"))
                .await?
                .memory;
            assert_eq!(
                best_id(one, question).await?,
                Some(cache_note.id),
                "the other process taught it"
            );
            assert_eq!(best_id(&other, question).await?, Some(cache_note.id));

            // Forgotten by this process, then restored by the other.
            let id = cache_note.id.to_string();
            one.editor().forget(std::slice::from_ref(&id)).await?;
            assert!(
                !search_ids(&other, question).await?.contains(&cache_note.id),
                "this process forgot it"
            );
            other.editor().restore(&id, None).await?;
            assert_eq!(
                best_id(one, question).await?,
                Some(cache_note.id),
                "the other process restored it"
            );

            // Edited by the other process: found by the new text, not by the old.
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
            assert!(
                !search_ids(one, question).await?.contains(&cache_note.id),
                "the other process edited it"
            );
            assert_eq!(best_id(one, "where does the build run").await?, Some(cache_note.id));

            // Purged by the other process.
            other.maintenance().purge_memories(&[id]).await?;
            assert!(
                !search_ids(one, "where does the build run").await?.contains(&cache_note.id),
                "purged"
            );
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
    let question = "where is the session cache kept";
    let ids = world.memory_ids().to_vec();
    world
        .with_project(async |project| {
            let before = search_ids(project, question).await?;

            // Vectors of another model, with the same length and the largest values: if they were
            // compared, they would change the ranking.
            let values = vec![1.0; 384];
            let store = project.notebook_writer(&project.notebooks()[0]);
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
            assert_eq!(search_ids(project, question).await?, before);
            let (n_missing, _) = project.embedding_indexer().count_unembedded().await?;
            assert_eq!(n_missing, 0);

            // All memories have vectors of the current model, so `embed_all` computes none and
            // deletes those of the other.
            let report = project.embedding_indexer().embed_all(&TaskProgress::default()).await?;
            assert_eq!(report.n_dropped, ids.len(), "no memory needs them any more");
            assert_eq!(search_ids(project, question).await?, before);
            Ok(())
        })
        .unwrap();
}

#[test]
fn searches_work_while_vectors_are_computed() {
    let mut world = TestWorld::new(1);
    world.run_script("teach the session cache lives in redis");

    // `insert-unchecked --plain` writes to the store directly, so these memories have no vectors.
    for nth in 0..90 {
        let eggs = nth * 7;
        world.run_line(&format!(
            "insert-unchecked --plain errand {nth}: fetch {nth} loaves and {eggs} eggs"
        ));
    }
    let question = query("where is the session cache kept");

    // A search by words alone, which needs no vectors.
    let words_only = SearchQuery {
        disabled_stages: DisabledStages(vec![RankingStage::Dense, RankingStage::Abstain]),
        ..question.clone()
    };
    let now = world.now;
    world
        .with_project(async |project| {
            let (config, root) = (project.config.clone(), project.place.root.clone());
            // Another process searches while this one computes the vectors.
            let searching = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(async {
                    let project = Project::open(config, &root, now).await.unwrap();
                    for _ in 0..8 {
                        let hits = search(&project, &words_only).await.unwrap().hits;
                        assert_eq!(
                            hits[0].rated.memory.content,
                            "the session cache lives in redis"
                        );
                    }
                });
            });
            let progress = TaskProgress::default();
            let done = project.embedding_indexer().embed_all(&progress).await?;
            searching.join().unwrap();
            let (n_missing, _) = project.embedding_indexer().count_unembedded().await?;
            assert_eq!((done.n_missing, n_missing), (0, 0));
            assert_eq!(progress.n_done(), progress.n_total());
            Ok(())
        })
        .unwrap();
    let hits = world.with_project(async |project| search(project, &question).await).unwrap().hits;
    assert_eq!(hits[0].rated.memory.content, "the session cache lives in redis");
}

/// Vectors cannot be stored there, so the search falls back to words.
#[cfg(unix)]
#[test]
fn a_read_only_data_folder_is_searched_by_words() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    let mut world = TestWorld::new(1);
    world.run_script("teach the session cache lives in redis");

    // All files and folders below the data folder, parents first.
    let mut paths = vec![world.data_folder()];
    let mut n_listed = 0;
    while let Some(path) = paths.get(n_listed).cloned() {
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            paths.push(entry.path());
        }
        n_listed += 1;
    }
    let set_modes = |path: &std::path::Path, folder_mode: u32, file_mode: u32| {
        let mode = if path.is_dir() { folder_mode } else { file_mode };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for path in paths.iter().rev() {
        set_modes(path, 0o500, 0o400);
    }
    let output = world.run_script("search session cache");

    // Writable again, so that the temporary folder can be removed.
    for path in &paths {
        set_modes(path, 0o700, 0o600);
    }
    assert!(output.contains("the session cache lives in redis"), "{output}");
}
