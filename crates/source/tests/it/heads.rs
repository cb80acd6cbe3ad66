//! Branch and commit, compared with the output of git.
//!
//! Git stores a branch in one of three ways: *loose*, as a file `refs/heads/main` with the id of its
//! commit; *packed*, as a line of the file `packed-refs`; or in binary tables (*reftable*). A loose
//! ref counts before a packed one. HEAD names a branch, or directly a commit (*detached*).

use waylore_source::{GitHead, read_head};

use crate::fixture::Fixture;

/// Compares the head of the repository `rel` with the commit that git prints, and with the expected
/// branch.
fn check(fixture: &Fixture, rel: &str, branch: Option<&str>) {
    let commit = fixture.git(rel, "rev-parse HEAD");
    let expected = GitHead { branch: branch.map(str::to_owned), commit: Some(commit) };
    assert_eq!(read_head(&fixture.locate(rel)), expected);
}

#[test]
fn a_branch_is_read_loose_and_packed() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    check(&fixture, "app", Some("main"));
    fixture.git("app", "switch --quiet --create feature/x");
    fixture.commit("app", "two");
    check(&fixture, "app", Some("feature/x"));
    fixture.git("app", "pack-refs --all");
    check(&fixture, "app", Some("feature/x"));
    // Loose again, beside the outdated packed one.
    fixture.commit("app", "three");
    check(&fixture, "app", Some("feature/x"));
}

#[test]
fn a_detached_head_has_no_branch() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.git("app", "checkout --quiet --detach");
    check(&fixture, "app", None);
}

#[test]
fn an_empty_repository_has_a_branch_and_no_commit() {
    let fixture = Fixture::new();
    fixture.git(".", "init --quiet app");
    assert_eq!(
        read_head(&fixture.locate("app")),
        GitHead { branch: Some("main".to_owned()), commit: None }
    );
}

#[test]
fn a_worktree_has_its_own_head() {
    let fixture = Fixture::new();
    fixture.repository("main", "one");
    fixture.git("main", "worktree add --quiet ../side");
    fixture.commit("side", "two");
    check(&fixture, "main", Some("main"));
    check(&fixture, "side", Some("side"));
    fixture.git("main", "pack-refs --all");
    check(&fixture, "side", Some("side"));
    fixture.git("side", "checkout --quiet --detach HEAD~1");
    check(&fixture, "side", None);
}

#[test]
fn a_bare_repository_and_a_submodule_have_heads() {
    let fixture = Fixture::new();
    fixture.repository("library", "one");
    fixture.git(".", "clone --quiet --bare library bare.git");
    check(&fixture, "bare.git", Some("main"));
    fixture.repository("app", "app");
    fixture.git("app", "submodule --quiet add ../library vendor");
    check(&fixture, "app/vendor", Some("main"));
}

#[test]
fn a_sha256_repository_has_a_longer_commit() {
    let fixture = Fixture::new();
    fixture.git(".", "init --quiet --object-format=sha256 app");
    assert_eq!(fixture.commit("app", "one").len(), 64);
    check(&fixture, "app", Some("main"));
}

#[test]
fn reftable_is_left_to_git() {
    let fixture = Fixture::new();
    fixture.git(".", "init --quiet --ref-format=reftable app");
    assert_eq!(
        read_head(&fixture.locate("app")),
        GitHead { branch: Some("main".to_owned()), commit: None }
    );
    fixture.commit("app", "one");
    check(&fixture, "app", Some("main"));
    fixture.git("app", "worktree add --quiet ../side");
    fixture.commit("side", "two");
    check(&fixture, "side", Some("side"));
    fixture.git("app", "checkout --quiet --detach");
    check(&fixture, "app", None);
}

#[test]
fn a_ref_to_a_ref_is_followed_but_not_for_ever() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.git("app", "symbolic-ref refs/heads/alias refs/heads/main");
    fixture.git("app", "symbolic-ref HEAD refs/heads/alias");
    check(&fixture, "app", Some("alias"));
    // A ref to itself.
    fixture.write("app/.git/refs/heads/alias", "ref: refs/heads/alias\n");
    assert_eq!(
        read_head(&fixture.locate("app")),
        GitHead { branch: Some("alias".to_owned()), commit: None }
    );
}

#[test]
fn a_place_without_git_has_no_head() {
    let fixture = Fixture::new();
    fixture.dir("plain");
    assert_eq!(read_head(&fixture.locate("plain")), GitHead::default());
}
