//! History and changes, in repositories made by the real git.

use waylore_source::{
    CommitFile, FileChange, RenameDetection, changes_since, count_commits_since, read_commits,
    unmerged_branches,
};

use crate::fixture::Fixture;

fn change(path: &str, before: Option<&str>, added: u32, removed: u32) -> FileChange {
    FileChange { path: path.to_owned(), before: before.map(str::to_owned), added, removed }
}

#[test]
fn a_branch_is_unmerged_until_it_is_merged() {
    let it = Fixture::new();
    it.repository("app", "one");
    assert_eq!(unmerged_branches(&it.locate("app")), Some(vec![]));
    it.git("app", "switch --quiet --create feature/x");
    it.commit("app", "two");
    assert_eq!(unmerged_branches(&it.locate("app")), Some(vec![]), "the current branch");
    it.git("app", "switch --quiet main");
    assert_eq!(unmerged_branches(&it.locate("app")), Some(vec!["feature/x".to_owned()]));
    it.git("app", "merge --quiet feature/x");
    assert_eq!(unmerged_branches(&it.locate("app")), Some(vec![]));
}

#[test]
fn changed_renamed_and_deleted_files_are_listed() {
    let it = Fixture::new();
    it.repository("app", "one");
    it.write("app/a.rs", "one\ntwo\nthree\n");
    it.write("app/b.rs", &"a line that stays\n".repeat(20));
    it.write("app/c.rs", "goes\n");
    it.git("app", "add .");
    let then = it.commit("app", "two");
    assert_eq!(changes_since(&it.locate("app"), &then), Some(vec![]));
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
    let mut found = changes_since(&it.locate("app"), &then).unwrap();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert_eq!(found, expected);
}

#[test]
fn a_missing_commit_has_no_changes() {
    let it = Fixture::new();
    it.repository("app", "one");
    let place = it.locate("app");
    assert_eq!(changes_since(&place, &"0".repeat(40)), None);
    assert_eq!(changes_since(&place, "--output=x"), None);
    it.dir("plain");
    assert_eq!(changes_since(&it.locate("plain"), &"0".repeat(40)), None);
    assert_eq!(unmerged_branches(&it.locate("plain")), None);
}

/// The commits after `since` as `subject: path <before` lines, oldest first.
fn commits(it: &Fixture, since: Option<&str>) -> Option<Vec<String>> {
    let mut acc = Vec::new();
    let whole =
        read_commits(&it.locate("app"), since, 100, RenameDetection::Similar, &mut |commit| {
            let file = |it: &CommitFile| {
                let before = it.before.as_ref().map_or(String::new(), |it| format!("<{it}"));
                let new = if it.is_new { "+" } else { "" };
                format!("{new}{}{before}", it.path)
            };
            let files: Vec<String> = commit.files.iter().map(file).collect();
            acc.push(format!("{}: {}", commit.subject, files.join(" ")));
            true
        });
    whole.map(|whole| {
        assert!(whole);
        acc
    })
}

#[test]
fn commits_are_read_oldest_first_with_renames_and_from_any_commit() {
    let it = Fixture::new();
    it.repository("app", "one");
    it.write("app/a.rs", &"a line that stays\n".repeat(20));
    it.write("app/b.rs", "b\n");
    it.git("app", "add .");
    let second = it.commit("app", "two");
    it.git("app", "mv a.rs moved.rs");
    it.write("app/b.rs", "b2\n");
    it.git("app", "add .");
    it.commit("app", "three");
    let all = ["two: +a.rs +b.rs", "three: b.rs moved.rs<a.rs"];
    assert_eq!(commits(&it, None).unwrap(), all);
    assert_eq!(commits(&it, Some(&second)).unwrap(), all[1..]);
    assert_eq!(count_commits_since(&it.locate("app"), &second), Some(1));
    let head = it.git("app", "rev-parse HEAD");
    it.git("app", "reset --quiet --hard HEAD^");
    assert_eq!(count_commits_since(&it.locate("app"), &head), None, "HEAD no longer contains it");
    assert_eq!(count_commits_since(&it.locate("app"), &"0".repeat(40)), None);
    assert_eq!(commits(&it, Some("--output=x")), None);
    it.dir("plain");
    assert_eq!(count_commits_since(&it.locate("plain"), &head), None);
}

#[test]
fn the_caller_can_stop_reading() {
    let it = Fixture::new();
    it.repository("app", "one");
    for name in ["a", "b", "c"] {
        it.write(&format!("app/{name}"), name);
        it.git("app", "add .");
        it.commit("app", name);
    }
    let mut n = 0;
    let whole = read_commits(&it.locate("app"), None, 100, RenameDetection::Similar, &mut |_| {
        n += 1;
        n < 2
    });
    assert_eq!((whole, n), (Some(false), 2));
    let mut newest = Vec::new();
    read_commits(&it.locate("app"), None, 2, RenameDetection::Similar, &mut |it| {
        newest.push(it.subject);
        true
    });
    assert_eq!(newest, ["b", "c"]);
}
