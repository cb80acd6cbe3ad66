//! Events without secrets: the only form in which journals and the inbox accept them.
//!
//! Masking follows the serialised form: every string of the JSON object is masked, also one in a
//! field that is added later. `FIELD_RULES` lists the few fields that are not free text. The engine
//! masks the events of transcripts with the same type before it learns from them.

use std::ops::Deref;

use model::{EventEnvelope, EventError, MemoryKind};
use serde_json::{Map, Value};

/// An event whose texts hold no secret. Cannot be built in any other way than by masking.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskedEvent(EventEnvelope);

impl MaskedEvent {
    /// Masks every text of an event. Fails only if the masks make the event longer than an event may
    /// be.
    pub fn new(event: EventEnvelope) -> Result<Self, EventError> {
        let before = serde_json::to_value(&event)
            .expect("events have string keys and finite numbers, see `to_line`");
        let mut after = before.clone();
        mask_value(&mut after, MaskRule::FreeText);
        // The usual case. Parsing the event again would cost more than the search.
        if after == before {
            return Ok(Self(event));
        }
        EventEnvelope::parse_line(&after.to_string()).map(Self)
    }

    /// The line to store, with its line end.
    pub(crate) fn to_line(&self) -> String {
        self.0.to_line() + "\n"
    }
}

impl Deref for MaskedEvent {
    type Target = EventEnvelope;

    fn deref(&self) -> &EventEnvelope {
        &self.0
    }
}

/// Masks every string of a payload, and the names of its fields.
pub fn mask_payload(payload: &mut Value) {
    mask_value(payload, MaskRule::NamedText);
}

/// The way in which a string is searched for secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MaskRule {
    /// Every rule of the crate `secrets`.
    FreeText,
    /// Known token formats only: a folder may be named by a hash, an id is random by design.
    PathOrId,
    /// A memory type. A masked one would not be a type, so the most general one takes its place.
    TypeSlug,
    /// Free text; the name of a field also counts, as in `"password": "…"`.
    NamedText,
}

/// Fields that are not free text, by name, wherever they occur. A field that is missing here is
/// masked as free text.
#[rustfmt::skip]
const FIELD_RULES: &[(&str, MaskRule)] = &[
    ("project_root", MaskRule::PathOrId),
    ("transcript",   MaskRule::PathOrId),
    ("paths",        MaskRule::PathOrId),
    ("files",        MaskRule::PathOrId),
    ("event_id",     MaskRule::PathOrId),
    ("session_id",   MaskRule::PathOrId),
    ("host_session", MaskRule::PathOrId),
    ("parent",       MaskRule::PathOrId),
    ("call_id",      MaskRule::PathOrId),
    ("removed",      MaskRule::PathOrId),
    ("added",        MaskRule::PathOrId),
    ("type",         MaskRule::TypeSlug),
    ("payload",      MaskRule::NamedText),
];

/// Masks the strings of a value. A list has the rule of its field.
fn mask_value(value: &mut Value, rule: MaskRule) {
    match value {
        Value::String(text) => mask_text(text, rule),
        Value::Array(items) => items.iter_mut().for_each(|it| mask_value(it, rule)),
        Value::Object(fields) => mask_object(fields, rule),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask_object(fields: &mut Map<String, Value>, rule: MaskRule) {
    for (name, value) in std::mem::take(fields) {
        let mut value = value;
        // Below a payload all names are data of the sender; none is a field of ours.
        let field_rule = FIELD_RULES.iter().find(|it| rule == MaskRule::FreeText && it.0 == name);
        mask_value(&mut value, field_rule.map_or(rule, |it| it.1));
        if rule == MaskRule::NamedText {
            mask_named(&name, &mut value);
        }
        fields.insert(secrets::redact(&name).text, value);
    }
}

fn mask_text(text: &mut String, rule: MaskRule) {
    let redacted = match rule {
        MaskRule::FreeText | MaskRule::NamedText => secrets::redact(text),
        MaskRule::PathOrId | MaskRule::TypeSlug => secrets::redact_path(text),
    };
    if redacted.findings.is_empty() {
        return;
    }
    *text = match rule {
        MaskRule::TypeSlug => MemoryKind::ModuleInsight.slug().to_owned(),
        _ => redacted.text,
    };
}

/// Masks a string that is a secret because of the name before it.
fn mask_named(name: &str, value: &mut Value) {
    let Value::String(text) = value else { return };
    let pair = Value::from_iter([(name, text.as_str())]).to_string();
    if let Some(finding) = secrets::scan(&pair).first() {
        *text = format!("[REDACTED: {}]", finding.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Event;

    fn masked(body: &str) -> MaskedEvent {
        let line = format!(
            r#"{{"event_id":"e1","session_id":"019a0000-0000-7000-8000-000000000001","at":5,{body}}}"#
        );
        MaskedEvent::new(EventEnvelope::parse_line(&line).unwrap()).unwrap()
    }

    #[test]
    fn names_in_a_payload_count_and_are_masked_themselves() {
        let token = ["ghp", "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
        let password = ["hun", "terKx9vQ2zLw8Rt"].concat();
        let event = masked(&format!(
            r#""event":"record","type":"gotcha","content":"c","payload":{{"{token}":1,"a":[{{"password":"{password}"}}],"files":["src/a.rs"]}}"#
        ));
        let Event::Record(note) = &event.event else { panic!("{event:?}") };
        assert_eq!(
            note.payload.as_ref().unwrap().to_string(),
            r#"{"[REDACTED: github-token]":1,"a":[{"password":"[REDACTED: password]"}],"files":["src/a.rs"]}"#
        );
    }

    #[test]
    fn a_reply_names_its_call_and_hides_a_secret_of_its_question() {
        let refusal = r#""event":"user_message","text":"no","kind":"refusal","reply_to":"call_7oIIgkG4W27U5SkASxzL9vTk""#;
        assert!(masked(refusal).to_line().contains(refusal));
        let password = ["hun", "terKx9vQ2zLw8Rt"].concat();
        let answer = format!(
            r#""event":"user_message","text":"yes","kind":"answer","reply_to":"Is password={password} right?""#
        );
        assert!(!masked(&answer).to_line().contains(&password));
    }

    #[test]
    fn an_event_without_secrets_keeps_its_line() {
        let event = masked(
            r#""event":"tool_call","call_id":"toolu_01A09q90qw90lq917835lq9","tool":"read","args":{"paths":["target/debug/libserde-7f3c1a9b0e5d2f48.rlib","config/password=default.yml"]}"#,
        );
        let again = MaskedEvent::new(EventEnvelope::parse_line(event.to_line().trim()).unwrap());
        assert_eq!(again.unwrap(), event);
        assert!(!event.to_line().contains("REDACTED"));
    }
}
