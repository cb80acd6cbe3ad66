//! Branch and commit, compared with the output of git.

use waylore_source::{GitHead, read_head};

use crate::fixture::Fixture;

fn check(it: &Fixture, rel: &str, branch: Option<&str>) {
    let commit = it.git(rel, "rev-parse HEAD");
    let expected = GitHead { branch: branch.map(str::to_owned), commit: Some(commit) };
    assert_eq!(read_head(&it.locate(rel)), expected);
}

#[test]
fn a_branch_is_read_loose_and_packed() {
    let it = Fixture::new();
    it.repository("app", "one");
    check(&it, "app", Some("main"));
    it.git("app", "switch --quiet --create feature/x");
    it.commit("app", "two");
    check(&it, "app", Some("feature/x"));
    it.git("app", "pack-refs --all");
    check(&it, "app", Some("feature/x"));
    it.commit("app", "three");
    check(&it, "app", Some("feature/x"));
}

#[test]
fn a_detached_head_has_no_branch() {
    let it = Fixture::new();
    it.repository("app", "one");
    it.git("app", "checkout --quiet --detach");
    check(&it, "app", None);
}

#[test]
fn an_empty_repository_has_a_branch_and_no_commit() {
    let it = Fixture::new();
    it.git(".", "init --quiet app");
    assert_eq!(
        read_head(&it.locate("app")),
        GitHead { branch: Some("main".to_owned()), commit: None }
    );
}

#[test]
fn a_worktree_has_its_own_head() {
    let it = Fixture::new();
    it.repository("main", "one");
    it.git("main", "worktree add --quiet ../side");
    it.commit("side", "two");
    check(&it, "main", Some("main"));
    check(&it, "side", Some("side"));
    it.git("main", "pack-refs --all");
    check(&it, "side", Some("side"));
    it.git("side", "checkout --quiet --detach HEAD~1");
    check(&it, "side", None);
}

#[test]
fn a_bare_repository_and_a_submodule_have_heads() {
    let it = Fixture::new();
    it.repository("library", "one");
    it.git(".", "clone --quiet --bare library bare.git");
    check(&it, "bare.git", Some("main"));
    it.repository("app", "app");
    it.git("app", "submodule --quiet add ../library vendor");
    check(&it, "app/vendor", Some("main"));
}

#[test]
fn a_sha256_repository_has_a_longer_commit() {
    let it = Fixture::new();
    it.git(".", "init --quiet --object-format=sha256 app");
    assert_eq!(it.commit("app", "one").len(), 64);
    check(&it, "app", Some("main"));
}

#[test]
fn reftable_is_left_to_git() {
    let it = Fixture::new();
    it.git(".", "init --quiet --ref-format=reftable app");
    assert_eq!(
        read_head(&it.locate("app")),
        GitHead { branch: Some("main".to_owned()), commit: None }
    );
    it.commit("app", "one");
    check(&it, "app", Some("main"));
    it.git("app", "worktree add --quiet ../side");
    it.commit("side", "two");
    check(&it, "side", Some("side"));
    it.git("app", "checkout --quiet --detach");
    check(&it, "app", None);
}

#[test]
fn a_ref_to_a_ref_is_followed_but_not_for_ever() {
    let it = Fixture::new();
    it.repository("app", "one");
    it.git("app", "symbolic-ref refs/heads/alias refs/heads/main");
    it.git("app", "symbolic-ref HEAD refs/heads/alias");
    check(&it, "app", Some("alias"));
    it.write("app/.git/refs/heads/alias", "ref: refs/heads/alias\n");
    assert_eq!(
        read_head(&it.locate("app")),
        GitHead { branch: Some("alias".to_owned()), commit: None }
    );
}

#[test]
fn a_place_without_git_has_no_head() {
    let it = Fixture::new();
    it.dir("plain");
    assert_eq!(read_head(&it.locate("plain")), GitHead::default());
}
