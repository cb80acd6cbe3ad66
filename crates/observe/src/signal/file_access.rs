//! Detects the signal `file_access`: files touched early in a session that changed a module. They show
//! where work on the module begins.
//!
//! Input is the scratchpad, the log of one session. Each changed module (a part of the project, by default a
//! folder) becomes a sighting: the key, by which sessions are compared, is the module; the evidence has the
//! early files. Example: a session opens `src/a.rs` and `src/b.rs`, and much later edits `src/a.rs`: the
//! key is `src`, the files are both.

use std::collections::BTreeMap;

use crate::evidence::Evidence;
use crate::facts::{FileUse, file_uses};
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_paths};
use crate::strings::StringId;
use crate::{ModuleLookup, Scratchpad};

/// Shorter sessions have no distinct beginning.
const MIN_CALLS: u32 = 8;
/// Early files that are recorded.
const MAX_FILES: usize = 12;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &ModuleLookup) {
    if pad.n_steps() < MIN_CALLS {
        return;
    }
    let uses = file_uses(pad);
    // The first quarter of the session is early.
    let last_early_call = pad.n_steps() / 4;
    let mut early: Vec<(&StringId, &FileUse)> =
        uses.iter().filter(|(_, file_use)| file_use.first_call <= last_early_call).collect();
    early.sort_by_key(|(_, file_use)| file_use.first_call);
    let early_files = to_paths(pad, early.iter().map(|(file, _)| **file).take(MAX_FILES));
    if early_files.is_empty() {
        return;
    }
    let mut edits_by_module: BTreeMap<&str, u32> = BTreeMap::new();
    for (file, file_use) in uses.iter().filter(|(_, file_use)| file_use.n_edits > 0) {
        let module = modules.module_of_file(pad.strings.text(*file));
        *edits_by_module.entry(module).or_insert(0) += file_use.n_edits;
    }
    for (module, n_edits) in edits_by_module {
        // Files at the root belong to no module.
        if module.is_empty() {
            continue;
        }
        // Documentation is opened for reasons of its own.
        if module.split('/').any(|it| matches!(it, "docs" | "doc" | "plans")) {
            continue;
        }
        let files = early_files.clone();
        let evidence = Evidence::FileAccess { files, n_edits: u64::from(n_edits) };
        acc.push(Sighting::new(PatternKey::file_access(module), evidence));
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::FileAccess;

    #[test]
    fn early_files_are_recorded_per_module() {
        check(
            FileAccess,
            "read src/a.rs\nread src/b.rs\nrun x\nrun x\nrun x\nread late.rs\nedit src/a.rs\nrun x",
            expect![[r#"
                src ×1 {"files":["src/a.rs","src/b.rs"],"number":1}
            "#]],
        );
        check(FileAccess, "read src/a.rs\nedit src/a.rs", expect![""]);
    }
}
