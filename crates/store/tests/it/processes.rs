//! Several processes on one file: none takes the ground from under another.

use std::path::Path;
use std::process::Command;

use waylore_store::{DataDir, Store};

use crate::kit::{Bench, NOW, copy_folder, everything, id};

const FOLDER: &str = "WAYLORE_TEST_FOLDER";

/// Lets another process open the folder, read and write, and close it.
fn visit(root: &Path) {
    let test = std::env::current_exe().unwrap();
    let res = Command::new(test)
        .args(["--exact", "processes::the_visit_of_another_process"])
        .env(FOLDER, root)
        .output()
        .unwrap();
    assert!(res.status.success(), "{}", String::from_utf8_lossy(&res.stdout));
}

#[test]
fn the_visit_of_another_process() {
    #[expect(clippy::disallowed_methods, reason = "how the tests below speak to their child")]
    let Some(root) = std::env::var_os(FOLDER) else { return };
    let bench = Bench::new();
    let store = Store::user(DataDir::new(root).user(), None, NOW);
    let known = bench.wait(store.list(everything())).unwrap().len();
    bench.add(&store, 1_000 + u32::try_from(known).unwrap(), "told by a visitor");
}

/// Closing any handle of a file ends every lock a process has on it. A visitor that then closes
/// last would believe itself alone, and remove the log that is still being written.
#[test]
fn a_visitor_that_leaves_does_not_take_the_log_away() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "before the visit");
    assert!(bench.wait(store.get(id(1))).unwrap().is_some());
    // More handles that come and go in this process, for reading and for writing.
    drop(bench.state(&bench.open()));
    bench.add(&bench.open(), 2, "by another handle");
    visit(&bench.data().root);
    bench.add(&store, 3, "after the visit");
    // What a crash at this moment would leave.
    let left = bench.dir.path().join("left");
    copy_folder(&bench.data().root, &left);
    let after = Store::user(DataDir::new(&left).user(), None, NOW);
    assert_eq!(bench.state(&after).memories.len(), 4);
    assert_eq!(bench.wait(after.examine()).unwrap(), vec![]);
    assert_eq!(bench.state(&store).memories.len(), 4);
}
