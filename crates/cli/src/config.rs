//! Settings: typed and merged, each with the origin of its value.
//! Precedence: flag, environment, project, user file, default.

use std::fs;
use std::path::Path;

use engine::{
    EncryptionKey, InjectionPolicy, LlmAccess, MemoryState, OnDuplicate, OnSecret, ProjectPolicy,
    SETTINGS, SettingSpec, check_setting,
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
    File,
    Project,
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
    pub(crate) types: Vec<CustomType>,
    /// Invalid entries that were skipped; empty unless loaded tolerantly.
    pub(crate) problems: Vec<String>,
}

impl Settings {
    /// Loads the settings of the user.
    pub(crate) fn load(environment: &Environment) -> anyhow::Result<Self> {
        let (res, problems) = Self::read(environment);
        problems.into_iter().next().map_or(Ok(res), Err)
    }

    /// Loads the settings tolerantly, for commands that show or correct them: invalid entries become
    /// problems.
    pub(crate) fn load_anyway(environment: &Environment) -> Self {
        let (res, problems) = Self::read(environment);
        Self { problems: problems.iter().map(ToString::to_string).collect(), ..res }
    }

    fn read(environment: &Environment) -> (Self, Vec<anyhow::Error>) {
        let path = environment.config_file();
        let mut problems = Vec::new();
        let file = read(&path).unwrap_or_else(|it| {
            problems.push(it);
            DocumentMut::new()
        });
        let mut values = Vec::new();
        for setting in SETTINGS {
            let mut res = EffectiveSetting {
                setting,
                value: setting.default.to_owned(),
                origin: SettingOrigin::Default,
            };
            if let Some(value) = find_value(&file, setting.key) {
                let accepted = set_checked(&mut res, &value, SettingOrigin::File);
                problems.extend(accepted.err().map(|it| config_error(&path, it)));
            }
            let name = environment::variable_name(setting.key);
            if let Some(value) = environment::setting_variable(setting.key) {
                let accepted =
                    set_checked(&mut res, &value, SettingOrigin::Environment(name.clone()));
                let wrong = |it| usage_error(format!("{name}: {it}"), "unset it or correct it");
                problems.extend(accepted.err().map(wrong));
            }
            values.push(res);
        }
        for key in unknown_keys(&file) {
            problems.push(config_error(&path, check_setting(&key, "").err().unwrap_or_default()));
        }
        let types = custom_types(&file).unwrap_or_else(|it| {
            problems.push(config_error(&path, it));
            Vec::new()
        });
        (Self { values, types, problems: Vec::new() }, problems)
    }

    /// Adds the settings of a project, below the environment.
    pub(crate) fn with_project(mut self, stored: &[(String, String)]) -> Self {
        for value in &mut self.values {
            let said = stored.iter().find(|it| it.0 == value.setting.key);
            if let Some((_, said)) = said
                && !matches!(value.origin, SettingOrigin::Environment(_))
                && check_setting(value.setting.key, said).is_ok()
            {
                value.value.clone_from(said);
                value.origin = SettingOrigin::Project;
            }
        }
        self
    }

    pub(crate) fn get(&self, key: &str) -> &str {
        let found = self.values.iter().find(|it| it.setting.key == key);
        &found.expect("every key asked for is in the table").value
    }

    pub(crate) fn get_number(&self, key: &str) -> u32 {
        self.get(key).parse().unwrap_or(0)
    }

    /// The policy that these settings describe. Only `learn` may call the text model; it allows
    /// that itself, by [`llm_access`](Self::llm_access).
    pub(crate) fn project_policy(&self) -> ProjectPolicy {
        let level = TrustLevel::parse(self.get("trust.level")).unwrap_or(TrustLevel::Cautious);
        let memory = match self.get("memory.enabled") {
            "false" => MemoryState::Disabled,
            _ => MemoryState::Enabled,
        };
        let injection = InjectionPolicy { level, on_trial: self.get("trial.enabled") == "true" };
        ProjectPolicy { memory, llm: LlmAccess::Denied, injection }
    }

    pub(crate) fn llm_access(&self) -> LlmAccess {
        match self.get("learn.ask_model") {
            "true" => LlmAccess::Allowed,
            _ => LlmAccess::Denied,
        }
    }

    pub(crate) fn on_secret(&self) -> OnSecret {
        if self.get("remember.on_secret") == "redact" { OnSecret::Redact } else { OnSecret::Refuse }
    }

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
            _ => return Ok(None),
        };
        Ok(Some(EncryptionKey::new(&secret).map_err(engine::Error::from)?))
    }
}

fn environment_failure(message: String, hint: &str) -> anyhow::Error {
    CliFailure { kind: FailureKind::Environment, message, hint: Some(hint.to_owned()) }.into()
}

fn set_checked(
    into: &mut EffectiveSetting,
    value: &str,
    origin: SettingOrigin,
) -> Result<(), String> {
    check_setting(into.setting.key, value)?;
    value.clone_into(&mut into.value);
    into.origin = origin;
    Ok(())
}

fn config_error(path: &Path, problem: String) -> anyhow::Error {
    usage_error(
        format!("`{}`: {problem}", path.display()),
        "correct the file; `waylore config` lists the settings",
    )
}

fn read(path: &Path) -> anyhow::Result<DocumentMut> {
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

/// `list.limit` is `limit` in the section `[list]`.
fn find_value(file: &DocumentMut, key: &str) -> Option<String> {
    let (section, name) = key.split_once('.')?;
    let value = file.get(section)?.get(name)?.as_value()?;
    // Without its decoration: a comment is not part of the value.
    let bare = || value.clone().decorated("", "").to_string();
    Some(value.as_str().map_or_else(bare, str::to_owned))
}

/// Unknown keys of the file.
fn unknown_keys(file: &DocumentMut) -> Vec<String> {
    let mut res = Vec::new();
    for (section, item) in file.iter().filter(|it| it.0 != "types") {
        match item.as_table_like() {
            Some(table) => res.extend(table.iter().map(|it| format!("{section}.{}", it.0))),
            None => res.push(section.to_owned()),
        }
    }
    res.retain(|it| !SETTINGS.iter().any(|known| known.key == it));
    res
}

/// Custom memory types: `[types."custom:acme.ritual"]` with a label and a half-life.
fn custom_types(file: &DocumentMut) -> Result<Vec<CustomType>, String> {
    let mut res = Vec::new();
    for (slug, item) in
        file.get("types").and_then(|it| it.as_table_like()).into_iter().flat_map(|it| it.iter())
    {
        if !matches!(MemoryType::from_slug(slug), Ok(MemoryType::Custom(_))) {
            return Err(format!(
                "a declared type is called `custom:<plugin>.<name>`, not `{slug}`"
            ));
        }
        let label = item.get("label").and_then(|it| it.as_str());
        let label = label.ok_or_else(|| format!("the type `{slug}` needs a `label`"))?.to_owned();
        let half_life_days = match item.get("half_life_days").map(toml_edit::Item::as_integer) {
            None => None,
            Some(days) => Some(days.and_then(|it| u32::try_from(it).ok()).ok_or_else(|| {
                format!("`half_life_days` of the type `{slug}` is a whole number of days")
            })?),
        };
        res.push(CustomType { slug: slug.to_owned(), label, half_life_days });
    }
    Ok(res)
}

/// Writes one value into the user's file and preserves the rest, including comments.
pub(crate) fn write_setting(path: &Path, key: &str, value: Option<&str>) -> anyhow::Result<()> {
    let mut file = read(path)?;
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

fn to_toml_value(value: &str) -> toml_edit::Value {
    match (value.parse::<i64>(), value.parse::<bool>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(flag)) => flag.into(),
        _ => value.into(),
    }
}
