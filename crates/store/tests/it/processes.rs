//! Several processes on one file do not disturb each other. The test binary starts itself as the
//! second process.

use std::path::Path;
use std::process::Command;

use waylore_store::{DataDir, Store};

use crate::kit::{NOW, TestBench, copy_folder, everything, id};

/// Environment variable that makes `child_process_that_reads_and_writes` the second process.
const FOLDER: &str = "WAYLORE_TEST_FOLDER";

/// Lets another process open the store, read, write and close it.
fn visit(root: &Path) {
    let test = std::env::current_exe().unwrap();
    let result = Command::new(test)
        .args(["--exact", "processes::child_process_that_reads_and_writes"])
        .env(FOLDER, root)
        .output()
        .unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stdout));
}

#[test]
fn child_process_that_reads_and_writes() {
    #[expect(clippy::disallowed_methods, reason = "the parent test passes the folder to its child")]
    let Some(root) = std::env::var_os(FOLDER) else { return };
    let bench = TestBench::new();
    let store = Store::user(DataDir::new(root).user_paths(), None, NOW);
    let known = bench.block_on(store.memories().list(everything())).unwrap().len();
    bench.add(&store, 1_000 + u32::try_from(known).unwrap(), "written by a visitor");
}

/// Closing any handle of a file ends every lock the process holds on it. A second process that
/// closes last would then believe that no other has the file open, and remove a log in use.
#[test]
fn a_process_that_exits_does_not_remove_the_log() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "before the visit");
    assert!(bench.block_on(store.memories().get(id(1))).unwrap().is_some());
    // More handles are opened and closed in this process, for reading and for writing.
    drop(bench.state(&bench.open()));
    bench.add(&bench.open(), 2, "by another handle");
    visit(&bench.data_dir().root);
    bench.add(&store, 3, "after the visit");
    // The files a crash at this moment would leave.
    let left = bench.dir.path().join("left");
    copy_folder(&bench.data_dir().root, &left);
    let after = Store::user(DataDir::new(&left).user_paths(), None, NOW);
    assert_eq!(bench.state(&after).memories.len(), 4);
    assert_eq!(bench.block_on(after.check_database()).unwrap(), vec![]);
    assert_eq!(bench.state(&store).memories.len(), 4);
}
