//! `waylore config encryption`: encrypts or decrypts all data, and creates the key. The setting `encryption.key`
//! names the location of the key: `none`, `file`, `keychain` or `passphrase`.

use serde_json::json;

use crate::command::CommandContext;
use crate::command::shared::report_start_everywhere;
use crate::config;
use crate::environment::{self, Environment};
use crate::failure::usage_error;
use crate::keychain;
use crate::output::format_count;

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EncryptionSwitch {
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

/// Encrypts or decrypts all data. An unencrypted file opens with a key as well, so the setting is
/// written first when encrypting and last when decrypting: an interrupted run leaves readable data
/// and can be repeated.
pub(super) fn change_encryption(
    state: EncryptionSwitch,
    command: CommandContext<'_>,
) -> anyhow::Result<()> {
    let current = command.settings.get("encryption.key").to_owned();
    // Check before a key is created, which `obtain_key` does.
    reject_second_key(&current, state)?;
    if !engine::ENCRYPTION_AVAILABLE {
        return Err(engine::Error::from(engine::StoreError::EncryptionUnavailable).into());
    }
    let doing = if state == EncryptionSwitch::Off { "decrypting" } else { "encrypting" };
    report_start_everywhere(doing, &command);
    let CommandContext { environment, project, output, .. } = command;
    let (location, secret) = obtain_key(state, &current, &environment)?;
    let key = match secret {
        Some(secret) => Some(engine::EncryptionKey::new(&secret).map_err(engine::Error::from)?),
        None => None,
    };
    let is_encrypting = key.is_some();
    if is_encrypting {
        config::write_setting(&environment.config_file(), "encryption.key", Some(location))?;
    }
    let n_converted = project.change_encryption(key.as_ref())?;
    if !is_encrypting {
        config::write_setting(&environment.config_file(), "encryption.key", None)?;
    }
    if output.json {
        output.print_json("encryption", json!({ "key": location, "converted": n_converted }));
        return Ok(());
    }
    let verb = if is_encrypting { "encrypted" } else { "decrypted" };
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

/// Rejects a second key for data that is encrypted with another one. The same key again is allowed: it
/// continues an interrupted run.
fn reject_second_key(current: &str, wanted: EncryptionSwitch) -> anyhow::Result<()> {
    // The data is not encrypted yet.
    if current == "none" {
        return Ok(());
    }
    let is_allowed = match wanted {
        EncryptionSwitch::Off => true,
        // Any key that Waylore stores itself is used again.
        EncryptionSwitch::On => current != "passphrase",
        EncryptionSwitch::Keychain => current == "keychain",
        EncryptionSwitch::File => current == "file",
        EncryptionSwitch::Passphrase => current == "passphrase",
    };
    if is_allowed {
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
    if let Some(stored) = keychain::read(&entry) {
        return Some(stored);
    }
    let fresh = environment::random_key();
    if keychain::write(&entry, &fresh) { Some(fresh) } else { None }
}
