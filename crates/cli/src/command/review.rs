//! `waylore review`: shows pending memories one by one and reads a key for each. *Pending* are memories that need
//! review, *tainted* ones, which came from text outside the project, and *candidates*, claims that are not sure;
//! agents do not get them until the user confirms them. Decisions are stored at once, so quitting loses nothing.

mod card;

use std::io::{Read as _, Write as _};

use engine::{MemoryCorrection, MemoryEdit, MemoryFilter, OnSecret, RatedMemory};
use model::{Memory, MemoryStatus};
use serde_json::json;

use super::CommandContext;
use crate::output::{GOOD_STYLE, Output, format_count, is_interactive};
use crate::reader::refuse_agent;
use card::PendingMemory;

/// Review pending memories, one key each
///
/// Memories that need review, came from external content or are not sure are not told to agents until you confirm
/// them. Each is shown with the words it was learned from and what came of it. Keys: y keep, x drop, e edit, s decide
/// later, u take back the last decision, q stop. Without a terminal, keys are read from standard input;
/// --json lists the pending memories.
#[derive(clap::Args, Debug)]
pub(crate) struct ReviewArgs {
    /// Also memories that were learned and never confirmed
    #[arg(short, long)]
    all: bool,
    /// Most memories to go through
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Memories to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
}

/// Decisions of the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReviewDecision {
    Confirm,
    Reject,
    Edit,
    Skip,
    UndoLast,
    Quit,
}

/// Keys with their labels, as shown below a memory.
#[rustfmt::skip]
const DECISION_KEYS: &[(char, ReviewDecision, &str)] = &[
    ('y', ReviewDecision::Confirm,  "keep"),
    ('x', ReviewDecision::Reject,   "drop"),
    ('e', ReviewDecision::Edit,     "edit"),
    ('s', ReviewDecision::Skip,     "later"),
    ('u', ReviewDecision::UndoLast, "take back"),
    ('q', ReviewDecision::Quit,     "stop"),
];

pub(crate) async fn run(args: ReviewArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent("the review is the user's", "the user can run `waylore review` in a terminal")?;
    let out = command.output;
    let mut pending = pending_memories(&args, command).await?;
    if out.json {
        let memories: Vec<_> = pending.iter().map(PendingMemory::to_json).collect();
        out.print_json("review", json!({ "waiting": memories }));
        return Ok(0);
    }
    if pending.is_empty() {
        out.say("nothing to review");
        return Ok(0);
    }
    let n_waiting = pending.len();
    pending.drain(..args.offset.min(n_waiting));
    pending.truncate(args.limit);
    let keyboard = KeyboardInput::open();
    // Positions in `pending` with the decisions made, so that the last one can be undone.
    let mut decided: Vec<(usize, ReviewDecision)> = Vec::new();
    let mut position = 0;
    // An arm that changes the memory falls through to the end of the loop; the others `continue` or `break`.
    while let Some(it) = pending.get(position) {
        let rated = &it.rated;
        card::show(it, args.offset + position, n_waiting, command);
        let decision = keyboard.read_decision(out)?;
        let id = memory_id(&rated.memory);
        match decision {
            ReviewDecision::Confirm => {
                command.project.editor().correct(&id, MemoryCorrection::Confirmed).await?;
            }
            ReviewDecision::Reject => {
                let rejected = MemoryCorrection::Outdated { replacement: None };
                command.project.editor().correct(&id, rejected).await?;
            }
            ReviewDecision::Edit => match keyboard.read_text("new text")? {
                Some(text) => edit_memory(command, &id, text).await?,
                // No text: show the same memory again.
                None => continue,
            },
            ReviewDecision::Skip => {
                position += 1;
                continue;
            }
            ReviewDecision::UndoLast => {
                match decided.pop() {
                    // Back to that memory, which may lie behind skipped ones.
                    Some((last_position, _)) => {
                        undo_decision(command, &pending[last_position].rated.memory).await?;
                        position = last_position;
                    }
                    None => out.say("no decision yet"),
                }
                continue;
            }
            ReviewDecision::Quit => break,
        }
        decided.push((position, decision));
        position += 1;
    }
    report_decisions(&decided, n_waiting, out);
    let n_seen = args.offset + pending.len();
    if n_seen < n_waiting {
        let more = format_count(n_waiting - n_seen, "more waits", "more wait");
        // Those that were decided no longer count.
        let offset = n_seen - decided.len();
        out.hint(&format!("{more}; `waylore review --offset {offset}` goes on"));
    }
    Ok(0)
}

fn report_decisions(decided: &[(usize, ReviewDecision)], n_pending: usize, out: &Output) {
    let count = |wanted| decided.iter().filter(|(_, decision)| *decision == wanted).count();
    out.print_line(&format!(
        "{} confirmed, {} discarded, {} reworded, {} left",
        count(ReviewDecision::Confirm),
        count(ReviewDecision::Reject),
        count(ReviewDecision::Edit),
        n_pending - decided.len()
    ));
    if !decided.is_empty() {
        out.hint("`waylore undo` reverts the last decision");
    }
}

/// Far more memories than a user reviews in one go.
const MAX_PENDING: u32 = 10_000;

/// Pending memories in the order of their review; see [`PendingMemory::rank`].
async fn pending_memories(
    args: &ReviewArgs,
    command: &CommandContext<'_>,
) -> anyhow::Result<Vec<PendingMemory>> {
    let filter = MemoryFilter {
        statuses: vec![MemoryStatus::NeedsReview, MemoryStatus::Tainted, MemoryStatus::Candidate],
        ..MemoryFilter::active(MAX_PENDING)
    };
    let mut found = command.project.retriever().list(&filter, None).await?;
    if args.all {
        let active = MemoryFilter::active(MAX_PENDING);
        let rest = command.project.retriever().list(&active, None).await?;
        let is_unconfirmed = |it: &RatedMemory| {
            it.memory.status() == MemoryStatus::Live && !it.memory.flags.user_verified
        };
        found.extend(rest.into_iter().filter(is_unconfirmed));
    }
    let mut res = Vec::new();
    for rated in found {
        let claims = command.project.session_history().claims_of_memory(rated.memory.id).await?;
        res.push(PendingMemory { rated, claims });
    }
    // Stable: within a group the newest stay first.
    res.sort_by_key(PendingMemory::rank);
    Ok(res)
}

/// Replaces the text of a memory and confirms it.
async fn edit_memory(
    command: &mut CommandContext<'_>,
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
        cwd: command.base.clone(),
        on_secret: OnSecret::Refuse,
    };
    command.project.editor().edit(id, edit).await?;
    // Who rewrites a memory vouches for it.
    command.project.editor().correct(id, MemoryCorrection::Confirmed).await?;
    Ok(())
}

/// Undoes the decision about a memory: undoes changes until the memory is as it was before. An edit made
/// two changes, the others one.
async fn undo_decision(command: &mut CommandContext<'_>, before: &Memory) -> anyhow::Result<()> {
    let id = memory_id(before);
    loop {
        let current = command.project.retriever().find_by_id(&id).await?.memory;
        // Never below the version before the decision: earlier changes are not ours to undo.
        if current.version <= before.version || is_unchanged(&current, before) {
            return Ok(());
        }
        command.project.editor().undo(Some(&id)).await?;
    }
}

/// True if no decision separates the two. Their versions may differ, because an undo is a change too.
fn is_unchanged(current: &Memory, before: &Memory) -> bool {
    current.content == before.content
        && current.flags == before.flags
        && current.states == before.states
        && current.confidence == before.confidence
}

fn memory_id(memory: &Memory) -> String {
    memory.id.to_string()
}

/// The source of keys: a terminal, or letters on standard input (for scripts).
enum KeyboardInput {
    Terminal(console::Term),
    Stdin,
}

impl KeyboardInput {
    fn open() -> Self {
        if is_interactive() { Self::Terminal(console::Term::stderr()) } else { Self::Stdin }
    }

    /// Waits for a valid key, after a line with the keys if the user sees it. The end of input means quit.
    fn read_decision(&self, out: &Output) -> anyhow::Result<ReviewDecision> {
        if matches!(self, Self::Terminal(_)) {
            let keys: Vec<String> = DECISION_KEYS
                .iter()
                .map(|(key, _, label)| format!("{GOOD_STYLE}{key}{GOOD_STYLE:#} {label}"))
                .collect();
            out.say(&keys.join("   "));
        }
        loop {
            let Some(key) = self.read_key()? else { return Ok(ReviewDecision::Quit) };
            let key = key.to_ascii_lowercase();
            // Any other key is ignored.
            if let Some((_, decision, _)) = DECISION_KEYS.iter().find(|(known, _, _)| *known == key)
            {
                return Ok(*decision);
            }
        }
    }

    /// The next key; `None` at the end of input, Escape or Ctrl-C.
    fn read_key(&self) -> std::io::Result<Option<char>> {
        match self {
            Self::Terminal(term) => Ok(match term.read_key()? {
                console::Key::Char(key) => Some(key),
                console::Key::Enter => Some('\n'),
                console::Key::Escape | console::Key::CtrlC => None,
                // Arrows, function keys: a character that is no decision.
                _ => Some('\0'),
            }),
            Self::Stdin => {
                let mut byte = [0];
                let n = std::io::stdin().lock().read(&mut byte)?;
                Ok((n == 1).then(|| char::from(byte[0])))
            }
        }
    }

    /// A line of text; `None` if it is empty.
    fn read_text(&self, prompt: &str) -> std::io::Result<Option<String>> {
        if let Self::Terminal(_) = self {
            let mut stderr = anstream::stderr();
            write!(stderr, "{prompt}: ")?;
            stderr.flush()?;
        }
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        let text = line.trim();
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }
}
