//! Prompts that a user can run in a client.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

struct PromptRow {
    name: &'static str,
    description: &'static str,
    argument: (&'static str, &'static str),
    text: fn(&str) -> String,
}

const PROMPTS: &[PromptRow] = &[
    PromptRow {
        name: "remember",
        description: "Record what should be known in later sessions",
        argument: (
            "what",
            "What to record; the agent looks back over the session when it is empty",
        ),
        text: |what| {
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
        argument: (
            "topic",
            "What to check; everything about the files of the session when it is empty",
        ),
        text: |topic| {
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
    let prompt = |it: &PromptRow| {
        let (name, about) = it.argument;
        let argument = PromptArgument::new(name).with_description(about).with_required(false);
        Prompt::new(it.name, Some(it.description), Some(vec![argument]))
    };
    PROMPTS.iter().map(prompt).collect()
}

/// Renders a prompt with its argument; the error message says what to do.
pub(crate) fn render_prompt(
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, String> {
    let names: Vec<&str> = PROMPTS.iter().map(|it| it.name).collect();
    let Some(row) = PROMPTS.iter().find(|it| it.name == name) else {
        return Err(format!("there is no prompt `{name}`; there are: {}", names.join(", ")));
    };
    let given = arguments.and_then(|it| it.get(row.argument.0)).and_then(|it| it.as_str());
    let text = (row.text)(given.unwrap_or_default().trim());
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(row.description))
}
