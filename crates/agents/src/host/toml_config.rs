//! Adds and removes our MCP server in a TOML configuration, as a table below `mcp_servers`, and
//! records that the user trusts our hooks. Codex is the only host with such a file.
//!
//! Everything else stays, comments and order included. Our server is recognised by its name and by
//! the command it runs, our trust entries by a comment above them.

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, value};

use super::{HostSetup, InstalledHook, SettingsError, mcp_servers::SERVER_NAME, runs_waylore};

const SERVERS_KEY: &str = "mcp_servers";
/// `hooks.state.<key of a hook>` records which version of the hook the user trusts.
const HOOKS_KEY: &str = "hooks";
const STATE_KEY: &str = "state";
const HASH_KEY: &str = "trusted_hash";
/// Comment above the trust entries that we wrote, by which they are recognised.
const TRUST_COMMENT: &str = "# trusted for waylore";

/// Configuration with our server; unchanged if it is present.
pub(super) fn install(config: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    let mut document = parse_config(config)?;
    let existing = own_server(&document)?;
    let wanted = json!({ "command": setup.program, "args": ["mcp"] });
    if existing.as_ref() == Some(&wanted) {
        return Ok(config.to_owned());
    }
    if existing.is_some_and(|it| !runs_waylore(&it, "mcp")) {
        return Err(SettingsError::NameTaken);
    }
    // An older entry of ours goes first, so that no key of it is left.
    remove_path(&mut document, &[SERVERS_KEY, SERVER_NAME]);
    let servers = table_or_insert(document.as_table_mut(), SERVERS_KEY)?;
    let mut entry = Table::new();
    entry.insert("command", value(setup.program));
    entry.insert("args", value(toml_edit::Array::from_iter(["mcp"])));
    servers.insert(SERVER_NAME, Item::Table(entry));
    Ok(document.to_string())
}

/// Configuration without our server, without the trust in our hooks, and without the tables that
/// become empty by that.
pub(super) fn uninstall(config: &str) -> Result<String, SettingsError> {
    let mut document = parse_config(config)?;
    let is_ours = own_server(&document)?.is_some_and(|it| runs_waylore(&it, "mcp"));
    let trusted = trusted_keys(&document);
    if !is_ours && trusted.is_empty() {
        return Ok(config.to_owned());
    }
    for key in &trusted {
        remove_path(&mut document, &[HOOKS_KEY, STATE_KEY, key]);
    }
    if is_ours {
        remove_path(&mut document, &[SERVERS_KEY, SERVER_NAME]);
    }
    Ok(document.to_string())
}

/// Configuration with these hooks trusted.
pub(super) fn write_trust(config: &str, hooks: &[InstalledHook]) -> Result<String, SettingsError> {
    let mut document = parse_config(config)?;
    // Entries of earlier installations would stay behind under keys that no longer exist.
    for key in trusted_keys(&document) {
        remove_path(&mut document, &[HOOKS_KEY, STATE_KEY, &key]);
    }
    let state = table_or_insert(table_or_insert(document.as_table_mut(), HOOKS_KEY)?, STATE_KEY)?;
    for hook in hooks {
        let row = table_or_insert(state, &hook.key)?;
        // Only an explicit table has a header, and with it a place for the comment.
        row.set_implicit(false);
        row.decor_mut().set_prefix(format!("\n{TRUST_COMMENT}\n"));
        row.insert(HASH_KEY, value(&hook.hash));
    }
    Ok(document.to_string())
}

/// Keys of the trust entries that we wrote.
fn trusted_keys(document: &DocumentMut) -> Vec<String> {
    let state = document.get(HOOKS_KEY).and_then(|it| it.as_table()?.get(STATE_KEY)?.as_table());
    let mut acc = Vec::new();
    for (key, item) in state.into_iter().flat_map(Table::iter) {
        // The text before the header of the table, comments included.
        let prefix = item.as_table().and_then(|it| it.decor().prefix()?.as_str());
        if prefix.is_some_and(|it| it.contains(TRUST_COMMENT)) {
            acc.push(key.to_owned());
        }
    }
    acc
}

fn parse_config(config: &str) -> Result<DocumentMut, SettingsError> {
    config
        .parse()
        .map_err(|it: toml_edit::TomlError| SettingsError::Unreadable(it.message().to_owned()))
}

/// The server under our name, as JSON.
fn own_server(document: &DocumentMut) -> Result<Option<Value>, SettingsError> {
    let Some(servers) = document.get(SERVERS_KEY) else { return Ok(None) };
    let servers = servers.as_table().ok_or(SettingsError::UnexpectedShape(SERVERS_KEY))?;
    let Some(item) = servers.get(SERVER_NAME) else { return Ok(None) };
    let entry = item.as_table_like().ok_or(SettingsError::UnexpectedShape(SERVERS_KEY))?;
    let mut server = json!({});
    // As JSON, so that one function recognises our command in every format.
    for (key, item) in entry.iter() {
        server[key] = match (item.as_str(), item.as_array()) {
            (Some(text), _) => text.into(),
            (None, Some(list)) => list.iter().filter_map(|it| it.as_str()).collect(),
            // Any other type: its text is enough to see that the entry differs from ours.
            (None, None) => item.to_string().into(),
        };
    }
    Ok(Some(server))
}

/// The table of this name; a new one is implicit, so that its header is not written.
fn table_or_insert<'a>(parent: &'a mut Table, name: &str) -> Result<&'a mut Table, SettingsError> {
    let item = parent.entry(name).or_insert_with(|| {
        let mut fresh = Table::new();
        fresh.set_implicit(true);
        Item::Table(fresh)
    });
    item.as_table_mut().ok_or(SettingsError::UnexpectedShape("tables"))
}

/// Removes the item at a path and the implicit tables above it that become empty.
fn remove_path(document: &mut DocumentMut, path: &[&str]) {
    fn remove_from(table: &mut Table, path: &[&str]) {
        let [name, rest @ ..] = path else { return };
        // With further names to go, `name` is a table above the item.
        if !rest.is_empty()
            && let Some(below) = table.get_mut(name).and_then(Item::as_table_mut)
        {
            remove_from(below, rest);
            // A table that the user wrote with a header stays, even if it is empty.
            let is_left_over = below.is_empty() && below.is_implicit();
            if !is_left_over {
                return;
            }
        }
        table.remove(name);
    }
    remove_from(document.as_table_mut(), path);
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const OTHER_CONFIG: &str = "# mine\nmodel = \"x\"   # the big one\n\n[mcp_servers.db]\ncommand = \"db\"\n\n[hooks.state.\"/h:stop:0:0\"]\ntrusted_hash = \"sha256:0\"\n";

    /// A configuration with our server and two trusted hooks.
    fn connected(config: &str) -> String {
        let hook = |event: &str| InstalledHook {
            key: format!("/home/user/.codex/hooks.json:{event}:0:0"),
            hash: format!("sha256:{event}"),
            is_trusted: false,
        };
        let with = install(config, &HostSetup { program: "/bin/waylore", version: None }).unwrap();
        write_trust(&with, &[hook("session_start"), hook("session_end")]).unwrap()
    }

    #[test]
    fn installing_and_uninstalling_keeps_every_other_byte() {
        let with = connected(OTHER_CONFIG);
        expect![[r#"
            # mine
            model = "x"   # the big one

            [mcp_servers.db]
            command = "db"

            [mcp_servers.waylore]
            command = "/bin/waylore"
            args = ["mcp"]

            [hooks.state."/h:stop:0:0"]
            trusted_hash = "sha256:0"

            # trusted for waylore
            [hooks.state."/home/user/.codex/hooks.json:session_start:0:0"]
            trusted_hash = "sha256:session_start"

            # trusted for waylore
            [hooks.state."/home/user/.codex/hooks.json:session_end:0:0"]
            trusted_hash = "sha256:session_end"
        "#]]
        .assert_eq(&with);
        assert_eq!(connected(&with), with, "installing twice changes nothing");
        for before in
            [OTHER_CONFIG, "", "a = 1\n", "[mcp_servers]\n\n[other]\nx = 1\n", "# only this\n"]
        {
            assert_eq!(uninstall(&connected(before)).unwrap(), before);
        }
    }

    #[test]
    fn a_server_of_another_program_is_left_alone() {
        let taken = "[mcp_servers.waylore]\ncommand = \"/usr/bin/other\"\n";
        let setup = HostSetup { program: "/bin/waylore", version: None };
        assert_eq!(install(taken, &setup), Err(SettingsError::NameTaken));
        assert_eq!(uninstall(taken).unwrap(), taken);
        for odd in ["[", "mcp_servers = 1\n", "mcp_servers = { db = { command = \"db\" } }\n"] {
            assert!(install(odd, &setup).is_err(), "{odd}");
        }
    }
}
