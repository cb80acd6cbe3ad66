//! `waylore config`.

mod key;
mod test_provider;

use engine::{SettingScope, check_setting};
use serde_json::json;

use super::CommandSession;
use super::shared::begin_everywhere;
use crate::config::{self, SettingOrigin, Settings};
use crate::environment::{self, Environment};
use crate::failure::{CliFailure, usage_error};
use crate::keychain;
use crate::models::{self, ModelRole};
use crate::output::{BOLD_STYLE, DIM_STYLE, format_count};

/// Show all settings with their values and origins, or change one
///
/// Precedence: environment, project, your file, default.
#[derive(clap::Args, Debug)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    what: Option<ConfigAction>,
}

#[derive(clap::Subcommand, Debug)]
enum ConfigAction {
    /// Print one value
    Get {
        /// Setting
        key: String,
    },
    /// Set a value in your configuration file, or for this project
    Set {
        /// Setting
        key: String,
        /// Value
        value: String,
        /// For this project only
        #[arg(long = "for-project")]
        for_project: bool,
    },
    /// Unset a value
    Unset {
        /// Setting
        key: String,
        /// For this project only
        #[arg(long = "for-project")]
        for_project: bool,
    },
    /// Encrypt or decrypt all data
    Encryption {
        /// Location of the key, or `off`
        state: EncryptionSwitch,
    },
    /// Store the key of a provider in the keychain of the system; read from standard input
    ///
    /// Bound to the configured address and sent to no other. A key in the environment takes
    /// precedence.
    Key {
        /// Role of the provider
        role: ModelRole,
        /// Remove the key
        #[arg(long)]
        remove: bool,
    },
    /// Test the configured providers: reachability, latency, quality
    TestProvider {
        /// Only this role
        role: Option<ModelRole>,
    },
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum EncryptionSwitch {
    /// Key in the keychain of the system, or in a file if there is none
    On,
    /// Key in the keychain of the system
    Keychain,
    /// Key in a private file beside the configuration
    File,
    /// Passphrase given in WAYLORE_PASSPHRASE each time
    Passphrase,
    /// Decrypt all data
    Off,
}

impl ConfigArgs {
    /// True if the command encrypts or decrypts data.
    pub(crate) const fn changes_encryption(&self) -> bool {
        matches!(self.what, Some(ConfigAction::Encryption { .. }))
    }
}

pub(crate) async fn run(args: ConfigArgs, mut session: CommandSession<'_>) -> anyhow::Result<u8> {
    for problem in &session.settings.problems {
        session.output.warn(problem);
    }
    match args.what {
        None => show_settings(&session),
        Some(ConfigAction::Get { key }) => {
            let value = session.settings.values.iter().find(|it| it.setting.key == key);
            let value = value.ok_or_else(|| {
                usage_error(
                    check_setting(&key, "").err().unwrap_or_default(),
                    "`waylore config` lists them",
                )
            })?;
            if session.output.json {
                session.output.data_json(
                    "setting",
                    json!({ "key": key, "value": value.value, "origin": value.origin.describe_origin() }),
                );
            } else {
                session.output.print_line(&value.value);
            }
        }
        Some(ConfigAction::Set { key, value, for_project }) => {
            set_value(&key, Some(&value), for_project, &mut session).await?;
        }
        Some(ConfigAction::Unset { key, for_project }) => {
            set_value(&key, None, for_project, &mut session).await?;
        }
        Some(ConfigAction::Encryption { state }) => change_encryption(state, session)?,
        Some(ConfigAction::Key { role, remove }) => key::run(role, remove, &session)?,
        Some(ConfigAction::TestProvider { role }) => {
            return test_provider::run(role, &session).await;
        }
    }
    Ok(0)
}

fn show_settings(session: &CommandSession<'_>) {
    let out = session.output;
    let environment = &session.environment;
    if out.json {
        let values: Vec<_> = session.settings.values.iter().map(|it| {
            json!({ "key": it.setting.key, "value": it.value, "origin": it.origin.describe_origin(), "default": it.setting.default, "meaning": it.setting.meaning })
        }).collect();
        out.data_json("config", json!({ "data": environment.data, "file": environment.config_file(), "settings": values, "problems": session.settings.problems }));
        return;
    }
    out.print_line(&format!("{DIM_STYLE}data{DIM_STYLE:#}  {}", environment.data.display()));
    out.print_line(&format!(
        "{DIM_STYLE}file{DIM_STYLE:#}  {}",
        environment.config_file().display()
    ));
    let width = engine::SETTINGS.iter().map(|it| it.key.len()).max().unwrap_or_default();
    for it in &session.settings.values {
        let origin = if it.origin == SettingOrigin::Default {
            String::new()
        } else {
            format!(" {DIM_STYLE}({}){DIM_STYLE:#}", it.origin.describe_origin())
        };
        let value = if it.value.is_empty() { "(not set)" } else { &it.value };
        out.print_line(&format!(
            "{BOLD_STYLE}{:<width$}{BOLD_STYLE:#} {value}{origin}",
            it.setting.key
        ));
        out.print_line(&format!("{:<width$} {DIM_STYLE}{}{DIM_STYLE:#}", "", it.setting.meaning));
    }
    for it in &session.settings.types {
        out.print_line(&format!(
            "{BOLD_STYLE}{:<width$}{BOLD_STYLE:#} custom type, shown as {}",
            it.slug, it.label
        ));
    }
}

async fn set_value(
    key: &str,
    value: Option<&str>,
    for_project: bool,
    session: &mut CommandSession<'_>,
) -> anyhow::Result<()> {
    let known = engine::SETTINGS.iter().find(|it| it.key == key);
    let value_or_default = value.or_else(|| known.map(|it| it.default)).unwrap_or("");
    let setting = check_setting(key, value_or_default)
        .map_err(|it| usage_error(it, "`waylore config` lists the settings"))?;
    if key == "encryption.key" {
        return Err(usage_error(
            "changing that alone would make the data unreadable",
            "`waylore config encryption on`, `passphrase` or `off` converts the data too",
        ));
    }
    if for_project {
        if setting.scope == SettingScope::User {
            return Err(usage_error(
                format!("`{key}` cannot differ between projects"),
                "leave out --for-project",
            ));
        }
        session.project.set_setting(key, value).await?;
    } else {
        config::write_setting(&session.environment.config_file(), key, value)?;
    }
    let overruled = environment::setting_variable(key).is_some();
    if overruled {
        session
            .output
            .warn(&format!("{} is set and takes precedence", environment::variable_name(key)));
    }
    if session.output.json {
        let body = json!({ "key": key, "value": value, "for_project": for_project });
        session.output.data_json("set", body);
    }
    let place = if for_project { "for this project" } else { "in your configuration file" };
    session.output.say(&match value {
        Some(value) => format!("`{key}` is now `{value}` {place}"),
        None => format!("`{key}` is no longer set {place}"),
    });
    after_provider(key, value, session)
}

/// Reports consequences of a changed provider: chosen model, missing settings, missing vectors.
fn after_provider(
    key: &str,
    value: Option<&str>,
    session: &CommandSession<'_>,
) -> anyhow::Result<()> {
    let Some(role) = ModelRole::ALL.into_iter().find(|it| key == format!("{}.provider", it.slug()))
    else {
        return Ok(());
    };
    let (out, environment) = (session.output, &session.environment);
    let settings = Settings::load_anyway(environment);
    let plan = match models::plan_models(&settings) {
        Ok(plan) => plan,
        Err(error) => {
            out.say(&error.to_string());
            if let Some(hint) = error.downcast_ref::<CliFailure>().and_then(|it| it.hint.as_ref()) {
                out.hint(hint);
            }
            return Ok(());
        }
    };
    if let Some(model) = models::open_choice(&plan).filter(|_| role == ModelRole::Embeddings) {
        config::write_setting(&environment.config_file(), "embeddings.model", Some(&model))?;
        out.say(&format!(
            "`embeddings.model` is now `{model}`, the best available model that fits"
        ));
    }
    for what in ["url", "model", "dimensions"] {
        let name = format!("{}.{what}", role.slug());
        let left = settings.values.iter().find(|it| it.setting.key == name);
        if let Some(left) = left.filter(|it| !it.value.is_empty() && value.is_some()) {
            out.hint(&format!(
                "`{name}` is still `{}`; `config unset {name}`, if that was for another provider",
                left.value
            ));
        }
    }
    out.hint("`waylore config test-provider` tests it");
    if role == ModelRole::Embeddings {
        out.hint("`waylore embed` computes the vectors of the new model");
    }
    Ok(())
}

/// Encrypts or decrypts all data. An unencrypted file opens with a key as well, so the setting is
/// written first when encrypting and last when decrypting: an interrupted run leaves readable data
/// and can be repeated.
fn change_encryption(state: EncryptionSwitch, session: CommandSession<'_>) -> anyhow::Result<()> {
    let now = session.settings.get("encryption.key").to_owned();
    // Check before creating a key.
    refuse_second_key(&now, state)?;
    if !engine::ENCRYPTION_AVAILABLE {
        return Err(engine::Error::from(engine::StoreError::EncryptionUnavailable).into());
    }
    let doing = if state == EncryptionSwitch::Off { "decrypting" } else { "encrypting" };
    begin_everywhere(doing, &session);
    let CommandSession { environment, project: engine, output, .. } = session;
    let (wanted, secret) = match state {
        EncryptionSwitch::Off => ("none", None),
        EncryptionSwitch::Passphrase => {
            let none = || usage_error("no passphrase was given", "give it in WAYLORE_PASSPHRASE");
            ("passphrase", Some(environment::passphrase_variable().ok_or_else(none)?))
        }
        EncryptionSwitch::File => ("file", Some(in_file(&environment)?)),
        EncryptionSwitch::Keychain => {
            let none = || {
                usage_error(
                    "no keychain is available",
                    "unlock it, or store the key in a file: waylore config encryption file",
                )
            };
            ("keychain", Some(in_keychain(&environment).ok_or_else(none)?))
        }
        EncryptionSwitch::On if now == "file" => ("file", Some(in_file(&environment)?)),
        EncryptionSwitch::On => match in_keychain(&environment) {
            Some(secret) => ("keychain", Some(secret)),
            None => ("file", Some(in_file(&environment)?)),
        },
    };
    let key = secret
        .map(|it| engine::EncryptionKey::new(&it))
        .transpose()
        .map_err(engine::Error::from)?;
    if key.is_some() {
        config::write_setting(&environment.config_file(), "encryption.key", Some(wanted))?;
    }
    let converted = engine.change_encryption(key.as_ref())?;
    if key.is_none() {
        config::write_setting(&environment.config_file(), "encryption.key", None)?;
    }
    if output.json {
        output.data_json("encryption", json!({ "key": wanted, "converted": converted }));
        return Ok(());
    }
    let verb = if key.is_some() { "encrypted" } else { "decrypted" };
    output.print_line(&format!(
        "{verb} {} with their backups",
        format_count(converted, "database", "databases")
    ));
    match wanted {
        "file" => output.hint(&format!(
            "the key is in `{}`: without it the data cannot be read, so keep a copy elsewhere",
            environment.key_file().display()
        )),
        "keychain" => {
            output.hint(
                "the key is in the keychain of this system: without it the data cannot be read",
            );
        }
        _ => {}
    }
    Ok(())
}

/// Rejects removing the key of encrypted data.
fn refuse_second_key(now: &str, wanted: EncryptionSwitch) -> anyhow::Result<()> {
    let same = match wanted {
        EncryptionSwitch::Off => true,
        EncryptionSwitch::On => now != "passphrase",
        EncryptionSwitch::Keychain => now == "keychain",
        EncryptionSwitch::File => now == "file",
        EncryptionSwitch::Passphrase => now == "passphrase",
    };
    if same || now == "none" {
        return Ok(());
    }
    let how = match now {
        "file" => "with the key in a file",
        "keychain" => "with the key in the keychain",
        _ => "with a passphrase",
    };
    Err(usage_error(
        format!("the data is encrypted already, {how}"),
        "turn that off first: waylore config encryption off",
    ))
}

/// The key in the key file, created if absent.
fn in_file(environment: &Environment) -> anyhow::Result<String> {
    let path = environment.key_file();
    if !path.exists() {
        engine::write_private_file(&path, environment::fresh_key().as_bytes())
            .map_err(engine::Error::from)?;
    }
    Ok(std::fs::read_to_string(&path)?)
}

/// The key in the keychain, created if absent; `None` without a usable keychain.
fn in_keychain(environment: &Environment) -> Option<String> {
    let entry = keychain::KeychainEntry::Data(&environment.data);
    keychain::read(&entry).or_else(|| {
        let fresh = environment::fresh_key();
        keychain::write(&entry, &fresh).then_some(fresh)
    })
}
