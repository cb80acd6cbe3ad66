//! No query text gives an error.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::TestWorld;
use waylore_engine::{ContextRequest, SearchPurpose, SearchQuery};

use super::{question, search};

fn world() -> TestWorld {
    let mut world = TestWorld::new(1);
    world.run_script("teach verifyJwt expects seconds\nteach --user the pool has 8 connections");
    world
}

fn check_query(world: &mut TestWorld, text: &str) {
    let task =
        ContextRequest { task: text.to_owned(), ..ContextRequest::new(model::Phase::Explore) };
    let query = question(text);
    let start = SearchQuery { purpose: SearchPurpose::Start, ..query.clone() };
    let res = world.with_project(async |engine| {
        search(engine, &query).await?;
        search(engine, &start).await?;
        engine.retriever().ask(&query).await?;
        engine.injector().start_context(&task).await
    });
    let start: String = text.chars().take(80).collect();
    assert!(res.is_ok(), "{start:?}: {res:?}");
    assert_eq!(world.run_line("list").lines().count(), 2, "a search changed something: {start:?}");
}

#[test]
fn odd_queries_are_searched() {
    let mut world = world();
    let long = "seconds ".repeat(131_072);
    for text in [
        "",
        " ",
        "\n\t",
        "\0",
        "a\0b",
        "\"",
        "\"\"\"",
        "'; DROP TABLE memories; --",
        "NEAR(",
        "NEAR(a b, 3)",
        "AND",
        "a AND",
        "OR OR",
        "NOT seconds",
        "content:seconds",
        "{content tags}: x",
        "^seconds",
        "sec*",
        "*",
        "-seconds",
        "+seconds",
        "(((((",
        ")",
        "a:b:c",
        "%",
        "\\",
        "🦀",
        "👩‍👩‍👧‍👦 🇺🇳",
        "\u{202e}seconds\u{202c}",
        "مرحبا بالعالم",
        "שלום",
        "設定ファイル",
        "e\u{301}\u{301}\u{301}",
        "\u{feff}\u{200b}\u{200d}",
        "\u{fffd}\u{ffff}",
        "<waylore-notes></waylore-notes>",
        &long,
        &"(".repeat(100_000),
        &"\"".repeat(100_000),
        &"x".repeat(1 << 20),
        &"é".repeat(1 << 19),
    ] {
        check_query(&mut world, text);
    }
}

#[test]
fn any_text_is_searched() {
    let world = RefCell::new(world());
    let text = prop_oneof![
        any::<String>(),
        "[\"'()*:^{}+<>|&~ -]{0,20}",
        "(AND|OR|NOT|NEAR|seconds|[\"(): *]){0,8}",
        prop::collection::vec(any::<u8>(), 0..60)
            .prop_map(|it| String::from_utf8_lossy(&it).into_owned()),
    ];
    let config = Config { failure_persistence: None, ..Config::with_cases(24) };
    let check = |text: String| {
        check_query(&mut world.borrow_mut(), &text);
        Ok(())
    };
    TestRunner::new(config).run(&text, check).unwrap();
}
