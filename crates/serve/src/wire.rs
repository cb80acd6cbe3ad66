//! Lines on the wire: twins of our structs, converted by hand. A wire is a promise; docs/reference/protocol.md
//! states it, and its examples are tested.

mod ask;
mod depth;
mod reply;

use model::{Envelope, EventError, MAX_LINE, closed};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub use ask::{
    About, CodeAsk, ContextAsk, FinishAsk, HookAsk, LimitAsk, MapAsk, PrefetchAsk, RecipeAsk,
    RecordAsk, SearchAsk, StepAsk, StopAsk, ValidateAsk,
};
pub use depth::MAX_DEPTH;
pub use reply::{
    Code, Failure, JobWire, StatusWire, context, dependencies, hits, impact, module_map, recipe,
    reply_error, reply_ok, stop_limit,
};

/// Raised when a program of before would misunderstand.
pub const PROTOCOL: u32 = 1;

closed! {
    /// What can be asked.
    pub enum RequestKind : "request" {
        Hello = "hello",
        Ping = "ping",
        Status = "status",
        Stop = "stop",
        Hook = "hook",
        Search = "search",
        Record = "record",
        SessionContext = "session_context",
        StepContext = "step_context",
        FileContext = "file_context",
        PlanContext = "plan_context",
        QaContext = "qa_context",
        RecoveryContext = "recovery_context",
        SpecContext = "spec_context",
        Recipe = "recipe",
        Prefetch = "prefetch",
        StopLimit = "stop_limit",
        Impact = "impact",
        Dependencies = "dependencies",
        ModuleMap = "module_map",
        Validate = "validate",
        Finish = "finish",
    }
}

/// One line, understood as far as it can be without knowing whom it concerns.
#[derive(Debug)]
pub enum Message<'a> {
    Event(Box<Envelope>),
    Request {
        /// Given by the sender and given back: a number or a text.
        id: Value,
        kind: RequestKind,
        /// The whole line, from which the request reads what it needs.
        line: &'a str,
    },
}

/// What tells a request from an event.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(default)]
    request: Option<String>,
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    event_id: Option<&'a RawValue>,
}

/// A line that is none, and whom the answer names.
#[derive(Debug)]
pub struct Misunderstood {
    /// The `id` of a request or the `event_id` of an event, when that much could be read.
    pub of: Option<(&'static str, Value)>,
    pub why: Failure,
}

/// Reads a line.
pub fn read(line: &str) -> Result<Message<'_>, Misunderstood> {
    let nobody = |why: Failure| Misunderstood { of: None, why };
    if line.len() > MAX_LINE {
        return Err(nobody(too_long()));
    }
    if depth::of(line) > MAX_DEPTH {
        let what = format!("the line is nested deeper than {MAX_DEPTH}");
        return Err(nobody(Failure::new(Code::TooDeep, what)));
    }
    if !line.trim_start().starts_with('{') {
        return Err(nobody(Failure::new(Code::Malformed, "a line is one JSON object")));
    }
    let malformed = |it: &serde_json::Error| Failure::new(Code::Malformed, it.to_string());
    let head: Head<'_> = serde_json::from_str(line).map_err(|it| nobody(malformed(&it)))?;
    let value = |it: &RawValue| serde_json::from_str::<Value>(it.get()).unwrap_or(Value::Null);
    let Some(request) = head.request else {
        let id = head.event_id.map(|it| ("event_id", value(it)));
        let event =
            Envelope::read(line).map_err(|it| Misunderstood { of: id, why: of_event(&it) })?;
        return Ok(Message::Event(Box::new(event)));
    };
    let id = head.id.map(value);
    let of = id.clone().map(|it| ("id", it));
    let Some(id) = id.filter(|it| it.is_number() || it.is_string()) else {
        let what = "a request has an `id`, a number or a text";
        return Err(Misunderstood { of, why: Failure::new(Code::Malformed, what) });
    };
    match RequestKind::parse(&request) {
        Ok(kind) => Ok(Message::Request { id, kind, line }),
        Err(word) => {
            Err(Misunderstood { of, why: Failure::new(Code::UnknownRequest, word.to_string()) })
        }
    }
}

pub(crate) fn too_long() -> Failure {
    Failure::new(Code::TooLong, format!("a line has at most {MAX_LINE} bytes"))
}

fn of_event(error: &EventError) -> Failure {
    let code = match error {
        EventError::Unknown(_) => Code::UnknownEvent,
        EventError::TooLong { .. } => Code::TooLong,
        EventError::Id { .. } | EventError::Malformed { .. } => Code::Malformed,
    };
    Failure::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(line: &str, expect: Expect) {
        let said = match read(line) {
            Ok(Message::Event(it)) => {
                format!("event {} of {}", it.event.kind(), it.session.short())
            }
            Ok(Message::Request { id, kind, .. }) => format!("request {kind} {id}"),
            Err(Misunderstood { of, why }) => {
                let of = of.map(|(name, value)| format!(" {name} {value}")).unwrap_or_default();
                format!("{}{of}: {}", why.code, why.message)
            }
        };
        expect.assert_eq(&said);
    }

    #[test]
    fn a_line_is_an_event_or_a_request_or_told_why_not() {
        check(r#"{"id":7,"request":"ping","more":[1]}"#, expect!["request ping 7"]);
        check(
            r#"{"id":"a","request":"serach"}"#,
            expect![[
                r#"unknown_request id "a": unknown request `serach` (did you mean `search`?)"#
            ]],
        );
        check(
            r#"{"request":"ping"}"#,
            expect!["malformed: a request has an `id`, a number or a text"],
        );
        check(
            r#"{"id":[],"request":"ping"}"#,
            expect!["malformed id []: a request has an `id`, a number or a text"],
        );
        check(
            r#"{"event":"step_complete","event_id":"e1","session_id":"018f0000-0000-7000-8000-0000000000aa","at":1,"new_field":{}}"#,
            expect!["event step_complete of 000000aa"],
        );
        check(
            r#"{"event":"step_completed","event_id":"e1","session_id":"018f0000-0000-7000-8000-0000000000aa","at":1}"#,
            expect![[
                r#"unknown_event event_id "e1": unknown event `step_completed` (did you mean `step_complete`?)"#
            ]],
        );
        check("{", expect!["malformed: EOF while parsing an object at line 1 column 1"]);
        check("[]", expect!["malformed: a line is one JSON object"]);
    }

    #[test]
    fn a_line_has_a_depth_and_a_length() {
        let deep =
            format!(r#"{{"id":1,"request":"ping","x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        check(&deep, expect!["too_deep: the line is nested deeper than 128"]);
        let brackets = format!(r#"{{"id":1,"request":"ping","x":"{}"}}"#, "[".repeat(200));
        check(&brackets, expect!["request ping 1"]);
        check(&" ".repeat(MAX_LINE + 1), expect!["too_long: a line has at most 8388608 bytes"]);
    }
}
