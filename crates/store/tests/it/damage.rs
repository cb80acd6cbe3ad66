//! Damage is reported and damaged data is never returned: a memory that is returned is the one that
//! was saved, and one that cannot be returned is reported.
//!
//! `DamageSpecimen::new(early, late)` is a store whose first `early` memories are in the database
//! file and in a backup, and whose next `late` ones are still in the log. `damaged_copy` copies it
//! with other bytes in one file, `query_everything` reads the copy in every way, and
//! `assert_restorable` restores its backup. The files: `user.db` is the database, `user.db-wal` its
//! write-ahead log, `user.mark` the number of the last acknowledged change.

mod specimen;

use std::fs;
use std::path::{Path, PathBuf};

use model::MemoryId;
use waylore_store::{DamageFinding, Error, Store};

use crate::kit::{NOW, everything};
use specimen::{DamageSpecimen, damage_bytes, run_case};

#[test]
fn damaged_data_is_never_returned() {
    let specimen = DamageSpecimen::new(12, 0);
    let whole = specimen.original_bytes("user.db");
    let mut n_reported = 0;
    for seed in 0..400 {
        run_case("database", seed, |random| {
            let data = specimen.damaged_copy("user.db", Some(&damage_bytes(random, &whole)));
            let served = specimen.query_everything(&data);
            let reported = served.is_reported();
            assert!(reported || served.is_complete(&specimen.saved), "silent loss: {served:?}");
            n_reported += usize::from(reported);
            if seed % 4 == 0 {
                specimen.assert_restorable(&data);
            }
        });
    }
    assert!(n_reported > 200, "the damage was too gentle to prove anything: {n_reported}");
}

#[test]
fn a_damaged_log_loses_its_tail_and_reports_it() {
    let specimen = DamageSpecimen::new(2, 8);
    let whole = specimen.original_bytes("user.db-wal");
    let order: Vec<MemoryId> = specimen.saved.iter().map(|it| it.id).collect();
    let mut n_lost = 0;
    for seed in 0..220 {
        run_case("log", seed, |random| {
            // One case in three cuts the log off, the others change some of its bytes.
            let bytes = match random.below(3) {
                0 => whole[..random.below(whole.len())].to_vec(),
                _ => damage_bytes(random, &whole),
            };
            let data = specimen.damaged_copy("user.db-wal", Some(&bytes));
            let served = specimen.query_everything(&data);
            // Whole transactions are missing at the end, never in between.
            assert_eq!(served.listed, order[..served.listed.len()], "{served:?}");
            let lost = served.listed.len() < order.len();
            let is_loss = |it: &DamageFinding| matches!(it, DamageFinding::LostChanges { .. });
            assert!(!lost || served.findings.iter().any(is_loss), "silent loss: {served:?}");
            n_lost += usize::from(lost);
            if seed % 4 == 0 {
                specimen.assert_restorable(&data);
            }
        });
    }
    assert!(n_lost > 100, "the damage was too gentle to prove anything: {n_lost}");
}

#[test]
fn the_mark_lists_what_a_damaged_log_lost() {
    let specimen = DamageSpecimen::new(2, 3);
    let data = specimen.damaged_copy("user.db-wal", Some(&[]));
    let lost: Vec<MemoryId> = specimen.saved[2..].iter().map(|it| it.id).collect();
    let named = |findings: &[DamageFinding]| {
        findings
            .iter()
            .any(|it| matches!(it, DamageFinding::LostChanges { known, .. } if *known == lost))
    };
    assert!(named(&specimen.query_everything(&data).findings));
    // The loss is still reported after more writes, until it is acknowledged.
    let bench = &specimen.bench;
    let store = Store::user(data.user_paths(), None, NOW);
    bench.add(&store, 90, "written after the loss");
    drop(store);
    let store = Store::user(data.user_paths(), None, NOW);
    assert!(named(&bench.block_on(store.check_database()).unwrap()));
    bench.block_on(store.repair(NOW)).unwrap();
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}

#[test]
fn a_truncated_missing_or_overwritten_file_is_refused_and_can_be_restored() {
    let specimen = DamageSpecimen::new(4, 2);
    let whole = specimen.original_bytes("user.db");
    let garbage: Vec<u8> = (0..whole.len()).map(|it| it.to_le_bytes()[0] ^ 0x5a).collect();
    let cuts = [0, 1, 100, 512, 4_096, whole.len() / 2, whole.len() - 4_096, whole.len() - 1];
    let mut cases: Vec<Option<Vec<u8>>> =
        cuts.iter().map(|it| Some(whole[..*it].to_vec())).collect();
    cases.extend([Some(garbage), Some(vec![0; whole.len()]), Some(b"no database".to_vec()), None]);
    for (case, bytes) in cases.iter().enumerate() {
        let data = specimen.damaged_copy("user.db", bytes.as_deref());
        let served = specimen.query_everything(&data);
        assert!(
            served.is_reported() || served.is_complete(&specimen.saved),
            "case {case}: {served:?}"
        );
        specimen.assert_restorable(&data);
    }
}

#[test]
fn the_log_beside_an_emptied_file_is_not_deleted() {
    let specimen = DamageSpecimen::new(2, 4);
    for bytes in [Some([].as_slice()), None] {
        let data = specimen.damaged_copy("user.db", bytes);
        let served = specimen.query_everything(&data);
        assert!(matches!(served.errors[0], Error::Damaged { .. }), "{served:?}");
        let log = fs::read(data.root.join("user.db-wal")).unwrap();
        assert_eq!(log, specimen.original_bytes("user.db-wal"));
    }
}

#[test]
fn a_damaged_mark_is_reported_and_renewed() {
    let specimen = DamageSpecimen::new(3, 0);
    let whole = specimen.original_bytes("user.mark");
    for seed in 0..20 {
        run_case("mark", seed, |random| {
            let bytes = match random.below(2) {
                0 => whole[..=random.below(whole.len() - 1)].to_vec(),
                _ => damage_bytes(random, &whole),
            };
            if bytes == whole {
                return;
            }
            let data = specimen.damaged_copy("user.mark", Some(&bytes));
            let served = specimen.query_everything(&data);
            assert!(served.is_complete(&specimen.saved), "{served:?}");
            assert!(served.findings.contains(&DamageFinding::MarkUnreadable), "{served:?}");
            let store = Store::user(data.user_paths(), None, NOW);
            specimen.bench.add(&store, 50, "renews the mark");
            assert_eq!(specimen.bench.block_on(store.check_database()).unwrap(), vec![]);
        });
    }
}

#[test]
fn a_missing_file_is_a_loss_even_when_its_mark_is_damaged_or_gone() {
    let specimen = DamageSpecimen::new(3, 0);
    for mark in [Some(b"rubbish".as_slice()), None] {
        let data = specimen.damaged_copy("user.mark", mark);
        fs::remove_file(data.root.join("user.db")).unwrap();
        let store = Store::user(data.user_paths(), None, NOW);
        let result = specimen.bench.block_on(store.memories().list(everything()));
        assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
    }
}

#[test]
fn a_damaged_backup_is_refused_and_nothing_changes() {
    let specimen = DamageSpecimen::new(3, 1);
    let name = backup_name(&specimen.bench.dir.path().join("frozen/backups"));
    let whole = specimen.original_bytes(&format!("backups/{name}"));
    for seed in 0..40 {
        run_case("backup", seed, |random| {
            let bytes = damage_bytes(random, &whole);
            if bytes == whole {
                return;
            }
            let data = specimen.damaged_copy(&format!("backups/{name}"), Some(&bytes));
            let store = Store::user(data.user_paths(), None, NOW);
            let newest = store.backups().remove(0);
            assert!(store.verify_backup(&newest).is_err());
            let result = store.restore(&newest, NOW);
            assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
            let served = specimen.query_everything(&data);
            assert!(served.is_complete(&specimen.saved) && !served.is_reported(), "{served:?}");
        });
    }
    // The same without its seal.
    let data = specimen.damaged_copy(&format!("backups/{}", name.replace(".db", ".blake3")), None);
    let store = Store::user(data.user_paths(), None, NOW);
    let newest = store.backups().remove(0);
    assert!(matches!(store.restore(&newest, NOW), Err(Error::Damaged { .. })));
}

/// File name of the only backup in a folder.
fn backup_name(dir: &Path) -> String {
    let is_backup = |it: &PathBuf| it.extension().is_some_and(|it| it == "db");
    let found = crate::kit::files_under(dir).into_iter().find(is_backup).unwrap();
    found.file_name().unwrap().to_string_lossy().into_owned()
}
