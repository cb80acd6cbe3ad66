//! A file that configures the project was edited along with others.

use model::SignalKind;

use crate::config::is_config;
use crate::facts::co_edited;
use crate::sighting::{Evidence, Sighting, paths};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for (a, b) in co_edited(pad) {
        let (config, other) = match (is_config(pad.names.text(a)), is_config(pad.names.text(b))) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => continue,
        };
        let key = format!("{}→{}", pad.names.text(other), pad.names.text(config));
        let evidence = Evidence { files: paths(pad, [other, config]), ..Evidence::default() };
        acc.push(Sighting::new(SignalKind::ConfigTouch, key, evidence));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ConfigTouch;

    #[test]
    fn configuration_edited_along_is_seen() {
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
