//! Detects the signal `config_touch`: a configuration file was edited in the same session as another
//! file.
//!
//! Input is the scratchpad, the log of one session. Each pair becomes a sighting, whose key, by which
//! sessions are compared, has both paths. Example: edits of `src/a.rs` and `Cargo.toml` have the key
//! `src/a.rs→Cargo.toml`.

use crate::config_files::is_config;
use crate::evidence::Evidence;
use crate::facts::co_edited;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_path_pair};
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for (a, b) in co_edited(pad) {
        let is_config = |file| is_config(pad.strings.text(file));
        let (config, file) = match (is_config(a), is_config(b)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            // Two configuration files, such as a manifest and its lock file, change together anyway.
            // Two other files are the business of `co_access`.
            (true, true) | (false, false) => continue,
        };
        let Some((file, config)) = to_path_pair(pad, file, config) else { continue };
        let key = PatternKey::config_touch(&file, &config);
        acc.push(Sighting::new(key, Evidence::ConfigTouch { file, config }));
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ConfigTouch;

    #[test]
    fn an_edited_configuration_file_is_a_sighting() {
        check(
            ConfigTouch,
            "edit src/a.rs\nedit Cargo.toml",
            expect![[r#"
            src/a.rs→Cargo.toml ×1 {"files":["src/a.rs","Cargo.toml"]}
        "#]],
        );
        check(ConfigTouch, "read Cargo.toml\nedit src/a.rs", expect![""]);
        check(ConfigTouch, "edit Cargo.toml\nedit Cargo.lock", expect![""]);
    }
}
