//! Removing a data folder leaves the files of other programs.

use std::fs;

use model::ProjectId;
use waylore_store::Store;

use crate::kit::{NOW, TestBench, files_under, id};

/// Creates stores with every kind of companion file.
fn fill(bench: &TestBench) -> ProjectId {
    let project = ProjectId::new(NOW, [3; 10]);
    for is_user in [true, false] {
        let open = || {
            let paths = bench.data_dir().project_paths(project);
            if is_user { bench.open() } else { Store::project(paths, None, NOW) }
        };
        let store = open();
        bench.add(&store, 1, "one");
        bench.add(&store, 2, "two");
        let backup = bench.block_on(store.backup(NOW)).unwrap();
        bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
        store.restore(&backup, NOW).unwrap();
        bench.add(&open(), 3, "three");
    }
    let root = bench.data_dir().root;
    // Files that interrupted operations leave.
    let leftovers = [
        "edit-07070707.md",
        "edit-07070707.md.12-0.writing",
        "user.restoring-journal",
        "backups/.unproved-000000000009-2026-11-15-00-00.db",
        "backups/000000000009-2026-11-15-00-00.rewriting-journal",
        "backups/schema-1.db",
        "backups/schema-1.blake3",
        "replaced/user.rewriting",
    ];
    for it in leftovers {
        fs::write(root.join(it), "left").unwrap();
    }
    project
}

#[test]
fn no_own_file_is_left() {
    let bench = TestBench::new();
    fill(&bench);
    bench.data_dir().remove_everything().unwrap();
    assert_eq!(files_under(bench.dir.path()), Vec::<std::path::PathBuf>::new());
    assert!(!bench.data_dir().root.exists());
    // Removing nothing is no error, and a new store can be created.
    bench.data_dir().remove_everything().unwrap();
    bench.add(&bench.open(), 1, "a fresh start");
}

#[test]
fn files_of_other_programs_stay() {
    let bench = TestBench::new();
    let project = fill(&bench);
    let root = bench.data_dir().root;
    let theirs = [
        "user.txt".to_owned(),
        "notes.md".to_owned(),
        "edit-plan.md".to_owned(),
        "backups/holiday.db".to_owned(),
        "backups/schema-of-things.db".to_owned(),
        "replaced/tyre.db".to_owned(),
        "projects/mine/memory.db".to_owned(),
        format!("projects/{project}/todo.txt"),
    ];
    fs::create_dir(root.join("projects/mine")).unwrap();
    for it in &theirs {
        fs::write(root.join(it), "theirs").unwrap();
    }
    bench.data_dir().remove_everything().unwrap();
    let mut expected: Vec<_> = theirs.iter().map(|it| root.join(it)).collect();
    expected.sort();
    assert_eq!(files_under(&root), expected);
    assert!(!root.join(format!("projects/{project}/backups")).exists());
}

#[test]
fn a_project_is_removed_alone() {
    let bench = TestBench::new();
    let project = fill(&bench);
    bench.data_dir().remove_project(project).unwrap();
    assert!(!bench.data_dir().project_paths(project).dir.exists());
    assert_eq!(bench.state(&bench.open()).memories.len(), 2);
}
