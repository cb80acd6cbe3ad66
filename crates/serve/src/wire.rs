//! Lines on the wire: twins of our structs, converted by hand. A wire is a promise;
//! docs/reference/protocol.md states it, and its examples are tested.

mod depth;
mod reply;
mod request;

use model::{EventEnvelope, EventError, MAX_EVENT_LINE_BYTES, closed};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub use depth::MAX_DEPTH;
pub use reply::{
    ErrorCode, JobWire, RequestFailure, StatusWire, context_json, dependencies_json, hits_json,
    impact_json, module_map_json, recipe_json, reply_error, reply_ok, stop_limit_json,
};
pub use request::{
    CodeRequest, ContextRequestBody, FinishRequest, HookRequest, MapRequest, PrefetchRequest,
    ProjectSelector, RecipeRequest, RecordRequest, SearchRequest, StepContextRequest,
    StopLimitRequest, StopRequest, ValidateRequest,
};

/// Incremented when older clients would misunderstand.
pub const PROTOCOL_VERSION: u32 = 1;

closed! {
    /// The requests of the protocol.
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

/// One parsed line, before its project is known.
#[derive(Debug)]
pub enum WireMessage<'a> {
    Event(Box<EventEnvelope>),
    Request {
        /// Chosen by the sender and returned: a number or a string.
        id: Value,
        kind: RequestKind,
        body: RequestBody<'a>,
    },
}

/// The fields of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestBody<'a> {
    /// The whole line, from which a request parses the fields it needs.
    pub line: &'a str,
    /// The fields of a `hook` request, found with the head of the line. Its message is by far the
    /// largest field of any request; taking it from here saves a second scan of the line.
    host: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
}

impl<'a> RequestBody<'a> {
    /// The fields as a `hook` request. The message stays unparsed: only its host knows how to read
    /// it.
    pub fn hook_request(&self) -> Result<HookRequest<'a>, RequestFailure> {
        let host = self.host.and_then(|it| serde_json::from_str(it.get()).ok());
        match (host, self.message) {
            (Some(host), Some(message)) => Ok(HookRequest { host, message }),
            _ => Err(RequestFailure::new(
                ErrorCode::Malformed,
                "a `hook` has a `host` and a `message`",
            )),
        }
    }
}

/// Fields that distinguish a request from an event.
#[derive(Deserialize)]
struct LineHeader<'a> {
    #[serde(default)]
    request: Option<String>,
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    event_id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    host: Option<&'a RawValue>,
    #[serde(default, borrow)]
    message: Option<&'a RawValue>,
}

/// An invalid line and the id that the error reply refers to.
#[derive(Debug)]
pub struct LineError {
    /// The `id` of a request or the `event_id` of an event, if it could be parsed.
    pub of: Option<(&'static str, Value)>,
    pub why: RequestFailure,
}

/// Parses a line.
pub fn parse_line(line: &str) -> Result<WireMessage<'_>, LineError> {
    let without_id = |why: RequestFailure| LineError { of: None, why };
    if line.len() > MAX_EVENT_LINE_BYTES {
        return Err(without_id(too_long()));
    }
    if depth::nesting_depth(line) > MAX_DEPTH {
        let what = format!("the line is nested deeper than {MAX_DEPTH}");
        return Err(without_id(RequestFailure::new(ErrorCode::TooDeep, what)));
    }
    if !line.trim_start().starts_with('{') {
        return Err(without_id(RequestFailure::new(
            ErrorCode::Malformed,
            "a line is one JSON object",
        )));
    }
    let malformed =
        |it: &serde_json::Error| RequestFailure::new(ErrorCode::Malformed, it.to_string());
    let head: LineHeader<'_> =
        serde_json::from_str(line).map_err(|it| without_id(malformed(&it)))?;
    let value = |it: &RawValue| serde_json::from_str::<Value>(it.get()).unwrap_or(Value::Null);
    let Some(request) = head.request else {
        let id = head.event_id.map(|it| ("event_id", value(it)));
        let event = EventEnvelope::parse_line(line)
            .map_err(|it| LineError { of: id, why: of_event(&it) })?;
        return Ok(WireMessage::Event(Box::new(event)));
    };
    let id = head.id.map(value);
    let of = id.clone().map(|it| ("id", it));
    let Some(id) = id.filter(|it| it.is_number() || it.is_string()) else {
        let what = "a request needs an `id`: a number or a string";
        return Err(LineError { of, why: RequestFailure::new(ErrorCode::Malformed, what) });
    };
    match RequestKind::parse(&request) {
        Ok(kind) => {
            let body = RequestBody { line, host: head.host, message: head.message };
            Ok(WireMessage::Request { id, kind, body })
        }
        Err(word) => Err(LineError {
            of,
            why: RequestFailure::new(ErrorCode::UnknownRequest, word.to_string()),
        }),
    }
}

pub(crate) fn too_long() -> RequestFailure {
    RequestFailure::new(
        ErrorCode::TooLong,
        format!("a line has at most {MAX_EVENT_LINE_BYTES} bytes"),
    )
}

fn of_event(error: &EventError) -> RequestFailure {
    let code = match error {
        EventError::Unknown(_) => ErrorCode::UnknownEvent,
        EventError::TooLong { .. } => ErrorCode::TooLong,
        EventError::Id { .. } | EventError::Malformed { .. } => ErrorCode::Malformed,
    };
    RequestFailure::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(line: &str, expect: Expect) {
        let said = match parse_line(line) {
            Ok(WireMessage::Event(it)) => {
                format!("event {} of {}", it.event.kind(), it.session.short())
            }
            Ok(WireMessage::Request { id, kind, .. }) => format!("request {kind} {id}"),
            Err(LineError { of, why }) => {
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
            expect!["malformed: a request needs an `id`: a number or a string"],
        );
        check(
            r#"{"id":[],"request":"ping"}"#,
            expect!["malformed id []: a request needs an `id`: a number or a string"],
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
    fn a_hook_request_carries_its_message_unparsed() {
        let hook = |line: &str| match parse_line(line) {
            Ok(WireMessage::Request { body, .. }) => match body.hook_request() {
                Ok(it) => format!("{} {}", it.host, it.message),
                Err(why) => format!("{}: {}", why.code, why.message),
            },
            other => format!("{other:?}"),
        };
        // Whatever is inside the message, and in any order of the fields.
        let line = r#"{"message":{"b": [1e999],"id":2},"host":"codex","id":1,"request":"hook"}"#;
        assert_eq!(hook(line), r#"codex {"b": [1e999],"id":2}"#);
        for line in [
            r#"{"id":1,"request":"hook","host":"codex"}"#,
            r#"{"id":1,"request":"hook","host":7,"message":{}}"#,
        ] {
            assert_eq!(hook(line), "malformed: a `hook` has a `host` and a `message`");
        }
        check(r#"{"id":1,"request":"ping","host":7,"message":[]}"#, expect!["request ping 1"]);
    }

    #[test]
    fn a_line_has_a_depth_and_a_length() {
        let deep =
            format!(r#"{{"id":1,"request":"ping","x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        check(&deep, expect!["too_deep: the line is nested deeper than 128"]);
        let brackets = format!(r#"{{"id":1,"request":"ping","x":"{}"}}"#, "[".repeat(200));
        check(&brackets, expect!["request ping 1"]);
        check(
            &" ".repeat(MAX_EVENT_LINE_BYTES + 1),
            expect!["too_long: a line has at most 8388608 bytes"],
        );
    }
}
