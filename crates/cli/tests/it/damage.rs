//! Flipped, zeroed, truncated and vanished files: damaged content is never printed, what is not
//! shown is reported, and a backup brings everything back.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::kit::{Desk, Said, Seeded, string};

const CASES: usize = 72;
/// Together more than a pipe holds, so that whoever prints them all waits for its reader.
const MEMORIES: usize = 45;
const AFTERWARDS: &str = "written after the restore";

/// A desk with a past: backups, later changes, and a log that still holds the last of them.
struct Scene {
    desk: Desk,
    saved: PathBuf,
    /// Every memory as it is printed, by id.
    known: HashMap<String, Value>,
    /// What the backups hold: of the project, of the user.
    backed_up: [(String, Vec<String>); 2],
    project: PathBuf,
}

#[test]
fn damage_is_reported_and_never_served() {
    let scene = Scene::new();
    let mut seeded = Seeded::new(31);
    for case in 0..CASES {
        scene.desk.reset(&scene.saved);
        let files = scene.files();
        let file = &files[case % files.len()];
        let what = hurt(file, &mut seeded);
        scene.is_honest(&format!("case {case}: {what}"));
    }
}

#[test]
fn nonsense_in_the_place_of_a_file_is_reported() {
    let scene = Scene::new();
    for file in scene.files() {
        for nonsense in [
            &b""[..],
            b"\0",
            b"SQLite format 3\0",
            &[0; 8192],
            &[0xff; 4096],
            b"not a database, but a text",
        ] {
            scene.desk.reset(&scene.saved);
            fs::write(&file, nonsense).unwrap();
            scene.is_honest(&format!("{} replaced by {} bytes", file.display(), nonsense.len()));
        }
    }
}

#[test]
fn a_damaged_backup_is_refused_and_changes_nothing() {
    let scene = Scene::new();
    let mut seeded = Seeded::new(32);
    let before = scene.desk.contents();
    let saved = scene.desk.save("untouched");
    let (name, _) = &scene.backed_up[0];
    let backup = scene.project.join("backups").join(name);
    for case in 0..10 {
        scene.desk.reset(&saved);
        let what = hurt(&backup, &mut seeded);
        let said = scene.desk.run(&["restore-backup", name, "--yes"]).sound(&what);
        assert_ne!(said.code, 0, "case {case}: {what} was restored");
        assert_eq!(scene.desk.contents(), before, "case {case}: {what}");
        // Nobody can tell a backup that was removed from one that was never made.
        let doctor = scene.desk.run(&["doctor"]).sound(&what);
        assert!(doctor.code != 0 || what.ends_with("removed"), "case {case}: {what}");
    }
}

impl Scene {
    fn new() -> Self {
        let desk = Desk::in_memory();
        let long =
            |it: usize| format!("chapter {it} of the manual {}", "says it at length ".repeat(100));
        for it in 0..MEMORIES {
            desk.remember(long(it).trim_end());
        }
        let mine =
            string(&desk.json(&["remember", "--new", "--user", "mine everywhere"])["memory"]["id"]);
        let edited = desk.contents()[3].0.clone();
        desk.json(&["edit", &edited, "--text", "chapter said anew", "--tag", "kept"]);
        let made = desk.json(&["backup"]);
        let of_project: Vec<String> =
            desk.contents().into_iter().map(|it| it.0).filter(|it| *it != mine).collect();
        let names = |at: usize| string(&made["backups"][at]["name"]);
        let backed_up = [(names(0), of_project), (names(1), vec![mine])];
        // While somebody reads, the log is not merged, and later changes stay in it.
        let mut reader = desk.command(&["export"]).stdout(Stdio::piped()).spawn().unwrap();
        reader.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        for it in 0..3 {
            desk.remember(&format!("written down late {it}"));
        }
        desk.json(&["remember", "--new", "--user", "mine, and late"]);
        reader.kill().unwrap();
        reader.wait().unwrap();
        let project = desk.notebook();
        assert!(
            fs::metadata(project.join("memory.db-wal")).is_ok_and(|it| it.len() > 0),
            "a log is there"
        );
        let saved = desk.save("saved");
        let known = desk.memories().into_iter().map(|it| (string(&it["id"]), it)).collect();
        Self { desk, saved, known, backed_up, project }
    }

    /// What can be damaged, as it lies there.
    fn files(&self) -> Vec<PathBuf> {
        let (user, project) = (self.desk.home.join("data"), &self.project);
        let backup = |dir: &Path, at: usize| dir.join("backups").join(&self.backed_up[at].0);
        vec![
            project.join("memory.db"),
            project.join("memory.db-wal"),
            project.join("memory.mark"),
            project.join("memory.db"),
            backup(project, 0),
            backup(project, 0).with_extension("blake3"),
            user.join("user.db"),
            user.join("user.mark"),
            backup(&user, 1),
        ]
    }

    /// Asks everything a person would ask, then goes back to the backups.
    fn is_honest(&self, when: &str) {
        let desk = &self.desk;
        let list = desk.run(&["list", "--all", "-n", "1000", "--json"]).sound(when);
        let listed = self.printed(&list, when);
        let missing = self.known.len() - listed.len();
        let reported = list.code == 3 && list.all().len() > 40;
        assert!(missing == 0 || reported, "{when}: {missing} are missing without a word: {list:?}");
        for id in
            self.known.keys().filter(|it| !listed.contains(it)).take(2).chain(listed.iter().take(1))
        {
            let show = desk.run(&["show", id, "--json"]).sound(when);
            assert!(show.code != 0 || self.printed(&show, when).len() == 1, "{when}: {show:?}");
        }
        let search = desk.run(&["search", "chapter", "--json", "-n", "100"]).sound(when);
        self.printed(&search, when);
        let doctor = desk.run(&["doctor"]).sound(when);
        assert!(missing == 0 || doctor.code != 0, "{when}: the doctor sees nothing: {doctor:?}");
        self.can_be_restored(when);
    }

    fn can_be_restored(&self, when: &str) {
        let mut back: Vec<&String> = Vec::new();
        // The user's file first: it knows which project this is.
        for (at, flag) in [(1, Some("--user")), (0, None)] {
            let (name, ids) = &self.backed_up[at];
            let args: Vec<&str> =
                ["restore-backup", name, "--yes"].into_iter().chain(flag).collect();
            let said = self.desk.run(&args).sound(when);
            assert!(said.code == 0 || when.contains("backups"), "{when}: {args:?}: {said:?}");
            if said.code == 0 {
                back.extend(ids);
            }
        }
        // What else is wrong is put right by the next who writes.
        for of_user in [None, Some("--user")] {
            let args = ["remember", "--new", AFTERWARDS];
            self.desk.run(&args.into_iter().chain(of_user).collect::<Vec<_>>()).sound(when);
        }
        let said = self.desk.run(&["list", "--all", "-n", "1000", "--json"]).sound(when);
        let listed = self.printed(&said, when);
        assert!(back.iter().all(|it| listed.contains(it)), "{when}: all is back: {said:?}");
        assert!(back.len() < self.known.len() - 4 || said.code == 0, "{when}: {said:?}");
    }

    /// The ids of what was printed, each of which must be exactly what was saved.
    fn printed(&self, said: &Said, when: &str) -> Vec<String> {
        if said.out.is_empty() {
            return Vec::new();
        }
        let body = said.json();
        let listed = body["memories"].as_array().cloned().unwrap_or_default();
        let hits = body["hits"].as_array().cloned().unwrap_or_default();
        let hits = hits.into_iter().map(|it| it["memory"].clone());
        let one = body.get("memory").cloned();
        let mut res = Vec::new();
        for memory in listed.into_iter().chain(hits).chain(one) {
            let id = string(&memory["id"]);
            if memory["content"] == AFTERWARDS {
                continue;
            }
            let known =
                self.known.get(&id).unwrap_or_else(|| panic!("{when}: {memory} was never saved"));
            for field in
                ["content", "summary", "tags", "type", "confidence", "created_at", "source"]
            {
                assert_eq!(memory[field], known[field], "{when}: {field} of {id}");
            }
            res.push(id);
        }
        res
    }
}

/// Damages a file in a way that a seed chooses; what was done to it.
fn hurt(path: &Path, seeded: &mut Seeded) -> String {
    let mut bytes = fs::read(path).unwrap();
    let at = seeded.at(bytes.len());
    let what = match seeded.below(6) {
        0..=2 => {
            // Several bits, as most of any file is empty space that nobody misses.
            for _ in 0..8 {
                let at = seeded.at(bytes.len());
                bytes[at] ^= 1 << seeded.below(8);
            }
            "8 bits flipped".to_owned()
        }
        3 => {
            let end = bytes.len().min(at + 2048);
            // Where there was nothing before, nothing would be damaged.
            let first = !bytes[at];
            bytes[at..end].fill(0);
            bytes[at] = first;
            format!("zeroed from {at}")
        }
        4 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        _ => {
            fs::remove_file(path).unwrap();
            return format!("{} removed", path.display());
        }
    };
    fs::write(path, bytes).unwrap();
    format!("{} {what}", path.display())
}
