//! Damage is reported, never served: whatever happens to the files, a memory that is handed out is
//! the one that was saved, and one that cannot be handed out is spoken of.

mod specimen;

use std::fs;
use std::path::{Path, PathBuf};

use model::MemoryId;
use waylore_store::{Error, Finding, Store};

use crate::kit::{NOW, everything};
use specimen::{Specimen, case, damaged};

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
