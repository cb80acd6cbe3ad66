//! `waylore review`.

use std::io::{Read as _, Write as _};

use engine::{MemoryCorrection, MemoryEdit, MemoryFilter, NotebookScope, OnSecret, RatedMemory};
use model::{Memory, MemoryStatus};
use serde_json::json;

use super::CommandSession;
use super::shared::{kind_label, status_note};
use crate::output::{BOLD_STYLE, DIM_STYLE, GOOD_STYLE, Output, WARN_STYLE, is_conversation};
use crate::wire::MemoryWire;

/// Review pending memories, one key each
///
/// Memories that need review or came from external content are not injected until you confirm them. Keys: y confirm,
/// x reject, e edit, s skip, u undo the last decision, q quit. Without a terminal, keys are read from standard input;
/// --json lists the pending memories.
#[derive(clap::Args, Debug)]
pub(crate) struct ReviewArgs {
    /// Also memories that were learned and never confirmed
    #[arg(short, long)]
    all: bool,
}

/// Decisions of the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReviewDecision {
    Right,
    Discard,
    Edit,
    Later,
    Back,
    Stop,
}

/// Keys with their labels, as shown below a memory.
#[rustfmt::skip]
const DECISION_KEYS: &[(char, ReviewDecision, &str)] = &[
    ('y', ReviewDecision::Right,   "right"),
    ('x', ReviewDecision::Discard, "wrong"),
    ('e', ReviewDecision::Edit,    "edit"),
    ('s', ReviewDecision::Later,   "later"),
    ('u', ReviewDecision::Back,    "take back"),
    ('q', ReviewDecision::Stop,    "stop"),
];

pub(crate) async fn run(args: ReviewArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let waiting = pending_memories(&args, session).await?;
    if out.json {
        let memories: Vec<_> = waiting.iter().map(|it| MemoryWire::from(&it.memory)).collect();
        out.data_json("review", json!({ "waiting": memories }));
        return Ok(0);
    }
    if waiting.is_empty() {
        out.say("nothing to review");
        return Ok(0);
    }
    let keyboard = KeyboardInput::open();
    let mut decided: Vec<(usize, ReviewDecision)> = Vec::new();
    let mut at = 0;
    while let Some(shown) = waiting.get(at) {
        show_memory(shown, at, waiting.len(), session);
        let decision = keyboard.read_decision(out)?;
        let id = memory_id(&shown.memory);
        match decision {
            ReviewDecision::Right => {
                session.project.editor().correct(&id, MemoryCorrection::Confirmed).await?;
            }
            ReviewDecision::Discard => {
                let wrong = MemoryCorrection::Outdated { replacement: None };
                session.project.editor().correct(&id, wrong).await?;
            }
            ReviewDecision::Edit => match keyboard.read_text("new text")? {
                Some(text) => edit_memory(session, &id, text).await?,
                None => continue,
            },
            ReviewDecision::Later => {}
            ReviewDecision::Back => {
                match decided.pop() {
                    Some((last, _)) => {
                        take_back(session, &waiting[last].memory).await?;
                        at = last;
                    }
                    None => out.say("no decision yet"),
                }
                continue;
            }
            ReviewDecision::Stop => break,
        }
        if decision != ReviewDecision::Later {
            decided.push((at, decision));
        }
        at += 1;
    }
    let n = |wanted| decided.iter().filter(|it| it.1 == wanted).count();
    out.print_line(&format!(
        "{} confirmed, {} discarded, {} reworded, {} left",
        n(ReviewDecision::Right),
        n(ReviewDecision::Discard),
        n(ReviewDecision::Edit),
        waiting.len() - decided.len()
    ));
    if !decided.is_empty() {
        out.hint("`waylore undo` reverts the last decision");
    }
    Ok(0)
}

/// Pending memories: the project's before the user's, newest first.
async fn pending_memories(
    args: &ReviewArgs,
    session: &CommandSession<'_>,
) -> anyhow::Result<Vec<RatedMemory>> {
    let filter = MemoryFilter {
        statuses: vec![MemoryStatus::NeedsReview, MemoryStatus::Tainted],
        ..MemoryFilter::active(10_000)
    };
    let mut res = session.project.retriever().list(&filter, None).await?;
    if args.all {
        let rest = session.project.retriever().list(&MemoryFilter::active(10_000), None).await?;
        let is_open = |it: &RatedMemory| {
            it.memory.status() == MemoryStatus::Live && !it.memory.flags.user_verified
        };
        res.extend(rest.into_iter().filter(is_open));
    }
    Ok(res)
}

fn show_memory(shown: &RatedMemory, at: usize, n: usize, session: &CommandSession<'_>) {
    let (out, memory) = (session.output, &shown.memory);
    let kind = kind_label(&memory.kind, &session.project.config.types);
    out.say(&format!(
        "\n{DIM_STYLE}{} of {n}{DIM_STYLE:#}  {BOLD_STYLE}#{}{BOLD_STYLE:#}  {kind}",
        at + 1,
        memory.id.short()
    ));
    out.say(&memory.content);
    let mut about: Vec<String> = memory.files.iter().map(ToString::to_string).collect();
    about.push(format!("by {}, confidence {}", memory.created_by, shown.current_confidence));
    if shown.scope == NotebookScope::User {
        about.push("yours everywhere".to_owned());
    }
    out.say(&format!("{DIM_STYLE}{}{DIM_STYLE:#}", about.join(" · ")));
    if let Some(note) = status_note(memory.status()) {
        out.say(&format!("{WARN_STYLE}[{note}]{WARN_STYLE:#}"));
    }
    if let Some(why) = engine::detect_instruction(&memory.content) {
        out.say(&format!(
            "{WARN_STYLE}it reads like an instruction to an agent: {why}{WARN_STYLE:#}"
        ));
    }
}

async fn edit_memory(
    session: &mut CommandSession<'_>,
    id: &str,
    text: String,
) -> anyhow::Result<()> {
    let edit = MemoryEdit {
        content: Some(text),
        kind: None,
        tags: None,
        files: None,
        modules: None,
        confidence: None,
        cwd: session.base.clone(),
        on_secret: OnSecret::Refuse,
    };
    session.project.editor().edit(id, edit).await?;
    // Editing a memory confirms it.
    session.project.editor().correct(id, MemoryCorrection::Confirmed).await?;
    Ok(())
}

/// Undoes the decision about a memory; an edit made two changes.
async fn take_back(session: &mut CommandSession<'_>, before: &Memory) -> anyhow::Result<()> {
    while session.project.retriever().find_by_id(&memory_id(before)).await?.memory.version
        > before.version
        && has_changed(session, before).await?
    {
        session.project.editor().undo(Some(&memory_id(before))).await?;
    }
    Ok(())
}

async fn has_changed(session: &CommandSession<'_>, before: &Memory) -> anyhow::Result<bool> {
    let now = session.project.retriever().find_by_id(&memory_id(before)).await?.memory;
    let same = now.content == before.content
        && now.flags == before.flags
        && now.states == before.states
        && now.confidence == before.confidence;
    Ok(!same)
}

fn memory_id(memory: &Memory) -> String {
    memory.id.to_string()
}

/// Keys from a terminal, or letters from standard input.
enum KeyboardInput {
    Terminal(console::Term),
    Input,
}

impl KeyboardInput {
    fn open() -> Self {
        if is_conversation() { Self::Terminal(console::Term::stderr()) } else { Self::Input }
    }

    /// Waits for a valid key. The end of input means quit.
    fn read_decision(&self, out: &Output) -> anyhow::Result<ReviewDecision> {
        if matches!(self, Self::Terminal(_)) {
            let keys: Vec<String> = DECISION_KEYS
                .iter()
                .map(|(key, _, what)| format!("{GOOD_STYLE}{key}{GOOD_STYLE:#} {what}"))
                .collect();
            out.say(&keys.join("   "));
        }
        loop {
            let Some(key) = self.read_key()? else { return Ok(ReviewDecision::Stop) };
            let meant = DECISION_KEYS.iter().find(|it| it.0 == key.to_ascii_lowercase());
            if let Some((_, decision, _)) = meant {
                return Ok(*decision);
            }
        }
    }

    fn read_key(&self) -> std::io::Result<Option<char>> {
        match self {
            Self::Terminal(term) => Ok(match term.read_key()? {
                console::Key::Char(key) => Some(key),
                console::Key::Enter => Some('\n'),
                console::Key::Escape | console::Key::CtrlC => None,
                _ => Some('\0'),
            }),
            Self::Input => {
                let mut byte = [0];
                let n = std::io::stdin().lock().read(&mut byte)?;
                Ok((n == 1).then(|| char::from(byte[0])))
            }
        }
    }

    /// A line of text; `None` if it is empty.
    fn read_text(&self, what: &str) -> std::io::Result<Option<String>> {
        if let Self::Terminal(_) = self {
            let mut err = anstream::stderr();
            write!(err, "{what}: ")?;
            err.flush()?;
        }
        let mut res = String::new();
        std::io::stdin().read_line(&mut res)?;
        let res = res.trim().to_owned();
        Ok((!res.is_empty()).then_some(res))
    }
}
