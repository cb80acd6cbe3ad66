//! `waylore config`: shows and changes settings, encrypts data, stores provider keys and tests providers.

mod key;
mod test_provider;

use engine::{SettingScope, check_setting};
use serde_json::json;

use super::CommandContext;
use super::shared::report_start_everywhere;
use crate::config::{self, EffectiveSetting, SettingOrigin, Settings};
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
    action: Option<ConfigAction>,
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
        matches!(self.action, Some(ConfigAction::Encryption { .. }))
    }
}

pub(crate) async fn run(args: ConfigArgs, mut command: CommandContext<'_>) -> anyhow::Result<u8> {
    for problem in &command.settings.problems {
        command.output.warn(problem);
    }
    match args.action {
        None => show_settings(&command),
        Some(ConfigAction::Get { key }) => print_setting(&key, &command)?,
        Some(ConfigAction::Set { key, value, for_project }) => {
            set_value(&key, Some(&value), for_project, &mut command).await?;
        }
        Some(ConfigAction::Unset { key, for_project }) => {
            set_value(&key, None, for_project, &mut command).await?;
        }
        Some(ConfigAction::Encryption { state }) => change_encryption(state, command)?,
        Some(ConfigAction::Key { role, remove }) => key::run(role, remove, &command)?,
        Some(ConfigAction::TestProvider { role }) => {
            return test_provider::run(role, &command).await;
        }
    }
    Ok(0)
}

fn print_setting(key: &str, command: &CommandContext<'_>) -> anyhow::Result<()> {
    let Some(effective) = command.settings.values.iter().find(|it| it.setting.key == key) else {
        // Checking an unknown key gives the error with the most similar known one.
        let message = check_setting(key, "").err().unwrap_or_default();
        return Err(usage_error(message, "`waylore config` lists them"));
    };
    if command.output.json {
        let origin = effective.origin.describe_origin();
        let body = json!({ "key": key, "value": effective.value, "origin": origin });
        command.output.print_json("setting", body);
    } else {
        command.output.print_line(&effective.value);
    }
    Ok(())
}

fn show_settings(command: &CommandContext<'_>) {
    let out = command.output;
    let environment = &command.environment;
    if out.json {
        let setting_json = |it: &EffectiveSetting| {
            json!({
                "key": it.setting.key,
                "value": it.value,
                "origin": it.origin.describe_origin(),
                "default": it.setting.default,
                "meaning": it.setting.meaning,
            })
        };
        let body = json!({
            "data": environment.data,
            "file": environment.config_file(),
            "settings": command.settings.values.iter().map(setting_json).collect::<Vec<_>>(),
            "problems": command.settings.problems,
        });
        out.print_json("config", body);
        return;
    }
    out.print_line(&format!("{DIM_STYLE}data{DIM_STYLE:#}  {}", environment.data.display()));
    out.print_line(&format!(
        "{DIM_STYLE}file{DIM_STYLE:#}  {}",
        environment.config_file().display()
    ));
    let width = engine::SETTINGS.iter().map(|it| it.key.len()).max().unwrap_or_default();
    for it in &command.settings.values {
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
    for it in &command.settings.types {
        out.print_line(&format!(
            "{BOLD_STYLE}{:<width$}{BOLD_STYLE:#} custom type, shown as {}",
            it.slug, it.label
        ));
    }
}

/// Sets or, without a value, unsets a setting.
async fn set_value(
    key: &str,
    value: Option<&str>,
    for_project: bool,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<()> {
    // Unsetting checks the key alone: its default is always a valid value.
    let known = engine::SETTINGS.iter().find(|it| it.key == key);
    let value_or_default = value.or_else(|| known.map(|it| it.default)).unwrap_or("");
    let setting = check_setting(key, value_or_default)
        .map_err(|it| usage_error(it, "`waylore config` lists the settings"))?;
    // The key setting and the data must change together.
    if key == "encryption.key" {
        return Err(usage_error(
            "changing that alone would make the data unreadable",
            "`waylore config encryption on`, `passphrase` or `off` converts the data too",
        ));
    }
    if for_project {
        // For example the location of the encryption key: one for all databases.
        if setting.scope == SettingScope::User {
            return Err(usage_error(
                format!("`{key}` cannot differ between projects"),
                "leave out --for-project",
            ));
        }
        command.project.set_setting(key, value).await?;
    } else {
        config::write_setting(&command.environment.config_file(), key, value)?;
    }
    let is_overruled = environment::setting_variable(key).is_some();
    if is_overruled {
        command
            .output
            .warn(&format!("{} is set and takes precedence", environment::variable_name(key)));
    }
    if command.output.json {
        let body = json!({ "key": key, "value": value, "for_project": for_project });
        command.output.print_json("set", body);
    }
    let place = if for_project { "for this project" } else { "in your configuration file" };
    command.output.say(&match value {
        Some(value) => format!("`{key}` is now `{value}` {place}"),
        None => format!("`{key}` is no longer set {place}"),
    });
    report_provider_change(key, value, command)
}

/// Reports consequences of a changed provider: chosen model, missing settings, missing vectors. Does
/// nothing for other settings.
fn report_provider_change(
    key: &str,
    value: Option<&str>,
    command: &CommandContext<'_>,
) -> anyhow::Result<()> {
    let Some(role) = ModelRole::ALL.into_iter().find(|it| key == format!("{}.provider", it.slug()))
    else {
        return Ok(());
    };
    let (out, environment) = (command.output, &command.environment);
    let settings = Settings::load_tolerantly(environment);
    let plan = match models::plan_models(&settings) {
        Ok(plan) => plan,
        // Not an error yet: the user may be about to set the rest.
        Err(error) => {
            out.say(&error.to_string());
            if let Some(hint) = error.downcast_ref::<CliFailure>().and_then(|it| it.hint.as_ref()) {
                out.hint(hint);
            }
            return Ok(());
        }
    };
    if let Some(model) = models::unfixed_model(&plan).filter(|_| role == ModelRole::Embeddings) {
        config::write_setting(&environment.config_file(), "embeddings.model", Some(&model))?;
        out.say(&format!(
            "`embeddings.model` is now `{model}`, the best available model that fits"
        ));
    }
    // These may belong to the provider that was set before.
    for name in ["url", "model", "dimensions"] {
        let key = format!("{}.{name}", role.slug());
        let remaining = settings.values.iter().find(|it| it.setting.key == key);
        if let Some(remaining) = remaining.filter(|it| !it.value.is_empty() && value.is_some()) {
            out.hint(&format!(
                "`{key}` is still `{}`; `config unset {key}`, if that was for another provider",
                remaining.value
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
fn change_encryption(state: EncryptionSwitch, command: CommandContext<'_>) -> anyhow::Result<()> {
    let current = command.settings.get("encryption.key").to_owned();
    // Check before creating a key.
    reject_second_key(&current, state)?;
    if !engine::ENCRYPTION_AVAILABLE {
        return Err(engine::Error::from(engine::StoreError::EncryptionUnavailable).into());
    }
    let doing = if state == EncryptionSwitch::Off { "decrypting" } else { "encrypting" };
    report_start_everywhere(doing, &command);
    let CommandContext { environment, project, output, .. } = command;
    let (location, secret) = obtain_key(state, &current, &environment)?;
    let key = secret
        .map(|it| engine::EncryptionKey::new(&it))
        .transpose()
        .map_err(engine::Error::from)?;
    if key.is_some() {
        config::write_setting(&environment.config_file(), "encryption.key", Some(location))?;
    }
    let n_converted = project.change_encryption(key.as_ref())?;
    if key.is_none() {
        config::write_setting(&environment.config_file(), "encryption.key", None)?;
    }
    if output.json {
        output.print_json("encryption", json!({ "key": location, "converted": n_converted }));
        return Ok(());
    }
    let verb = if key.is_some() { "encrypted" } else { "decrypted" };
    output.print_line(&format!(
        "{verb} {} with their backups",
        format_count(n_converted, "database", "databases")
    ));
    match location {
        "file" => output.hint(&format!(
            "the key is in `{}`: without it the data cannot be read, so keep a copy elsewhere",
            environment.key_file().display()
        )),
        "keychain" => {
            output.hint(
                "the key is in the keychain of this system: without it the data cannot be read",
            );
        }
        // The user has the passphrase, or nothing is encrypted.
        _ => {}
    }
    Ok(())
}

/// The location of the wanted key, as the value of `encryption.key`, and the key itself. A key that does
/// not exist yet is created.
fn obtain_key(
    state: EncryptionSwitch,
    current: &str,
    environment: &Environment,
) -> anyhow::Result<(&'static str, Option<String>)> {
    Ok(match state {
        EncryptionSwitch::Off => ("none", None),
        EncryptionSwitch::Passphrase => {
            let missing =
                || usage_error("no passphrase was given", "give it in WAYLORE_PASSPHRASE");
            ("passphrase", Some(environment::passphrase_variable().ok_or_else(missing)?))
        }
        EncryptionSwitch::File => ("file", Some(key_from_file(environment)?)),
        EncryptionSwitch::Keychain => {
            let unavailable = || {
                usage_error(
                    "no keychain is available",
                    "unlock it, or store the key in a file: waylore config encryption file",
                )
            };
            ("keychain", Some(key_from_keychain(environment).ok_or_else(unavailable)?))
        }
        // Data that is encrypted already keeps its key.
        EncryptionSwitch::On if current == "file" => ("file", Some(key_from_file(environment)?)),
        EncryptionSwitch::On => match key_from_keychain(environment) {
            Some(secret) => ("keychain", Some(secret)),
            None => ("file", Some(key_from_file(environment)?)),
        },
    })
}

/// Rejects a second key for data that is encrypted with another one.
fn reject_second_key(current: &str, wanted: EncryptionSwitch) -> anyhow::Result<()> {
    let is_same_key = match wanted {
        EncryptionSwitch::Off => true,
        EncryptionSwitch::On => current != "passphrase",
        EncryptionSwitch::Keychain => current == "keychain",
        EncryptionSwitch::File => current == "file",
        EncryptionSwitch::Passphrase => current == "passphrase",
    };
    if is_same_key || current == "none" {
        return Ok(());
    }
    let how = match current {
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
fn key_from_file(environment: &Environment) -> anyhow::Result<String> {
    let path = environment.key_file();
    if !path.exists() {
        engine::write_private_file(&path, environment::random_key().as_bytes())
            .map_err(engine::Error::from)?;
    }
    Ok(std::fs::read_to_string(&path)?)
}

/// The key in the keychain, created if absent; `None` without a usable keychain.
fn key_from_keychain(environment: &Environment) -> Option<String> {
    let entry = keychain::KeychainEntry::Data(&environment.data);
    keychain::read(&entry).or_else(|| {
        let fresh = environment::random_key();
        keychain::write(&entry, &fresh).then_some(fresh)
    })
}
