//! The place of a project in all kinds of directories.
//!
//! `describe_place` returns `kind root key_dir` relative to the fixture: `Git mono mono/.git` is
//! the working tree `mono`, identified by its git directory. `repository(dir, message)` makes a
//! repository with one commit of that message.

use std::fs;

use waylore_source::{Error, PlaceKind, SkipReason, locate_project};

use crate::fixture::Fixture;

#[test]
fn a_monorepo_is_one_project() {
    let fixture = Fixture::new();
    fixture.repository("mono", "one");
    fixture.write("mono/Cargo.toml", "");
    fixture.write("mono/packages/web/package.json", "{}");
    fixture.write("mono/packages/web/src/index.ts", "");
    for start in [
        "mono",
        "mono/packages",
        "mono/packages/web/src",
        "mono/packages/web/src/index.ts",
        "mono/.git/hooks",
    ] {
        assert_eq!(fixture.describe_place(start), "Git mono mono/.git", "{start}");
    }
}

#[test]
fn worktrees_share_the_repository_and_not_the_root() {
    let fixture = Fixture::new();
    fixture.repository("main", "one");
    fixture.git("main", "worktree add --quiet ../side");
    fixture.git("main", "worktree add --quiet nested/inside");
    fixture.dir("side/src");
    assert_eq!(fixture.describe_place("side/src"), "Worktree side main/.git");
    assert_eq!(
        fixture.describe_place("main/nested/inside"),
        "Worktree main/nested/inside main/.git"
    );
    assert_eq!(fixture.locate("side").dir_key, fixture.locate("main").dir_key);
    assert_eq!(fixture.locate("side").git_dir, Some(fixture.path("main/.git/worktrees/side")));
}

#[test]
fn a_worktree_may_point_by_a_relative_path() {
    let fixture = Fixture::new();
    fixture.repository("main", "one");
    fixture.git("main", "worktree add --quiet ../side");
    fixture.write("side/.git", "gitdir: ../main/.git/worktrees/side\n");
    fixture.write("main/.git/worktrees/side/gitdir", "../../../../side/.git\n");
    assert_eq!(fixture.describe_place("side"), "Worktree side main/.git");
}

#[test]
fn a_worktree_moved_by_hand_is_still_one() {
    let fixture = Fixture::new();
    fixture.repository("main", "one");
    fixture.git("main", "worktree add --quiet ../side");
    fixture.rename("side", "moved");
    assert_eq!(fixture.describe_place("moved"), "Worktree moved main/.git");
}

#[test]
fn worktrees_of_a_hidden_bare_repository_are_one_project() {
    let fixture = Fixture::new();
    fixture.repository("origin", "one");
    fixture.git(".", "clone --quiet --bare origin project/.bare");
    fixture.write("project/.git", "gitdir: ./.bare\n");
    fixture.git("project", "worktree add --quiet main");
    assert_eq!(fixture.describe_place("project"), "Git project project/.bare");
    assert_eq!(fixture.describe_place("project/.bare/objects"), "Git project project/.bare");
    assert_eq!(fixture.describe_place("project/main"), "Worktree project/main project/.bare");
}

#[test]
fn a_submodule_is_its_own_project() {
    let fixture = Fixture::new();
    fixture.repository("library", "library");
    fixture.repository("app", "app");
    fixture.git("app", "submodule --quiet add ../library vendor/library");
    fixture.dir("app/vendor/library/src");
    assert_eq!(
        fixture.describe_place("app/vendor/library/src"),
        "Submodule app/vendor/library app/.git/modules/vendor/library"
    );
    assert_eq!(fixture.describe_place("app/vendor"), "Git app app/.git");
    // The git directory of the submodule has no working tree above it but that of the app.
    assert_eq!(fixture.describe_place("app/.git/modules/vendor/library"), "Git app app/.git");
    fixture.rename("app", "renamed");
    assert_eq!(
        fixture.describe_place("renamed/vendor/library"),
        "Submodule renamed/vendor/library renamed/.git/modules/vendor/library"
    );
}

#[test]
fn a_git_directory_may_be_outside_of_its_working_tree() {
    let fixture = Fixture::new();
    fixture.git(".", "init --quiet --separate-git-dir store.git tree");
    assert_eq!(fixture.describe_place("tree"), "Git tree store.git");
}

#[test]
fn a_bare_repository_is_a_project() {
    let fixture = Fixture::new();
    fixture.git(".", "init --quiet --bare project.git");
    assert_eq!(fixture.describe_place("project.git/refs"), "Bare project.git project.git");
}

#[test]
fn a_bare_repository_inside_a_working_tree_is_its_content() {
    let fixture = Fixture::new();
    fixture.repository("app", "one");
    fixture.git("app", "init --quiet --bare fixtures/evil.git");
    assert_eq!(fixture.describe_place("app/fixtures/evil.git"), "Git app app/.git");
}

#[test]
fn without_git_the_nearest_manifest_is_the_root() {
    let fixture = Fixture::new();
    fixture.write("outer/Makefile", "");
    fixture.write("outer/inner/go.mod", "");
    fixture.dir("outer/inner/cmd");
    fixture.dir("outer/docs");
    fixture.write("dotnet/App.csproj", "");
    fixture.dir("dotnet/Views");
    fixture.dir("fake/Cargo.toml");
    fixture.dir("fake/sub");
    assert_eq!(fixture.describe_place("outer/inner/cmd"), "Manifest outer/inner outer/inner");
    assert_eq!(fixture.describe_place("outer/docs"), "Manifest outer outer");
    assert_eq!(fixture.describe_place("dotnet/Views"), "Manifest dotnet dotnet");
    assert_eq!(fixture.describe_place("fake/sub"), "Plain fake/sub fake/sub");
}

#[test]
fn home_is_a_project_only_if_the_start_is_home() {
    let fixture = Fixture::new();
    let home = fixture.repository("home", "dotfiles");
    fixture.write("home/package.json", "{}");
    let notes = fixture.dir("home/notes/today");
    fixture.write("home/code/Cargo.toml", "");
    fixture.repository("home/real", "real");

    let place = locate_project(&notes, Some(&home)).unwrap();
    assert_eq!((place.kind, &place.root), (PlaceKind::Plain, &notes));
    assert_eq!(place.skipped[0].path, home.join(".git"));
    assert_eq!(place.skipped[0].why, SkipReason::AtHome);
    assert_eq!(locate_project(&home.join("code"), Some(&home)).unwrap().kind, PlaceKind::Manifest);
    assert_eq!(locate_project(&home.join("real"), Some(&home)).unwrap().root, home.join("real"));
    assert_eq!(locate_project(&home, Some(&home)).unwrap().kind, PlaceKind::Git);
    // With `notes/today` as home, the repository lies above home and does not count either. (The
    // start is home itself, which has no `.git`.)
    assert_eq!(locate_project(&notes, Some(&notes)).unwrap().kind, PlaceKind::Plain);
    // If home is unknown, only the top of the filesystem is excluded.
    assert_eq!(locate_project(&notes, None).unwrap().kind, PlaceKind::Git);
}

#[cfg(unix)]
#[test]
fn a_symlinked_checkout_is_the_checkout() {
    let fixture = Fixture::new();
    fixture.repository("real", "one");
    fixture.dir("real/src");
    std::os::unix::fs::symlink(fixture.path("real"), fixture.path("link")).unwrap();
    std::os::unix::fs::symlink(fixture.path("real/src"), fixture.path("src")).unwrap();
    assert_eq!(fixture.locate("link"), fixture.locate("real"));
    assert_eq!(fixture.locate("src"), fixture.locate("real"));
}

#[test]
fn a_missing_start_is_an_error() {
    let fixture = Fixture::new();
    let error = locate_project(&fixture.path("gone"), None).unwrap_err();
    assert!(matches!(error, Error::Missing { .. }));
    assert_eq!(error.to_string(), format!("`{}` does not exist", fixture.path("gone").display()));
}

#[test]
fn the_key_follows_a_rename_and_not_a_copy() {
    let fixture = Fixture::new();
    fixture.repository("one", "one");
    let key = fixture.locate("one").dir_key;
    assert!(key.is_some());
    fixture.rename("one", "two");
    assert_eq!(fixture.locate("two").dir_key, key);
    // A copy, even at the old path of the original, is another directory.
    fixture.copy("two", "one");
    assert_ne!(fixture.locate("one").dir_key, key);
    // So is a new repository at the path of a deleted one.
    fs::remove_dir_all(fixture.path("two")).unwrap();
    fixture.repository("two", "one");
    assert_ne!(fixture.locate("two").dir_key, key);
}
