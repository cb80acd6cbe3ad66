//! `waylore learn --ask`: asks the configured language model what sessions taught, or prints what it would be
//! sent.

use engine::{AnsweredQuestion, AskLimits, QuestionOutcome, Transcript};
use serde_json::{Value, json};

use super::super::CommandContext;
use super::LearnArgs;
use crate::failure::usage_error;
use crate::output::{BOLD_STYLE, DIM_STYLE, GOOD_STYLE, Output, escape_controls, format_count};
use crate::reader::{readable_content, readable_text};
use crate::wire::MemoryWire;

/// Answers and refusals of a model about all sessions of a run.
#[derive(Default)]
pub(super) struct AskTotals {
    answered: Vec<AnsweredQuestion>,
    /// Sessions that were not asked about: answered earlier, or with too little in them.
    n_skipped: usize,
    /// Sessions that wait because the limits of the day are reached.
    n_waiting: usize,
    /// Calls that failed; the sessions wait.
    n_failed: usize,
}

pub(super) fn no_model_error() -> anyhow::Error {
    usage_error(
        "no model is chosen that could be asked",
        "`waylore config set learn.model claude` asks your Claude Code, about 6000 tokens per session; \
         `codex`, `gemini`, `copilot`, `opencode` and `provider` are the others",
    )
}

/// Asks about every session that was not asked about yet, oldest first, within the limits of the day.
pub(super) async fn ask_about_all(
    command: &mut CommandContext<'_>,
    transcripts: &[Transcript],
) -> anyhow::Result<AskTotals> {
    let limits = AskLimits {
        calls_per_day: command.settings.get_number("learn.daily_calls"),
        tokens_per_day: command.settings.get_number("learn.daily_tokens"),
    };
    let mut totals = AskTotals::default();
    for (nth, transcript) in transcripts.iter().enumerate() {
        let out = command.output;
        out.print_progress(&format!("asking about session {} of {}", nth + 1, transcripts.len()));
        match command.project.learner().ask_about(transcript, limits).await? {
            QuestionOutcome::Answered(answered) => totals.answered.push(*answered),
            QuestionOutcome::NoSession
            | QuestionOutcome::AskedBefore
            | QuestionOutcome::TooLittle => {
                totals.n_skipped += 1;
            }
            QuestionOutcome::LimitReached => totals.n_waiting += 1,
            QuestionOutcome::NoModel => return Err(no_model_error()),
            QuestionOutcome::Failed { why } => {
                out.warn(&format!("the model gave no usable answer: {why}; the session waits"));
                totals.n_failed += 1;
            }
        }
    }
    command.output.print_progress("");
    Ok(totals)
}

impl AskTotals {
    fn n_tokens(&self) -> u64 {
        self.answered.iter().map(|it| it.n_tokens).sum()
    }

    pub(super) fn to_json(&self) -> Value {
        let refused = |it: &(String, String)| json!({ "text": readable_text(&it.0), "why": it.1 });
        let session = |it: &AnsweredQuestion| {
            json!({
                "session": it.session,
                "tokens": it.n_tokens,
                "memories": it.memories.iter().map(MemoryWire::from).collect::<Vec<_>>(),
                "refused": it.refused.iter().map(refused).collect::<Vec<_>>(),
            })
        };
        json!({
            "calls": self.answered.len() + self.n_failed,
            "tokens": self.n_tokens(),
            "skipped": self.n_skipped,
            "waiting": self.n_waiting,
            "failed": self.n_failed,
            "sessions": self.answered.iter().map(session).collect::<Vec<_>>(),
        })
    }

    pub(super) fn render(&self, args: &LearnArgs, out: &Output) {
        let (mut n_kept, mut n_refused) = (0, 0);
        for answered in &self.answered {
            n_kept += answered.memories.len();
            n_refused += answered.refused.len();
            for memory in &answered.memories {
                let review = if memory.flags.needs_review { " · needs review" } else { "" };
                out.print_line(&format!(
                    "{GOOD_STYLE}+{GOOD_STYLE:#} {BOLD_STYLE}#{}{BOLD_STYLE:#} {DIM_STYLE}{}, from the model{review}{DIM_STYLE:#}",
                    memory.id.short(),
                    memory.kind
                ));
                out.print_line(&format!("  {}", escape_controls(&readable_content(memory))));
            }
            for (text, why) in answered.refused.iter().filter(|_| args.dropped) {
                let text = escape_controls(&readable_text(text));
                out.print_line(&format!("{DIM_STYLE}refused, {why}: {text}{DIM_STYLE:#}"));
            }
        }
        out.say(&format!(
            "the model was asked about {} ({} tokens): {} kept, {} refused",
            format_count(self.answered.len(), "session", "sessions"),
            self.n_tokens(),
            format_count(n_kept, "claim", "claims"),
            n_refused
        ));
        if self.n_waiting > 0 {
            let sessions = format_count(self.n_waiting, "session waits", "sessions wait");
            out.say(&format!("{sessions} for tomorrow: the limit of the day is reached"));
        }
    }
}

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
            out.print_line(&escape_controls(&question.dossier));
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
        let calls = format_count(n_calls, "call", "calls");
        out.say(&format!("{calls}, about {n_tokens} tokens to send"));
    }
    Ok(0)
}
