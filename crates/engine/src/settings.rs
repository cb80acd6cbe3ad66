//! The settings there are: a table, so that a typo is an error and `config` can explain each.

/// Where a setting may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// Only for the person, in the configuration file.
    User,
    /// For the person, or for one project.
    Any,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub key: &'static str,
    pub default: &'static str,
    /// What may be said; empty means a whole number, at least 1.
    pub choices: &'static [&'static str],
    pub scope: SettingScope,
    pub meaning: &'static str,
}

/// In the order `config` shows them.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    //      key                      default    choices                scope               meaning
    setting("memory.enabled",        "true",    &["true", "false"],    SettingScope::Any,  "whether anything is remembered in this project"),
    setting("remember.on_secret",    "refuse",  &["refuse", "redact"], SettingScope::Any,  "what happens to a text that holds a secret"),
    setting("remember.on_duplicate", "resolve", &["resolve", "keep"],  SettingScope::Any,  "whether the same is merged and a contradiction supersedes"),
    setting("list.limit",            "20",      &[],                   SettingScope::Any,  "how many memories a list shows"),
    setting("backup.every_days",     "1",       &[],                   SettingScope::Any,  "how old the newest backup may be before `maintain` makes another"),
    setting("encryption.key",        "none",    &["none", "keychain", "file", "passphrase"], SettingScope::User, "where the key of encrypted data comes from"),
];

const fn setting(
    key: &'static str,
    default: &'static str,
    choices: &'static [&'static str],
    scope: SettingScope,
    meaning: &'static str,
) -> Setting {
    Setting { key, default, choices, scope, meaning }
}

/// Checks a value; the error says what would be right.
pub fn check_setting(key: &str, value: &str) -> Result<&'static Setting, String> {
    let Some(setting) = SETTINGS.iter().find(|it| it.key == key) else {
        let keys: Vec<&str> = SETTINGS.iter().map(|it| it.key).collect();
        let word = model::UnknownWord { what: "setting", given: key.to_owned(), known: keys };
        return Err(word.to_string());
    };
    let fits = if setting.choices.is_empty() {
        value.parse::<u32>().is_ok_and(|it| it > 0)
    } else {
        setting.choices.contains(&value)
    };
    if fits {
        return Ok(setting);
    }
    let wanted = if setting.choices.is_empty() {
        "a whole number from 1 on".to_owned()
    } else {
        setting.choices.join(" or ")
    };
    Err(format!("`{key}` takes {wanted}, not `{value}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_allowed() {
        for it in SETTINGS {
            assert!(check_setting(it.key, it.default).is_ok(), "{}", it.key);
        }
    }

    #[test]
    fn a_slip_is_answered_with_what_would_be_right() {
        assert_eq!(
            check_setting("list.limits", "3").unwrap_err(),
            "unknown setting `list.limits` (did you mean `list.limit`?)"
        );
        assert_eq!(
            check_setting("list.limit", "many").unwrap_err(),
            "`list.limit` takes a whole number from 1 on, not `many`"
        );
        assert!(check_setting("list.limit", "0").is_err(), "a list of nothing");
        assert_eq!(
            check_setting("memory.enabled", "no").unwrap_err(),
            "`memory.enabled` takes true or false, not `no`"
        );
    }
}
