//! Settings in JSON with our hooks in them, and without: `hooks`, an event, a list of entries, each with
//! a list of hooks.
//!
//! Everything that is not ours stays, in its order. Ours are recognised by what they run.

use std::ops::Range;

use serde_json::{Value, json};

use super::{Unfit, runs};
use crate::heard::Heard;
use crate::spans::{self, Inside, Node, spans};

const ODD: Unfit = Unfit::Odd("hooks");

/// The answer that puts a text before the model, as hosts with such hooks want it.
pub(super) fn answer(heard: &Heard, text: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": heard.event, "additionalContext": text } })
        .to_string()
}

/// The settings with an entry of ours at each of these events; the same text when they are there already.
pub(super) fn with(settings: &str, entries: &[(&str, Value)]) -> Result<String, Unfit> {
    let before = parse(settings)?;
    let is_there = |(event, entry): &(&str, Value)| {
        before["hooks"][*event].as_array().is_some_and(|it| it.contains(entry))
    };
    if entries.iter().all(is_there) {
        return Ok(settings.to_owned());
    }
    let mut text = without(settings)?;
    if spans::is_blank(&text) {
        "{}\n".clone_into(&mut text);
    }
    for (event, entry) in entries {
        text = added(&text, event, entry).ok_or(ODD)?;
    }
    Ok(text)
}

/// The settings without our hooks, and without what is left empty by that.
pub(super) fn without(settings: &str) -> Result<String, Unfit> {
    let before = parse(settings)?;
    let mut text = settings.to_owned();
    while let Some(span) = ours(&text) {
        text = spans::without(&text, &span);
    }
    if text != settings && parse(&text)?["hooks"] == json!({}) && before["hooks"] != json!({}) {
        let hooks = spans(&text).and_then(|it| Some(it.member("hooks")?.span.clone()));
        text = hooks.map_or(text.clone(), |it| spans::without(&text, &it));
    }
    Ok(text)
}

fn parse(settings: &str) -> Result<Value, Unfit> {
    if spans::is_blank(settings) {
        return Ok(json!({}));
    }
    let value: Value =
        serde_json::from_str(settings).map_err(|it| Unfit::Unreadable(it.to_string()))?;
    if !value.is_object() {
        return Err(Unfit::Unreadable("it is not an object".to_owned()));
    }
    let is_odd = |it: &Value| !it.as_object().is_some_and(|it| it.values().all(Value::is_array));
    if value.get("hooks").is_some_and(is_odd) { Err(ODD) } else { Ok(value) }
}

/// The text with an entry more for an event.
fn added(text: &str, event: &str, entry: &Value) -> Option<String> {
    let root = spans(text)?;
    let item = serde_json::to_string_pretty(entry).ok()?;
    let Some(hooks) = root.member("hooks") else {
        let with = spans::with_item(text, &root.span, is_empty(&root), "\"hooks\": {}");
        return added(&with, event, entry);
    };
    let Some(list) = hooks.value.member(event) else {
        let item = format!("\"{event}\": [\n  {}\n]", item.replace('\n', "\n  "));
        return Some(spans::with_item(text, &hooks.value.span, is_empty(&hooks.value), &item));
    };
    Some(spans::with_item(text, &list.value.span, is_empty(&list.value), &item))
}

fn is_empty(node: &Node) -> bool {
    match &node.inside {
        Inside::Object(members) => members.is_empty(),
        Inside::Array(items) => items.is_empty(),
        Inside::Plain => false,
    }
}

/// Where the first thing stands that is ours alone: a hook beside others, an entry with no other
/// hook, or an event with no other entry.
fn ours(text: &str) -> Option<Range<usize>> {
    let root = spans(text)?;
    let Inside::Object(events) = &root.member("hooks")?.value.inside else { return None };
    for (_, event) in events {
        let Inside::Array(entries) = &event.value.inside else { return None };
        for entry in entries {
            let Some(list) = entry.member("hooks") else { continue };
            let Inside::Array(of_entry) = &list.value.inside else { continue };
            let Some(hook) = of_entry.iter().find(|it| is_ours(&text[it.span.clone()])) else {
                continue;
            };
            return Some(match (entries.len(), of_entry.len()) {
                (1, 1) => event.span.clone(),
                (_, 1) => entry.span.clone(),
                _ => hook.span.clone(),
            });
        }
    }
    None
}

/// A hook that runs `waylore hook`, wherever it is installed.
fn is_ours(hook: &str) -> bool {
    let hook: Value = serde_json::from_str(hook).unwrap_or_default();
    runs(&hook, "hook")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected(settings: &str, program: &str) -> Result<String, Unfit> {
        let hook =
            json!({ "type": "command", "command": program, "args": ["hook", "claude-code"] });
        let of_file = json!({ "matcher": "Read", "hooks": [hook] });
        with(settings, &[("SessionStart", json!({ "hooks": [hook] })), ("PostToolUse", of_file)])
    }

    const THEIRS: &str = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
    "PostToolUse": [{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "fmt" }] }]
  },
  "env": { "B": "1", "A": "2" }
}
"#;

    #[test]
    fn what_is_theirs_stays_in_its_order() {
        let with = connected(THEIRS, "/bin/waylore").unwrap();
        let value: Value = serde_json::from_str(&with).unwrap();
        assert_eq!(value["hooks"]["PostToolUse"][0]["hooks"][0]["command"], "fmt");
        assert_eq!(value["hooks"]["PostToolUse"][1]["hooks"][0]["command"], "/bin/waylore");
        assert_eq!(value["hooks"]["SessionStart"][0]["hooks"][0]["args"][1], "claude-code");
        let places = ["\"model\"", "\"Stop\"", "\"fmt\"", "\"env\"", "\"B\"", "\"A\""]
            .map(|it| with.find(it));
        assert!(places.is_sorted() && places[0].is_some(), "{with}");
    }

    #[test]
    fn connecting_twice_is_connecting_once_and_an_older_place_is_replaced() {
        let once = connected(THEIRS, "/bin/waylore").unwrap();
        assert_eq!(connected(&once, "/bin/waylore").unwrap(), once);
        let moved = connected(&once, "/opt/waylore").unwrap();
        assert!(!moved.contains("/bin/waylore") && moved.contains("/opt/waylore"));
    }

    #[test]
    fn disconnecting_leaves_what_was_there() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let after = without(&connected(THEIRS, "/bin/waylore").unwrap()).unwrap();
        assert_eq!(value(&after), value(THEIRS));
        assert!(
            after.contains(
                r#""Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]"#
            )
        );
        assert_eq!(without(THEIRS).unwrap(), THEIRS, "nothing of ours, nothing written");
        assert_eq!(value(&without(&connected("", "/bin/waylore").unwrap()).unwrap()), json!({}));
    }

    #[test]
    fn settings_that_are_none_are_refused() {
        for odd in ["[]", "{", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": 1}}"] {
            assert!(connected(odd, "/bin/waylore").is_err(), "{odd}");
        }
    }
}
