//! Search by meaning, with filters, and with an index that follows the store.

mod filters;
mod index_updates;
mod odd_queries;

use expect_test::expect;
use testkit::TestWorld;
use waylore_engine::{
    DisabledStages, Error, MemoryFilter, Project, SearchPurpose, SearchQuery, SearchResults,
};

use crate::check;

pub(super) fn question(text: &str) -> SearchQuery {
    SearchQuery {
        text: text.to_owned(),
        files: Vec::new(),
        filter: MemoryFilter::active(20),
        scope: None,
        phase: None,
        purpose: SearchPurpose::Search,
        disabled_stages: DisabledStages::default(),
    }
}

/// Searches as a command does: new memories get their vectors first.
pub(super) async fn search(engine: &Project, query: &SearchQuery) -> Result<SearchResults, Error> {
    engine.embedding_indexer().embed_before_search().await;
    engine.retriever().search(query).await
}

/// Notes of a project about many things.
const NOTES: &str = r"
    teach the session cache lives in redis and is flushed at night
    teach customers are billed on the first day of each month
    teach the compiler runs out of memory unless swap is enabled
    teach pictures are resized by a worker before they are uploaded
    teach the deployment needs approval by two people
    teach dates are stored in UTC and shown in the zone of the reader
    teach passwords are hashed with argon2 before they are kept
    teach the search page loads slowly because it counts every row
";

#[test]
fn a_sloppy_question_finds_the_paraphrase() {
    let mut world = TestWorld::new(1);
    world.run_script(NOTES);
    for (asked, name) in [
        ("when do we charge our clients?", "m2"),
        ("how are images made smaller", "m4"),
        ("which timezone do timestamps use", "m6"),
    ] {
        let said = world.run_script(&format!("search {asked}"));
        assert!(said.starts_with(&format!("{name} ")), "{asked}: {said}");
    }
}

#[test]
fn the_same_question_has_the_same_answer() {
    let mut world = TestWorld::new(1);
    world.run_script(NOTES);
    for asked in ["how are images made smaller", "the", "cache redis night worker"] {
        let answers: Vec<_> = (0..3)
            .map(|_| {
                let answer =
                    world.with_project(async |engine| search(engine, &question(asked)).await);
                let hits = answer.unwrap().hits.into_iter();
                hits.map(|it| (it.rated.memory.id, it.score.to_bits())).collect::<Vec<_>>()
            })
            .map(|it| it.into_iter().map(|it| it.0).collect::<Vec<_>>())
            .collect();
        assert!(answers.iter().all(|it| *it == answers[0]), "{asked}");
    }
}

#[test]
fn the_score_is_the_product_of_its_factors() {
    let mut world = TestWorld::new(1);
    world.run_script(NOTES);
    let answer = world
        .with_project(async |engine| search(engine, &question("how are images made smaller")).await)
        .unwrap();
    let row = SearchPurpose::Search.row();
    let part = |it: u16| f32::from(it) / 1000.0;
    let all = answer.hits.iter().chain(answer.excluded.iter().map(|it| &it.0));
    assert!(!answer.hits.is_empty());
    for hit in all {
        let it = hit.explanation.factors;
        let habit = part(row.relevance) * it.relevance
            + part(row.recency) * it.recency
            + part(row.frequency) * it.frequency;
        let score = habit * it.phase * it.trust * it.confidence;
        assert!((score - hit.score).abs() < 1e-4, "{hit:?}");
        assert!(
            !hit.explanation.traces.is_empty() || hit.explanation.linked_from.is_some(),
            "{hit:?}"
        );
    }
}

#[test]
fn linked_memories_are_added_to_a_hit() {
    let mut world = TestWorld::new(1);
    world.run_script(
        r"
        teach the telescope is folded away before a storm
        smuggle --plain --requires m1 the wind gauge is read every hour by the night watch
    ",
    );
    let said = world.run_script("search who reads the wind gauge");
    assert!(said.contains("m2 \"the wind") && said.contains("m1 \"the telescope"), "{said}");
    world.run_script("forget m1");
    let said = world.run_script("search who reads the wind gauge");
    assert!(said.contains("m2 \"the wind") && !said.contains("telescope"), "{said}");
}

#[test]
fn a_memory_excluded_from_the_project_is_not_found_there() {
    check(
        r"
            teach --user the proxy strips unknown headers
            search which headers does the proxy strip
            flag m1 nothere
            search which headers does the proxy strip
            at other
            search which headers does the proxy strip
        ",
        expect![[r#"
            m1 new: module_insight "the proxy strips unknown headers" user
            m1 "the proxy strips unknown headers" by headers proxy strip
            m1 module_insight "the proxy strips unknown headers"
              kept out of this project
            nothing
            m1 "the proxy strips unknown headers" by headers proxy strip
        "#]],
    );
}
