//! `waylore config key`: stores the API key of a provider in the keychain of the system, or removes it. A provider
//! is the service that the settings name for a role of models, `text.provider` for the role `text`. The key is
//! bound to the role and the address of its server.

use engine::ProviderKey;
use serde_json::json;

use crate::command::CommandContext;
use crate::command::shared::read_all;
use crate::failure::{CliFailure, FailureKind, usage_error};
use crate::keychain;
use crate::models::{self, ModelRole};
use crate::output;

pub(super) fn run(
    role: ModelRole,
    remove: bool,
    command: &CommandContext<'_>,
) -> anyhow::Result<()> {
    let plan = models::plan_models(&command.settings)?;
    let Some(server) = plan.server(role) else {
        let setting = format!("{}.provider", role.slug());
        return Err(usage_error(
            format!("no provider is configured: `{setting}`"),
            format!("waylore config set {setting} NAME"),
        ));
    };
    if remove {
        if !keychain::remove(&server.keychain_entry()) {
            return Err(no_keychain(role));
        }
    } else {
        let text = read_key(&server.url)?;
        let text = text.trim();
        // Only to check it: a key with line breaks or control characters was pasted wrongly.
        ProviderKey::new(text)
            .map_err(|it| usage_error(it.to_string(), "give the key and nothing else"))?;
        if !keychain::write(&server.keychain_entry(), text) {
            return Err(no_keychain(role));
        }
    }
    let out = command.output;
    if out.json {
        out.print_json("key", json!({ "role": role.slug(), "url": server.url, "kept": !remove }));
    }
    let verb = if remove { "is no longer" } else { "is" };
    out.say(&format!("the key for `{}` {verb} in the keychain", server.url));
    Ok(())
}

/// Reads the key from a prompt or a pipe: arguments end up in the shell history and in process lists.
fn read_key(url: &str) -> anyhow::Result<String> {
    if output::is_interactive() {
        return Ok(output::ask_line(&format!(
            "The key for `{url}` (it is visible while you type):"
        ))?);
    }
    let text = String::from_utf8(read_all(std::io::stdin().lock())?);
    text.map_err(|_| usage_error("the key is no text", "give the key and nothing else"))
}

fn no_keychain(role: ModelRole) -> anyhow::Error {
    let message = "no keychain is available".to_owned();
    let hint = format!("unlock it, or give the key in {}", role.key_variable());
    CliFailure { kind: FailureKind::Environment, message, hint: Some(hint) }.into()
}
