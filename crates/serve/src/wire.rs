//! The wire protocol: one JSON object per line, an event or a request. This file parses a line;
//! `wire/request.rs` has the fields of each request, `wire/reply.rs` builds the replies.
//!
//! ```text
//! {"id":7,"request":"ping"}                                  a request: gets one reply, with its `id`
//! {"event":"step_complete","event_id":"e1","session_id":…}   an event: gets a reply only if it fails
//! ```
//!
//! The structs here are separate from those of the engine and are converted by hand, because the
//! protocol is a promise to clients and the engine is not. docs/reference/protocol.md states the
//! protocol, and tests check its examples.

mod depth;
mod reply;
mod request;

use model::{EventEnvelope, EventError, MAX_EVENT_LINE_BYTES, closed};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub use depth::MAX_DEPTH;
pub use reply::{
    ErrorCode, JobWire, ReplyTarget, RequestFailure, StatusWire, context_json, dependencies_json,
    hits_json, impact_json, module_map_json, recipe_json, reply_error, reply_ok, stop_limit_json,
};
pub use request::{
    CallerFields, CodeRequest, CommandReader, CommandRequest, ContextRequestBody, FinishRequest,
    HookRequest, MapRequest, McpRequest, PrefetchRequest, ProjectSelector, RecipeRequest,
    RecordRequest, SearchRequest, StepContextRequest, StopLimitRequest, StopRequest,
    ValidateRequest,
};

/// Incremented with a change that older clients would misunderstand.
pub const PROTOCOL_VERSION: u32 = 1;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
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
        Command = "command",
        Run = "run",
        Mcp = "mcp",
    }
}

/// One parsed line.
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
    /// The two fields of a `hook` request, which parsing the line header has already found. The
    /// message is by far the largest field of any request; keeping it saves a second scan.
    host: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
}

impl<'a> RequestBody<'a> {
    /// The fields as a `hook` request. The message stays unparsed, because its format depends on the
    /// host.
    pub fn parse_hook_request(&self) -> Result<HookRequest<'a>, RequestFailure> {
        let host = self.host.and_then(|it| serde_json::from_str(it.get()).ok());
        match (host, self.message) {
            (Some(host), Some(message)) => Ok(HookRequest { host, message }),
            (None, _) | (_, None) => Err(RequestFailure::new(
                ErrorCode::Malformed,
                "a `hook` has a `host` and a `message`",
            )),
        }
    }
}

/// The fields needed before the kind of the line is known. Values other than `request` stay raw
/// (`RawValue`), so that a wrong type in them gets an error that names the id of the line.
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

/// An invalid line.
#[derive(Debug)]
pub struct LineError {
    pub target: ReplyTarget,
    pub why: RequestFailure,
}

/// Parses a line. A line with a `request` field is a request, any other an event.
pub fn parse_wire_message(line: &str) -> Result<WireMessage<'_>, LineError> {
    // Without a header no id is known that the error could name.
    let header =
        parse_header(line).map_err(|why| LineError { target: ReplyTarget::Unknown, why })?;
    match &header.request {
        Some(request) => parse_request(line, request, &header),
        None => parse_event(line, header.event_id),
    }
}

fn parse_header(line: &str) -> Result<LineHeader<'_>, RequestFailure> {
    // Limits come first: they protect the JSON parser from input that would exhaust the stack.
    if line.len() > MAX_EVENT_LINE_BYTES {
        return Err(line_too_long());
    }
    if depth::nesting_depth(line) > MAX_DEPTH {
        let what = format!("the line is nested deeper than {MAX_DEPTH}");
        return Err(RequestFailure::new(ErrorCode::TooDeep, what));
    }
    if !line.trim_start().starts_with('{') {
        return Err(RequestFailure::new(ErrorCode::Malformed, "a line is one JSON object"));
    }
    serde_json::from_str(line)
        .map_err(|it| RequestFailure::new(ErrorCode::Malformed, it.to_string()))
}

fn parse_request<'a>(
    line: &'a str,
    request: &str,
    header: &LineHeader<'a>,
) -> Result<WireMessage<'a>, LineError> {
    let id = header.id.map(parse_raw_value);
    // An id of the wrong type is still returned: it tells the client which line was invalid.
    let target = id.clone().map_or(ReplyTarget::Unknown, ReplyTarget::Request);
    let Some(id) = id.filter(|it| it.is_number() || it.is_string()) else {
        let what = "a request needs an `id`: a number or a string";
        return Err(LineError { target, why: RequestFailure::new(ErrorCode::Malformed, what) });
    };
    match RequestKind::parse(request) {
        Ok(kind) => {
            let body = RequestBody { line, host: header.host, message: header.message };
            Ok(WireMessage::Request { id, kind, body })
        }
        Err(unknown) => Err(LineError {
            target,
            why: RequestFailure::new(ErrorCode::UnknownRequest, unknown.to_string()),
        }),
    }
}

/// Parses an event; an error names the `event_id` if the line has one.
fn parse_event<'a>(
    line: &'a str,
    event_id: Option<&RawValue>,
) -> Result<WireMessage<'a>, LineError> {
    match EventEnvelope::parse_line(line) {
        Ok(event) => Ok(WireMessage::Event(Box::new(event))),
        Err(error) => {
            let target = match event_id {
                Some(id) => ReplyTarget::Event(parse_raw_value(id)),
                None => ReplyTarget::Unknown,
            };
            Err(LineError { target, why: event_failure(&error) })
        }
    }
}

/// The value of a raw field. Cannot fail, except for a number that is out of range.
fn parse_raw_value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or(Value::Null)
}

/// The failure for a line over the size limit.
pub(crate) fn line_too_long() -> RequestFailure {
    RequestFailure::new(
        ErrorCode::TooLong,
        format!("a line has at most {MAX_EVENT_LINE_BYTES} bytes"),
    )
}

fn event_failure(error: &EventError) -> RequestFailure {
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

    /// Parses a line and compares a summary of the result: `event KIND of SESSION`, `request KIND ID`, or
    /// for an error `CODE: MESSAGE`, with ` id ID` or ` event_id ID` after the code if the line has one.
    fn check(line: &str, expect: Expect) {
        let summary = match parse_wire_message(line) {
            Ok(WireMessage::Event(it)) => {
                format!("event {} of {}", it.event.kind(), it.session.short())
            }
            Ok(WireMessage::Request { id, kind, .. }) => format!("request {kind} {id}"),
            Err(LineError { target, why }) => {
                let target = match target {
                    ReplyTarget::Request(id) => format!(" id {id}"),
                    ReplyTarget::Event(id) => format!(" event_id {id}"),
                    ReplyTarget::Unknown => String::new(),
                };
                format!("{}{target}: {}", why.code, why.message)
            }
        };
        expect.assert_eq(&summary);
    }

    #[test]
    fn a_line_parses_as_an_event_or_a_request_or_gets_an_error_with_its_id() {
        // Requests.
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

        // Events. Unknown fields do no harm.
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

        // Neither.
        check("{", expect!["malformed: EOF while parsing an object at line 1 column 1"]);
        check("[]", expect!["malformed: a line is one JSON object"]);
    }

    #[test]
    fn a_hook_request_carries_its_message_unparsed() {
        let parse_hook = |line: &str| match parse_wire_message(line) {
            Ok(WireMessage::Request { body, .. }) => match body.parse_hook_request() {
                Ok(it) => format!("{} {}", it.host, it.message),
                Err(why) => format!("{}: {}", why.code, why.message),
            },
            other => format!("{other:?}"),
        };
        // Fields in any order; `1e999` and a second `id` in the message do no harm.
        let line = r#"{"message":{"b": [1e999],"id":2},"host":"codex","id":1,"request":"hook"}"#;
        assert_eq!(parse_hook(line), r#"codex {"b": [1e999],"id":2}"#);
        for line in [
            r#"{"id":1,"request":"hook","host":"codex"}"#,
            r#"{"id":1,"request":"hook","host":7,"message":{}}"#,
        ] {
            assert_eq!(parse_hook(line), "malformed: a `hook` has a `host` and a `message`");
        }
        // The same fields have no meaning in another request.
        check(r#"{"id":1,"request":"ping","host":7,"message":[]}"#, expect!["request ping 1"]);
    }

    #[test]
    fn a_line_that_is_nested_too_deep_or_too_long_is_rejected() {
        let deep =
            format!(r#"{{"id":1,"request":"ping","x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        check(&deep, expect!["too_deep: the line is nested deeper than 128"]);
        // Brackets inside a string are not nesting.
        let brackets = format!(r#"{{"id":1,"request":"ping","x":"{}"}}"#, "[".repeat(200));
        check(&brackets, expect!["request ping 1"]);
        check(
            &" ".repeat(MAX_EVENT_LINE_BYTES + 1),
            expect!["too_long: a line has at most 8388608 bytes"],
        );
    }
}
