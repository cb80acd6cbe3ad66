//! Installs and removes our hooks in the JSON settings of a host, for hosts whose settings have the
//! shape `hooks` → event → list of entries → list of hooks:
//!
//! ```text
//! { "hooks": { "SessionStart": [ { "hooks": [ { "command": "waylore", "args": ["hook", …] } ] } ] } }
//!              event             entry        hook
//! ```
//!
//! The text is edited in place (see `json_spans`), so everything else in the file stays, in its
//! order, comments included where the host accepts them. Our hooks are recognised by the command they run.

use std::ops::Range;

use serde_json::{Value, json};

use super::mcp_servers::JsonFlavor;
use super::{SettingsError, runs_waylore};
use crate::json_spans::{self, JsonContent, scan_json};

const UNEXPECTED_HOOKS: SettingsError = SettingsError::UnexpectedShape("hooks");

/// Settings with one entry of ours for each of these events; unchanged if all are present.
pub(super) fn install_entries(
    flavor: JsonFlavor,
    settings: &str,
    entries: &[(&str, Value)],
) -> Result<String, SettingsError> {
    let before = parse_settings(flavor, settings)?;
    let is_present = |(event, entry): &(&str, Value)| {
        before["hooks"][*event].as_array().is_some_and(|it| it.contains(entry))
    };
    if entries.iter().all(is_present) {
        return Ok(settings.to_owned());
    }
    // Older entries of ours, for example with another path of the program, are replaced.
    let mut text = uninstall(flavor, settings)?;
    // A file that is empty or has nothing but comments gets an object, below the comments.
    if scan_json(&text).is_none() {
        text.push_str("{}\n");
    }
    // Each insertion moves the positions, so the text is scanned again for the next one.
    for (event, entry) in entries {
        text = insert_entry(&text, event, entry).ok_or(UNEXPECTED_HOOKS)?;
    }
    Ok(text)
}

/// Settings without our hooks and without the containers that become empty by that.
pub(super) fn uninstall(flavor: JsonFlavor, settings: &str) -> Result<String, SettingsError> {
    let before = parse_settings(flavor, settings)?;
    let mut text = settings.to_owned();
    // One at a time: positions change with each removal, and a container may then be ours alone.
    while let Some(span) = find_own_span(&text) {
        text = json_spans::remove_span(&text, &span);
    }
    // `find_own_span` removes whole events at most, so `hooks` may be left empty. It is removed, too,
    // unless it was empty before: then the user wrote it.
    let is_empty_now = text != settings && parse_settings(flavor, &text)?["hooks"] == json!({});
    let was_empty_before = before["hooks"] == json!({});
    if is_empty_now && !was_empty_before {
        let hooks = scan_json(&text).and_then(|it| Some(it.member("hooks")?.span.clone()));
        text = hooks.map_or(text.clone(), |it| json_spans::remove_span(&text, &it));
    }
    Ok(text)
}

/// Parses settings and checks the shape of their hooks; an empty text is an empty object.
fn parse_settings(flavor: JsonFlavor, settings: &str) -> Result<Value, SettingsError> {
    let settings = flavor.to_strict(settings);
    if json_spans::is_blank(&settings) {
        return Ok(json!({}));
    }
    let value: Value =
        serde_json::from_str(&settings).map_err(|it| SettingsError::Unreadable(it.to_string()))?;
    if !value.is_object() {
        return Err(SettingsError::Unreadable("it is not an object".to_owned()));
    }
    let maps_events_to_lists =
        |hooks: &Value| hooks.as_object().is_some_and(|it| it.values().all(Value::is_array));
    if value.get("hooks").is_none_or(maps_events_to_lists) {
        Ok(value)
    } else {
        Err(UNEXPECTED_HOOKS)
    }
}

/// Appends an entry to the list of an event. Creates the list, and `hooks`, if they are missing.
fn insert_entry(text: &str, event: &str, entry: &Value) -> Option<String> {
    let root = scan_json(text)?;
    let item = serde_json::to_string_pretty(entry).ok()?;
    let Some(hooks) = root.member("hooks") else {
        let with = json_spans::insert_item(text, &root, "\"hooks\": {}");
        return insert_entry(&with, event, entry);
    };
    let Some(list) = hooks.value.member(event) else {
        let item = format!("\"{event}\": [\n  {}\n]", item.replace('\n', "\n  "));
        return Some(json_spans::insert_item(text, &hooks.value, &item));
    };
    Some(json_spans::insert_item(text, &list.value, &item))
}

/// Span of the first thing that is entirely ours: a hook beside others, an entry whose only hook is
/// ours, or an event whose only entry is ours.
fn find_own_span(text: &str) -> Option<Range<usize>> {
    let root = scan_json(text)?;
    let JsonContent::Object(events) = &root.member("hooks")?.value.content else { return None };
    for (_, event) in events {
        let JsonContent::Array(entries) = &event.value.content else { return None };
        for entry in entries {
            // An entry without a list of hooks is not ours; it stays whatever it is.
            let Some(list) = entry.member("hooks") else { continue };
            let JsonContent::Array(hooks) = &list.value.content else { continue };
            let own_hook = hooks.iter().find(|it| is_own_hook(&text[it.span.clone()]));
            let Some(own_hook) = own_hook else { continue };
            // The outermost container that holds nothing but this hook.
            let is_only_hook = hooks.len() == 1;
            let is_only_entry = entries.len() == 1;
            return Some(if is_only_hook && is_only_entry {
                event.span.clone()
            } else if is_only_hook {
                entry.span.clone()
            } else {
                own_hook.span.clone()
            });
        }
    }
    None
}

/// True if a hook runs `waylore hook`, wherever the program is installed.
fn is_own_hook(hook: &str) -> bool {
    let hook = json_spans::to_strict_json(hook);
    let hook: Value = serde_json::from_str(&hook).unwrap_or_default();
    runs_waylore(&hook, "hook")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Installs a hook for two events.
    fn install_two(settings: &str, program: &str) -> Result<String, SettingsError> {
        let hook =
            json!({ "type": "command", "command": program, "args": ["hook", "claude-code"] });
        let start_entry = json!({ "hooks": [hook] });
        let read_entry = json!({ "matcher": "Read", "hooks": [hook] });
        install_entries(
            JsonFlavor::Strict,
            settings,
            &[("SessionStart", start_entry), ("PostToolUse", read_entry)],
        )
    }

    const OTHER_SETTINGS: &str = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
    "PostToolUse": [{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "fmt" }] }]
  },
  "env": { "B": "1", "A": "2" }
}
"#;

    #[test]
    fn other_settings_stay_in_their_order() {
        let with = install_two(OTHER_SETTINGS, "/bin/waylore").unwrap();
        let value: Value = serde_json::from_str(&with).unwrap();
        assert_eq!(value["hooks"]["PostToolUse"][0]["hooks"][0]["command"], "fmt");
        assert_eq!(value["hooks"]["PostToolUse"][1]["hooks"][0]["command"], "/bin/waylore");
        assert_eq!(value["hooks"]["SessionStart"][0]["hooks"][0]["args"][1], "claude-code");
        let positions = ["\"model\"", "\"Stop\"", "\"fmt\"", "\"env\"", "\"B\"", "\"A\""]
            .map(|it| with.find(it));
        assert!(positions.is_sorted() && positions[0].is_some(), "{with}");
    }

    #[test]
    fn installing_twice_adds_one_entry_and_replaces_an_older_path() {
        let once = install_two(OTHER_SETTINGS, "/bin/waylore").unwrap();
        assert_eq!(install_two(&once, "/bin/waylore").unwrap(), once);
        let moved = install_two(&once, "/opt/waylore").unwrap();
        assert!(!moved.contains("/bin/waylore") && moved.contains("/opt/waylore"));
    }

    #[test]
    fn uninstalling_restores_the_settings() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let after =
            uninstall(JsonFlavor::Strict, &install_two(OTHER_SETTINGS, "/bin/waylore").unwrap())
                .unwrap();
        assert_eq!(value(&after), value(OTHER_SETTINGS));
        assert!(
            after.contains(
                r#""Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]"#
            )
        );
        assert_eq!(
            uninstall(JsonFlavor::Strict, OTHER_SETTINGS).unwrap(),
            OTHER_SETTINGS,
            "nothing of ours, nothing written"
        );
        assert_eq!(
            value(
                &uninstall(JsonFlavor::Strict, &install_two("", "/bin/waylore").unwrap()).unwrap()
            ),
            json!({})
        );
    }

    #[test]
    fn unexpected_settings_are_refused() {
        for odd in ["[]", "{", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": 1}}"] {
            assert!(install_two(odd, "/bin/waylore").is_err(), "{odd}");
        }
    }
}
