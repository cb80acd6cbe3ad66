//! Recognition of projects, with real files and all rules together.
//!
//! A project is recognised at a new location by its *fingerprint* (the id of its first commit and
//! the URL of its remote) and by the key of its directory, which survives a rename. `visit(dir)`
//! returns `new` for a new project, `same app` for a known location of the project `app`, and
//! otherwise the evidence with the project, such as `Renamed app` or `Clone app`.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use waylore_source::{KnownLocation, ProjectMatch, match_project, read_fingerprint};

use crate::fixture::Fixture;

/// The known locations, as a store would keep them.
struct LocationStore<'a> {
    fixture: &'a Fixture,
    known: RefCell<Vec<KnownLocation>>,
}

impl<'a> LocationStore<'a> {
    fn new(fixture: &'a Fixture) -> Self {
        Self { fixture, known: RefCell::default() }
    }

    /// Recognises a place and stores it; a new project is named after its first path. Returns the
    /// verdict: `new`, `same` or the evidence, with the project.
    fn visit(&self, rel: &str) -> String {
        let place = self.fixture.locate(rel);
        let mut fingerprint = None;
        let read = || fingerprint.insert(read_fingerprint(&place)).clone();
        let found = match_project(&self.known.borrow(), &place, read, Path::exists);
        let (project, verdict) = match found {
            ProjectMatch::SameLocation(project) => return format!("same {project}"),
            ProjectMatch::SameProject { project, evidence } => {
                (project.clone(), format!("{evidence:?} {project}"))
            }
            ProjectMatch::NewProject => (rel.to_owned(), "new".to_owned()),
        };
        let fingerprint = fingerprint.expect("every other location was fingerprinted");
        let (root_commit, remote) = (fingerprint.root_commit, fingerprint.remote);
        let known = KnownLocation {
            project,
            key_dir: place.key_dir,
            dir_key: place.dir_key,
            root_commit,
            remote,
        };
        self.known.borrow_mut().push(known);
        verdict
    }
}

#[test]
fn every_directory_and_worktree_of_a_repository_is_the_same_location() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.repository("app", "one");
    fixture.dir("app/src");
    fixture.git("app", "worktree add --quiet ../side");
    assert_eq!(store.visit("app"), "new");
    for rel in ["app", "app/src", "side"] {
        assert_eq!(store.visit(rel), "same app");
    }
}

#[test]
fn a_moved_checkout_keeps_its_memory() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.repository("app", "one");
    fixture.dir("deep");
    assert_eq!(store.visit("app"), "new");
    fixture.rename("app", "deep/renamed");
    assert_eq!(store.visit("deep/renamed"), "Renamed app");
    assert_eq!(store.visit("deep/renamed"), "same app");
}

#[test]
fn a_checkout_moved_to_another_disk_keeps_its_memory() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.repository("app", "one");
    assert_eq!(store.visit("app"), "new");
    fixture.copy("app", "elsewhere");
    fs::remove_dir_all(fixture.path("app")).unwrap();
    assert_eq!(store.visit("elsewhere"), "Moved app");
}

#[test]
fn a_copy_beside_its_original_is_another_project() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.repository("app", "one");
    assert_eq!(store.visit("app"), "new");
    fixture.copy("app", "copy");
    assert_eq!(store.visit("copy"), "new");
}

#[test]
fn clones_of_one_remote_are_one_project() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.repository("origin", "one");
    fixture.commit("origin", "two");
    let url = format!("file://{}", fixture.path("origin").display());
    fixture.git(".", "clone --quiet origin a");
    fixture.git(".", &format!("clone --quiet {url} b"));
    fixture.git(".", &format!("clone --quiet --depth 1 {url} shallow"));
    assert_eq!(store.visit("a"), "new");
    assert_eq!(store.visit("b"), "Clone a");
    assert_eq!(store.visit("shallow"), "Shallow a");
    fixture.copy("a", "copy");
    assert_eq!(store.visit("copy"), "Clone a");
}

#[test]
fn a_fork_is_another_project() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.repository("app", "one");
    fixture.git("app", "remote add origin git@github.com:owner/name.git");
    fixture.copy("app", "fork");
    fixture.git("fork", "remote set-url origin https://github.com/me/name");
    fixture.git("fork", "remote add upstream https://github.com/owner/name");
    fixture.copy("app", "https");
    fixture.git("https", "remote set-url origin https://user:secret@github.com/owner/name");
    assert_eq!(store.visit("app"), "new");
    assert_eq!(store.visit("fork"), "new");
    assert_eq!(store.visit("https"), "Clone app");
}

#[test]
fn a_path_used_again_is_another_project() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.repository("app", "one");
    assert_eq!(store.visit("app"), "new");
    fs::remove_dir_all(fixture.path("app")).unwrap();
    fixture.repository("app", "another");
    assert_eq!(store.visit("app"), "new");
}

#[test]
fn a_directory_that_becomes_a_repository_stays_the_project() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.write("app/Cargo.toml", "");
    assert_eq!(store.visit("app"), "new");
    fixture.repository("app", "one");
    assert_eq!(store.visit("app"), "Initialised app");
}

#[test]
fn one_submodule_in_two_projects_is_one_project() {
    let fixture = Fixture::new();
    let store = LocationStore::new(&fixture);
    fixture.repository("library", "library");
    for app in ["a", "b"] {
        fixture.repository(app, app);
        fixture.git(app, "submodule --quiet add ../library vendor");
    }
    assert_eq!(store.visit("a"), "new");
    assert_eq!(store.visit("a/vendor"), "new");
    assert_eq!(store.visit("b/vendor"), "Clone a/vendor");
}

#[test]
fn a_fingerprint_agrees_with_git() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    let root = fixture.git("app", "rev-parse HEAD");
    fixture.commit("app", "two");
    fixture.git("app", "remote add upstream https://token@GitHub.com/Owner/Some-Name.git");
    let fingerprint = read_fingerprint(&fixture.locate("app"));
    assert_eq!(fingerprint.root_commit, Some(root.clone()));
    assert_eq!(fingerprint.remote.as_deref(), Some("github.com/owner/some-name"));
    assert_eq!(fingerprint.name, "Some-Name");

    fixture.git("app", "remote add another https://example.com/x/y");
    let fingerprint = read_fingerprint(&fixture.locate("app"));
    assert_eq!((fingerprint.remote, fingerprint.name.as_str()), (None, "app"));

    fixture.git("app", "worktree add --quiet ../branch-name");
    assert_eq!(read_fingerprint(&fixture.locate("branch-name")).name, "app");
    assert_eq!(read_fingerprint(&fixture.locate("branch-name")).root_commit, Some(root));
}

#[test]
fn of_several_roots_the_smallest_counts() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.git("app", "switch --quiet --orphan other");
    fixture.commit("app", "two");
    fixture.git("app", "merge --quiet --allow-unrelated-histories --message merged main");
    let roots = fixture.git("app", "rev-list --max-parents=0 HEAD");
    assert_eq!(roots.lines().count(), 2);
    assert_eq!(
        read_fingerprint(&fixture.locate("app")).root_commit.as_deref(),
        roots.lines().min()
    );
}

#[test]
fn without_commits_there_is_no_root() {
    let fixture = Fixture::new();
    fixture.git(".", "init --quiet app");
    fixture.git(".", "init --quiet --bare store.git");
    fixture.dir("plain");
    for (rel, name) in [("app", "app"), ("store.git", "store"), ("plain", "plain")] {
        let fingerprint = read_fingerprint(&fixture.locate(rel));
        assert_eq!(
            (fingerprint.root_commit, fingerprint.remote, fingerprint.name.as_str()),
            (None, None, name)
        );
    }
}

#[test]
fn replaced_and_grafted_history_does_not_change_the_root() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    let root = fixture.git("app", "rev-parse HEAD");
    let second = fixture.commit("app", "two");
    fixture.git("app", &format!("replace --graft {second}"));
    assert_eq!(read_fingerprint(&fixture.locate("app")).root_commit, Some(root));
}

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_has_a_fingerprint() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    let root = fixture.git("app", "rev-parse HEAD");
    let place = fixture.locate("app");
    // Only the superuser can give a directory away; for other users this is the plain case.
    for dir in [&place.root, &place.key_dir] {
        _ = std::os::unix::fs::chown(dir, Some(12345), Some(12345));
    }
    assert_eq!(read_fingerprint(&place).root_commit, Some(root));
}
