//! What changed since, in repositories made by the real git.

use waylore_source::{FileChange, changes, unmerged};

use crate::fixture::Fixture;

fn change(path: &str, before: Option<&str>, added: u32, removed: u32) -> FileChange {
    FileChange { path: path.to_owned(), before: before.map(str::to_owned), added, removed }
}

#[test]
fn a_branch_is_unmerged_until_it_is_merged() {
    let it = Fixture::new();
    it.repository("app", "one");
    assert_eq!(unmerged(&it.locate("app")), Some(vec![]));
    it.git("app", "switch --quiet --create feature/x");
    it.commit("app", "two");
    assert_eq!(unmerged(&it.locate("app")), Some(vec![]), "the branch one is on");
    it.git("app", "switch --quiet main");
    assert_eq!(unmerged(&it.locate("app")), Some(vec!["feature/x".to_owned()]));
    it.git("app", "merge --quiet feature/x");
    assert_eq!(unmerged(&it.locate("app")), Some(vec![]));
}

#[test]
fn changed_renamed_and_deleted_files_are_told() {
    let it = Fixture::new();
    it.repository("app", "one");
    it.write("app/a.rs", "one\ntwo\nthree\n");
    it.write("app/b.rs", &"a line that stays\n".repeat(20));
    it.write("app/c.rs", "goes\n");
    it.git("app", "add .");
    let then = it.commit("app", "two");
    assert_eq!(changes(&it.locate("app"), &then), Some(vec![]));
    it.write("app/a.rs", "one\n2\nthree\nfour\n");
    it.git("app", "mv b.rs moved.rs");
    it.git("app", "rm --quiet c.rs");
    it.git("app", "add .");
    it.commit("app", "three");
    let expected = vec![
        change("a.rs", None, 2, 1),
        change("c.rs", None, 0, 1),
        change("moved.rs", Some("b.rs"), 0, 0),
    ];
    let mut found = changes(&it.locate("app"), &then).unwrap();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert_eq!(found, expected);
}

#[test]
fn a_commit_that_is_not_here_tells_nothing() {
    let it = Fixture::new();
    it.repository("app", "one");
    let place = it.locate("app");
    assert_eq!(changes(&place, &"0".repeat(40)), None);
    assert_eq!(changes(&place, "--output=x"), None);
    it.dir("plain");
    assert_eq!(changes(&it.locate("plain"), &"0".repeat(40)), None);
    assert_eq!(unmerged(&it.locate("plain")), None);
}
