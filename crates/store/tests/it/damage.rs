//! Damage is reported, never served: whatever happens to the files, a memory that is handed out is
//! the one that was saved, and one that cannot be handed out is spoken of.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use model::{Memory, MemoryId};
use waylore_store::{Action, Change, DataDir, Error, Filter, Finding, Store, Vector};

use crate::kit::{Bench, NOW, Seed, State, copy_folder, everything, full, memory};

/// A folder to be damaged, and what is known about it.
struct Specimen {
    bench: Bench,
    /// What was acknowledged, in the order of writing.
    saved: Vec<Memory>,
    /// What the newest backup holds.
    backed_up: State,
}

/// What a damaged folder gave.
#[derive(Debug, Default)]
struct Served {
    listed: Vec<MemoryId>,
    n_got: usize,
    findings: Vec<Finding>,
    errors: Vec<Error>,
}

impl Specimen {
    /// `late` memories are written after the backup, and still in the log when the folder is copied.
    fn new(early: u32, late: u32) -> Self {
        let bench = Bench::new();
        let store = bench.open();
        for n in 0..early {
            let memory = if n % 2 == 0 { full(n, "wren") } else { memory(n, "the plain wren") };
            let id = bench.insert(&store, memory);
            bench.edit(&store, id, |it| it.summary.push_str(", again"));
            let vector =
                Vector { owner: id, model: "tiny".into(), values: vec![0.5; 4], code: vec![1; 4] };
            bench.apply(&store, Action::Vectors, vec![Change::Vector(vector)]).unwrap();
            bench.apply(&store, Action::Flag, vec![Change::Count { id, used: true }]).unwrap();
        }
        bench.wait(store.backup(NOW)).unwrap();
        let backed_up = bench.state(&store);
        drop(store);
        let store = bench.open();
        for n in early..early + late {
            bench.add(&store, n, "a late wren");
        }
        let saved = bench.state(&store).memories;
        copy_folder(&bench.data().root, &bench.dir.path().join("frozen"));
        Self { bench, saved, backed_up }
    }

    fn frozen(&self, name: &str) -> Vec<u8> {
        fs::read(self.bench.dir.path().join("frozen").join(name)).unwrap()
    }

    /// A copy of the folder, with one file made to hold `bytes`, or removed.
    fn case(&self, name: &str, bytes: Option<&[u8]>) -> DataDir {
        let root = self.bench.dir.path().join("case");
        let _ = fs::remove_dir_all(&root);
        copy_folder(&self.bench.dir.path().join("frozen"), &root);
        match bytes {
            Some(bytes) => fs::write(root.join(name), bytes).unwrap(),
            None => fs::remove_file(root.join(name)).unwrap(),
        }
        DataDir::new(root)
    }

    /// Asks a damaged folder for everything, by every way there is.
    fn ask(&self, data: &DataDir) -> Served {
        let bench = &self.bench;
        let store = Store::user(data.user(), None, NOW);
        let mut res = Served::default();
        let known: BTreeMap<MemoryId, &Memory> = self.saved.iter().map(|it| (it.id, it)).collect();
        let genuine = |it: &Memory| assert_eq!(Some(&it), known.get(&it.id), "not as it was saved");
        match bench.wait(store.list(everything())) {
            Ok(found) => {
                found.iter().for_each(genuine);
                res.listed = found.iter().rev().map(|it| it.id).collect();
            }
            Err(error) => res.errors.push(error),
        }
        for memory in &self.saved {
            match bench.wait(store.get(memory.id)) {
                Ok(found) => {
                    found.iter().for_each(genuine);
                    res.n_got += usize::from(found.is_some());
                }
                Err(error) => res.errors.push(error),
            }
        }
        match bench.wait(store.search("\"wren\"".into(), Filter::standing(100))) {
            Ok(found) => found.iter().for_each(|it| genuine(&it.memory)),
            Err(error) => res.errors.push(error),
        }
        match bench.wait(store.examine()) {
            Ok(findings) => res.findings = findings,
            Err(error) => res.errors.push(error),
        }
        res.findings.extend(store.findings());
        res
    }

    /// Whatever became of the folder, the newest backup brings back what it holds.
    fn restores(&self, data: &DataDir) {
        let store = Store::user(data.user(), None, NOW);
        let newest = store.backups().remove(0);
        store.restore(&newest, NOW).unwrap();
        let store = Store::user(data.user(), None, NOW);
        assert_eq!(self.bench.state(&store), self.backed_up);
        assert_eq!(self.bench.wait(store.examine()).unwrap(), vec![]);
        assert_eq!(store.findings(), vec![]);
    }
}

impl Served {
    fn is_complete(&self, saved: &[Memory]) -> bool {
        self.listed.len() == saved.len() && self.n_got == saved.len()
    }

    fn is_told(&self) -> bool {
        !self.findings.is_empty() || !self.errors.is_empty()
    }
}

/// Flips a bit, or zeroes or scrambles a stretch; mostly where there is something to damage.
fn damaged(seed: &mut Seed, bytes: &[u8]) -> Vec<u8> {
    let mut res = bytes.to_vec();
    let from = seed.below(res.len());
    let used = res[from..].iter().position(|it| *it != 0).unwrap_or(0);
    let at = if seed.below(8) == 0 { from } else { from + used };
    match seed.below(4) {
        0 | 1 => res[at] ^= 1 << seed.below(8),
        2 => {
            let end = (at + 1 + seed.below(6_000)).min(res.len());
            res[at..end].fill(0);
        }
        _ => {
            let end = (at + 1 + seed.below(200)).min(res.len());
            res[at..end].iter_mut().for_each(|it| *it = seed.next().to_le_bytes()[0]);
        }
    }
    res
}

/// Runs one case; when it fails, the output says which it was.
fn case(name: &str, seed: u64, body: impl FnOnce(&mut Seed)) {
    let named = std::panic::AssertUnwindSafe(|| body(&mut Seed(seed)));
    if let Err(panic) = std::panic::catch_unwind(named) {
        let said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        panic!("{name}, seed {seed}: {said}");
    }
}

#[test]
fn no_damage_to_the_database_is_served() {
    let specimen = Specimen::new(12, 0);
    let whole = specimen.frozen("user.db");
    let mut n_told = 0;
    for seed in 0..400 {
        case("database", seed, |random| {
            let data = specimen.case("user.db", Some(&damaged(random, &whole)));
            let served = specimen.ask(&data);
            let told = served.is_told();
            assert!(told || served.is_complete(&specimen.saved), "silent loss: {served:?}");
            n_told += usize::from(told);
            if seed % 4 == 0 {
                specimen.restores(&data);
            }
        });
    }
    assert!(n_told > 200, "the damage was too gentle to prove anything: {n_told}");
}

#[test]
fn a_damaged_log_costs_its_tail_and_says_so() {
    let specimen = Specimen::new(2, 8);
    let whole = specimen.frozen("user.db-wal");
    let order: Vec<MemoryId> = specimen.saved.iter().map(|it| it.id).collect();
    let mut n_lost = 0;
    for seed in 0..220 {
        case("log", seed, |random| {
            let bytes = match random.below(3) {
                0 => whole[..random.below(whole.len())].to_vec(),
                _ => damaged(random, &whole),
            };
            let data = specimen.case("user.db-wal", Some(&bytes));
            let served = specimen.ask(&data);
            assert_eq!(served.listed, order[..served.listed.len()], "{served:?}");
            let lost = served.listed.len() < order.len();
            let said = |it: &Finding| matches!(it, Finding::Lost { .. });
            assert!(!lost || served.findings.iter().any(said), "silent loss: {served:?}");
            n_lost += usize::from(lost);
            if seed % 4 == 0 {
                specimen.restores(&data);
            }
        });
    }
    assert!(n_lost > 100, "the damage was too gentle to prove anything: {n_lost}");
}

#[test]
fn the_mark_names_what_a_damaged_log_lost() {
    let specimen = Specimen::new(2, 3);
    let data = specimen.case("user.db-wal", Some(&[]));
    let lost: Vec<MemoryId> = specimen.saved[2..].iter().map(|it| it.id).collect();
    let named = |findings: &[Finding]| {
        findings.iter().any(|it| matches!(it, Finding::Lost { known, .. } if *known == lost))
    };
    assert!(named(&specimen.ask(&data).findings));
    // The loss is still told after more was written, until somebody takes note.
    let bench = &specimen.bench;
    let store = Store::user(data.user(), None, NOW);
    bench.add(&store, 90, "written after the loss");
    drop(store);
    let store = Store::user(data.user(), None, NOW);
    assert!(named(&bench.wait(store.examine()).unwrap()));
    bench.wait(store.mend(NOW)).unwrap();
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}

#[test]
fn a_file_that_is_cut_empty_gone_or_garbage_is_refused_and_can_be_restored() {
    let specimen = Specimen::new(4, 2);
    let whole = specimen.frozen("user.db");
    let garbage: Vec<u8> = (0..whole.len()).map(|it| it.to_le_bytes()[0] ^ 0x5a).collect();
    let cuts = [0, 1, 100, 512, 4_096, whole.len() / 2, whole.len() - 4_096, whole.len() - 1];
    let mut cases: Vec<Option<Vec<u8>>> =
        cuts.iter().map(|it| Some(whole[..*it].to_vec())).collect();
    cases.extend([Some(garbage), Some(vec![0; whole.len()]), Some(b"no database".to_vec()), None]);
    for (at, bytes) in cases.iter().enumerate() {
        let data = specimen.case("user.db", bytes.as_deref());
        let served = specimen.ask(&data);
        assert!(served.is_told() || served.is_complete(&specimen.saved), "case {at}: {served:?}");
        specimen.restores(&data);
    }
}

#[test]
fn beside_an_emptied_file_the_log_is_not_thrown_away() {
    let specimen = Specimen::new(2, 4);
    for bytes in [Some([].as_slice()), None] {
        let data = specimen.case("user.db", bytes);
        let served = specimen.ask(&data);
        assert!(matches!(served.errors[0], Error::Damaged { .. }), "{served:?}");
        let log = fs::read(data.root.join("user.db-wal")).unwrap();
        assert_eq!(log, specimen.frozen("user.db-wal"));
    }
}

#[test]
fn a_damaged_mark_is_reported_and_renewed() {
    let specimen = Specimen::new(3, 0);
    let whole = specimen.frozen("user.mark");
    for seed in 0..20 {
        case("mark", seed, |random| {
            let bytes = match random.below(2) {
                0 => whole[..=random.below(whole.len() - 1)].to_vec(),
                _ => damaged(random, &whole),
            };
            if bytes == whole {
                return;
            }
            let data = specimen.case("user.mark", Some(&bytes));
            let served = specimen.ask(&data);
            assert!(served.is_complete(&specimen.saved), "{served:?}");
            assert!(served.findings.contains(&Finding::MarkUnreadable), "{served:?}");
            let store = Store::user(data.user(), None, NOW);
            specimen.bench.add(&store, 50, "renews the mark");
            assert_eq!(specimen.bench.wait(store.examine()).unwrap(), vec![]);
        });
    }
}

#[test]
fn a_missing_file_is_a_loss_even_when_its_mark_is_damaged_or_gone() {
    let specimen = Specimen::new(3, 0);
    for mark in [Some(b"rubbish".as_slice()), None] {
        let data = specimen.case("user.mark", mark);
        fs::remove_file(data.root.join("user.db")).unwrap();
        let store = Store::user(data.user(), None, NOW);
        let res = specimen.bench.wait(store.list(everything()));
        assert!(matches!(res, Err(Error::Damaged { .. })), "{res:?}");
    }
}

#[test]
fn a_damaged_backup_is_refused_and_nothing_changes() {
    let specimen = Specimen::new(3, 1);
    let name = backup_name(&specimen.bench.dir.path().join("frozen/backups"));
    let whole = specimen.frozen(&format!("backups/{name}"));
    for seed in 0..40 {
        case("backup", seed, |random| {
            let bytes = damaged(random, &whole);
            if bytes == whole {
                return;
            }
            let data = specimen.case(&format!("backups/{name}"), Some(&bytes));
            let store = Store::user(data.user(), None, NOW);
            let newest = store.backups().remove(0);
            assert!(store.verify_backup(&newest).is_err());
            let res = store.restore(&newest, NOW);
            assert!(matches!(res, Err(Error::Damaged { .. })), "{res:?}");
            let served = specimen.ask(&data);
            assert!(served.is_complete(&specimen.saved) && !served.is_told(), "{served:?}");
        });
    }
    let data = specimen.case(&format!("backups/{}", name.replace(".db", ".blake3")), None);
    let store = Store::user(data.user(), None, NOW);
    let newest = store.backups().remove(0);
    assert!(matches!(store.restore(&newest, NOW), Err(Error::Damaged { .. })));
}

fn backup_name(dir: &Path) -> String {
    let is_backup = |it: &PathBuf| it.extension().is_some_and(|it| it == "db");
    let found = crate::kit::files_under(dir).into_iter().find(is_backup).unwrap();
    found.file_name().unwrap().to_string_lossy().into_owned()
}
