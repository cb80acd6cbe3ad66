//! A configuration in TOML with our server in it, and without: tables below `mcp_servers`; and which of
//! our hooks their owner trusts.
//!
//! Everything that is not ours stays, comments and order included. Ours is recognised by its name and what
//! it runs.

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, value};

use super::{OurHook, Setup, Unfit, runs, servers::NAME};

const SERVERS: &str = "mcp_servers";
/// The keys of hooks and what their owner trusts of them stand below `hooks.state`.
const HOOKS: &str = "hooks";
const STATE: &str = "state";
const HASH: &str = "trusted_hash";
/// Stands above what is trusted for us, so that it is found again.
const MARK: &str = "# trusted for waylore";

/// The configuration with our server; the same text when it is there already.
pub(super) fn with(config: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    let mut document = parse(config)?;
    let known = server(&document)?;
    let wanted = json!({ "command": setup.program, "args": ["mcp"] });
    if known.as_ref() == Some(&wanted) {
        return Ok(config.to_owned());
    }
    if known.is_some_and(|it| !runs(&it, "mcp")) {
        return Err(Unfit::NameTaken);
    }
    remove(&mut document, &[SERVERS, NAME]);
    let servers = table(document.as_table_mut(), SERVERS)?;
    let mut ours = Table::new();
    ours.insert("command", value(setup.program));
    ours.insert("args", value(toml_edit::Array::from_iter(["mcp"])));
    servers.insert(NAME, Item::Table(ours));
    Ok(document.to_string())
}

/// The configuration without our server and without what is trusted of our hooks, and without what is
/// left empty by that.
pub(super) fn without(config: &str) -> Result<String, Unfit> {
    let mut document = parse(config)?;
    let is_ours = server(&document)?.is_some_and(|it| runs(&it, "mcp"));
    let trusted = trusted(&document);
    if !is_ours && trusted.is_empty() {
        return Ok(config.to_owned());
    }
    for key in &trusted {
        remove(&mut document, &[HOOKS, STATE, key]);
    }
    if is_ours {
        remove(&mut document, &[SERVERS, NAME]);
    }
    Ok(document.to_string())
}

/// The configuration with these hooks trusted.
pub(super) fn with_trust(config: &str, hooks: &[OurHook]) -> Result<String, Unfit> {
    let mut document = parse(config)?;
    for key in trusted(&document) {
        remove(&mut document, &[HOOKS, STATE, &key]);
    }
    let state = table(table(document.as_table_mut(), HOOKS)?, STATE)?;
    for it in hooks {
        let row = table(state, &it.key)?;
        row.set_implicit(false);
        row.decor_mut().set_prefix(format!("\n{MARK}\n"));
        row.insert(HASH, value(&it.hash));
    }
    Ok(document.to_string())
}

/// The keys of the hooks that are trusted for us.
fn trusted(document: &DocumentMut) -> Vec<String> {
    let state = document.get(HOOKS).and_then(|it| it.as_table()?.get(STATE)?.as_table());
    let is_marked = |it: &Item| {
        let prefix = it.as_table().and_then(|it| it.decor().prefix()?.as_str());
        prefix.is_some_and(|it| it.contains(MARK))
    };
    let rows = state.into_iter().flat_map(|it| it.iter());
    rows.filter(|it| is_marked(it.1)).map(|it| it.0.to_owned()).collect()
}

fn parse(config: &str) -> Result<DocumentMut, Unfit> {
    config.parse().map_err(|it: toml_edit::TomlError| Unfit::Unreadable(it.message().to_owned()))
}

/// What stands under our name.
fn server(document: &DocumentMut) -> Result<Option<Value>, Unfit> {
    let Some(servers) = document.get(SERVERS) else { return Ok(None) };
    let servers = servers.as_table().ok_or(Unfit::Odd(SERVERS))?;
    let Some(item) = servers.get(NAME) else { return Ok(None) };
    let known = item.as_table_like().ok_or(Unfit::Odd(SERVERS))?;
    let mut res = json!({});
    for (key, item) in known.iter() {
        res[key] = match (item.as_str(), item.as_array()) {
            (Some(text), _) => text.into(),
            (None, Some(list)) => list.iter().filter_map(|it| it.as_str()).collect(),
            (None, None) => item.to_string().into(),
        };
    }
    Ok(Some(res))
}

/// The table of this name, made where there is none.
fn table<'a>(above: &'a mut Table, name: &str) -> Result<&'a mut Table, Unfit> {
    let item = above.entry(name).or_insert_with(|| {
        let mut fresh = Table::new();
        fresh.set_implicit(true);
        Item::Table(fresh)
    });
    item.as_table_mut().ok_or(Unfit::Odd("tables"))
}

/// Takes out what stands at a path, and what is left empty above it.
fn remove(document: &mut DocumentMut, path: &[&str]) {
    fn remove_from(table: &mut Table, path: &[&str]) {
        let [name, rest @ ..] = path else { return };
        if let Some(below) = table.get_mut(name).and_then(Item::as_table_mut)
            && !rest.is_empty()
        {
            remove_from(below, rest);
            if !(below.is_empty() && below.is_implicit()) {
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

    const THEIRS: &str = "# mine\nmodel = \"x\"   # the big one\n\n[mcp_servers.db]\ncommand = \"db\"\n\n[hooks.state.\"/h:stop:0:0\"]\ntrusted_hash = \"sha256:0\"\n";

    fn connected(config: &str) -> String {
        let hook = |event: &str| OurHook {
            key: format!("/home/user/.codex/hooks.json:{event}:0:0"),
            hash: format!("sha256:{event}"),
            is_trusted: false,
        };
        let with = with(config, &Setup { program: "/bin/waylore", version: None }).unwrap();
        with_trust(&with, &[hook("session_start"), hook("session_end")]).unwrap()
    }

    #[test]
    fn a_server_and_trust_come_in_and_every_byte_of_theirs_stays() {
        let with = connected(THEIRS);
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
        assert_eq!(connected(&with), with, "once");
        for before in [THEIRS, "", "a = 1\n", "[mcp_servers]\n\n[other]\nx = 1\n", "# only this\n"]
        {
            assert_eq!(without(&connected(before)).unwrap(), before);
        }
    }

    #[test]
    fn what_is_somebody_elses_is_left_alone() {
        let taken = "[mcp_servers.waylore]\ncommand = \"/usr/bin/other\"\n";
        let setup = Setup { program: "/bin/waylore", version: None };
        assert_eq!(with(taken, &setup), Err(Unfit::NameTaken));
        assert_eq!(without(taken).unwrap(), taken);
        for odd in ["[", "mcp_servers = 1\n", "mcp_servers = { db = { command = \"db\" } }\n"] {
            assert!(with(odd, &setup).is_err(), "{odd}");
        }
    }
}
