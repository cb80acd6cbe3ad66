//! A data folder that can be damaged repeatedly, and the results of querying it.
//!
//! `DamageSpecimen::new` fills a folder once and copies it to `frozen`. Every test case copies
//! `frozen` to `case`, damages one file there, queries the store in every way and compares with what
//! was saved.

use std::collections::BTreeMap;
use std::fs;

use model::{Memory, MemoryId};
use waylore_store::{AuditAction, DamageFinding, DataDir, Error, MemoryFilter, Store, StoreChange};

use crate::kit::{
    NOW, SeededRandom, StoreContents, TestBench, copy_folder, everything, full_memory, memory,
};

/// A folder to be damaged, and its contents.
pub(super) struct DamageSpecimen {
    pub(super) bench: TestBench,
    /// Acknowledged memories, in the order of writing.
    pub(super) saved: Vec<Memory>,
    /// Contents of the newest backup.
    pub(super) backed_up: StoreContents,
}

/// Results of querying a damaged folder.
#[derive(Debug, Default)]
pub(super) struct QueryOutcome {
    /// Memories in the list, in the order of writing.
    pub(super) listed: Vec<MemoryId>,
    /// Memories found by id.
    pub(super) n_got: usize,
    pub(super) findings: Vec<DamageFinding>,
    pub(super) errors: Vec<Error>,
}

impl DamageSpecimen {
    /// `early` memories are in the database file and in a backup; `late` ones are written after the
    /// backup and are still in the write-ahead log when the folder is copied.
    pub(super) fn new(early: u32, late: u32) -> Self {
        let bench = TestBench::new();
        let store = bench.open();
        for n in 0..early {
            let memory =
                if n % 2 == 0 { full_memory(n, "wren") } else { memory(n, "the plain wren") };
            let id = bench.insert(&store, memory);
            bench.edit(&store, id, |it| it.summary.push_str(", again"));
            bench.embed(&store, id, vec![0.5; 4], vec![1; 4]);
            bench.apply(&store, AuditAction::Flag, vec![StoreChange::CountUse { id }]).unwrap();
        }
        bench.block_on(store.backup(NOW)).unwrap();
        let backed_up = bench.state(&store);
        drop(store);
        let store = bench.open();
        for n in early..early + late {
            bench.add(&store, n, "a late wren");
        }
        let saved = bench.state(&store).memories;
        copy_folder(&bench.data_dir().root, &bench.dir.path().join("frozen"));
        Self { bench, saved, backed_up }
    }

    pub(super) fn original_bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.bench.dir.path().join("frozen").join(name)).unwrap()
    }

    /// A copy of the folder, with one file made to hold `bytes`, or removed.
    pub(super) fn damaged_copy(&self, name: &str, bytes: Option<&[u8]>) -> DataDir {
        let root = self.bench.dir.path().join("case");
        let _ = fs::remove_dir_all(&root);
        copy_folder(&self.bench.dir.path().join("frozen"), &root);
        match bytes {
            Some(bytes) => fs::write(root.join(name), bytes).unwrap(),
            None => fs::remove_file(root.join(name)).unwrap(),
        }
        DataDir::new(root)
    }

    /// Queries a damaged folder for everything, in every way there is.
    pub(super) fn query_everything(&self, data: &DataDir) -> QueryOutcome {
        let bench = &self.bench;
        let store = Store::user(data.user_paths(), None, NOW);
        let mut outcome = QueryOutcome::default();
        let known: BTreeMap<MemoryId, &Memory> = self.saved.iter().map(|it| (it.id, it)).collect();
        let assert_as_saved =
            |it: &Memory| assert_eq!(Some(&it), known.get(&it.id), "not as it was saved");
        match bench.block_on(store.memories().list(everything())) {
            Ok(found) => {
                found.iter().for_each(assert_as_saved);
                outcome.listed = found.iter().rev().map(|it| it.id).collect();
            }
            Err(error) => outcome.errors.push(error),
        }
        for memory in &self.saved {
            match bench.block_on(store.memories().get(memory.id)) {
                Ok(found) => {
                    found.iter().for_each(assert_as_saved);
                    outcome.n_got += usize::from(found.is_some());
                }
                Err(error) => outcome.errors.push(error),
            }
        }
        match bench.block_on(store.memories().search("\"wren\"".into(), MemoryFilter::active(100)))
        {
            Ok(found) => found.iter().for_each(|it| assert_as_saved(&it.memory)),
            Err(error) => outcome.errors.push(error),
        }
        match bench.block_on(store.check_database()) {
            Ok(findings) => outcome.findings = findings,
            Err(error) => outcome.errors.push(error),
        }
        outcome.findings.extend(store.findings());
        outcome
    }

    /// Asserts that the newest backup restores its contents, whatever happened to the folder.
    pub(super) fn assert_restorable(&self, data: &DataDir) {
        let store = Store::user(data.user_paths(), None, NOW);
        let newest = store.backups().remove(0);
        store.restore(&newest, NOW).unwrap();
        let store = Store::user(data.user_paths(), None, NOW);
        assert_eq!(self.bench.state(&store), self.backed_up);
        assert_eq!(self.bench.block_on(store.check_database()).unwrap(), vec![]);
        assert_eq!(store.findings(), vec![]);
    }
}

impl QueryOutcome {
    pub(super) fn is_complete(&self, saved: &[Memory]) -> bool {
        self.listed.len() == saved.len() && self.n_got == saved.len()
    }

    pub(super) fn is_reported(&self) -> bool {
        !self.findings.is_empty() || !self.errors.is_empty()
    }
}

/// Flips a bit, or zeroes or scrambles a range; mostly where there are bytes other than zero.
pub(super) fn damage_bytes(seed: &mut SeededRandom, bytes: &[u8]) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    let any = seed.below(damaged.len());
    let to_next_used = damaged[any..].iter().position(|it| *it != 0).unwrap_or(0);
    // One case in eight may also hit unused space.
    let start = if seed.below(8) == 0 { any } else { any + to_next_used };
    match seed.below(4) {
        0 | 1 => damaged[start] ^= 1 << seed.below(8),
        2 => {
            let end = (start + 1 + seed.below(6_000)).min(damaged.len());
            damaged[start..end].fill(0);
        }
        _ => {
            let end = (start + 1 + seed.below(200)).min(damaged.len());
            damaged[start..end].iter_mut().for_each(|it| *it = seed.next().to_le_bytes()[0]);
        }
    }
    damaged
}

/// Runs one case and names it in the output if it fails.
pub(super) fn run_case(name: &str, seed: u64, body: impl FnOnce(&mut SeededRandom)) {
    let named = std::panic::AssertUnwindSafe(|| body(&mut SeededRandom(seed)));
    if let Err(panic) = std::panic::catch_unwind(named) {
        let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        panic!("{name}, seed {seed}: {message}");
    }
}
