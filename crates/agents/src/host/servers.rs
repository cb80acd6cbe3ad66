//! A list of MCP servers in JSON with ours in it, and without: an object, in which each has its name.
//!
//! Everything that is not ours stays, byte for byte. Ours is recognised by its name and what it runs.

use serde_json::{Value, json};

use super::{Unfit, runs};
use crate::spans::{self, Inside, spans};

/// What our server is called.
pub(super) const NAME: &str = "waylore";

/// What a host reads its settings as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    /// With comments and last commas.
    Commented,
}

/// The settings with our server in this list; the same text when it is there already.
pub(super) fn with(settings: &str, list: &'static str, server: &Value) -> Result<String, Unfit> {
    with_in(Format::Json, settings, list, server)
}

/// The settings without our server, and without the list if that is left empty by it.
pub(super) fn without(settings: &str, list: &'static str) -> Result<String, Unfit> {
    without_in(Format::Json, settings, list)
}

/// As `with`, in settings of this format.
pub(super) fn with_in(
    format: Format,
    settings: &str,
    list: &'static str,
    server: &Value,
) -> Result<String, Unfit> {
    let before = parse(format, settings, list)?;
    let known = &before[list][NAME];
    if known == server {
        return Ok(settings.to_owned());
    }
    if !known.is_null() && !runs(known, "mcp") {
        return Err(Unfit::NameTaken);
    }
    let mut text = without_in(format, settings, list)?;
    if parse(format, &text, list)? == json!({}) && spans(&text).is_none() {
        text.push_str("{}\n");
    }
    added(&text, list, server).ok_or(Unfit::Odd(list))
}

/// As `without`, in settings of this format.
pub(super) fn without_in(
    format: Format,
    settings: &str,
    list: &'static str,
) -> Result<String, Unfit> {
    let before = parse(format, settings, list)?;
    if !runs(&before[list][NAME], "mcp") {
        return Ok(settings.to_owned());
    }
    let span = spans(settings).and_then(|it| {
        let list = it.member(list)?;
        let is_alone = matches!(&list.value.inside, Inside::Object(all) if all.len() == 1);
        let ours = list.value.member(NAME)?;
        Some(if is_alone { list.span.clone() } else { ours.span.clone() })
    });
    Ok(span.map_or_else(|| settings.to_owned(), |it| spans::without(settings, &it)))
}

fn parse(format: Format, settings: &str, list: &'static str) -> Result<Value, Unfit> {
    let text = match format {
        Format::Json => settings.to_owned(),
        Format::Commented => spans::strict(settings),
    };
    if spans::is_blank(&text) {
        return Ok(json!({}));
    }
    let value: Value =
        serde_json::from_str(&text).map_err(|it| Unfit::Unreadable(it.to_string()))?;
    if !value.is_object() {
        return Err(Unfit::Unreadable("it is not an object".to_owned()));
    }
    if value.get(list).is_some_and(|it| !it.is_object()) {
        Err(Unfit::Odd(list))
    } else {
        Ok(value)
    }
}

fn added(text: &str, list: &str, server: &Value) -> Option<String> {
    let root = spans(text)?;
    let is_empty = |it: &Inside| matches!(it, Inside::Object(members) if members.is_empty());
    let Some(found) = root.member(list) else {
        let item = format!("\"{list}\": {{}}");
        let with = spans::with_item(text, &root.span, is_empty(&root.inside), &item);
        return added(&with, list, server);
    };
    let item = serde_json::to_string_pretty(server).ok()?;
    let item = format!("\"{NAME}\": {item}");
    Some(spans::with_item(text, &found.value.span, is_empty(&found.value.inside), &item))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "mcpServers";

    fn registered(settings: &str, program: &str) -> Result<String, Unfit> {
        with(settings, LIST, &json!({ "command": program, "args": ["mcp"], "alwaysLoad": true }))
    }

    fn unregistered(settings: &str) -> Result<String, Unfit> {
        without(settings, LIST)
    }

    const THEIRS: &str =
        "{\n  \"numStartups\": 7,\n  \"mcpServers\": { \"db\": { \"command\": \"db\" } }\n}\n";

    #[test]
    fn a_server_comes_and_goes_and_theirs_stay() {
        for before in [THEIRS, "{}", "", "{ \"mcpServers\": {} }", "{\"a\":1}"] {
            let with = registered(before, "/bin/waylore").unwrap();
            let value: Value = serde_json::from_str(&with).unwrap();
            assert_eq!(value[LIST][NAME]["alwaysLoad"], true, "{with}");
            assert_eq!(registered(&with, "/bin/waylore").unwrap(), with, "once");
            let moved = registered(&with, "/opt/waylore").unwrap();
            assert!(!moved.contains("/bin/waylore") && moved.contains("/opt/waylore"), "{moved}");
            let after: Value = serde_json::from_str(&unregistered(&with).unwrap()).unwrap();
            let mut was: Value = serde_json::from_str(before).unwrap_or_else(|_| json!({}));
            if was[LIST] == json!({}) {
                was.as_object_mut().unwrap().remove(LIST);
            }
            assert_eq!(after, was, "{before}");
        }
        assert_eq!(unregistered(THEIRS).unwrap(), THEIRS);
        let with = registered(THEIRS, "/bin/waylore").unwrap();
        assert!(with.contains("\"db\": { \"command\": \"db\" }"), "{with}");
    }

    #[test]
    fn what_is_somebody_elses_is_left_alone() {
        let taken = "{\"mcpServers\": {\"waylore\": {\"command\": \"/usr/bin/other\"}}}";
        assert_eq!(registered(taken, "/bin/waylore"), Err(Unfit::NameTaken));
        assert_eq!(unregistered(taken).unwrap(), taken);
        for odd in ["[]", "{", "\u{c}", "{\"mcpServers\": []}"] {
            assert!(registered(odd, "/bin/waylore").is_err(), "{odd}");
        }
    }
}
