//! Adds and removes our MCP server (tools that an agent may call) in JSON settings: one key, the
//! `list_key` below, holds an object that maps server names to entries, as in
//! `{ "mcpServers": { "waylore": { "command": "/bin/waylore", "args": ["mcp"] } } }`.
//!
//! The text is edited in place (see `json_spans`), so everything else in the file stays, byte for
//! byte. Our entry is recognised by its name and by the command it runs.

use std::ops::Range;

use serde_json::{Value, json};

use super::{SettingsError, runs_waylore};
use crate::json_spans::{self, JsonContent, scan_json};

/// Name of our server.
pub(super) const SERVER_NAME: &str = "waylore";

/// The variant of JSON that a host accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonFlavor {
    Strict,
    /// With comments and trailing commas.
    Commented,
}

impl JsonFlavor {
    /// The text in strict JSON: comments and trailing commas become blanks, so that `serde_json` can
    /// check the rest.
    pub(super) fn to_strict(self, text: &str) -> String {
        match self {
            Self::Strict => text.to_owned(),
            Self::Commented => json_spans::to_strict_json(text),
        }
    }
}

/// Settings with our server in the object under `list_key`; unchanged if it is present.
pub(super) fn install(
    flavor: JsonFlavor,
    settings: &str,
    list_key: &'static str,
    server: &Value,
) -> Result<String, SettingsError> {
    let before = parse_settings(flavor, settings, list_key)?;
    let existing = &before[list_key][SERVER_NAME];
    if existing == server {
        return Ok(settings.to_owned());
    }
    if !existing.is_null() && !runs_waylore(existing, "mcp") {
        return Err(SettingsError::NameTaken);
    }
    // An older entry of ours is replaced.
    let mut text = uninstall(flavor, settings, list_key)?;
    // A file that is empty or has nothing but comments gets an object, below the comments. The first
    // test is also true for a file with an empty object, which needs no second one; the second test is
    // also true for a text that cannot be scanned, which becomes an error below.
    if parse_settings(flavor, &text, list_key)? == json!({}) && scan_json(&text).is_none() {
        text.push_str("{}\n");
    }
    insert_server(&text, list_key, server).ok_or(SettingsError::UnexpectedShape(list_key))
}

/// Settings without our server, and without the list if that becomes empty.
pub(super) fn uninstall(
    flavor: JsonFlavor,
    settings: &str,
    list_key: &'static str,
) -> Result<String, SettingsError> {
    let before = parse_settings(flavor, settings, list_key)?;
    if !runs_waylore(&before[list_key][SERVER_NAME], "mcp") {
        return Ok(settings.to_owned());
    }
    Ok(match find_own_span(settings, list_key) {
        Some(span) => json_spans::remove_span(settings, &span),
        None => settings.to_owned(),
    })
}

/// Span of our server, or of the whole list if that holds no other.
fn find_own_span(settings: &str, list_key: &str) -> Option<Range<usize>> {
    let root = scan_json(settings)?;
    let list = root.member(list_key)?;
    let own = list.value.member(SERVER_NAME)?;
    let is_alone = matches!(&list.value.content, JsonContent::Object(all) if all.len() == 1);
    Some(if is_alone { list.span.clone() } else { own.span.clone() })
}

/// Parses settings and checks the shape of the list; a text without content is an empty object.
fn parse_settings(
    flavor: JsonFlavor,
    settings: &str,
    list_key: &'static str,
) -> Result<Value, SettingsError> {
    let text = flavor.to_strict(settings);
    if json_spans::is_blank(&text) {
        return Ok(json!({}));
    }
    let value: Value =
        serde_json::from_str(&text).map_err(|it| SettingsError::Unreadable(it.to_string()))?;
    if !value.is_object() {
        return Err(SettingsError::Unreadable("it is not an object".to_owned()));
    }
    if value.get(list_key).is_some_and(|it| !it.is_object()) {
        Err(SettingsError::UnexpectedShape(list_key))
    } else {
        Ok(value)
    }
}

/// Appends our server to the list, which is created if it is missing.
fn insert_server(text: &str, list_key: &str, server: &Value) -> Option<String> {
    let root = scan_json(text)?;
    let Some(list) = root.member(list_key) else {
        let item = format!("\"{list_key}\": {{}}");
        let with = json_spans::insert_item(text, &root, &item);
        return insert_server(&with, list_key, server);
    };
    let item = serde_json::to_string_pretty(server).ok()?;
    let item = format!("\"{SERVER_NAME}\": {item}");
    Some(json_spans::insert_item(text, &list.value, &item))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "mcpServers";

    fn install_program(settings: &str, program: &str) -> Result<String, SettingsError> {
        let server = json!({ "command": program, "args": ["mcp"], "alwaysLoad": true });
        install(JsonFlavor::Strict, settings, LIST, &server)
    }

    fn uninstall_program(settings: &str) -> Result<String, SettingsError> {
        uninstall(JsonFlavor::Strict, settings, LIST)
    }

    const OTHER_SETTINGS: &str =
        "{\n  \"numStartups\": 7,\n  \"mcpServers\": { \"db\": { \"command\": \"db\" } }\n}\n";

    #[test]
    fn installing_and_uninstalling_leaves_other_servers() {
        for before in [OTHER_SETTINGS, "{}", "", "{ \"mcpServers\": {} }", "{\"a\":1}"] {
            let with = install_program(before, "/bin/waylore").unwrap();
            let value: Value = serde_json::from_str(&with).unwrap();
            assert_eq!(value[LIST][SERVER_NAME]["alwaysLoad"], true, "{with}");
            assert_eq!(install_program(&with, "/bin/waylore").unwrap(), with, "once");
            let moved = install_program(&with, "/opt/waylore").unwrap();
            assert!(!moved.contains("/bin/waylore") && moved.contains("/opt/waylore"), "{moved}");
            let after: Value = serde_json::from_str(&uninstall_program(&with).unwrap()).unwrap();
            // An empty list goes with our entry; everything else is as before.
            let mut expected: Value = serde_json::from_str(before).unwrap_or_else(|_| json!({}));
            if expected[LIST] == json!({}) {
                expected.as_object_mut().unwrap().remove(LIST);
            }
            assert_eq!(after, expected, "{before}");
        }
        assert_eq!(uninstall_program(OTHER_SETTINGS).unwrap(), OTHER_SETTINGS);
        let with = install_program(OTHER_SETTINGS, "/bin/waylore").unwrap();
        assert!(with.contains("\"db\": { \"command\": \"db\" }"), "{with}");
    }

    #[test]
    fn a_server_of_another_program_is_left_alone() {
        let taken = "{\"mcpServers\": {\"waylore\": {\"command\": \"/usr/bin/other\"}}}";
        assert_eq!(install_program(taken, "/bin/waylore"), Err(SettingsError::NameTaken));
        assert_eq!(uninstall_program(taken).unwrap(), taken);
        for odd in ["[]", "{", "\u{c}", "{\"mcpServers\": []}"] {
            assert!(install_program(odd, "/bin/waylore").is_err(), "{odd}");
        }
    }
}
