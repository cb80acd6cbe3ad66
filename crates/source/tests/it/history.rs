//! History and changes, in repositories made by the real git.

use waylore_source::{
    CommitFile, FileChange, RenameDetection, changes_since, count_commits_since,
    find_reverted_edits, read_commits, unmerged_branches,
};

use crate::fixture::Fixture;

/// Git would take it for an option and write to a file `x`.
const OPTION_AS_COMMIT: &str = "--output=x";

fn change(path: &str, before: Option<&str>, added: u32, removed: u32) -> FileChange {
    FileChange { path: path.to_owned(), before: before.map(str::to_owned), added, removed }
}

#[test]
fn a_branch_is_unmerged_until_it_is_merged() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    assert_eq!(unmerged_branches(&fixture.locate("app")), Some(vec![]));
    fixture.git("app", "switch --quiet --create feature/x");
    fixture.commit("app", "two");
    assert_eq!(unmerged_branches(&fixture.locate("app")), Some(vec![]), "the current branch");
    fixture.git("app", "switch --quiet main");
    assert_eq!(unmerged_branches(&fixture.locate("app")), Some(vec!["feature/x".to_owned()]));
    fixture.git("app", "merge --quiet feature/x");
    assert_eq!(unmerged_branches(&fixture.locate("app")), Some(vec![]));
}

#[test]
fn changed_renamed_and_deleted_files_are_listed() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.write("app/a.rs", "one\ntwo\nthree\n");
    fixture.write("app/b.rs", &"a line that stays\n".repeat(20));
    fixture.write("app/c.rs", "goes\n");
    fixture.git("app", "add .");
    let then = fixture.commit("app", "two");
    assert_eq!(changes_since(&fixture.locate("app"), &then), Some(vec![]));
    fixture.write("app/a.rs", "one\n2\nthree\nfour\n");
    fixture.git("app", "mv b.rs moved.rs");
    fixture.git("app", "rm --quiet c.rs");
    fixture.git("app", "add .");
    fixture.commit("app", "three");
    let expected = vec![
        change("a.rs", None, 2, 1),
        change("c.rs", None, 0, 1),
        change("moved.rs", Some("b.rs"), 0, 0),
    ];
    let mut found = changes_since(&fixture.locate("app"), &then).unwrap();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert_eq!(found, expected);
}

#[test]
fn changes_since_an_unknown_commit_or_outside_git_are_unknown() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    let place = fixture.locate("app");
    assert_eq!(changes_since(&place, &"0".repeat(40)), None);
    assert_eq!(changes_since(&place, OPTION_AS_COMMIT), None);
    fixture.dir("plain");
    assert_eq!(changes_since(&fixture.locate("plain"), &"0".repeat(40)), None);
    assert_eq!(unmerged_branches(&fixture.locate("plain")), None);
}

/// The commits after `since`, oldest first, one line each: `subject: +new.rs changed.rs to.rs<from.rs`.
/// `+` marks a new file, `<` the earlier path of a renamed one.
fn commits(fixture: &Fixture, since: Option<&str>) -> Option<Vec<String>> {
    let mut acc = Vec::new();
    let read_to_end =
        read_commits(&fixture.locate("app"), since, 100, RenameDetection::Similar, &mut |commit| {
            let file = |it: &CommitFile| {
                let before = it.before.as_ref().map_or(String::new(), |it| format!("<{it}"));
                let new = if it.is_new { "+" } else { "" };
                format!("{new}{}{before}", it.path)
            };
            let files: Vec<String> = commit.files.iter().map(file).collect();
            acc.push(format!("{}: {}", commit.subject, files.join(" ")));
            true
        });
    read_to_end.map(|read_to_end| {
        assert!(read_to_end);
        acc
    })
}

#[test]
fn commits_are_read_oldest_first_with_renames_from_any_commit() {
    let fixture = Fixture::new();
    // Its commit is empty, so it is left out below.
    fixture.repository("app", "one");
    fixture.write("app/a.rs", &"a line that stays\n".repeat(20));
    fixture.write("app/b.rs", "b\n");
    fixture.git("app", "add .");
    let second = fixture.commit("app", "two");
    fixture.git("app", "mv a.rs moved.rs");
    fixture.write("app/b.rs", "b2\n");
    fixture.git("app", "add .");
    fixture.commit("app", "three");
    let all = ["two: +a.rs +b.rs", "three: b.rs moved.rs<a.rs"];
    assert_eq!(commits(&fixture, None).unwrap(), all);
    assert_eq!(commits(&fixture, Some(&second)).unwrap(), all[1..]);
    assert_eq!(commits(&fixture, Some(OPTION_AS_COMMIT)), None);
}

#[test]
fn only_commits_since_an_ancestor_of_head_are_counted() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    let second = fixture.commit("app", "two");
    fixture.commit("app", "three");
    assert_eq!(count_commits_since(&fixture.locate("app"), &second), Some(1));
    let head = fixture.git("app", "rev-parse HEAD");
    fixture.git("app", "reset --quiet --hard HEAD^");
    assert_eq!(
        count_commits_since(&fixture.locate("app"), &head),
        None,
        "HEAD no longer contains it"
    );
    assert_eq!(count_commits_since(&fixture.locate("app"), &"0".repeat(40)), None);
    fixture.dir("plain");
    assert_eq!(count_commits_since(&fixture.locate("plain"), &head), None);
}

#[test]
fn the_caller_can_stop_reading_or_set_a_limit() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    for name in ["a", "b", "c"] {
        fixture.write(&format!("app/{name}"), name);
        fixture.git("app", "add .");
        fixture.commit("app", name);
    }
    let mut n_read = 0;
    let read_to_end =
        read_commits(&fixture.locate("app"), None, 100, RenameDetection::Similar, &mut |_| {
            n_read += 1;
            n_read < 2
        });
    assert_eq!((read_to_end, n_read), (Some(false), 2));
    // A limit keeps the newest commits, still oldest first.
    let mut newest = Vec::new();
    read_commits(&fixture.locate("app"), None, 2, RenameDetection::Similar, &mut |it| {
        newest.push(it.subject);
        true
    });
    assert_eq!(newest, ["b", "c"]);
}

#[test]
fn unchanged_texts_count_as_reverted_and_binary_files_do_not() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.write("app/notes.txt", "text");
    std::fs::write(fixture.path("app/logo.png"), [0xff, 0xd8, 0xff]).unwrap();
    fixture.git("app", "add .");
    fixture.commit("app", "two");
    // All commits of the fixture have one time: it lies before the session and also after it.
    let (since, until) = (1_700_000_001, 1_699_999_999);
    let place = fixture.locate("app");
    assert!(find_reverted_edits(&place, &["notes.txt"], since, until).is_some());
    assert_eq!(find_reverted_edits(&place, &["logo.png"], since, until), None);
    assert_eq!(find_reverted_edits(&place, &["notes.txt", "logo.png"], since, until), None);
}

#[test]
fn edits_that_another_branch_or_a_stash_holds_are_not_reverted() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.write("app/notes.txt", "text");
    fixture.git("app", "add .");
    fixture.commit("app", "two");
    let place = fixture.locate("app");
    // All commits of the fixture have one time, which is that of the session as well.
    let (since, until) = (1_700_000_000, 1_699_999_999);
    let is_reverted = || find_reverted_edits(&place, &["notes.txt"], since, until).is_some();
    assert!(is_reverted());

    fixture.git("app", "checkout -q -b feature");
    fixture.write("app/notes.txt", "another text");
    fixture.git("app", "add .");
    fixture.commit("app", "three");
    fixture.git("app", "checkout -q main");
    assert!(!is_reverted());

    // A branch that changes other files does not matter.
    fixture.git("app", "branch -q -D feature");
    assert!(is_reverted());
    fixture.git("app", "checkout -q -b other");
    fixture.write("app/more.txt", "text");
    fixture.git("app", "add .");
    fixture.commit("app", "four");
    fixture.git("app", "checkout -q main");
    assert!(is_reverted());

    fixture.write("app/notes.txt", "a third text");
    fixture.git("app", "stash -q");
    assert!(!is_reverted());
}
