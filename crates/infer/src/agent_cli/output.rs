//! The output of each agent program: one JSON object, or one per line.

use serde_json::Value;

use super::AgentProgram;

/// The output of a program, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProgramOutput {
    pub(super) text: Option<String>,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) error: Option<String>,
}

/// Parses the standard output.
pub(super) fn parse_output(program: AgentProgram, stdout: &str) -> ProgramOutput {
    match program {
        AgentProgram::Claude => parse_claude(stdout),
        AgentProgram::Gemini => parse_gemini(stdout),
        AgentProgram::Codex | AgentProgram::Copilot | AgentProgram::OpenCode => {
            let mut acc = ProgramOutput::default();
            for row in stdout.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok()) {
                match program {
                    AgentProgram::Codex => add_codex_row(&mut acc, &row),
                    AgentProgram::Copilot => add_copilot_row(&mut acc, &row),
                    _ => add_opencode_row(&mut acc, &row),
                }
            }
            acc
        }
    }
}

fn text_at(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn usage_of(value: &Value, input: &str, output: &str) -> Option<(u64, u64)> {
    Some((value[input].as_u64()?, value[output].as_u64()?))
}

fn parse_claude(stdout: &str) -> ProgramOutput {
    let Ok(body) = serde_json::from_str::<Value>(stdout.trim()) else {
        return ProgramOutput::default();
    };
    let result = text_at(&body["result"]);
    // `subtype` says "success" even for errors.
    if body["is_error"].as_bool().unwrap_or(false) {
        return ProgramOutput { error: result, ..ProgramOutput::default() };
    }
    let usage = usage_of(&body["usage"], "input_tokens", "output_tokens");
    ProgramOutput { text: result, usage, error: None }
}

fn parse_gemini(stdout: &str) -> ProgramOutput {
    let Ok(body) = serde_json::from_str::<Value>(stdout.trim()) else {
        return ProgramOutput::default();
    };
    let error = text_at(&body["error"]["message"]);
    let models = body["stats"]["models"].as_object();
    let usage = models
        .and_then(|it| it.values().next())
        .and_then(|it| usage_of(&it["tokens"], "prompt", "candidates"));
    let text = text_at(&body["response"]).filter(|_| error.is_none());
    ProgramOutput { text, usage, error }
}

fn add_codex_row(acc: &mut ProgramOutput, row: &Value) {
    match row["type"].as_str() {
        Some("item.completed") if row["item"]["type"] == "agent_message" => {
            acc.text = text_at(&row["item"]["text"]);
        }
        Some("turn.completed") => {
            acc.usage = usage_of(&row["usage"], "input_tokens", "output_tokens");
        }
        // Rows of the type `error` report retries; only this one is final.
        Some("turn.failed") => acc.error = text_at(&row["error"]["message"]),
        _ => {}
    }
}

fn add_copilot_row(acc: &mut ProgramOutput, row: &Value) {
    match row["type"].as_str() {
        Some("assistant.message") => {
            acc.text = text_at(&row["data"]["content"]).or(acc.text.take());
        }
        Some("session.error") => acc.error = text_at(&row["data"]["message"]),
        _ => {}
    }
}

fn add_opencode_row(acc: &mut ProgramOutput, row: &Value) {
    match row["type"].as_str() {
        Some("text") => acc.text = text_at(&row["part"]["text"]),
        Some("step_finish") => acc.usage = usage_of(&row["part"]["tokens"], "input", "output"),
        Some("error") => {
            let name = text_at(&row["error"]["name"]);
            acc.error = text_at(&row["error"]["data"]["message"]).or(name);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_each_program_is_found() {
        let check = |program, stdout: &str, usage: Option<(u64, u64)>| {
            let parsed = parse_output(program, stdout);
            assert_eq!((parsed.text.as_deref(), parsed.usage), (Some("[]"), usage), "{program}");
        };
        check(
            AgentProgram::Claude,
            r#"{"type":"result","subtype":"success","is_error":false,"result":"[]","usage":{"input_tokens":9,"output_tokens":2}}"#,
            Some((9, 2)),
        );
        check(
            AgentProgram::Codex,
            "{\"type\":\"error\",\"message\":\"Reconnecting\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"[]\"}}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":9,\"output_tokens\":2}}",
            Some((9, 2)),
        );
        check(
            AgentProgram::Gemini,
            r#"{"response":"[]","stats":{"models":{"m":{"tokens":{"prompt":9,"candidates":2}}}}}"#,
            Some((9, 2)),
        );
        check(
            AgentProgram::Copilot,
            "{\"type\":\"assistant.message\",\"data\":{\"content\":\"[]\"}}",
            None,
        );
        check(
            AgentProgram::OpenCode,
            "{\"type\":\"text\",\"part\":{\"text\":\"[]\"}}\n{\"type\":\"step_finish\",\"part\":{\"tokens\":{\"input\":9,\"output\":2}}}",
            Some((9, 2)),
        );
    }

    #[test]
    fn an_error_that_looks_like_an_answer_is_none() {
        let claude = r#"{"subtype":"success","is_error":true,"result":"Not logged in"}"#;
        let parsed = parse_output(AgentProgram::Claude, claude);
        assert_eq!((parsed.text, parsed.error.as_deref()), (None, Some("Not logged in")));
        let gemini = r#"{"response":"x","error":{"type":"INVALID_STREAM","message":"refused"}}"#;
        assert_eq!(parse_output(AgentProgram::Gemini, gemini).text, None);
    }
}
