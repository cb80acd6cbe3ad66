//! Only the owner can read the files, whatever the umask. The test binary starts itself under each
//! umask.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use waylore_store::{Error, Store, write_private_file};

use crate::kit::{NOW, TestBench, files_under, id};

/// Environment variable that makes `child_process_under_a_umask` do its work.
const UNDER_UMASK: &str = "WAYLORE_TEST_UNDER_UMASK";

#[test]
fn folders_and_files_are_private_under_any_umask() {
    for umask in ["000", "022"] {
        let line =
            format!("umask {umask} && exec \"$0\" --exact file_modes::child_process_under_a_umask");
        let test = std::env::current_exe().unwrap();
        let result =
            Command::new("sh").arg("-c").arg(line).arg(test).env(UNDER_UMASK, "1").output();
        let result = result.unwrap();
        assert!(
            result.status.success(),
            "umask {umask}: {}",
            String::from_utf8_lossy(&result.stdout)
        );
    }
}

#[test]
fn child_process_under_a_umask() {
    #[expect(clippy::disallowed_methods, reason = "the test above passes it to its child")]
    if std::env::var_os(UNDER_UMASK).is_none() {
        return;
    }
    let bench = TestBench::new();
    let home = bench.data_dir().project_paths(model::ProjectId::new(NOW, [3; 10]));
    let store = Store::project(home.clone(), None, NOW);
    bench.add(&store, 1, "one");
    bench.add(&store, 2, "two");
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    store.restore(&backup, NOW).unwrap();
    let store = Store::project(home, None, NOW);
    bench.add(&store, 3, "three");
    // While the store is open, its log and shared memory exist as well.
    let names = assert_private(&bench.data_dir().root);
    for name in ["memory.db", "memory.db-wal", "memory.db-shm", "memory.mark", "memory.ledger"] {
        assert!(names.iter().any(|it| it.ends_with(name)), "{name} is not among {names:?}");
    }
    assert!(names.iter().any(|it| it.contains("replaced/")), "{names:?}");
    assert!(names.iter().any(|it| it.contains("backups/")), "{names:?}");
}

#[test]
fn a_file_made_public_becomes_private_again() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "one");
    drop(store);
    fs::set_permissions(bench.data_dir().root, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(bench.user_paths().database(), fs::Permissions::from_mode(0o644)).unwrap();
    bench.add(&bench.open(), 2, "two");
    assert_private(&bench.data_dir().root);
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let bench = TestBench::new();
    bench.add(&bench.open(), 1, "one");
    let root = bench.data_dir().root;
    if std::os::unix::fs::chown(&root, Some(12_345), None).is_err() {
        // Only a privileged user can give a folder to another user.
        assert_ne!(fs::metadata(&root).unwrap().uid(), 12_345);
        return;
    }
    let store = bench.open();
    let (read, written) =
        (bench.block_on(store.memories().get(id(1))), bench.block_on(store.backup(NOW)));
    assert!(matches!(read, Err(Error::ForeignOwner { owner: 12_345, .. })), "{read:?}");
    assert!(matches!(written, Err(Error::ForeignOwner { owner: 12_345, .. })), "{written:?}");
}

#[test]
fn replacing_a_file_keeps_its_mode_and_touches_no_other_file() {
    let dir = tempfile::tempdir().unwrap();
    let path_of = |name: &str| dir.path().join(name);
    let mode = |name: &str| fs::metadata(path_of(name)).unwrap().permissions().mode() & 0o777;
    let neighbours = ["config.writing", "config.toml.writing"];
    for it in neighbours {
        fs::write(path_of(it), "theirs").unwrap();
    }
    write_private_file(&path_of("config.toml"), b"new").unwrap();
    assert_eq!(
        (fs::read(path_of("config.toml")).unwrap(), mode("config.toml")),
        (b"new".to_vec(), 0o600)
    );
    fs::set_permissions(path_of("config.toml"), fs::Permissions::from_mode(0o644)).unwrap();
    write_private_file(&path_of("config.toml"), b"newer").unwrap();
    assert_eq!(mode("config.toml"), 0o644);
    assert!(neighbours.iter().all(|it| fs::read(path_of(it)).unwrap() == b"theirs"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "no scratch is left");
    assert!(write_private_file(&dir.path().join("folder/.."), b"").is_err());
}

#[test]
fn replacing_a_file_through_a_link_keeps_the_link() {
    let dir = tempfile::tempdir().unwrap();
    let path_of = |name: &str| dir.path().join(name);
    fs::create_dir(path_of("dotfiles")).unwrap();
    for name in ["there", "not-yet-there"] {
        std::os::unix::fs::symlink(format!("dotfiles/{name}"), path_of(name)).unwrap();
    }
    std::os::unix::fs::symlink("circle", path_of("circle")).unwrap();
    fs::write(path_of("dotfiles/there"), "old").unwrap();
    for name in ["there", "not-yet-there"] {
        write_private_file(&path_of(name), b"new").unwrap();
        assert!(fs::symlink_metadata(path_of(name)).unwrap().is_symlink(), "{name}");
        assert_eq!(fs::read(path_of("dotfiles").join(name)).unwrap(), b"new");
    }
    assert!(write_private_file(&path_of("circle"), b"new").is_err());
}

/// Every folder 0700, every file 0600; returns the names of the files.
fn assert_private(root: &Path) -> Vec<String> {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = files_under(root);
    for file in &files {
        assert_eq!(mode(file), 0o600, "{}", file.display());
        let folders = file.ancestors().skip(1).take_while(|it| it.starts_with(root));
        folders.for_each(|it| assert_eq!(mode(it), 0o700, "{}", it.display()));
    }
    files.iter().map(|it| it.display().to_string()).collect()
}
