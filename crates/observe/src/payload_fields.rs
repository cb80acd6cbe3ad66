//! The payload of a memory that a person or an agent states: the few fields that they know, completed
//! with those that learning would count.
//!
//! A workflow recipe, for instance, is stated by its task and its steps; how often it worked and when is
//! filled in. The engine calls this for `waylore remember` and for recorded notes, `draft/statements.rs`
//! for the notes of a journal.

use model::{MemoryKind, Payload, PayloadError, Timestamp};
use serde_json::{Map, Value, json};

use crate::error_line::{normalise_message, recognise_error};

/// The fields that a statement of a kind may have, for messages and tool descriptions: those before the
/// semicolon are required. `None` if the kind has no payload.
#[rustfmt::skip]
pub const fn payload_fields(kind: MemoryKind) -> Option<&'static str> {
    use MemoryKind as K;
    Some(match kind {
        K::ErrorPattern     => "message; tool, resolution",
        K::PrefetchPattern  => "always or often (paths); trigger_module",
        K::WorkState        => "any",
        K::CausalDependency => "from, to; directed",
        K::TaskCalibration  => "module, avg_actual, avg_planned; methodology, samples",
        K::E2eObservation   => "kind (precondition, timing, ui_behavior, test_sequence, tool_gotcha), tool; app_state",
        K::DeadEnd          => "tried, why_failed; used_instead, task_context",
        K::WorkUnitOutcome  => "succeeded; files_modified, decisions, steps, tokens, retries, failure_reason",
        K::WorkflowRecipe   => "task_pattern, steps (texts, or objects with description, file, line)",
        K::ContextCost      => "module, avg_tokens; p90_tokens, samples",
        K::Gotcha | K::Decision | K::Preference | K::Pattern | K::Requirement | K::ModuleInsight => return None,
    })
}

/// Completes the stated fields of a payload and validates them. `now` is when they are stated.
pub fn complete_payload(
    kind: MemoryKind,
    stated: &Value,
    now: Timestamp,
) -> Result<Payload, PayloadError> {
    let mut fields = match stated {
        Value::Object(fields) => fields.clone(),
        // Not an object: the parser names the mistake.
        other => return Payload::parse(kind, other),
    };
    for (name, value) in counted_fields(kind, &fields, now) {
        if !fields.contains_key(name) {
            fields.insert(name.to_owned(), value);
        }
    }
    if kind == MemoryKind::WorkflowRecipe
        && let Some(Value::Array(steps)) = fields.get_mut("steps")
    {
        number_steps(steps);
    }
    Payload::parse(kind, &Value::Object(fields))
}

/// The fields of a kind that learning counts, with the values of a single statement.
fn counted_fields(
    kind: MemoryKind,
    stated: &Map<String, Value>,
    now: Timestamp,
) -> Vec<(&'static str, Value)> {
    let number = |name: &str| stated.get(name).and_then(Value::as_u64).unwrap_or(0);
    let text = |name: &str| stated.get(name).and_then(Value::as_str).unwrap_or_default();
    match kind {
        MemoryKind::ErrorPattern => {
            let tool = if text("tool").is_empty() { "shell" } else { text("tool") };
            let fingerprint = error_fingerprint(tool, text("message"));
            vec![("tool", json!(tool)), ("fingerprint", json!(fingerprint))]
        }
        MemoryKind::PrefetchPattern => {
            vec![("always", json!([])), ("often", json!([])), ("session_count", json!(1))]
        }
        // Stated, not counted: it holds for every change.
        MemoryKind::CausalDependency => {
            vec![("sessions", json!([])), ("lift", json!(1000)), ("directed", json!(true))]
        }
        MemoryKind::TaskCalibration => {
            let ratio = number("avg_actual") * 1000 / number("avg_planned").max(1);
            vec![("methodology", json!("native")), ("ratio", json!(ratio)), ("samples", json!(1))]
        }
        MemoryKind::WorkUnitOutcome => vec![
            ("files_modified", json!([])),
            ("decisions", json!([])),
            ("steps", json!(0)),
            ("tokens", json!(0)),
            ("retries", json!(0)),
        ],
        MemoryKind::WorkflowRecipe => {
            vec![("success_count", json!(1)), ("last_validated_at", json!(now.0))]
        }
        MemoryKind::ContextCost => {
            vec![("p90_tokens", json!(number("avg_tokens"))), ("samples", json!(1))]
        }
        _ => Vec::new(),
    }
}

/// The fingerprint by which the error is recognised when the tool fails with it again.
fn error_fingerprint(tool: &str, message: &str) -> String {
    match recognise_error(tool, message) {
        Some(error) => error.fingerprint,
        // An empty message has no fingerprint, and is refused for that.
        None if message.trim().is_empty() => String::new(),
        None => model::fingerprint_text(&format!("{tool}\n{}", normalise_message(message))),
    }
}

/// Converts steps that are plain texts to objects, and numbers those without a number.
fn number_steps(steps: &mut [Value]) {
    for (nth, step) in steps.iter_mut().enumerate() {
        if let Value::String(description) = step {
            *step = json!({ "description": description });
        }
        if let Value::Object(fields) = step {
            fields.entry("order").or_insert_with(|| json!(nth + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(kind: MemoryKind, stated: &str, expect: Expect) {
        let stated: Value = serde_json::from_str(stated).unwrap();
        expect.assert_eq(&match complete_payload(kind, &stated, Timestamp(7)) {
            Ok(payload) => payload.to_json().to_string(),
            Err(error) => format!("error: {error}"),
        });
    }

    #[test]
    fn every_kind_with_a_payload_can_be_stated_by_its_required_fields() {
        for kind in MemoryKind::ALL {
            let stated = match kind {
                MemoryKind::ErrorPattern => json!({"message": "error: no such file"}),
                MemoryKind::PrefetchPattern => json!({"always": ["a.rs"]}),
                MemoryKind::WorkState => json!({"next": "tests"}),
                MemoryKind::CausalDependency => json!({"from": "a", "to": "b"}),
                MemoryKind::TaskCalibration => {
                    json!({"module": "m", "avg_actual": 30, "avg_planned": 10})
                }
                MemoryKind::E2eObservation => json!({"kind": "timing", "tool": "browser"}),
                MemoryKind::DeadEnd => json!({"tried": "a", "why_failed": "b"}),
                MemoryKind::WorkUnitOutcome => json!({"succeeded": true}),
                MemoryKind::WorkflowRecipe => json!({"task_pattern": "t", "steps": ["a", "b"]}),
                MemoryKind::ContextCost => json!({"module": "m", "avg_tokens": 900}),
                _ => json!({}),
            };
            let payload = complete_payload(*kind, &stated, Timestamp(7));
            assert_eq!(payload.is_ok(), payload_fields(*kind).is_some(), "{kind}: {payload:?}");
        }
    }

    #[test]
    fn the_fields_that_learning_counts_are_filled_in() {
        check(
            MemoryKind::WorkflowRecipe,
            r#"{"task_pattern":"add a flag","steps":["edit cli.rs",{"description":"test","file":"t.rs"}]}"#,
            expect![[
                r#"{"last_validated_at":7,"steps":[{"description":"edit cli.rs","file":null,"line":null,"order":1},{"description":"test","file":"t.rs","line":null,"order":2}],"success_count":1,"task_pattern":"add a flag"}"#
            ]],
        );
        check(
            MemoryKind::TaskCalibration,
            r#"{"module":"m","avg_actual":30,"avg_planned":10}"#,
            expect![[
                r#"{"avg_actual":30,"avg_planned":10,"methodology":"native","module":"m","ratio":3000,"samples":1}"#
            ]],
        );
        check(
            MemoryKind::DeadEnd,
            r#"{"tried":"sed"}"#,
            expect!["error: the payload of a `dead_end` is malformed: missing field `why_failed`"],
        );
        check(MemoryKind::Gotcha, "{}", expect!["error: a `gotcha` carries no payload"]);
    }
}
