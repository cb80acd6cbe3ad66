//! Odd queries: no query text causes an error or changes a memory. Texts with the syntax of SQL and
//! FTS5, Unicode, very long texts, and random ones.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::TestWorld;
use waylore_engine::{ContextRequest, SearchPurpose, SearchQuery};

use super::{query, search};

/// A world with two memories.
fn world_with_two_memories() -> TestWorld {
    let mut world = TestWorld::new(1);
    world.run_script("teach verifyJwt expects seconds\nteach --user the pool has 8 connections");
    world
}

/// Checks that searches, answers and contexts for a text succeed and change nothing that `list` prints.
fn check_query(world: &mut TestWorld, text: &str) {
    let context_request =
        ContextRequest { task: text.to_owned(), ..ContextRequest::new(model::Phase::Explore) };
    let query = query(text);
    let list_before = world.run_line("list");
    let start_query = SearchQuery { purpose: SearchPurpose::Start, ..query.clone() };
    let result = world.with_project(async |project| {
        search(project, &query).await?;
        search(project, &start_query).await?;
        project.retriever().ask(&query).await?;
        project.injector().start_context(&context_request).await
    });

    // The text may be very long.
    let excerpt: String = text.chars().take(80).collect();
    assert!(result.is_ok(), "{excerpt:?}: {result:?}");
    assert_eq!(world.run_line("list"), list_before, "a search changed something: {excerpt:?}");
}

#[test]
fn queries_with_odd_syntax_or_characters_succeed() {
    let mut world = world_with_two_memories();
    let one_mebibyte = "seconds ".repeat(131_072);
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
        &one_mebibyte,
        &"(".repeat(100_000),
        &"\"".repeat(100_000),
        &"x".repeat(1 << 20),
        &"é".repeat(1 << 19),
    ] {
        check_query(&mut world, text);
    }
}

#[test]
fn random_queries_succeed() {
    let world = RefCell::new(world_with_two_memories());
    let text = prop_oneof![
        // Any text.
        any::<String>(),
        // Punctuation of the query syntax.
        "[\"'()*:^{}+<>|&~ -]{0,20}",
        // Keywords of the query syntax, and a word of a memory.
        "(AND|OR|NOT|NEAR|seconds|[\"(): *]){0,8}",
        // Any bytes; those that are not UTF-8 become the replacement character U+FFFD.
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
