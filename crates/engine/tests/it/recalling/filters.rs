//! Filters come before limits: whatever better matches there are, only what passes is found.

use std::fmt::Write as _;

use model::{ProjectPath, Scope, Source, Status};
use testkit::World;
use waylore_engine::{Filter, Question, Stage, Without};

use super::question;

/// Whether anything is relevant enough is another matter.
fn asked(text: &str, filter: Filter) -> Question {
    Question { filter, without: Without(vec![Stage::Abstain]), ..question(text) }
}

/// One memory that every filter wants, behind many that match the words better.
fn crowd() -> World {
    let mut world = World::new(1);
    world.play(
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
    world.play(&script);
    world
}

#[test]
fn every_filter_holds_with_and_without_words() {
    let mut world = crowd();
    let all = || Filter::standing(5);
    let quiet = || Some("quiet".to_owned());
    let file = ProjectPath::parse("src/quiet.rs").ok();
    let filters = [
        Filter { kind: Some("dead_end".to_owned()), ..all() },
        Filter { file, ..all() },
        Filter { module: quiet(), ..all() },
        Filter { tag: quiet(), ..all() },
        Filter { branch: quiet(), ..all() },
        Filter { source: Some(Source::QaAuto), ..all() },
        Filter { scope: Some(Scope::WorkUnit), ..all() },
    ];
    let wanted = world.ids()[0];
    for filter in filters {
        for text in ["the wren sings", "wren", ""] {
            let asked = asked(text, filter.clone());
            let answer = world.with(async |engine| engine.recall(&asked).await).unwrap();
            let found: Vec<_> = answer.hits.iter().map(|it| it.shown.memory.id).collect();
            assert_eq!(found, [wanted], "{text:?} with {filter:?}");
        }
    }
}

#[test]
fn a_status_is_a_filter_like_others() {
    let mut world = crowd();
    world.play("flag m1 outdated");
    let wanted = world.ids()[0];
    for text in ["the wren sings", ""] {
        let of = |statuses: Vec<Status>| asked(text, Filter { statuses, ..Filter::standing(5) });
        let outdated = of(vec![Status::Deprecated]);
        let answer = world.with(async |engine| engine.recall(&outdated).await).unwrap();
        let found: Vec<_> = answer.hits.iter().map(|it| it.shown.memory.id).collect();
        assert_eq!(found, [wanted], "{text:?} {:?}", answer.passed_over);
        let standing = of(Filter::standing(5).statuses);
        let answer = world.with(async |engine| engine.recall(&standing).await).unwrap();
        assert!(answer.hits.iter().all(|it| it.shown.memory.id != wanted), "{text:?}");
    }
}

#[test]
fn nothing_passes_a_filter_that_nothing_fits() {
    let mut world = crowd();
    for (kind, module, branch) in
        [(Some("recipe"), None, None), (None, Some("none"), None), (None, None, Some("none"))]
    {
        let own = |it: Option<&str>| it.map(str::to_owned);
        let filter = Filter {
            kind: own(kind),
            module: own(module),
            branch: own(branch),
            ..Filter::standing(5)
        };
        for text in ["the wren sings", ""] {
            let asked = asked(text, filter.clone());
            let answer = world.with(async |engine| engine.recall(&asked).await).unwrap();
            assert!(answer.hits.is_empty() && answer.passed_over.is_empty(), "{filter:?}");
        }
    }
}
