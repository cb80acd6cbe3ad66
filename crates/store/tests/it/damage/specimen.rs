//! A folder that can be damaged again and again, and what it gives when it is asked.

use std::collections::BTreeMap;
use std::fs;

use model::{Memory, MemoryId};
use waylore_store::{Action, Change, DataDir, Error, Filter, Finding, Store};

use crate::kit::{Bench, NOW, Seed, State, copy_folder, everything, full, memory};

/// A folder to be damaged, and what is known about it.
pub(super) struct Specimen {
    pub(super) bench: Bench,
    /// What was acknowledged, in the order of writing.
    pub(super) saved: Vec<Memory>,
    /// What the newest backup holds.
    pub(super) backed_up: State,
}

/// What a damaged folder gave.
#[derive(Debug, Default)]
pub(super) struct Served {
    pub(super) listed: Vec<MemoryId>,
    pub(super) n_got: usize,
    pub(super) findings: Vec<Finding>,
    pub(super) errors: Vec<Error>,
}

impl Specimen {
    /// `late` memories are written after the backup, and still in the log when the folder is copied.
    pub(super) fn new(early: u32, late: u32) -> Self {
        let bench = Bench::new();
        let store = bench.open();
        for n in 0..early {
            let memory = if n % 2 == 0 { full(n, "wren") } else { memory(n, "the plain wren") };
            let id = bench.insert(&store, memory);
            bench.edit(&store, id, |it| it.summary.push_str(", again"));
            bench.embed(&store, id, vec![0.5; 4], vec![1; 4]);
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

    pub(super) fn frozen(&self, name: &str) -> Vec<u8> {
        fs::read(self.bench.dir.path().join("frozen").join(name)).unwrap()
    }

    /// A copy of the folder, with one file made to hold `bytes`, or removed.
    pub(super) fn case(&self, name: &str, bytes: Option<&[u8]>) -> DataDir {
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
    pub(super) fn ask(&self, data: &DataDir) -> Served {
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
    pub(super) fn restores(&self, data: &DataDir) {
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
    pub(super) fn is_complete(&self, saved: &[Memory]) -> bool {
        self.listed.len() == saved.len() && self.n_got == saved.len()
    }

    pub(super) fn is_told(&self) -> bool {
        !self.findings.is_empty() || !self.errors.is_empty()
    }
}

/// Flips a bit, or zeroes or scrambles a stretch; mostly where there is something to damage.
pub(super) fn damaged(seed: &mut Seed, bytes: &[u8]) -> Vec<u8> {
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
pub(super) fn case(name: &str, seed: u64, body: impl FnOnce(&mut Seed)) {
    let named = std::panic::AssertUnwindSafe(|| body(&mut Seed(seed)));
    if let Err(panic) = std::panic::catch_unwind(named) {
        let said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        panic!("{name}, seed {seed}: {said}");
    }
}
