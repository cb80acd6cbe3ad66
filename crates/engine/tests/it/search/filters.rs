//! Filters: they apply before the limit, so that a weak match that passes the filter is found
//! although many better matches do not pass it.
//!
//! A script, one command per line, makes the memories; the searches are calls of the engine.
//! `insert-unchecked --plain ATTRIBUTES TEXT` stores an unpinned memory as given, without comparing it
//! with others. `m1` is the first memory that was created.

use std::fmt::Write as _;

use model::{MemoryScope, MemorySource, MemoryStatus, ProjectPath};
use testkit::TestWorld;
use waylore_engine::{DisabledStages, MemoryFilter, RankingStage, SearchQuery};

use super::{query as plain_query, search};

/// A search with a filter. The relevance verdict is off, because it is not the subject here.
fn filtered_query(text: &str, filter: MemoryFilter) -> SearchQuery {
    SearchQuery {
        filter,
        disabled_stages: DisabledStages(vec![RankingStage::Abstain]),
        ..plain_query(text)
    }
}

/// A world with one memory that passes the filters of the tests (`m1`), and 130 decoys that match
/// the words better and pass none.
fn world_with_decoys() -> TestWorld {
    let mut world = TestWorld::new(1);
    world.run_script(
        r"
        write src/quiet.rs
        insert-unchecked --plain --type dead_end --file src/quiet.rs --module quiet --tag quiet --branch quiet --source qa_auto --scope work_unit the wren is sometimes heard beside other birds in the evening
    ",
    );
    let mut script = String::new();
    for nth in 0..130 {
        let _ = writeln!(
            script,
            "insert-unchecked --plain --type gotcha --file src/loud.rs --module loud --tag loud --branch loud the wren sings {nth}"
        );
    }
    world.run_script(&script);
    world
}

#[test]
fn every_filter_applies_with_and_without_words() {
    let mut world = world_with_decoys();
    let no_filter = || MemoryFilter::active(5);
    let quiet = || Some("quiet".to_owned());
    let file = ProjectPath::parse("src/quiet.rs").ok();
    let filters = [
        MemoryFilter { kind: Some("dead_end".to_owned()), ..no_filter() },
        MemoryFilter { file, ..no_filter() },
        MemoryFilter { module: quiet(), ..no_filter() },
        MemoryFilter { tag: quiet(), ..no_filter() },
        MemoryFilter { branch: quiet(), ..no_filter() },
        MemoryFilter { source: Some(MemorySource::QaAuto), ..no_filter() },
        MemoryFilter { scope: Some(MemoryScope::WorkUnit), ..no_filter() },
    ];
    let wanted = world.memory_ids()[0];
    for filter in filters {
        for text in ["the wren sings", "wren", ""] {
            let query = filtered_query(text, filter.clone());
            let results =
                world.with_project(async |project| search(project, &query).await).unwrap();
            let found: Vec<_> = results.hits.iter().map(|it| it.rated.memory.id).collect();
            assert_eq!(found, [wanted], "{text:?} with {filter:?}");
        }
    }
}

#[test]
fn a_status_filters_like_the_other_attributes() {
    let mut world = world_with_decoys();
    world.run_script("flag m1 outdated");
    let wanted = world.memory_ids()[0];
    for text in ["the wren sings", ""] {
        let with_status = |statuses: Vec<MemoryStatus>| {
            filtered_query(text, MemoryFilter { statuses, ..MemoryFilter::active(5) })
        };
        let deprecated = with_status(vec![MemoryStatus::Deprecated]);
        let results =
            world.with_project(async |project| search(project, &deprecated).await).unwrap();
        let found: Vec<_> = results.hits.iter().map(|it| it.rated.memory.id).collect();
        assert_eq!(found, [wanted], "{text:?} {:?}", results.excluded);
        let active = with_status(MemoryFilter::active(5).statuses);
        let results = world.with_project(async |project| search(project, &active).await).unwrap();
        assert!(results.hits.iter().all(|it| it.rated.memory.id != wanted), "{text:?}");
    }
}

#[test]
fn a_filter_that_fits_nothing_finds_nothing() {
    let mut world = world_with_decoys();
    let missing = || Some("none".to_owned());
    for filter in [
        MemoryFilter { kind: Some("recipe".to_owned()), ..MemoryFilter::active(5) },
        MemoryFilter { module: missing(), ..MemoryFilter::active(5) },
        MemoryFilter { branch: missing(), ..MemoryFilter::active(5) },
    ] {
        for text in ["the wren sings", ""] {
            let query = filtered_query(text, filter.clone());
            let results =
                world.with_project(async |project| search(project, &query).await).unwrap();
            assert!(results.hits.is_empty() && results.excluded.is_empty(), "{filter:?}");
        }
    }
}
