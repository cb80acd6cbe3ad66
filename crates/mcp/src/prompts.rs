//! Prompts that a user can run in a client, for example as `/remember`. A prompt is a text with one
//! optional argument; the client sends it to its model as a user message.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

struct PromptRow {
    name: &'static str,
    description: &'static str,
    argument_name: &'static str,
    argument_description: &'static str,
    /// Renders the text; the argument is empty if the user gave none.
    render: fn(&str) -> String,
}

const PROMPTS: &[PromptRow] = &[
    PromptRow {
        name: "remember",
        description: "Record what should be known in later sessions",
        argument_name: "what",
        argument_description: "What to record; the agent looks back over the session when it is empty",
        render: |what| {
            match what {
            "" => "Look back over this session. For each thing a later session should know and could \
                   not see from the code (a trap, a fix that worked, a decision with its reason, a dead \
                   end), call record_memory once: one self-contained sentence, with the files it is \
                   about. Record nothing that is obvious, temporary or secret."
                .to_owned(),
            what => format!(
                "Call record_memory with the following, as one self-contained statement, with the \
                 files it is about:\n\n{what}"
            ),
        }
        },
    },
    PromptRow {
        name: "review",
        description: "Check what is remembered about something against the code",
        argument_name: "topic",
        argument_description: "What to check; everything about the files of the session when it is empty",
        render: |topic| {
            let topic = if topic.is_empty() { "the files of this session" } else { topic };
            format!(
                "Call search_memory for {topic}. Compare each note with the code as it is now. For \
                 every note that no longer holds, call flag_memory with its id and what is wrong. \
                 Then tell me what holds, what you flagged, and what is missing."
            )
        },
    },
];

pub(crate) fn list_prompts() -> Vec<Prompt> {
    let to_mcp_prompt = |row: &PromptRow| {
        let argument = PromptArgument::new(row.argument_name)
            .with_description(row.argument_description)
            .with_required(false);
        Prompt::new(row.name, Some(row.description), Some(vec![argument]))
    };
    PROMPTS.iter().map(to_mcp_prompt).collect()
}

/// Renders a prompt with its argument; the error message says what to do.
pub(crate) fn render_prompt(
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, String> {
    let Some(row) = PROMPTS.iter().find(|it| it.name == name) else {
        let names: Vec<&str> = PROMPTS.iter().map(|it| it.name).collect();
        return Err(format!("there is no prompt `{name}`; there are: {}", names.join(", ")));
    };
    let argument = arguments.and_then(|it| it.get(row.argument_name)).and_then(|it| it.as_str());
    let text = (row.render)(argument.unwrap_or_default().trim());
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(row.description))
}
