//! Settings: merged from all sources, each with the origin of its value. The table of settings is in the
//! engine (`SETTINGS`), the values come from `config.toml`, the environment and the project.
//!
//! Precedence: flag, environment, project, user file, default. Flags belong to single commands and are
//! not handled here. Example: `list.limit` is 20 by default, `limit = 50` in the section `[list]` of
//! `config.toml` replaces it, a value stored for the project replaces that, and `WAYLORE_LIST_LIMIT=10` all.

use std::fs;
use std::path::Path;

use engine::{
    EncryptionKey, InjectionPolicy, LlmAccess, MemoryState, OnDuplicate, OnSecret, ProjectPolicy,
    SETTINGS, SettingScope, SettingSpec, check_setting,
};
use model::{CustomType, MemoryType, TrustLevel};
use toml_edit::DocumentMut;

use crate::environment::{self, Environment};
use crate::failure::{CliFailure, FailureKind, usage_error};
use crate::keychain;

/// Origin of a value, lowest precedence first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    Default,
    /// The user's `config.toml`.
    File,
    /// Stored in the database of the project.
    Project,
    /// The variable of this name.
    Environment(String),
}

impl SettingOrigin {
    pub(crate) fn describe_origin(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::File => "configuration file".to_owned(),
            Self::Project => "this project".to_owned(),
            Self::Environment(name) => name.clone(),
        }
    }
}

/// The effective value of a setting.
#[derive(Clone, Debug)]
pub(crate) struct EffectiveSetting {
    pub(crate) setting: &'static SettingSpec,
    pub(crate) value: String,
    pub(crate) origin: SettingOrigin,
}

/// All settings.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) values: Vec<EffectiveSetting>,
    /// Memory types that the user declared in the file.
    pub(crate) types: Vec<CustomType>,
    /// Invalid entries that were skipped; empty unless loaded tolerantly.
    pub(crate) problems: Vec<String>,
}

impl Settings {
    /// Loads the settings of the user; the first invalid entry is an error.
    pub(crate) fn load(environment: &Environment) -> anyhow::Result<Self> {
        let (settings, problems) = Self::read_all(environment);
        match problems.into_iter().next() {
            None => Ok(settings),
            Some(problem) => Err(problem),
        }
    }

    /// Loads the settings tolerantly, for commands that show or correct them: invalid entries become
    /// problems.
    pub(crate) fn load_tolerantly(environment: &Environment) -> Self {
        let (settings, problems) = Self::read_all(environment);
        Self { problems: problems.iter().map(ToString::to_string).collect(), ..settings }
    }

    /// Reads file and environment. Invalid entries are skipped and returned as errors.
    fn read_all(environment: &Environment) -> (Self, Vec<anyhow::Error>) {
        let path = environment.config_file();
        let mut problems = Vec::new();
        let file = read_file(&path).unwrap_or_else(|it| {
            problems.push(it);
            DocumentMut::new()
        });
        let mut values = Vec::new();
        // Later sources overwrite earlier ones: default, file, environment.
        for setting in SETTINGS {
            let mut effective = EffectiveSetting {
                setting,
                value: setting.default.to_owned(),
                origin: SettingOrigin::Default,
            };
            if let Some(value) = find_value(&file, setting.key)
                && let Err(why) = set_checked(&mut effective, &value, SettingOrigin::File)
            {
                problems.push(config_error(&path, why));
            }
            if let Some(value) = environment::setting_variable(setting.key) {
                let variable = environment::variable_name(setting.key);
                let origin = SettingOrigin::Environment(variable.clone());
                if let Err(why) = set_checked(&mut effective, &value, origin) {
                    let message = format!("{variable}: {why}");
                    problems.push(usage_error(message, "unset it or correct it"));
                }
            }
            values.push(effective);
        }
        for key in unknown_keys(&file) {
            // Checking an unknown key gives the error with the most similar known one.
            problems.push(config_error(&path, check_setting(&key, "").err().unwrap_or_default()));
        }
        let types = custom_types(&file).unwrap_or_else(|it| {
            problems.push(config_error(&path, it));
            Vec::new()
        });
        (Self { values, types, problems: Vec::new() }, problems)
    }

    /// Adds the settings of a project, given as pairs of key and value, below the environment.
    pub(crate) fn with_project(mut self, stored: &[(String, String)]) -> Self {
        for effective in &mut self.values {
            let key = effective.setting.key;
            let Some((_, value)) = stored.iter().find(|(stored_key, _)| stored_key == key) else {
                continue;
            };
            // The environment outranks the project, and some settings are the user's alone.
            if matches!(effective.origin, SettingOrigin::Environment(_))
                || effective.setting.scope == SettingScope::User
            {
                continue;
            }
            // Invalid only if a newer version stored a value that this one does not know; then the value
            // of the user stays.
            let _ = set_checked(effective, value, SettingOrigin::Project);
        }
        self
    }

    /// The value of a setting; the key must be in the table.
    pub(crate) fn get(&self, key: &str) -> &str {
        let found = self.values.iter().find(|it| it.setting.key == key);
        &found.expect("every key asked for is in the table").value
    }

    /// The value of a setting whose form is a number, so that it parses.
    pub(crate) fn get_number(&self, key: &str) -> u32 {
        self.get(key).parse().unwrap_or(0)
    }

    /// The policy that these settings describe: what the project lets memory do unasked. It denies the
    /// text model; only `learn` may call it, and raises the policy by [`llm_access`](Self::llm_access).
    pub(crate) fn project_policy(&self) -> ProjectPolicy {
        let level = TrustLevel::parse(self.get("trust.level")).unwrap_or(TrustLevel::Cautious);
        let memory = match self.get("memory.enabled") {
            "false" => MemoryState::Disabled,
            _ => MemoryState::Enabled,
        };
        let injection = InjectionPolicy { level, on_trial: self.get("trial.enabled") == "true" };
        ProjectPolicy { memory, llm: LlmAccess::Denied, injection }
    }

    /// The MCP servers whose results do not taint a session.
    pub(crate) fn trusted_servers(&self) -> Vec<String> {
        let names = self.get("trust.mcp_servers").split(',');
        names.filter(|it| !it.is_empty()).map(str::to_owned).collect()
    }

    /// Permission to call the text model while learning.
    pub(crate) fn llm_access(&self) -> LlmAccess {
        match self.get("learn.ask_model") {
            "true" => LlmAccess::Allowed,
            _ => LlmAccess::Denied,
        }
    }

    /// The reaction to a text with a secret: refuse it, or replace the secret by a placeholder.
    pub(crate) fn on_secret(&self) -> OnSecret {
        if self.get("remember.on_secret") == "redact" { OnSecret::Redact } else { OnSecret::Refuse }
    }

    /// The reaction to a text that resembles a memory: merge or supersede, or keep both.
    pub(crate) fn on_duplicate(&self) -> OnDuplicate {
        if self.get("remember.on_duplicate") == "keep" {
            OnDuplicate::Keep
        } else {
            OnDuplicate::Resolve
        }
    }

    /// The encryption key, from the configured location.
    pub(crate) fn encryption_key(
        &self,
        environment: &Environment,
    ) -> anyhow::Result<Option<EncryptionKey>> {
        let secret = match self.get("encryption.key") {
            "file" => {
                let path = environment.key_file();
                fs::read_to_string(&path).map_err(|it| {
                    let hint = "restore your copy of the key; without it neither the data nor the backups can be read";
                    environment_failure(
                        format!("the key file `{}` cannot be read: {it}", path.display()),
                        hint,
                    )
                })?
            }
            "keychain" => keychain::read(&keychain::KeychainEntry::Data(&environment.data))
                .ok_or_else(|| {
                    let hint = "unlock the keychain of your desktop session and try again";
                    environment_failure("the keychain does not return the key".to_owned(), hint)
                })?,
            "passphrase" => environment::passphrase_variable().ok_or_else(|| {
                usage_error(
                    "the data is encrypted with a passphrase",
                    "give it in WAYLORE_PASSPHRASE",
                )
            })?,
            // `none`: the data is not encrypted.
            _ => return Ok(None),
        };
        Ok(Some(EncryptionKey::new(&secret).map_err(engine::Error::from)?))
    }
}

fn environment_failure(message: String, hint: &str) -> anyhow::Error {
    CliFailure { kind: FailureKind::Environment, message, hint: Some(hint.to_owned()) }.into()
}

/// Sets a value if it is valid.
fn set_checked(
    effective: &mut EffectiveSetting,
    value: &str,
    origin: SettingOrigin,
) -> Result<(), String> {
    check_setting(effective.setting.key, value)?;
    value.clone_into(&mut effective.value);
    effective.origin = origin;
    Ok(())
}

fn config_error(path: &Path, problem: String) -> anyhow::Error {
    usage_error(
        format!("`{}`: {problem}", path.display()),
        "correct the file; `waylore config` lists the settings",
    )
}

/// The user's file; empty if there is none.
fn read_file(path: &Path) -> anyhow::Result<DocumentMut> {
    match fs::read_to_string(path) {
        Ok(text) => {
            text.parse().map_err(|it: toml_edit::TomlError| config_error(path, it.to_string()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(DocumentMut::new()),
        Err(error) => Err(CliFailure {
            kind: FailureKind::Environment,
            message: format!("`{}` cannot be read: {error}", path.display()),
            hint: Some("check who owns it, or set WAYLORE_HOME to a folder of yours".to_owned()),
        }
        .into()),
    }
}

/// The value of a key in the file: `list.limit` is `limit` in the section `[list]`.
fn find_value(file: &DocumentMut, key: &str) -> Option<String> {
    let (section, name) = key.split_once('.')?;
    let value = file.get(section)?.get(name)?.as_value()?;
    // A string without its quotes, anything else as written. White space and a comment around a value
    // (its decoration) are not part of it.
    let as_written = || value.clone().decorated("", "").to_string();
    Some(value.as_str().map_or_else(as_written, str::to_owned))
}

/// Keys of the file that are no settings.
fn unknown_keys(file: &DocumentMut) -> Vec<String> {
    let mut res = Vec::new();
    // `[types]` declares memory types, see `custom_types`.
    for (section, item) in file.iter().filter(|(section, _)| *section != "types") {
        match item.as_table_like() {
            Some(table) => res.extend(table.iter().map(|(name, _)| format!("{section}.{name}"))),
            // A value outside of any section.
            None => res.push(section.to_owned()),
        }
    }
    res.retain(|it| !SETTINGS.iter().any(|known| known.key == it));
    res
}

/// Custom memory types: `[types."custom:acme.ritual"]` with a label and, if their memories lose confidence
/// without use, a half-life.
fn custom_types(file: &DocumentMut) -> Result<Vec<CustomType>, String> {
    let mut res = Vec::new();
    let Some(types) = file.get("types").and_then(|it| it.as_table_like()) else { return Ok(res) };
    for (slug, item) in types.iter() {
        if !matches!(MemoryType::from_slug(slug), Ok(MemoryType::Custom(_))) {
            return Err(format!(
                "a declared type is called `custom:<plugin>.<name>`, not `{slug}`"
            ));
        }
        let Some(label) = item.get("label").and_then(|it| it.as_str()) else {
            return Err(format!("the type `{slug}` needs a `label`"));
        };
        let half_life_days = match item.get("half_life_days") {
            None => None,
            Some(item) => {
                let days = item.as_integer().and_then(|it| u32::try_from(it).ok());
                if days.is_none() {
                    return Err(format!(
                        "`half_life_days` of the type `{slug}` is a whole number of days"
                    ));
                }
                days
            }
        };
        res.push(CustomType { slug: slug.to_owned(), label: label.to_owned(), half_life_days });
    }
    Ok(res)
}

/// Writes one value into the user's file, or removes it, and preserves the rest, including comments.
pub(crate) fn write_setting(path: &Path, key: &str, value: Option<&str>) -> anyhow::Result<()> {
    let mut file = read_file(path)?;
    let (section, name) = key.split_once('.').expect("keys of the table have a section");
    if file.get(section).is_some_and(|it| !it.is_table_like()) {
        return Err(config_error(path, format!("`{section}` is a value, but should be a section")));
    }
    match value {
        Some(value) => {
            file[section].or_insert(toml_edit::table())[name] =
                toml_edit::value(to_toml_value(value));
        }
        None => {
            if let Some(table) = file.get_mut(section).and_then(|it| it.as_table_like_mut()) {
                table.remove(name);
            }
        }
    }
    Ok(engine::write_private_file(path, file.to_string().as_bytes())
        .map_err(engine::Error::from)?)
}

/// A value in the type it looks like, so that `7` is written without quotes.
fn to_toml_value(value: &str) -> toml_edit::Value {
    if let Ok(number) = value.parse::<i64>() {
        number.into()
    } else if let Ok(flag) = value.parse::<bool>() {
        flag.into()
    } else {
        value.into()
    }
}
