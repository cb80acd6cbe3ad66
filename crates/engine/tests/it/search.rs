//! Search: finds memories by meaning, repeats its results, explains its scores, and adds linked
//! memories. Filters, index updates and odd queries have files of their own.
//!
//! Tests play a script, one command per line, and compare its output or a part of it. There each
//! command is repeated after `>`, unless it prints nothing:
//!
//! ```text
//! > teach retry limit is 3                     stores a statement
//! m1 new: module_insight "retry limit is 3"    `m1`, the first memory, is new; then its type and text
//! > list                                       prints the active memories, newest first
//! m1 module_insight 0.90 "retry limit is 3"    0.90 is its current confidence
//! ```
//!
//! After the text of a memory come `tags=`, `files=`, `user` if it is in the user's notebook, `pinned`,
//! and its status if it is not active: `[deleted]`. `main.rs` explains the other words of the output,
//! the header of the crate `testkit` all commands. This file also uses:
//!
//! ```text
//! search WORDS               prints the hits, each with the words by which it was found
//! insert-unchecked --plain   stores an unpinned memory without any check
//! --requires m1              links that memory to m1
//! ```

mod filters;
mod index_updates;
mod odd_queries;

use expect_test::expect;
use testkit::TestWorld;
use waylore_engine::{
    DisabledStages, Error, MemoryFilter, Project, SearchPurpose, SearchQuery, SearchResults,
};

use crate::check;

/// A search for a text with the defaults of the command `search`.
pub(super) fn query(text: &str) -> SearchQuery {
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
pub(super) async fn search(project: &Project, query: &SearchQuery) -> Result<SearchResults, Error> {
    project.embedding_indexer().embed_new_memories().await;
    project.retriever().search(query).await
}

/// Memories `m1` to `m8` about different subjects.
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
fn a_question_finds_a_memory_in_other_words() {
    let mut world = TestWorld::new(1);
    world.run_script(NOTES);
    for (question, expected) in [
        ("when do we charge our clients?", "m2"),
        ("how are images made smaller", "m4"),
        ("which timezone do timestamps use", "m6"),
    ] {
        let output = world.run_script(&format!("search {question}"));
        assert!(output.starts_with(&format!("{expected} ")), "{question}: {output}");
    }
}

#[test]
fn the_same_question_has_the_same_results() {
    let mut world = TestWorld::new(1);
    world.run_script(NOTES);
    for question in ["how are images made smaller", "the", "cache redis night worker"] {
        let mut search_ids = || {
            let results =
                world.with_project(async |project| search(project, &query(question)).await);
            results.unwrap().hits.iter().map(|it| it.rated.memory.id).collect::<Vec<_>>()
        };
        let first = search_ids();
        assert_eq!(search_ids(), first, "{question}");
        assert_eq!(search_ids(), first, "{question}");
    }
}

#[test]
fn the_score_is_the_product_of_its_factors() {
    let mut world = TestWorld::new(1);
    world.run_script(NOTES);
    let results = world
        .with_project(async |project| search(project, &query("how are images made smaller")).await)
        .unwrap();
    assert!(!results.hits.is_empty());
    let weights = SearchPurpose::Search.row();
    let share = |per_mille: u16| f32::from(per_mille) / 1000.0;
    for hit in results.hits.iter().chain(results.excluded.iter().map(|it| &it.0)) {
        let factors = hit.explanation.factors;
        let weighted_sum = share(weights.relevance) * factors.relevance
            + share(weights.recency) * factors.recency
            + share(weights.frequency) * factors.frequency;
        let score = weighted_sum * factors.phase * factors.trust * factors.confidence;
        assert!((score - hit.score).abs() < 1e-4, "{hit:?}");
        // Every hit names how it was found: by a path, or by a link from another hit.
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
        insert-unchecked --plain --requires m1 the wind gauge is read every hour by the night watch
    ",
    );
    let output = world.run_script("search who reads the wind gauge");
    assert!(output.contains("m2 \"the wind") && output.contains("m1 \"the telescope"), "{output}");

    // A forgotten memory is not added.
    world.run_script("forget m1");
    let output = world.run_script("search who reads the wind gauge");
    assert!(output.contains("m2 \"the wind") && !output.contains("telescope"), "{output}");
}

#[test]
fn a_memory_excluded_from_the_project_is_not_found_there() {
    check(
        r"
            teach --user the proxy strips unknown headers
            search which headers does the proxy strip
            flag m1 nothere
            search which headers does the proxy strip
            project other
            search which headers does the proxy strip
        ",
        expect![[r#"
            > teach --user the proxy strips unknown headers
            m1 new: module_insight "the proxy strips unknown headers" user
            > search which headers does the proxy strip
            m1 "the proxy strips unknown headers" by headers proxy strip
            > flag m1 nothere
            m1 module_insight "the proxy strips unknown headers"
              kept out of this project
            > search which headers does the proxy strip
            nothing
            > search which headers does the proxy strip
            m1 "the proxy strips unknown headers" by headers proxy strip
        "#]],
    );
}
