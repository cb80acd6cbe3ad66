//! `waylore config`.

mod key;
mod test_provider;

use engine::{SettingScope, check_setting};
use serde_json::json;

use super::Session;
use super::shared::begin_everywhere;
use crate::config::{self, Origin, Settings};
use crate::environment::{self, Environment};
use crate::failure::{Failure, usage};
use crate::keychain;
use crate::models::{self, Role};
use crate::output::{BOLD, DIM, count};

/// Show every setting, its value and where that came from; or change one
///
/// A value is taken from the environment before the project, the project before your file, your
/// file before the default.
#[derive(clap::Args, Debug)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    /// Print one value
    Get {
        /// The setting
        key: String,
    },
    /// Set a value in your configuration file, or for this project
    Set {
        /// The setting
        key: String,
        /// Its value
        value: String,
        /// For this project only
        #[arg(long = "for-project")]
        for_project: bool,
    },
    /// Take a value out again
    Unset {
        /// The setting
        key: String,
        /// For this project only
        #[arg(long = "for-project")]
        for_project: bool,
    },
    /// Encrypt all data, or decrypt it again
    Encryption {
        /// Where the key is kept, or `off`
        state: Encryption,
    },
    /// Keep the key of a provider in the system's keychain; it is read from standard input
    ///
    /// It is kept for the address that is configured, and sent to no other. A key in the environment
    /// goes before it.
    Key {
        /// Whose key
        role: Role,
        /// Take it out again
        #[arg(long)]
        remove: bool,
    },
    /// Try what is configured: is it there, is it quick, does it know what belongs together
    TestProvider {
        /// Only this one
        role: Option<Role>,
    },
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Encryption {
    /// In the system's keychain, or in a file if there is none
    On,
    /// In the system's keychain
    Keychain,
    /// In a file beside the configuration that only you can read
    File,
    /// Nowhere: you give it in WAYLORE_PASSPHRASE each time
    Passphrase,
    /// Decrypt everything
    Off,
}

impl ConfigArgs {
    /// Whether the data itself is about to be converted.
    pub(crate) const fn converts(&self) -> bool {
        matches!(self.what, Some(What::Encryption { .. }))
    }
}

pub(crate) async fn run(args: ConfigArgs, mut session: Session<'_>) -> anyhow::Result<u8> {
    for problem in &session.settings.problems {
        session.output.warn(problem);
    }
    match args.what {
        None => show(&session),
        Some(What::Get { key }) => {
            let value = session.settings.values.iter().find(|it| it.setting.key == key);
            let value = value.ok_or_else(|| {
                usage(
                    check_setting(&key, "").err().unwrap_or_default(),
                    "`waylore config` lists them",
                )
            })?;
            if session.output.json {
                session.output.data_json(
                    "setting",
                    json!({ "key": key, "value": value.value, "origin": value.origin.reading() }),
                );
            } else {
                session.output.line(&value.value);
            }
        }
        Some(What::Set { key, value, for_project }) => {
            set(&key, Some(&value), for_project, &mut session).await?;
        }
        Some(What::Unset { key, for_project }) => {
            set(&key, None, for_project, &mut session).await?;
        }
        Some(What::Encryption { state }) => encryption(state, session)?,
        Some(What::Key { role, remove }) => key::run(role, remove, &session)?,
        Some(What::TestProvider { role }) => return test_provider::run(role, &session).await,
    }
    Ok(0)
}

fn show(session: &Session<'_>) {
    let out = session.output;
    let environment = &session.environment;
    if out.json {
        let values: Vec<_> = session.settings.values.iter().map(|it| {
            json!({ "key": it.setting.key, "value": it.value, "origin": it.origin.reading(), "default": it.setting.default, "meaning": it.setting.meaning })
        }).collect();
        out.data_json("config", json!({ "data": environment.data, "file": environment.config_file(), "settings": values, "problems": session.settings.problems }));
        return;
    }
    out.line(&format!("{DIM}data{DIM:#}  {}", environment.data.display()));
    out.line(&format!("{DIM}file{DIM:#}  {}", environment.config_file().display()));
    let width = engine::SETTINGS.iter().map(|it| it.key.len()).max().unwrap_or_default();
    for it in &session.settings.values {
        let origin = if it.origin == Origin::Default {
            String::new()
        } else {
            format!(" {DIM}({}){DIM:#}", it.origin.reading())
        };
        let value = if it.value.is_empty() { "(not set)" } else { &it.value };
        out.line(&format!("{BOLD}{:<width$}{BOLD:#} {value}{origin}", it.setting.key));
        out.line(&format!("{:<width$} {DIM}{}{DIM:#}", "", it.setting.meaning));
    }
    for it in &session.settings.types {
        out.line(&format!(
            "{BOLD}{:<width$}{BOLD:#} a declared type, shown as {}",
            it.slug, it.label
        ));
    }
}

async fn set(
    key: &str,
    value: Option<&str>,
    for_project: bool,
    session: &mut Session<'_>,
) -> anyhow::Result<()> {
    let known = engine::SETTINGS.iter().find(|it| it.key == key);
    let value_or_default = value.or_else(|| known.map(|it| it.default)).unwrap_or("");
    let setting = check_setting(key, value_or_default)
        .map_err(|it| usage(it, "`waylore config` lists the settings"))?;
    if key == "encryption.key" {
        return Err(usage(
            "changing that alone would make the data unreadable",
            "`waylore config encryption on`, `passphrase` or `off` converts the data too",
        ));
    }
    if for_project {
        if setting.scope == SettingScope::User {
            return Err(usage(
                format!("`{key}` cannot differ between projects"),
                "leave out --for-project",
            ));
        }
        session.engine.set(key, value).await?;
    } else {
        config::write(&session.environment.config_file(), key, value)?;
    }
    let overruled = environment::setting(key).is_some();
    if overruled {
        session.output.warn(&format!("{} is set and goes before it", environment::variable(key)));
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

/// What follows from another provider: a model to choose, something still missing, vectors to make.
fn after_provider(key: &str, value: Option<&str>, session: &Session<'_>) -> anyhow::Result<()> {
    let Some(role) = Role::ALL.into_iter().find(|it| key == format!("{}.provider", it.slug()))
    else {
        return Ok(());
    };
    let (out, environment) = (session.output, &session.environment);
    let settings = Settings::load_anyway(environment);
    let plan = match models::plan(&settings) {
        Ok(plan) => plan,
        Err(error) => {
            out.say(&error.to_string());
            if let Some(hint) = error.downcast_ref::<Failure>().and_then(|it| it.hint.as_ref()) {
                out.hint(hint);
            }
            return Ok(());
        }
    };
    if let Some(model) = models::open_choice(&plan).filter(|_| role == Role::Embeddings) {
        config::write(&environment.config_file(), "embeddings.model", Some(&model))?;
        out.say(&format!("`embeddings.model` is now `{model}`, the best that is there and fits"));
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
    out.hint("`waylore config test-provider` tries it");
    if role == Role::Embeddings {
        out.hint("`waylore embed` gives every memory its vector by the new model");
    }
    Ok(())
}

/// Encrypts or decrypts everything. A file that is not encrypted opens without the key, so the
/// setting is written first when encrypting and last when decrypting: whatever is interrupted can
/// be read, and is finished by saying it again.
fn encryption(state: Encryption, session: Session<'_>) -> anyhow::Result<()> {
    let now = session.settings.get("encryption.key").to_owned();
    // Before any key is made.
    refuse_second_key(&now, state)?;
    if !engine::ENCRYPTION_AVAILABLE {
        return Err(engine::Error::from(engine::StoreError::NoEncryption).into());
    }
    let doing = if state == Encryption::Off { "decrypting" } else { "encrypting" };
    begin_everywhere(doing, &session);
    let Session { environment, engine, output, .. } = session;
    let (wanted, secret) = match state {
        Encryption::Off => ("none", None),
        Encryption::Passphrase => {
            let none = || usage("no passphrase was given", "give it in WAYLORE_PASSPHRASE");
            ("passphrase", Some(environment::passphrase().ok_or_else(none)?))
        }
        Encryption::File => ("file", Some(in_file(&environment)?)),
        Encryption::Keychain => {
            let none = || {
                usage(
                    "there is no keychain that can be used here",
                    "unlock it, or keep the key in a file: waylore config encryption file",
                )
            };
            ("keychain", Some(in_keychain(&environment).ok_or_else(none)?))
        }
        Encryption::On if now == "file" => ("file", Some(in_file(&environment)?)),
        Encryption::On => match in_keychain(&environment) {
            Some(secret) => ("keychain", Some(secret)),
            None => ("file", Some(in_file(&environment)?)),
        },
    };
    let key = secret.map(|it| engine::Key::new(&it)).transpose().map_err(engine::Error::from)?;
    if key.is_some() {
        config::write(&environment.config_file(), "encryption.key", Some(wanted))?;
    }
    let converted = engine.convert(key.as_ref())?;
    if key.is_none() {
        config::write(&environment.config_file(), "encryption.key", None)?;
    }
    if output.json {
        output.data_json("encryption", json!({ "key": wanted, "converted": converted }));
        return Ok(());
    }
    let verb = if key.is_some() { "encrypted" } else { "decrypted" };
    output
        .line(&format!("{verb} {} with their backups", count(converted, "database", "databases")));
    match wanted {
        "file" => output.hint(&format!(
            "the key is `{}`: without it nothing can be read, so keep a copy elsewhere",
            environment.key_file().display()
        )),
        "keychain" => {
            output
                .hint("the key is in the keychain of this system: without it nothing can be read");
        }
        _ => {}
    }
    Ok(())
}

/// Data that is encrypted keeps its key until it is decrypted.
fn refuse_second_key(now: &str, wanted: Encryption) -> anyhow::Result<()> {
    let same = match wanted {
        Encryption::Off => true,
        Encryption::On => now != "passphrase",
        Encryption::Keychain => now == "keychain",
        Encryption::File => now == "file",
        Encryption::Passphrase => now == "passphrase",
    };
    if same || now == "none" {
        return Ok(());
    }
    let how = match now {
        "file" => "with the key in a file",
        "keychain" => "with the key in the keychain",
        _ => "with a passphrase",
    };
    Err(usage(
        format!("the data is encrypted already, {how}"),
        "turn that off first: waylore config encryption off",
    ))
}

/// The key in the key file, which is made now if there is none.
fn in_file(environment: &Environment) -> anyhow::Result<String> {
    let path = environment.key_file();
    if !path.exists() {
        engine::write_private(&path, environment::fresh_key().as_bytes())
            .map_err(engine::Error::from)?;
    }
    Ok(std::fs::read_to_string(&path)?)
}

/// The key in the keychain, which gets one now if it has none; `None` without a usable keychain.
fn in_keychain(environment: &Environment) -> Option<String> {
    let entry = keychain::Entry::Data(&environment.data);
    keychain::read(&entry).or_else(|| {
        let fresh = environment::fresh_key();
        keychain::write(&entry, &fresh).then_some(fresh)
    })
}
