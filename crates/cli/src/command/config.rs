//! `waylore config`: shows and changes settings, encrypts data, stores provider keys and tests providers. The
//! module `crate::config` merges the settings from all sources; this one is the command.
//!
//! A *provider* is an external model that the user configured for a role (embeddings, rerank, text).

mod encryption;
mod key;
mod test_provider;

use engine::{SettingScope, check_setting};
use serde_json::json;

use super::CommandContext;
use crate::config::{self, EffectiveSetting, Settings};
use crate::environment;
use crate::failure::{CliFailure, usage_error};
use crate::models::{self, ModelRole};
use crate::output::{BOLD_STYLE, DIM_STYLE};
use crate::reader::refuse_agent;

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
    ///
    /// Databases, backups, the code graph, and the records of running sessions. Not encrypted: names
    /// and sizes of files, a memory while it is open in an editor, and the copies of host settings that
    /// `waylore disconnect` restores.
    Encryption {
        /// Location of the key, or `off`
        state: encryption::EncryptionSwitch,
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

impl ConfigArgs {
    /// True if the command encrypts or decrypts data.
    pub(crate) const fn changes_encryption(&self) -> bool {
        matches!(self.action, Some(ConfigAction::Encryption { .. }))
    }

    /// True if the command changes anything.
    const fn changes_settings(&self) -> bool {
        match self.action {
            None | Some(ConfigAction::Get { .. } | ConfigAction::TestProvider { .. }) => false,
            Some(
                ConfigAction::Set { .. }
                | ConfigAction::Unset { .. }
                | ConfigAction::Encryption { .. }
                | ConfigAction::Key { .. },
            ) => true,
        }
    }
}

pub(crate) async fn run(args: ConfigArgs, mut command: CommandContext<'_>) -> anyhow::Result<u8> {
    for problem in &command.settings.problems {
        command.output.warn(problem);
    }
    if args.changes_settings() {
        refuse_agent("settings are the user's", "the user can run `waylore config` in a terminal")?;
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
        Some(ConfigAction::Encryption { state }) => encryption::change_encryption(state, command)?,
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
    let hang = width + 3;
    let mut last_group = "";
    for it in &command.settings.values {
        // The table has the settings of a group together; the group is the part before the dot.
        let group = it.setting.key.split('.').next().unwrap_or_default();
        if group != last_group {
            out.print_line(&format!("\n{BOLD_STYLE}{group}{BOLD_STYLE:#}"));
            last_group = group;
        }
        let value = if it.value.is_empty() { "(not set)" } else { &it.value };
        let (origin, allowed) = (it.origin.describe_origin(), it.setting.form.describe_values());
        let first = format!(
            "  {:<width$} {BOLD_STYLE}{value}{BOLD_STYLE:#}  {DIM_STYLE}({origin}; {allowed}){DIM_STYLE:#}",
            it.setting.key
        );
        out.print_row(hang, &first);
        let meaning = format!("  {:<width$} {DIM_STYLE}{}{DIM_STYLE:#}", "", it.setting.meaning);
        out.print_row(hang, &meaning);
    }
    if !command.settings.types.is_empty() {
        out.print_line(&format!("\n{BOLD_STYLE}types{BOLD_STYLE:#}"));
    }
    for it in &command.settings.types {
        out.print_line(&format!("  {:<width$} custom type, shown as {}", it.slug, it.label));
    }
}

/// Sets or, without a value, unsets a setting.
async fn set_value(
    key: &str,
    value: Option<&str>,
    for_project: bool,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<()> {
    // Without a value only the key is checked, by means of the default, which is always valid. The value
    // for an unknown key does not matter.
    let known = engine::SETTINGS.iter().find(|it| it.key == key);
    let default = known.map_or("", |it| it.default);
    let setting = check_setting(key, value.unwrap_or(default))
        .map_err(|it| usage_error(it, "`waylore config` lists the settings"))?;
    // The setting names the place of the key that the data is encrypted with, so both must change
    // together. `config encryption` does that.
    if key == "encryption.key" {
        return Err(usage_error(
            "changing that alone would make the data unreadable",
            "`waylore config encryption on`, `passphrase` or `off` converts the data too",
        ));
    }
    if for_project {
        // For example `embeddings.provider`: a project must not decide where texts are sent.
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
    let is_provider_of = |role: &ModelRole| key == format!("{}.provider", role.slug());
    let Some(role) = ModelRole::ALL.into_iter().find(is_provider_of) else { return Ok(()) };
    let (out, environment) = (command.output, &command.environment);
    // Read again: the change was written after the command read them.
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
    // Ollama with an open choice of the model: store the choice, so that it stays the same whatever memory
    // is free later.
    if role == ModelRole::Embeddings
        && let Some(model) = models::unfixed_model(&plan)
    {
        config::write_setting(&environment.config_file(), "embeddings.model", Some(&model))?;
        out.say(&format!(
            "`embeddings.model` is now `{model}`, the best available model that fits"
        ));
    }
    // A new provider was set: other settings of the role may belong to the one before.
    if value.is_some() {
        for name in ["url", "model", "dimensions"] {
            let key = format!("{}.{name}", role.slug());
            // Not every role has all three.
            let Some(remaining) = settings.values.iter().find(|it| it.setting.key == key) else {
                continue;
            };
            if !remaining.value.is_empty() {
                out.hint(&format!(
                    "`{key}` is still `{}`; `config unset {key}`, if that was for another provider",
                    remaining.value
                ));
            }
        }
    }
    out.hint("`waylore config test-provider` tests it");
    if role == ModelRole::Embeddings {
        out.hint("`waylore embed` computes the vectors of the new model");
    }
    Ok(())
}
