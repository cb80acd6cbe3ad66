//! Repositories that are damaged or deceptive.

use std::fs;

use waylore_source::{GitHead, PlaceKind, SkipReason, read_fingerprint, read_head};

use crate::fixture::Fixture;

/// The reasons why a `.git` at `rel` was skipped, innermost first.
fn skipped(it: &Fixture, rel: &str) -> Vec<SkipReason> {
    it.locate(rel).skipped.iter().map(|it| it.why).collect()
}

#[test]
fn a_broken_pointer_is_skipped() {
    let it = Fixture::new();
    for (i, text) in [
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
        let rel = format!("case{i}");
        it.write(&format!("{rel}/.git"), text);
        assert_eq!(it.locate(&rel).kind, PlaceKind::Plain, "{text:?}");
        assert_eq!(skipped(&it, &rel), [SkipReason::Broken], "{text:?}");
    }
    it.write("huge/.git", &format!("gitdir: {}", "x".repeat(100_000)));
    assert_eq!(skipped(&it, "huge"), [SkipReason::Broken]);
}

#[test]
fn an_empty_git_directory_belongs_to_the_repository_around_it() {
    let it = Fixture::new();
    it.repository("app", "one");
    it.dir("app/sub/.git");
    assert_eq!(it.shown("app/sub"), "Git app app/.git");
    assert_eq!(skipped(&it, "app/sub"), [SkipReason::Broken]);
}

#[cfg(unix)]
#[test]
fn a_fifo_is_never_waited_for() {
    let it = Fixture::new();
    it.dir("a");
    it.fifo("a/.git");
    assert_eq!(it.locate("a").kind, PlaceKind::Plain);

    for name in ["HEAD", "commondir"] {
        let rel = format!("with-{name}");
        it.repository(&rel, "one");
        _ = fs::remove_file(it.path(&format!("{rel}/.git/{name}")));
        it.fifo(&format!("{rel}/.git/{name}"));
        assert_eq!(it.locate(&rel).kind, PlaceKind::Plain, "{name}");
    }

    it.repository("b", "one");
    it.git("b", "pack-refs --all");
    fs::remove_file(it.path("b/.git/packed-refs")).unwrap();
    it.fifo("b/.git/packed-refs");
    assert_eq!(
        read_head(&it.locate("b")),
        GitHead { branch: Some("main".to_owned()), commit: None }
    );
}

#[cfg(unix)]
#[test]
fn a_broken_symlink_is_skipped() {
    let it = Fixture::new();
    it.dir("a");
    std::os::unix::fs::symlink("gone", it.path("a/.git")).unwrap();
    assert_eq!(skipped(&it, "a"), [SkipReason::Broken]);
}

#[test]
fn a_directory_cannot_claim_to_be_a_worktree_of_another_repository() {
    let it = Fixture::new();
    it.repository("private", "one");
    it.git("private", "worktree add --quiet ../side");
    it.repository("other", "two");
    it.git("other", "submodule --quiet add ../private vendor");
    let top = it.top.display();

    it.write("direct/.git", &format!("gitdir: {top}/private/.git\n"));
    it.write("listed/.git", &format!("gitdir: {top}/private/.git/worktrees/side\n"));
    it.write("module/.git", &format!("gitdir: {top}/other/.git/modules/vendor\n"));
    it.write("forged/.git", "gitdir: fake\n");
    it.write("forged/fake/HEAD", "ref: refs/heads/main\n");
    it.write("forged/fake/commondir", &format!("{top}/private/.git\n"));
    it.write("forged/fake/gitdir", &format!("{top}/forged/.git\n"));
    it.write("inside/.git/HEAD", "ref: refs/heads/main\n");
    it.write("inside/.git/commondir", &format!("{top}/private/.git\n"));
    for rel in ["direct", "listed", "module", "forged", "inside"] {
        assert_eq!(it.shown(rel), format!("Plain {rel} {rel}"));
        assert_eq!(skipped(&it, rel), [SkipReason::Unproven], "{rel}");
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_cannot_claim_another_repository_either() {
    let it = Fixture::new();
    it.repository("private", "one");
    it.dir("thief");
    std::os::unix::fs::symlink(it.path("private/.git"), it.path("thief/.git")).unwrap();
    assert_eq!(skipped(&it, "thief"), [SkipReason::Unproven]);
}

#[test]
fn a_head_that_points_outside_is_not_followed() {
    let it = Fixture::new();
    let commit = "0123456789012345678901234567890123456789";
    it.write("secret", commit);
    it.repository("app", "one");
    for text in [
        "ref: ../../secret",
        "ref: refs/../../../secret",
        "ref: /etc/passwd",
        "ref: refs/heads/../../../../secret",
    ] {
        it.write("app/.git/HEAD", text);
        assert_eq!(read_head(&it.locate("app")), GitHead::default(), "{text}");
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
    let it = Fixture::new();
    it.repository("app", "one");
    let root = it.git("app", "rev-parse HEAD");
    let tip = it.commit("app", "two");
    it.write("app/.git/config", &TRAPS.replace("TOP", it.top.to_str().unwrap()));
    let sprung = || {
        let names = ["fsmonitor", "pager", "ssh", "alternates", "alias", "upload"];
        names.into_iter().filter(|name| it.path(name).exists()).collect::<Vec<_>>()
    };
    assert_eq!(read_fingerprint(&it.locate("app")).root_commit.as_deref(), Some(root.as_str()));
    assert!(sprung().is_empty(), "{:?}", sprung());

    // A partial clone fetches missing objects with the program that its remote names.
    fs::remove_file(it.path(&format!("app/.git/objects/{}/{}", &tip[..2], &tip[2..]))).unwrap();
    assert_eq!(read_fingerprint(&it.locate("app")).root_commit, None);
    assert!(sprung().is_empty(), "{:?}", sprung());

    // The trap works: git without our protections runs the program.
    it.try_git("app", "rev-list --max-parents=0 HEAD");
    assert_eq!(sprung(), ["upload"]);
}

#[test]
fn a_damaged_repository_has_no_fingerprint_and_no_panic() {
    let it = Fixture::new();
    it.repository("app", "one");
    it.write("app/.git/config", "[core\n\u{0}\u{1}garbage");
    it.write("app/.git/refs/heads/main", "not a commit");
    let place = it.locate("app");
    assert_eq!(place.kind, PlaceKind::Git);
    assert_eq!(read_fingerprint(&place).root_commit, None);
    assert_eq!(read_head(&place), GitHead { branch: Some("main".to_owned()), commit: None });
}
