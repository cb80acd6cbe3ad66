//! Damaged, truncated, replaced and missing database files: a damaged memory is never printed, a
//! missing one is reported, and restoring a backup brings everything back.
//!
//! A *write-ahead log* is the second file of a database, `memory.db-wal`, with changes that are not in
//! the first one yet. Both the user and the project have a database and backups of it.
//!
//! A `DamageFixture` is a home folder with memories, backups and a write-ahead log. Each case restores
//! it, damages one file in a way that a seed chooses, and runs the commands that a user would run
//! (`assert_damage_is_reported`).

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{CommandOutput, Sandbox, SeededRandom, string};

const N_CASES: usize = 72;
const N_BACKUP_CASES: usize = 10;
/// Together these are larger than the buffer of a pipe, so a process that prints all of them blocks
/// until it is read.
const N_LONG_MEMORIES: usize = 45;
/// Memories written after the backups: three of the project, one of the user.
const N_LATE_MEMORIES: usize = 4;
/// Text of the memory that the fixture edits: one of the long ones.
const EDITED_BEGINNING: &str = "chapter 3 ";
/// Text of the memories that a case itself writes; they were not there when the fixture was saved.
const WRITTEN_BY_TEST: &str = "written after the restore";
/// A shorter output cannot describe a problem.
const MIN_REPORT_LENGTH: usize = 40;

/// The file name of a backup, and the ids of the memories in it.
struct SavedBackup {
    name: String,
    memory_ids: Vec<String>,
}

/// The change of a file.
struct Damage {
    path: PathBuf,
    is_removed: bool,
    /// Names the file and the change: `memory.db truncated at 9`.
    description: String,
}

/// A home folder with backups, with changes made after them, and with a write-ahead log that still
/// contains the last of these changes.
struct DamageFixture {
    sandbox: Sandbox,
    /// A copy of the undamaged home folder.
    saved_home: PathBuf,
    /// Every memory as the program prints it, by id.
    memories: HashMap<String, Value>,
    project_backup: SavedBackup,
    user_backup: SavedBackup,
    /// The data folder of the project.
    project_data: PathBuf,
}

#[test]
fn damage_is_reported_and_never_served() {
    let fixture = DamageFixture::new();
    let mut random = SeededRandom::new(31);
    for case in 0..N_CASES {
        fixture.restore();
        let files = fixture.damageable_files();
        let damage = damage_file(&files[case % files.len()], &mut random);
        fixture.assert_damage_is_reported(&Damage {
            description: format!("case {case}: {}", damage.description),
            ..damage
        });
    }
}

#[test]
fn a_file_replaced_by_other_bytes_is_reported() {
    let fixture = DamageFixture::new();
    for file in fixture.damageable_files() {
        for bytes in [
            &b""[..],
            b"\0",
            b"SQLite format 3\0",
            &[0; 8192],
            &[0xff; 4096],
            b"not a database, but a text",
        ] {
            fixture.restore();
            fs::write(&file, bytes).unwrap();
            let description = format!("{} replaced by {} bytes", file.display(), bytes.len());
            let damage = Damage { path: file.clone(), is_removed: false, description };
            fixture.assert_damage_is_reported(&damage);
        }
    }
}

#[test]
fn a_damaged_backup_is_refused_and_changes_nothing() {
    let fixture = DamageFixture::new();
    let sandbox = &fixture.sandbox;
    let mut random = SeededRandom::new(32);
    let contents_before = sandbox.contents();
    let saved_home = sandbox.save_home("untouched");
    let name = &fixture.project_backup.name;
    let backup = fixture.project_data.join("backups").join(name);
    for case in 0..N_BACKUP_CASES {
        sandbox.restore_home(&saved_home);
        let Damage { is_removed, description, .. } = damage_file(&backup, &mut random);
        let output = sandbox.run(&["restore-backup", name, "--yes"]).expect_no_panic(&description);
        assert_ne!(output.code, 0, "case {case}: {description} was restored");
        assert_eq!(sandbox.contents(), contents_before, "case {case}: {description}");
        // A removed backup looks as if it had never been made.
        let doctor = sandbox.run(&["doctor"]).expect_no_panic(&description);
        assert!(doctor.code != 0 || is_removed, "case {case}: {description}");
    }
}

impl DamageFixture {
    fn new() -> Self {
        let sandbox = Sandbox::in_memory();
        for n in 0..N_LONG_MEMORIES {
            let long_text =
                format!("chapter {n} of the manual {}", "says it at length ".repeat(100));
            sandbox.remember(long_text.trim_end());
        }

        // A memory of the user, and an edited one of the project; then the two backups.
        let user_memory = string(
            &sandbox.json(&["remember", "--new", "--user", "mine everywhere"])["memory"]["id"],
        );
        let mut contents = sandbox.contents().into_iter();
        let edited = contents.find(|(_, text)| text.starts_with(EDITED_BEGINNING));
        let (edited, _) = edited.expect("the chapter is there");
        sandbox.json(&["edit", &edited, "--text", "chapter, second edition", "--tag", "kept"]);
        let backups = sandbox.json(&["backup"]);
        let backup_name = |notebook: &str| {
            let mut all = backups["backups"].as_array().unwrap().iter();
            string(&all.find(|it| it["notebook"] == notebook).unwrap()["name"])
        };
        let all_ids = sandbox.contents().into_iter().map(|(id, _text)| id);
        let project_backup = SavedBackup {
            name: backup_name("project"),
            memory_ids: all_ids.filter(|it| *it != user_memory).collect(),
        };
        let user_backup = SavedBackup { name: backup_name("user"), memory_ids: vec![user_memory] };

        // While another process reads the database, the write-ahead log cannot be merged into it, so
        // the later changes stay in the log. The export blocks after the first byte.
        let mut reader = sandbox.command(&["export"]).stdout(Stdio::piped()).spawn().unwrap();
        reader.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        for n in 0..N_LATE_MEMORIES - 1 {
            sandbox.remember(&format!("written down late {n}"));
        }
        sandbox.json(&["remember", "--new", "--user", "mine, and late"]);
        // Killed: a process that closes the database properly merges the log.
        reader.kill().unwrap();
        reader.wait().unwrap();

        let project_data = sandbox.project_data_dir();
        let log = fs::metadata(project_data.join("memory.db-wal"));
        assert!(log.is_ok_and(|it| it.len() > 0), "the log is not empty");

        let saved_home = sandbox.save_home("saved");
        let memories = sandbox.memories().into_iter().map(|it| (string(&it["id"]), it)).collect();
        Self { sandbox, saved_home, memories, project_backup, user_backup, project_data }
    }

    fn restore(&self) {
        self.sandbox.restore_home(&self.saved_home);
    }

    /// The files that the cases damage in turn. The project's database is listed twice, so that it is
    /// damaged more often.
    fn damageable_files(&self) -> Vec<PathBuf> {
        let (user, project) = (self.sandbox.home.join("data"), &self.project_data);
        let project_backup = project.join("backups").join(&self.project_backup.name);
        vec![
            project.join("memory.db"),
            project.join("memory.db-wal"),
            // The high-water mark: the number of the last change, with which lost changes are noticed.
            project.join("memory.mark"),
            project.join("memory.db"),
            project_backup.clone(),
            // The checksum of the backup.
            project_backup.with_extension("blake3"),
            user.join("user.db"),
            user.join("user.mark"),
            user.join("backups").join(&self.user_backup.name),
        ]
    }

    /// Runs the reading commands and `doctor`, asserts that they print nothing wrong and report what is
    /// missing, and then restores the backups.
    fn assert_damage_is_reported(&self, damage: &Damage) {
        let (sandbox, case) = (&self.sandbox, damage.description.as_str());

        // `list` prints intact memories only, and reports that others are missing.
        let list = sandbox.run(&["list", "--all", "-n", "1000", "--json"]).expect_no_panic(case);
        let listed = self.assert_output_is_intact(&list, case);
        let n_missing = self.memories.len() - listed.len();
        let is_reported = list.code == 3 && list.out_and_err().len() > MIN_REPORT_LENGTH;
        assert!(
            n_missing == 0 || is_reported,
            "{case}: {n_missing} are missing without a report: {list:?}"
        );

        // `show` of two missing memories prints them or fails; what `list` prints, it prints too.
        let missing = self.memories.keys().filter(|it| !listed.contains(it)).take(2);
        for id in missing.chain(listed.iter().take(1)) {
            let show = sandbox.run(&["show", id, "--json"]).expect_no_panic(case);
            let is_shown = self.assert_output_is_intact(&show, case).len() == 1;
            let may_fail = show.code != 0 && !listed.contains(id);
            assert!(is_shown || may_fail, "{case}: {show:?}");
        }

        // `search` and `doctor`.
        let search =
            sandbox.run(&["search", "chapter", "--json", "-n", "100"]).expect_no_panic(case);
        self.assert_output_is_intact(&search, case);
        let doctor = sandbox.run(&["doctor"]).expect_no_panic(case);
        assert!(n_missing == 0 || doctor.code != 0, "{case}: `doctor` reports nothing: {doctor:?}");

        self.assert_backups_can_be_restored(damage);
    }

    /// Restores both backups and asserts that all of their memories are back. A damaged backup may be
    /// refused.
    fn assert_backups_can_be_restored(&self, damage: &Damage) {
        let case = damage.description.as_str();
        let is_backup_damaged = damage.path.components().any(|it| it.as_os_str() == "backups");

        let mut restored: Vec<&String> = Vec::new();
        // The user's database first: it knows which project this is.
        for (backup, scope) in [(&self.user_backup, Some("--user")), (&self.project_backup, None)] {
            let args: Vec<&str> =
                ["restore-backup", &backup.name, "--yes"].into_iter().chain(scope).collect();
            let output = self.sandbox.run(&args).expect_no_panic(case);
            assert!(output.code == 0 || is_backup_damaged, "{case}: {args:?}: {output:?}");
            if output.code == 0 {
                restored.extend(&backup.memory_ids);
            }
        }

        // A write repairs the rest, such as a wrong high-water mark.
        for scope in [None, Some("--user")] {
            let args = ["remember", "--new", WRITTEN_BY_TEST].into_iter().chain(scope);
            self.sandbox.run(&args.collect::<Vec<_>>()).expect_no_panic(case);
        }

        let output =
            self.sandbox.run(&["list", "--all", "-n", "1000", "--json"]).expect_no_panic(case);
        let listed = self.assert_output_is_intact(&output, case);
        assert!(restored.iter().all(|it| listed.contains(it)), "{case}: {output:?}");
        // With both backups restored, nothing is left to report.
        let is_complete = restored.len() == self.memories.len() - N_LATE_MEMORIES;
        assert!(!is_complete || output.code == 0, "{case}: {output:?}");
    }

    /// Asserts that every printed memory is exactly as it was saved, and returns their ids.
    fn assert_output_is_intact(&self, output: &CommandOutput, case: &str) -> Vec<String> {
        if output.out.is_empty() {
            return Vec::new();
        }
        // `list` prints `memories`, `search` prints `hits`, `show` prints one `memory`.
        let body = output.json();
        let listed = body["memories"].as_array().cloned().unwrap_or_default();
        let hits = body["hits"].as_array().cloned().unwrap_or_default();
        let found = hits.into_iter().map(|it| it["memory"].clone());
        let shown = body.get("memory").cloned();
        let mut ids = Vec::new();
        for memory in listed.into_iter().chain(found).chain(shown) {
            if memory["content"] == WRITTEN_BY_TEST {
                continue;
            }
            let id = string(&memory["id"]);
            let saved = self.memories.get(&id);
            let saved = saved.unwrap_or_else(|| panic!("{case}: {memory} was never saved"));
            for field in
                ["content", "summary", "tags", "type", "confidence", "created_at", "source"]
            {
                assert_eq!(memory[field], saved[field], "{case}: {field} of {id}");
            }
            ids.push(id);
        }
        ids
    }
}

/// Damages a file in a random way. Half of the cases flip bits.
fn damage_file(path: &Path, random: &mut SeededRandom) -> Damage {
    /// One is not enough: most bytes of a database are unused.
    const N_FLIPPED_BITS: usize = 8;
    const ZEROED_BYTES: usize = 2048;
    let mut bytes = fs::read(path).unwrap();
    let position = random.index(bytes.len());
    let to_damage = |change: &str, is_removed: bool| Damage {
        path: path.to_owned(),
        is_removed,
        description: format!("{} {change}", path.display()),
    };
    let change = match random.below(6) {
        0..=2 => {
            for _ in 0..N_FLIPPED_BITS {
                let byte = random.index(bytes.len());
                bytes[byte] ^= 1 << random.below(8);
            }
            format!("{N_FLIPPED_BITS} bits flipped")
        }
        3 => {
            let end = bytes.len().min(position + ZEROED_BYTES);
            let inverted = !bytes[position];
            bytes[position..end].fill(0);
            // The first byte is inverted instead: zeroing bytes that are zero already damages nothing.
            bytes[position] = inverted;
            format!("zeroed from {position}")
        }
        4 => {
            bytes.truncate(position);
            format!("truncated at {position}")
        }
        _ => {
            fs::remove_file(path).unwrap();
            return to_damage("removed", true);
        }
    };
    fs::write(path, bytes).unwrap();
    to_damage(&change, false)
}
