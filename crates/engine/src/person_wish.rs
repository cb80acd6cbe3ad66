//! Wishes that a person tells an agent to remember: kept at the prompt itself, before any session is learned.
//!
//! `observe::hear_person` finds the wish in the prompt ("/remember …", "remember that …"); [`keep_told`] stores
//! it like `waylore remember` and returns the line by which the agent, and through it the person, learns that
//! it was kept. Called by the daemon and, if none runs, by the hook process. Learning meets the same words
//! later in the transcript and finds them stored. Standing rules and corrections are left to learning, which
//! sees what the agent did before and after.

use std::path::PathBuf;

use agents::{HookEvent, HookMessage};
use model::{MemoryKind, MemoryType, ProjectPath, fingerprint_text};
use observe::{PersonMoment, Preceding, WishKind, code_words, hear_person};
use recall::estimate_tokens;

use crate::injection::shown_notes::record_memories;
use crate::model_text::{self, TextOrigin};
use crate::remember::remember_statement;
use crate::text_admission::OnSecret;
use crate::{
    Error, MemoryNovelty, NewMemory, NotebookScope, OnDuplicate, Project, ProjectReader,
    RememberResult, StatementOrigin,
};

/// Files that a wish may be about.
const MAX_FILES: usize = 8;
/// Bytes of a kept text that are repeated to the agent, which has the prompt anyway.
const MAX_REPEATED_BYTES: usize = 300;

/// Stores what the user tells us to remember in a prompt. Returns a block of notes that says so, if any.
pub(crate) async fn keep_told(
    project: &mut Project,
    message: &HookMessage,
) -> Result<Option<String>, Error> {
    // The prompt of a subagent is written by the agent that started it.
    let HookEvent::Prompt { text } = &message.event else { return Ok(None) };
    if message.is_of_subagent() {
        return Ok(None);
    }
    // The place of the prompt in its session decides about corrections alone.
    let moment = PersonMoment { after: Preceding::Nothing, is_first: false };
    let wishes = hear_person(text, moment).into_iter();
    let mut lines = Vec::new();
    for wish in wishes.filter(|it| it.kind == WishKind::Told) {
        let new = new_memory(project, &message.host_session, wish.text);
        let kept = remember_statement(project, new).await?;
        let line = format_kept(&kept);
        // Otherwise the search for this very prompt would show it a second time.
        let shown = [(kept.memory.id, estimate_tokens(&line))];
        record_memories(project, &message.host_session, message.host.unwrap_or_default(), &shown)?;
        lines.push(line);
    }
    let (header, footer) = (model_text::NOTES_HEADER, model_text::NOTES_FOOTER);
    Ok((!lines.is_empty()).then(|| format!("{header}\n{}\n{footer}", lines.join("\n"))))
}

/// Joins the block about kept wishes and the block of notes for one answer.
pub fn join_blocks(kept: Option<String>, notes: Option<String>) -> Option<String> {
    match (kept, notes) {
        (Some(kept), Some(notes)) => Some(format!("{kept}\n{notes}")),
        (kept, notes) => kept.or(notes),
    }
}

/// The type of a person's wish: what its text suggests, as far as that fits the kind of wish.
pub(crate) fn suggest_wish_type(wish: WishKind, text: &str) -> MemoryType {
    let suggested = promote::suggest_type(text).kind;
    let fits = match wish {
        WishKind::Told => true,
        WishKind::StandingRule | WishKind::Correction | WishKind::Suggestion => matches!(
            suggested,
            MemoryKind::Preference | MemoryKind::Gotcha | MemoryKind::Requirement
        ),
    };
    MemoryType::Core(if fits { suggested } else { MemoryKind::Preference })
}

fn new_memory(reader: &ProjectReader, session: &str, text: String) -> NewMemory {
    NewMemory {
        kind: None,
        scope: NotebookScope::Project,
        tags: Vec::new(),
        files: named_files(reader, &text),
        modules: Vec::new(),
        payload: None,
        cwd: reader.place.root.clone(),
        pinned: false,
        // The prompt must go through, so that a secret is masked instead of refused.
        on_secret: OnSecret::Redact,
        origin: StatementOrigin::Prompt,
        on_duplicate: OnDuplicate::Resolve,
        // A host that runs two hooks for one prompt, or a hook that is run again, keeps it once.
        key: Some(format!("told {}", fingerprint_text(&format!("{session} {text}")))),
        dry_run: false,
        content: text,
    }
}

/// The files of the project that a text names.
fn named_files(reader: &ProjectReader, text: &str) -> Vec<PathBuf> {
    let root = &reader.place.root;
    let paths = code_words(text).into_iter().filter_map(|it| ProjectPath::parse(it).ok());
    let files = paths.filter(|it| root.join(it.as_str()).is_file());
    files.take(MAX_FILES).map(|it| root.join(it.as_str())).collect()
}

/// The line that tells the agent what was kept.
fn format_kept(kept: &RememberResult) -> String {
    let text =
        model_text::neutralize_text(&kept.memory.content, TextOrigin::of_memory(&kept.memory));
    let end = text.floor_char_boundary(MAX_REPEATED_BYTES);
    let more = if end < text.len() { " …" } else { "" };
    let replaced = match &kept.novelty {
        MemoryNovelty::Supersedes { old, .. } => format!(" in place of #{}", old.id.short()),
        MemoryNovelty::New | MemoryNovelty::Merged { .. } => String::new(),
    };
    let id = kept.memory.id.short();
    format!(
        "- Waylore has kept this{replaced}, as the user asked: “{}{more}” [#{id}]. Tell the user in a few words, and that the user can take it back with `waylore forget {id}`.",
        &text[..end]
    )
}
