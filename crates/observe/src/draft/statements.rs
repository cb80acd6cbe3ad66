//! Drafts of statements: corrected facts, dead ends, dependencies, preferences, notes.
//!
//! The input of each function is the sightings of one statement, one per session, oldest first, whose
//! evidence quotes what the agent or the user wrote. The latest quotation is used with few changes:
//! a person's wish not at all.

use model::{CausalDependency, DeadEnd, MemoryKind, MemoryType, Payload, PerMille, SessionId};

use super::{MemoryDraft, SessionSighting, quote_paths};
use crate::evidence::{ClaimSource, Evidence};
use crate::payload_fields::complete_payload;
use crate::sentences::names_code;
use crate::statements::extract_fact;

/// The shortest sentence that is clear alone, in words.
const MIN_SENTENCE_WORDS: usize = 5;
/// Files of a reverted session that are named.
const MAX_NAMED_FILES: usize = 4;

/// A fact that the agent stated when it corrected itself.
pub(super) fn draft_corrected_fact(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::SelfCorrection { files, fact, .. } = &seen.last()?.evidence else { return None };
    // A fact about a file is a warning for those who open it; a fact about none is an insight.
    let kind = if files.is_empty() { MemoryKind::ModuleInsight } else { MemoryKind::Gotcha };
    Some(MemoryDraft::new(kind, fact.clone()).with_files(files.clone()))
}

/// A claim as it was cut in the latest session.
pub(super) fn draft_claim(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::Claim(claim) = &seen.last()?.evidence else { return None };
    let kind = match claim.source {
        ClaimSource::Person => MemoryKind::Preference,
        ClaimSource::Failure => MemoryKind::ErrorPattern,
        ClaimSource::Plan => MemoryKind::Decision,
        ClaimSource::Agent | ClaimSource::History | ClaimSource::Model => MemoryKind::ModuleInsight,
    };
    let draft = MemoryDraft::new(kind, claim.text.clone());
    Some(draft.with_files(claim.files.clone()))
}

/// A reverted edit, if the agent said why.
pub(super) fn draft_reverted_edit(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    // The latest session whose reason is clear without the conversation around it.
    for sighting in seen.iter().rev() {
        let Evidence::Backtrack { file, reason: Some(reason) } = &sighting.evidence else {
            continue;
        };
        let Some(fact) = extract_fact(reason) else { continue };
        let content = format!("An edit of `{file}` was taken back. {fact}");
        let draft = MemoryDraft::new(MemoryKind::Gotcha, content);
        return Some(draft.with_files(vec![file.clone()]));
    }
    None
}

/// An approach that was given up, with the reason and the alternative.
pub(super) fn draft_dead_end(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::DeadEnd { files, sentence, before, after } = &seen.last()?.evidence else {
        return None;
    };
    let why = sentence.as_str();
    let tried = before.as_deref().filter(|it| is_full_sentence(it));
    let instead = after.as_deref().filter(|it| is_full_sentence(it));
    // Without a reason, a reader would not know why to avoid it; without named code, what to avoid.
    let has_reason = why.contains("because")
        || why.contains(" not available")
        || tried.is_some_and(|it| extract_fact(it).is_some());
    let is_about_code = names_code(why) || tried.is_some_and(names_code);
    if !has_reason || !is_about_code {
        return None;
    }
    // The sentences in the order in which they were written, each with an end.
    let mut content = String::new();
    for part in [tried, Some(why), instead].into_iter().flatten() {
        if !content.is_empty() {
            content.push(' ');
        }
        content.push_str(part.trim());
        if !content.ends_with(['.', '!', '?']) {
            content.push('.');
        }
    }
    let payload = Payload::DeadEnd(DeadEnd {
        tried: tried.unwrap_or(why).to_owned(),
        why_failed: why.to_owned(),
        used_instead: instead.map(str::to_owned),
        task_context: None,
    });
    let draft = MemoryDraft::new(MemoryKind::DeadEnd, content);
    Some(draft.with_files(files.clone()).with_payload(payload))
}

/// A session whose edits were reverted, if its task is a full sentence.
pub(super) fn draft_reverted_session(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::RevertedSession { files, task, revert_subject } = &seen.last()?.evidence else {
        return None;
    };
    let task = task.as_deref().filter(|it| is_full_sentence(it))?.trim_end_matches('.');
    let named = &files[..files.len().min(MAX_NAMED_FILES)];
    let more = match files.len() - named.len() {
        0 => String::new(),
        n_more => format!(" and {n_more} more files"),
    };
    // Without a commit, the edits were dropped from the working tree.
    let how = revert_subject.as_deref().map_or_else(
        || "never committed, and the files are as they were".to_owned(),
        |subject| format!("taken back by “{subject}”"),
    );
    let content = format!(
        "An attempt at “{task}” was thrown away: its edits of {}{more} were {how}. Ask what was wrong with it before you try the same.",
        quote_paths(named)
    );
    let payload = Payload::DeadEnd(DeadEnd {
        tried: task.to_owned(),
        why_failed: format!("the edits were {how}"),
        used_instead: None,
        task_context: None,
    });
    let draft = MemoryDraft::new(MemoryKind::DeadEnd, content);
    Some(draft.with_files(files.clone()).with_payload(payload))
}

/// Returns whether a text has enough words to be clear alone, and is no question and no introduction.
fn is_full_sentence(text: &str) -> bool {
    text.split_whitespace().count() >= MIN_SENTENCE_WORDS && !text.ends_with([':', '?'])
}

/// A statement that one change requires another, word for word.
pub(super) fn draft_causal_statement(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::CausalStatement { files, sentence, from, to } = &seen.last()?.evidence else {
        return None;
    };
    // Sightings are ordered by time, so that those of one session are neighbours.
    let mut sessions: Vec<SessionId> = seen.iter().map(|it| it.session).collect();
    sessions.dedup();
    let payload = Payload::CausalDependency(CausalDependency {
        from: from.clone(),
        to: to.clone(),
        sessions,
        // Stated, not counted: it holds for every change.
        lift: PerMille::ONE,
        directed: true,
    });
    let draft = MemoryDraft::new(MemoryKind::CausalDependency, sentence.clone());
    Some(draft.with_files(files.clone()).with_payload(payload))
}

/// A person's wish, in the person's own words. `engine` may give it a type that fits the text better.
pub(super) fn draft_wish(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::UserCorrection { files, sentence, .. } = &seen.last()?.evidence else {
        return None;
    };
    // The surest of all sightings counts: what was a correction once and a rule later is a rule.
    let kinds = seen.iter().filter_map(|it| match it.evidence {
        Evidence::UserCorrection { kind, .. } => Some(kind),
        _ => None,
    });
    let mut draft = MemoryDraft::new(MemoryKind::Preference, sentence.trim().to_owned());
    draft.wish = kinds.min();
    Some(draft.with_files(files.clone()))
}

/// A note that the agent recorded, with everything that it stated.
pub(super) fn draft_note(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let last = seen.last()?;
    let Evidence::Recorded { files, content, kind_slug, tags, modules, scope, payload } =
        &last.evidence
    else {
        return None;
    };
    let draft = MemoryDraft::new(MemoryKind::ModuleInsight, content.clone());
    let mut draft = draft.with_files(files.clone());
    // The agent's choice of type; a slug that is not known, from a newer version, leaves an insight.
    if let Some(kind) = kind_slug.as_deref().and_then(|it| MemoryType::from_slug(it).ok()) {
        // The payload was validated when the note was recorded. One that does not fit now is damaged;
        // the text of the note holds without it.
        let complete = |kind| complete_payload(kind, payload.as_ref()?, last.at).ok();
        draft.payload = kind.core_kind().and_then(complete);
        draft.kind = kind;
    }
    draft.tags.clone_from(tags);
    draft.modules.clone_from(modules);
    draft.scope = *scope;
    Some(draft)
}
