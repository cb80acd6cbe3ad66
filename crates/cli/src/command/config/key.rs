//! `waylore config key`.

use engine::ProviderKey;
use serde_json::json;

use crate::command::Session;
use crate::command::shared::read_all;
use crate::failure::{Failure, Kind, usage};
use crate::keychain;
use crate::models::{self, Role};
use crate::output;

pub(super) fn run(role: Role, remove: bool, session: &Session<'_>) -> anyhow::Result<()> {
    let plan = models::plan(&session.settings)?;
    let Some(server) = plan.server(role) else {
        let setting = format!("{}.provider", role.slug());
        return Err(usage(
            format!("no provider is configured that a key could be for: `{setting}`"),
            format!("waylore config set {setting} NAME"),
        ));
    };
    if remove {
        if !keychain::remove(&server.entry()) {
            return Err(no_keychain(role));
        }
    } else {
        let text = given(&server.url)?;
        let text = text.trim();
        ProviderKey::new(text)
            .map_err(|it| usage(it.to_string(), "give the key and nothing else"))?;
        if !keychain::write(&server.entry(), text) {
            return Err(no_keychain(role));
        }
    }
    let out = session.output;
    if out.json {
        out.data_json("key", json!({ "role": role.slug(), "url": server.url, "kept": !remove }));
    }
    let done = if remove { "is no longer" } else { "is" };
    out.say(&format!("the key for `{}` {done} in the keychain", server.url));
    Ok(())
}

/// Not from the command line: that stands in the history of the shell, and others can see it.
fn given(url: &str) -> anyhow::Result<String> {
    if output::is_conversation() {
        return Ok(output::ask(&format!("The key for `{url}` (it is visible while you type):"))?);
    }
    let text = String::from_utf8(read_all(std::io::stdin().lock())?);
    text.map_err(|_| usage("the key is no text", "give the key and nothing else"))
}

fn no_keychain(role: Role) -> anyhow::Error {
    let message = "there is no keychain that can be used here".to_owned();
    let hint = format!("unlock it, or give the key in {}", role.key_variable());
    Failure { kind: Kind::Environment, message, hint: Some(hint) }.into()
}
