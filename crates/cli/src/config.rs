//! Settings: typed, merged, resolved, each with where its value came from.
//! Flag before environment, before project, before the person's file, before the default.

use std::fs;
use std::path::Path;

use engine::{Key, Manners, OnDuplicate, OnSecret, SETTINGS, Setting, check_setting};
use model::{CustomType, MemoryType, TrustLevel};
use toml_edit::DocumentMut;

use crate::environment::{self, Environment};
use crate::failure::{Failure, Kind, usage};
use crate::keychain;

/// Where a value came from, weakest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File,
    Project,
    Environment(String),
}

impl Origin {
    pub(crate) fn reading(&self) -> String {
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
pub(crate) struct Effective {
    pub(crate) setting: &'static Setting,
    pub(crate) value: String,
    pub(crate) origin: Origin,
}

/// Everything that is configured.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) values: Vec<Effective>,
    pub(crate) types: Vec<CustomType>,
    /// What was passed over because it cannot be understood; empty unless read with `anyway`.
    pub(crate) problems: Vec<String>,
}

impl Settings {
    /// The settings before any project is known.
    pub(crate) fn load(environment: &Environment) -> anyhow::Result<Self> {
        let (res, problems) = Self::read(environment);
        problems.into_iter().next().map_or(Ok(res), Err)
    }

    /// The settings for those who come to see or to correct them: what cannot be understood is
    /// passed over and said.
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
            let mut res =
                Effective { setting, value: setting.default.to_owned(), origin: Origin::Default };
            if let Some(value) = lookup(&file, setting.key) {
                let accepted = accept(&mut res, &value, Origin::File);
                problems.extend(accepted.err().map(|it| wrong(&path, it)));
            }
            let name = environment::variable(setting.key);
            if let Some(value) = environment::setting(setting.key) {
                let accepted = accept(&mut res, &value, Origin::Environment(name.clone()));
                let wrong = |it| usage(format!("{name}: {it}"), "unset it or correct it");
                problems.extend(accepted.err().map(wrong));
            }
            values.push(res);
        }
        for key in unknown(&file) {
            problems.push(wrong(&path, check_setting(&key, "").err().unwrap_or_default()));
        }
        let types = types(&file).unwrap_or_else(|it| {
            problems.push(wrong(&path, it));
            Vec::new()
        });
        (Self { values, types, problems: Vec::new() }, problems)
    }

    /// Adds what the project says, below the environment.
    pub(crate) fn with_project(mut self, stored: &[(String, String)]) -> Self {
        for value in &mut self.values {
            let said = stored.iter().find(|it| it.0 == value.setting.key);
            if let Some((_, said)) = said
                && !matches!(value.origin, Origin::Environment(_))
                && check_setting(value.setting.key, said).is_ok()
            {
                value.value.clone_from(said);
                value.origin = Origin::Project;
            }
        }
        self
    }

    pub(crate) fn get(&self, key: &str) -> &str {
        let found = self.values.iter().find(|it| it.setting.key == key);
        &found.expect("every key asked for is in the table").value
    }

    pub(crate) fn number(&self, key: &str) -> u32 {
        self.get(key).parse().unwrap_or(0)
    }

    /// How memory speaks unasked.
    pub(crate) fn manners(&self) -> Manners {
        let level = TrustLevel::parse(self.get("trust.level")).unwrap_or(TrustLevel::Cautious);
        Manners { level, on_trial: self.get("trial.enabled") == "true" }
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

    /// The key of encrypted data, from where the setting says.
    pub(crate) fn key(&self, environment: &Environment) -> anyhow::Result<Option<Key>> {
        let secret = match self.get("encryption.key") {
            "file" => {
                let path = environment.key_file();
                fs::read_to_string(&path).map_err(|it| {
                    let hint = "put the copy you kept there; without the key nothing can be read, backups neither";
                    environment_failure(
                        format!("the key file `{}` cannot be read: {it}", path.display()),
                        hint,
                    )
                })?
            }
            "keychain" => {
                keychain::read(&keychain::Entry::Data(&environment.data)).ok_or_else(|| {
                    let hint = "unlock the keychain of your desktop session and try again";
                    environment_failure("the keychain does not give the key".to_owned(), hint)
                })?
            }
            "passphrase" => environment::passphrase().ok_or_else(|| {
                usage("the data is encrypted with a passphrase", "give it in WAYLORE_PASSPHRASE")
            })?,
            _ => return Ok(None),
        };
        Ok(Some(Key::new(&secret).map_err(engine::Error::from)?))
    }
}

fn environment_failure(message: String, hint: &str) -> anyhow::Error {
    Failure { kind: Kind::Environment, message, hint: Some(hint.to_owned()) }.into()
}

fn accept(into: &mut Effective, value: &str, origin: Origin) -> Result<(), String> {
    check_setting(into.setting.key, value)?;
    value.clone_into(&mut into.value);
    into.origin = origin;
    Ok(())
}

fn wrong(path: &Path, problem: String) -> anyhow::Error {
    usage(
        format!("`{}`: {problem}", path.display()),
        "correct the file; `waylore config` lists the settings",
    )
}

fn read(path: &Path) -> anyhow::Result<DocumentMut> {
    match fs::read_to_string(path) {
        Ok(text) => text.parse().map_err(|it: toml_edit::TomlError| wrong(path, it.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(DocumentMut::new()),
        Err(error) => Err(Failure {
            kind: Kind::Environment,
            message: format!("`{}` cannot be read: {error}", path.display()),
            hint: Some("check who owns it, or set WAYLORE_HOME to a folder of yours".to_owned()),
        }
        .into()),
    }
}

/// `list.limit` is `limit` in the section `[list]`.
fn lookup(file: &DocumentMut, key: &str) -> Option<String> {
    let (section, name) = key.split_once('.')?;
    let value = file.get(section)?.get(name)?.as_value()?;
    // Without what stands around it: a comment is no part of a value.
    let bare = || value.clone().decorated("", "").to_string();
    Some(value.as_str().map_or_else(bare, str::to_owned))
}

/// Keys in the file that no setting has.
fn unknown(file: &DocumentMut) -> Vec<String> {
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

/// Types a methodology declares: `[types."custom:acme.ritual"]` with a label and a half-life.
fn types(file: &DocumentMut) -> Result<Vec<CustomType>, String> {
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

/// Writes one value into the person's file, keeping everything else of it, comments included.
pub(crate) fn write(path: &Path, key: &str, value: Option<&str>) -> anyhow::Result<()> {
    let mut file = read(path)?;
    let (section, name) = key.split_once('.').expect("keys of the table have a section");
    if file.get(section).is_some_and(|it| !it.is_table_like()) {
        return Err(wrong(path, format!("`{section}` is a value, but should be a section")));
    }
    match value {
        Some(value) => {
            file[section].or_insert(toml_edit::table())[name] = toml_edit::value(typed(value));
        }
        None => {
            if let Some(table) = file.get_mut(section).and_then(|it| it.as_table_like_mut()) {
                table.remove(name);
            }
        }
    }
    Ok(engine::write_private(path, file.to_string().as_bytes()).map_err(engine::Error::from)?)
}

fn typed(value: &str) -> toml_edit::Value {
    match (value.parse::<i64>(), value.parse::<bool>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(flag)) => flag.into(),
        _ => value.into(),
    }
}
