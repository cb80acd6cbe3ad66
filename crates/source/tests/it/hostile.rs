//! Repositories that are damaged or deceptive.

use std::fs;

use waylore_source::{GitHead, PlaceKind, SkipReason, read_fingerprint, read_head};

use crate::fixture::Fixture;

/// The reasons why a `.git` at `rel` was skipped, innermost first.
fn skipped(fixture: &Fixture, rel: &str) -> Vec<SkipReason> {
    fixture.locate(rel).skipped.iter().map(|it| it.why).collect()
}

#[test]
fn a_broken_pointer_is_skipped() {
    let fixture = Fixture::new();
    for (case, text) in [
        "",
        "gitdir:",
        "gitdir: ",
        "gitdir: ../gone\n",
        "nonsense",
        "gitdir: \0",
        "gitdir: .",
        "gitdir: .git",
    ]
    .iter()
    .enumerate()
    {
        let rel = format!("case{case}");
        fixture.write(&format!("{rel}/.git"), text);
        assert_eq!(fixture.locate(&rel).kind, PlaceKind::Plain, "{text:?}");
        assert_eq!(skipped(&fixture, &rel), [SkipReason::Broken], "{text:?}");
    }
    fixture.write("huge/.git", &format!("gitdir: {}", "x".repeat(100_000)));
    assert_eq!(skipped(&fixture, "huge"), [SkipReason::Broken]);
}

#[test]
fn an_empty_git_directory_belongs_to_the_repository_around_it() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.dir("app/sub/.git");
    assert_eq!(fixture.describe_place("app/sub"), "Git app app/.git");
    assert_eq!(skipped(&fixture, "app/sub"), [SkipReason::Broken]);
}

#[cfg(unix)]
#[test]
fn a_fifo_is_never_waited_for() {
    let fixture = Fixture::new();
    fixture.dir("a");
    fixture.fifo("a/.git");
    assert_eq!(fixture.locate("a").kind, PlaceKind::Plain);

    for name in ["HEAD", "commondir"] {
        let rel = format!("with-{name}");
        fixture.repository(&rel, "one");
        _ = fs::remove_file(fixture.path(&format!("{rel}/.git/{name}")));
        fixture.fifo(&format!("{rel}/.git/{name}"));
        assert_eq!(fixture.locate(&rel).kind, PlaceKind::Plain, "{name}");
    }

    fixture.repository("b", "one");
    fixture.git("b", "pack-refs --all");
    fs::remove_file(fixture.path("b/.git/packed-refs")).unwrap();
    fixture.fifo("b/.git/packed-refs");
    assert_eq!(
        read_head(&fixture.locate("b")),
        GitHead { branch: Some("main".to_owned()), commit: None }
    );
}

#[cfg(unix)]
#[test]
fn a_broken_symlink_is_skipped() {
    let fixture = Fixture::new();
    fixture.dir("a");
    std::os::unix::fs::symlink("gone", fixture.path("a/.git")).unwrap();
    assert_eq!(skipped(&fixture, "a"), [SkipReason::Broken]);
}

#[test]
fn a_directory_cannot_claim_to_be_a_worktree_of_another_repository() {
    let fixture = Fixture::new();
    fixture.repository("private", "one");
    fixture.git("private", "worktree add --quiet ../side");
    fixture.repository("other", "two");
    fixture.git("other", "submodule --quiet add ../private vendor");
    let top = fixture.top.display();

    // Pointers to a repository, to a worktree of another folder, to a submodule, to a forged git
    // directory, and a `.git` that shares the objects of another repository.
    fixture.write("direct/.git", &format!("gitdir: {top}/private/.git\n"));
    fixture.write("listed/.git", &format!("gitdir: {top}/private/.git/worktrees/side\n"));
    fixture.write("module/.git", &format!("gitdir: {top}/other/.git/modules/vendor\n"));
    fixture.write("forged/.git", "gitdir: fake\n");
    fixture.write("forged/fake/HEAD", "ref: refs/heads/main\n");
    fixture.write("forged/fake/commondir", &format!("{top}/private/.git\n"));
    fixture.write("forged/fake/gitdir", &format!("{top}/forged/.git\n"));
    fixture.write("inside/.git/HEAD", "ref: refs/heads/main\n");
    fixture.write("inside/.git/commondir", &format!("{top}/private/.git\n"));
    for rel in ["direct", "listed", "module", "forged", "inside"] {
        assert_eq!(fixture.describe_place(rel), format!("Plain {rel} {rel}"));
        assert_eq!(skipped(&fixture, rel), [SkipReason::Unproven], "{rel}");
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_cannot_claim_another_repository_either() {
    let fixture = Fixture::new();
    fixture.repository("private", "one");
    fixture.dir("thief");
    std::os::unix::fs::symlink(fixture.path("private/.git"), fixture.path("thief/.git")).unwrap();
    assert_eq!(skipped(&fixture, "thief"), [SkipReason::Unproven]);
}

#[test]
fn a_head_that_points_outside_is_not_followed() {
    let fixture = Fixture::new();
    let commit = "0123456789012345678901234567890123456789";
    fixture.write("secret", commit);
    fixture.repository("app", "one");
    for text in [
        "ref: ../../secret",
        "ref: refs/../../../secret",
        "ref: /etc/passwd",
        "ref: refs/heads/../../../../secret",
    ] {
        fixture.write("app/.git/HEAD", text);
        assert_eq!(read_head(&fixture.locate("app")), GitHead::default(), "{text}");
    }
}

/// All settings by which a repository could start a program while its history is read.
const TRAPS: &str = r#"
[core]
    repositoryFormatVersion = 1
    fsmonitor = "touch TOP/fsmonitor"
    pager = "touch TOP/pager"
    sshCommand = "touch TOP/ssh"
    alternateRefsCommand = "touch TOP/alternates"
[alias]
    rev-list = "!touch TOP/alias"
[pager]
    rev-list = "touch TOP/pager"
[extensions]
    partialClone = origin
[remote "origin"]
    promisor = true
    url = "file://TOP"
    uploadpack = "touch TOP/upload; false"
"#;

#[cfg(unix)]
#[test]
fn programs_in_the_configuration_are_not_executed() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    let root = fixture.git("app", "rev-parse HEAD");
    let tip = fixture.commit("app", "two");
    fixture.write("app/.git/config", &TRAPS.replace("TOP", fixture.top.to_str().unwrap()));
    let executed = || {
        let names = ["fsmonitor", "pager", "ssh", "alternates", "alias", "upload"];
        names.into_iter().filter(|name| fixture.path(name).exists()).collect::<Vec<_>>()
    };
    assert_eq!(
        read_fingerprint(&fixture.locate("app")).root_commit.as_deref(),
        Some(root.as_str())
    );
    assert!(executed().is_empty(), "{:?}", executed());

    // A partial clone fetches missing objects with the program that its remote names.
    fs::remove_file(fixture.path(&format!("app/.git/objects/{}/{}", &tip[..2], &tip[2..])))
        .unwrap();
    assert_eq!(read_fingerprint(&fixture.locate("app")).root_commit, None);
    assert!(executed().is_empty(), "{:?}", executed());

    // The trap works: git without our protections runs the program.
    fixture.try_git("app", "rev-list --max-parents=0 HEAD");
    assert_eq!(executed(), ["upload"]);
}

#[test]
fn a_damaged_repository_has_no_fingerprint_and_no_panic() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.write("app/.git/config", "[core\n\u{0}\u{1}garbage");
    fixture.write("app/.git/refs/heads/main", "not a commit");
    let place = fixture.locate("app");
    assert_eq!(place.kind, PlaceKind::Git);
    assert_eq!(read_fingerprint(&place).root_commit, None);
    assert_eq!(read_head(&place), GitHead { branch: Some("main".to_owned()), commit: None });
}
