//! Output lines of scripts, for example `m1 gotcha 0.90 "the text" tags=net pinned [stale]`.
//!
//! Attributes with their default value are left out, so that expected outputs stay short.

use std::fmt::Write as _;

use engine::{Error, MemoryNovelty, NotebookScope, RatedMemory, RememberResult};
use model::{Memory, MemoryId, MemoryStatus, RelationTarget, Visibility};

/// An error with its hint, or with the places of the secrets that were refused.
pub(crate) fn error_lines(error: &Error) -> Vec<String> {
    let mut res = vec![format!("error: {error}")];
    match error {
        Error::Refused { hint: Some(hint), .. } => res.push(format!("  {hint}")),
        Error::Secret { places } => {
            let line = |it: &engine::SecretLocation| {
                format!("  {} {}:{} {}", it.part, it.line, it.column, it.kind)
            };
            res.extend(places.iter().map(line));
        }
        _ => {}
    }
    res
}

/// A memory in a list, with its current confidence and non-default attributes.
pub(crate) fn rated_memory_line(name: &str, it: &RatedMemory) -> String {
    let memory = &it.memory;
    let mut res = format!("{name} {} {} {:?}", memory.kind, it.current_confidence, memory.content);
    if it.scope == NotebookScope::User {
        res.push_str(" user");
    }
    res + &attributes(memory)
}

/// A memory in the output of a command that changed it.
pub(crate) fn memory_line(name: &str, memory: &Memory) -> String {
    format!("{name} {} {:?}{}", memory.kind, memory.content, attributes(memory))
}

/// Tags, files, anchors, modules, pinned, status and deprecation reason, each only if it is not the default.
pub(crate) fn attributes(memory: &Memory) -> String {
    let mut res = String::new();
    let files: Vec<String> = memory.files.iter().map(ToString::to_string).collect();
    let anchors: Vec<String> = memory.anchors.iter().map(|it| it.symbol.clone()).collect();
    for (what, values) in [
        ("tags", &memory.tags),
        ("files", &files),
        ("anchors", &anchors),
        ("modules", &memory.modules),
    ] {
        if !values.is_empty() {
            let _ = write!(res, " {what}={}", values.join(","));
        }
    }
    if memory.flags.pinned {
        res.push_str(" pinned");
    }
    if memory.status() != MemoryStatus::Live {
        let _ = write!(res, " [{}]", memory.status());
    }
    if let Some(reason) = &memory.states.deprecated_reason {
        let _ = write!(res, " ({reason})");
    }
    res
}

/// Attributes of a memory that lists do not show, and its relations, one per line. `missing` are the
/// targets of relations that no longer exist.
pub(crate) fn detail_lines(it: &Memory, missing: &[MemoryId]) -> Vec<String> {
    let mut res = vec![format!(
        "  v{} {} {} confidence {} by {}{}{}{}",
        it.version,
        it.source,
        it.scope,
        it.confidence,
        it.created_by,
        if it.flags.user_verified { " verified" } else { "" },
        // As a status, the list line shows it already. Another status may hide the flag.
        if it.flags.needs_review && it.status() != MemoryStatus::NeedsReview {
            " needs_review"
        } else {
            ""
        },
        rare_attributes(it),
    )];
    res.extend(it.relations.iter().map(|it| match &it.target {
        RelationTarget::Memory(id) => {
            let auto = if it.auto { " auto" } else { "" };
            format!("  {} {id}{auto}{}", it.kind, if missing.contains(id) { " (gone)" } else { "" })
        }
        RelationTarget::File(path) => format!("  {} {path}", it.kind),
    }));
    res
}

/// Attributes that few memories have.
fn rare_attributes(it: &Memory) -> String {
    let mut res = String::new();
    if let Some(days) = it.half_life_days {
        let _ = write!(res, " half-life {days}");
    }
    if it.visibility != Visibility::Personal {
        let _ = write!(res, " for {}", it.visibility);
    }
    if it.counters.used_count > 0 {
        let _ = write!(res, " used {}", it.counters.used_count);
    }
    if it.created_at > it.updated_at {
        res.push_str(" from the future");
    }
    if let Some(branch) = &it.branch {
        let _ = write!(res, " on {branch}");
    }
    res
}

/// Result of `teach`. `name` is the name of the memory, `old` of the one it supersedes, if any.
pub(crate) fn remember_lines(name: &str, old: &str, it: &RememberResult) -> Vec<String> {
    let memory = &it.memory;
    let outcome = match &it.novelty {
        // The same `--key` was used before: the result is that of the first time.
        _ if it.is_repeated => "known by its key".to_owned(),
        MemoryNovelty::New => "new".to_owned(),
        MemoryNovelty::Merged { previous_text: was } if *was == memory.content => {
            "again".to_owned()
        }
        MemoryNovelty::Merged { previous_text: was } => format!("merged, was {was:?}"),
        MemoryNovelty::Supersedes { explanation: what, .. } => format!("supersedes {old} ({what})"),
    };
    let user = if it.scope == NotebookScope::User { " user" } else { "" };
    let mut res = vec![format!(
        "{name} {outcome}: {} {:?}{user}{}",
        memory.kind,
        memory.content,
        attributes(memory)
    )];
    res.extend(it.missing_files.iter().map(|it| format!("  absent: {it}")));
    res.extend(it.review_reason.map(|it| format!("  held: {it}")));
    if it.n_redacted > 0 {
        res.push(format!("  redacted: {}", it.n_redacted));
    }
    res
}
