//! Drafts of what was said: corrected facts, dead ends, dependencies, wishes.

use model::{CausalDependency, DeadEnd, Kind, MemoryType, Payload, PerMille, SessionId};

use super::{Draft, Seen, list};
use crate::said::fact_in;

/// Files of a thrown-away attempt that are named.
const SHOWN: usize = 4;

pub(super) fn corrected(seen: &[Seen]) -> Option<Draft> {
    let it = &seen.last()?.evidence;
    let fact = it.text.clone()?;
    // A fact about one file is a trap there; about none, it is how things are.
    let kind = if it.files.is_empty() { Kind::ModuleInsight } else { Kind::Gotcha };
    Some(Draft::new(kind, fact).about(it.files.clone()))
}

/// An undone edit is told only when the agent said why.
pub(super) fn undone(seen: &[Seen]) -> Option<Draft> {
    let told = seen.iter().rev().find_map(|it| {
        let reason = it.evidence.text.as_deref().and_then(fact_in)?;
        Some((reason, it.evidence.files.clone()))
    });
    let (reason, files) = told?;
    let file = files.first()?;
    let content = format!("An edit of `{file}` was taken back. {reason}");
    Some(Draft::new(Kind::Gotcha, content).about(files))
}

pub(super) fn dead_end(seen: &[Seen]) -> Option<Draft> {
    let it = &seen.last()?.evidence;
    let why = it.text.as_deref()?;
    let tried = it.before.as_deref().filter(|it| is_told(it));
    let instead = it.after.as_deref().filter(|it| is_told(it));
    let names = |it: &str| crate::sentence::names_code(it);
    // Without a thing that is named and a reason or another way, nobody would know what to avoid.
    let says_why = why.contains("because")
        || why.contains(" not available")
        || tried.is_some_and(|it| fact_in(it).is_some());
    if !(says_why && (names(why) || tried.is_some_and(names))) {
        return None;
    }
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
    Some(Draft::new(Kind::DeadEnd, content).about(it.files.clone()).with(payload))
}

/// A task that was worked on and thrown away: told when the task says what it was.
pub(super) fn taken_back(seen: &[Seen]) -> Option<Draft> {
    let it = &seen.last()?.evidence;
    let task = it.before.as_deref().filter(|it| is_told(it))?.trim_end_matches('.');
    let shown = &it.files[..it.files.len().min(SHOWN)];
    let more = match it.files.len() - shown.len() {
        0 => String::new(),
        n => format!(" and {n} more files"),
    };
    let how = it.text.as_deref().map_or_else(
        || "never committed, and the files are as they were".to_owned(),
        |by| format!("taken back by “{by}”"),
    );
    let content = format!(
        "An attempt at “{task}” was thrown away: its edits of {}{more} were {how}. Ask what was wrong with it before you try the same.",
        list(shown)
    );
    let payload = Payload::DeadEnd(DeadEnd {
        tried: task.to_owned(),
        why_failed: format!("the edits were {how}"),
        used_instead: None,
        task_context: None,
    });
    Some(Draft::new(Kind::DeadEnd, content).about(it.files.clone()).with(payload))
}

fn is_told(sentence: &str) -> bool {
    sentence.split_whitespace().count() >= 5 && !sentence.ends_with([':', '?'])
}

pub(super) fn causal(seen: &[Seen]) -> Option<Draft> {
    let it = &seen.last()?.evidence;
    let [from, to] = &it.steps[..] else { return None };
    let mut sessions: Vec<SessionId> = seen.iter().map(|it| it.session).collect();
    sessions.dedup();
    let payload = Payload::CausalDependency(CausalDependency {
        from: from.clone(),
        to: to.clone(),
        sessions,
        lift: PerMille::ONE,
        directed: true,
    });
    Some(Draft::new(Kind::CausalDependency, it.text.clone()?).about(it.files.clone()).with(payload))
}

pub(super) fn wished(seen: &[Seen]) -> Option<Draft> {
    let it = &seen.last()?.evidence;
    let text = it.text.as_deref()?.trim();
    let text =
        text.strip_prefix("please ").or_else(|| text.strip_prefix("Please ")).unwrap_or(text);
    let text = text.strip_prefix("No, ").or_else(|| text.strip_prefix("no, ")).unwrap_or(text);
    let mut chars = text.chars();
    let capital: String = chars.next()?.to_uppercase().chain(chars).collect();
    let end = if capital.ends_with(['.', '!']) { "" } else { "." };
    Some(Draft::new(Kind::Preference, format!("{capital}{end}")).about(it.files.clone()))
}

pub(super) fn recorded(seen: &[Seen]) -> Option<Draft> {
    let it = &seen.last()?.evidence;
    let mut res = Draft::new(Kind::ModuleInsight, it.text.clone()?).about(it.files.clone());
    if let Some(kind) = it.query.as_deref().and_then(|it| MemoryType::from_slug(it).ok()) {
        res.kind = kind;
    }
    res.tags.clone_from(&it.steps);
    // A type that needs a payload cannot be had from text alone.
    let needs = matches!(
        res.kind.core(),
        Some(
            Kind::PrefetchPattern
                | Kind::WorkflowRecipe
                | Kind::TaskCalibration
                | Kind::ContextCost
                | Kind::WorkUnitOutcome
        )
    );
    if needs {
        res.kind = MemoryType::Core(Kind::ModuleInsight);
    }
    Some(res)
}
