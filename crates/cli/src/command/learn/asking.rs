//! `waylore learn --ask`: asks the configured language model what sessions taught, or prints what it would be
//! sent.

use engine::Transcript;
use serde_json::{Value, json};

use super::super::CommandContext;

/// Prints what the model would be sent about each session that holds enough; nothing is sent.
pub(super) async fn print_questions(
    command: &CommandContext<'_>,
    transcripts: &[Transcript],
) -> anyhow::Result<u8> {
    let out = command.output;
    let (mut rows, mut n_tokens): (Vec<Value>, u64) = (Vec::new(), 0);
    for transcript in transcripts {
        let question = command.project.session_history().prepare_question(transcript).await?;
        let Some(question) = question.filter(engine::PreparedQuestion::is_worth_asking) else {
            continue;
        };
        n_tokens += u64::from(question.n_tokens);
        // The system prompt is the same for all.
        if rows.is_empty() && !out.json {
            out.print_line(question.system);
        }
        if !out.json {
            out.print_line("----------------------------------------");
            out.print_line(&question.dossier);
        }
        rows.push(json!({
            "transcript": transcript.path,
            "episodes": question.n_episodes,
            "tokens": question.n_tokens,
            "system": question.system,
            "dossier": question.dossier,
        }));
    }
    let n_calls = rows.len();
    if out.json {
        out.print_json("questions", json!({ "questions": rows, "tokens": n_tokens }));
    } else {
        out.say(&format!("{n_calls} calls, about {n_tokens} tokens to send"));
    }
    Ok(0)
}
