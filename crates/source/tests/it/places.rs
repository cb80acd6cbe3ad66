//! The place of a project in all kinds of directories.

use std::fs;

use waylore_source::{Error, PlaceKind, SkipReason, locate_project};

use crate::fixture::Fixture;

#[test]
fn a_monorepo_is_one_project() {
    let it = Fixture::new();
    it.repository("mono", "one");
    it.write("mono/Cargo.toml", "");
    it.write("mono/packages/web/package.json", "{}");
    it.write("mono/packages/web/src/index.ts", "");
    for start in [
        "mono",
        "mono/packages",
        "mono/packages/web/src",
        "mono/packages/web/src/index.ts",
        "mono/.git/hooks",
    ] {
        assert_eq!(it.shown(start), "Git mono mono/.git", "{start}");
    }
}

#[test]
fn worktrees_share_the_repository_and_not_the_root() {
    let it = Fixture::new();
    it.repository("main", "one");
    it.git("main", "worktree add --quiet ../side");
    it.git("main", "worktree add --quiet nested/inside");
    it.dir("side/src");
    assert_eq!(it.shown("side/src"), "Worktree side main/.git");
    assert_eq!(it.shown("main/nested/inside"), "Worktree main/nested/inside main/.git");
    assert_eq!(it.locate("side").dir_key, it.locate("main").dir_key);
    assert_eq!(it.locate("side").git_dir, Some(it.path("main/.git/worktrees/side")));
}

#[test]
fn a_worktree_may_point_by_a_relative_path() {
    let it = Fixture::new();
    it.repository("main", "one");
    it.git("main", "worktree add --quiet ../side");
    it.write("side/.git", "gitdir: ../main/.git/worktrees/side\n");
    it.write("main/.git/worktrees/side/gitdir", "../../../../side/.git\n");
    assert_eq!(it.shown("side"), "Worktree side main/.git");
}

#[test]
fn a_worktree_moved_by_hand_is_still_one() {
    let it = Fixture::new();
    it.repository("main", "one");
    it.git("main", "worktree add --quiet ../side");
    it.rename("side", "moved");
    assert_eq!(it.shown("moved"), "Worktree moved main/.git");
}

#[test]
fn worktrees_of_a_hidden_bare_repository_are_one_project() {
    let it = Fixture::new();
    it.repository("origin", "one");
    it.git(".", "clone --quiet --bare origin project/.bare");
    it.write("project/.git", "gitdir: ./.bare\n");
    it.git("project", "worktree add --quiet main");
    assert_eq!(it.shown("project"), "Git project project/.bare");
    assert_eq!(it.shown("project/.bare/objects"), "Git project project/.bare");
    assert_eq!(it.shown("project/main"), "Worktree project/main project/.bare");
}

#[test]
fn a_submodule_is_its_own_project() {
    let it = Fixture::new();
    it.repository("library", "library");
    it.repository("app", "app");
    it.git("app", "submodule --quiet add ../library vendor/library");
    it.dir("app/vendor/library/src");
    assert_eq!(
        it.shown("app/vendor/library/src"),
        "Submodule app/vendor/library app/.git/modules/vendor/library"
    );
    assert_eq!(it.shown("app/vendor"), "Git app app/.git");
    assert_eq!(it.shown("app/.git/modules/vendor/library"), "Git app app/.git");
    it.rename("app", "renamed");
    assert_eq!(
        it.shown("renamed/vendor/library"),
        "Submodule renamed/vendor/library renamed/.git/modules/vendor/library"
    );
}

#[test]
fn a_git_directory_may_be_outside_of_its_working_tree() {
    let it = Fixture::new();
    it.git(".", "init --quiet --separate-git-dir store.git tree");
    assert_eq!(it.shown("tree"), "Git tree store.git");
}

#[test]
fn a_bare_repository_is_a_project() {
    let it = Fixture::new();
    it.git(".", "init --quiet --bare project.git");
    assert_eq!(it.shown("project.git/refs"), "Bare project.git project.git");
}

#[test]
fn a_bare_repository_inside_a_working_tree_is_its_content() {
    let it = Fixture::new();
    it.repository("app", "one");
    it.git("app", "init --quiet --bare fixtures/evil.git");
    assert_eq!(it.shown("app/fixtures/evil.git"), "Git app app/.git");
}

#[test]
fn without_git_the_nearest_manifest_is_the_root() {
    let it = Fixture::new();
    it.write("outer/Makefile", "");
    it.write("outer/inner/go.mod", "");
    it.dir("outer/inner/cmd");
    it.dir("outer/docs");
    it.write("dotnet/App.csproj", "");
    it.dir("dotnet/Views");
    it.dir("fake/Cargo.toml");
    it.dir("fake/sub");
    assert_eq!(it.shown("outer/inner/cmd"), "Manifest outer/inner outer/inner");
    assert_eq!(it.shown("outer/docs"), "Manifest outer outer");
    assert_eq!(it.shown("dotnet/Views"), "Manifest dotnet dotnet");
    assert_eq!(it.shown("fake/sub"), "Plain fake/sub fake/sub");
}

#[test]
fn home_is_a_project_only_if_the_start_is_home() {
    let it = Fixture::new();
    let home = it.repository("home", "dotfiles");
    it.write("home/package.json", "{}");
    let notes = it.dir("home/notes/today");
    it.write("home/code/Cargo.toml", "");
    it.repository("home/real", "real");

    let place = locate_project(&notes, Some(&home)).unwrap();
    assert_eq!((place.kind, &place.root), (PlaceKind::Plain, &notes));
    assert_eq!(place.skipped[0].path, home.join(".git"));
    assert_eq!(place.skipped[0].why, SkipReason::AtHome);
    assert_eq!(locate_project(&home.join("code"), Some(&home)).unwrap().kind, PlaceKind::Manifest);
    assert_eq!(locate_project(&home.join("real"), Some(&home)).unwrap().root, home.join("real"));
    assert_eq!(locate_project(&home, Some(&home)).unwrap().kind, PlaceKind::Git);
    // A repository above home, around all home directories, does not count either.
    assert_eq!(locate_project(&notes, Some(&notes)).unwrap().kind, PlaceKind::Plain);
    // If home is unknown, only the top of the filesystem is excluded.
    assert_eq!(locate_project(&notes, None).unwrap().kind, PlaceKind::Git);
}

#[cfg(unix)]
#[test]
fn a_symlinked_checkout_is_the_checkout() {
    let it = Fixture::new();
    it.repository("real", "one");
    it.dir("real/src");
    std::os::unix::fs::symlink(it.path("real"), it.path("link")).unwrap();
    std::os::unix::fs::symlink(it.path("real/src"), it.path("src")).unwrap();
    assert_eq!(it.locate("link"), it.locate("real"));
    assert_eq!(it.locate("src"), it.locate("real"));
}

#[test]
fn a_missing_start_is_an_error() {
    let it = Fixture::new();
    let error = locate_project(&it.path("gone"), None).unwrap_err();
    assert!(matches!(error, Error::Missing { .. }));
    assert_eq!(error.to_string(), format!("`{}` does not exist", it.path("gone").display()));
}

#[test]
fn the_key_follows_a_rename_and_not_a_copy() {
    let it = Fixture::new();
    it.repository("one", "one");
    let key = it.locate("one").dir_key;
    assert!(key.is_some());
    it.rename("one", "two");
    assert_eq!(it.locate("two").dir_key, key);
    it.copy("two", "one");
    assert_ne!(it.locate("one").dir_key, key);
    fs::remove_dir_all(it.path("two")).unwrap();
    it.repository("two", "one");
    assert_ne!(it.locate("two").dir_key, key);
}
