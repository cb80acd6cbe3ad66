//! Filters apply before limits: better matches that do not pass are not found.

use std::fmt::Write as _;

use model::{MemoryScope, MemorySource, MemoryStatus, ProjectPath};
use testkit::TestWorld;
use waylore_engine::{DisabledStages, MemoryFilter, RankingStage, SearchQuery};

use super::{question, search};

/// Without the relevance verdict, which is not the subject here.
fn asked(text: &str, filter: MemoryFilter) -> SearchQuery {
    SearchQuery {
        filter,
        disabled_stages: DisabledStages(vec![RankingStage::Abstain]),
        ..question(text)
    }
}

/// One memory that every filter wants, and many that match the words better.
fn crowd() -> TestWorld {
    let mut world = TestWorld::new(1);
    world.run_script(
        r"
        write src/quiet.rs
        smuggle --plain --type dead_end --file src/quiet.rs --module quiet --tag quiet --branch quiet --source qa_auto --scope work_unit the wren is sometimes heard beside other birds in the evening
    ",
    );
    let mut script = String::new();
    for n in 0..130 {
        let _ = writeln!(
            script,
            "smuggle --plain --type gotcha --file src/loud.rs --module loud --tag loud --branch loud the wren sings {n}"
        );
    }
    world.run_script(&script);
    world
}

#[test]
fn every_filter_applies_with_and_without_words() {
    let mut world = crowd();
    let all = || MemoryFilter::active(5);
    let quiet = || Some("quiet".to_owned());
    let file = ProjectPath::parse("src/quiet.rs").ok();
    let filters = [
        MemoryFilter { kind: Some("dead_end".to_owned()), ..all() },
        MemoryFilter { file, ..all() },
        MemoryFilter { module: quiet(), ..all() },
        MemoryFilter { tag: quiet(), ..all() },
        MemoryFilter { branch: quiet(), ..all() },
        MemoryFilter { source: Some(MemorySource::QaAuto), ..all() },
        MemoryFilter { scope: Some(MemoryScope::WorkUnit), ..all() },
    ];
    let wanted = world.memory_ids()[0];
    for filter in filters {
        for text in ["the wren sings", "wren", ""] {
            let asked = asked(text, filter.clone());
            let answer = world.with_project(async |engine| search(engine, &asked).await).unwrap();
            let found: Vec<_> = answer.hits.iter().map(|it| it.rated.memory.id).collect();
            assert_eq!(found, [wanted], "{text:?} with {filter:?}");
        }
    }
}

#[test]
fn a_status_is_a_filter_like_others() {
    let mut world = crowd();
    world.run_script("flag m1 outdated");
    let wanted = world.memory_ids()[0];
    for text in ["the wren sings", ""] {
        let of = |statuses: Vec<MemoryStatus>| {
            asked(text, MemoryFilter { statuses, ..MemoryFilter::active(5) })
        };
        let outdated = of(vec![MemoryStatus::Deprecated]);
        let answer = world.with_project(async |engine| search(engine, &outdated).await).unwrap();
        let found: Vec<_> = answer.hits.iter().map(|it| it.rated.memory.id).collect();
        assert_eq!(found, [wanted], "{text:?} {:?}", answer.excluded);
        let standing = of(MemoryFilter::active(5).statuses);
        let answer = world.with_project(async |engine| search(engine, &standing).await).unwrap();
        assert!(answer.hits.iter().all(|it| it.rated.memory.id != wanted), "{text:?}");
    }
}

#[test]
fn a_filter_that_fits_nothing_finds_nothing() {
    let mut world = crowd();
    for (kind, module, branch) in
        [(Some("recipe"), None, None), (None, Some("none"), None), (None, None, Some("none"))]
    {
        let own = |it: Option<&str>| it.map(str::to_owned);
        let filter = MemoryFilter {
            kind: own(kind),
            module: own(module),
            branch: own(branch),
            ..MemoryFilter::active(5)
        };
        for text in ["the wren sings", ""] {
            let asked = asked(text, filter.clone());
            let answer = world.with_project(async |engine| search(engine, &asked).await).unwrap();
            assert!(answer.hits.is_empty() && answer.excluded.is_empty(), "{filter:?}");
        }
    }
}
