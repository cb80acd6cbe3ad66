//! `waylore show`.

use engine::Shown;
use model::{CustomType, MemoryId, ProjectPath, RelationTarget};
use serde_json::json;

use super::Session;
use super::shared::{label, status_note};
use crate::output::{BOLD, DIM, WARN, visible};
use crate::wire::MemoryWire;

/// Show everything about a memory
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// Its id, or the beginning of it
    id: String,
}

pub(crate) async fn run(args: ShowArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let found = session.engine.find(&args.id).await?;
    let gone = session.engine.gone(&found.memory).await?;
    let mut shown = session.engine.shown(&found.notebook, vec![found.memory]).await?.remove(0);
    let doubts = session.engine.doubts(&mut shown).await;
    if session.output.json {
        let body = json!({ "memory": MemoryWire::from(&shown), "doubts": doubts });
        session.output.data_json("memory", body);
    } else {
        for it in render(&shown, &gone, &doubts, &session.settings.types) {
            session.output.line(&it);
        }
    }
    Ok(0)
}

fn render(
    shown: &Shown,
    gone: &[MemoryId],
    doubts: &[String],
    declared: &[CustomType],
) -> Vec<String> {
    let memory = &shown.memory;
    let mut res = vec![format!(
        "{BOLD}#{}{BOLD:#} · {} · confidence {}{}",
        memory.id.short(),
        memory.kind,
        shown.current,
        if shown.current == memory.confidence {
            String::new()
        } else {
            format!(" (was {})", memory.confidence)
        },
    )];
    if let Some(note) = status_note(memory.status()) {
        let why = memory
            .states
            .deprecated_reason
            .as_deref()
            .map(|it| format!(": {it}"))
            .unwrap_or_default();
        res.push(format!("{WARN}{note}{why}{WARN:#}"));
    }
    res.push(String::new());
    res.extend(visible(&memory.content).lines().map(|it| format!("  {it}")));
    res.push(String::new());
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            res.push(format!("{DIM}{name:<10}{DIM:#} {value}"));
        }
    };
    field("files", join(memory.files.iter().map(ProjectPath::as_str)));
    field("symbols", join(memory.anchors.iter().map(|it| format!("{}:{}", it.file, it.symbol))));
    field("doubts", doubts.join("; "));
    field("modules", memory.modules.join(", "));
    field("tags", memory.tags.join(", "));
    field(
        "relations",
        join(memory.relations.iter().map(|it| {
            let target = match &it.target {
                RelationTarget::Memory(id) if gone.contains(id) => {
                    format!("#{} (gone)", id.short())
                }
                RelationTarget::Memory(id) => format!("#{}", id.short()),
                RelationTarget::File(path) => path.to_string(),
            };
            format!("{} {target}", it.kind)
        })),
    );
    if let Some(payload) = &memory.payload {
        field("payload", payload.to_json().to_string());
    }
    let at = memory
        .commit
        .as_ref()
        .map(|it| format!(", commit {}", it.chars().take(8).collect::<String>()))
        .unwrap_or_default();
    let branch = memory.branch.as_ref().map(|it| format!(", branch {it}")).unwrap_or_default();
    field(
        "learned",
        format!(
            "{} by {} ({}{branch}{at})",
            memory.created_at.minute(),
            memory.created_by,
            memory.source
        ),
    );
    let pinned = if memory.flags.pinned { "pinned, never fades" } else { "" };
    field("fades", if pinned.is_empty() { fading(memory, declared) } else { pinned.to_owned() });
    let counters = &memory.counters;
    if counters.access_count + counters.used_count > 0 {
        field(
            "use",
            format!("shown {} times, used {} times", counters.access_count, counters.used_count),
        );
    }
    field(
        "version",
        format!(
            "{}{}",
            memory.version,
            if memory.version > 1 { " (waylore history shows the others)" } else { "" }
        ),
    );
    field(
        "as a note",
        format!(
            "[{}] {} [^ Memory: {} #{}]",
            label(&memory.kind, declared),
            memory.summary,
            memory.citation,
            memory.id.short()
        ),
    );
    field("id", memory.id.to_string());
    res
}

fn fading(memory: &model::Memory, declared: &[CustomType]) -> String {
    let days = memory.half_life_days.or_else(|| memory.kind.half_life_days(declared));
    days.map_or_else(|| "never".to_owned(), |it| format!("by half for every {it} days without use"))
}

fn join<T: AsRef<str>>(items: impl Iterator<Item = T>) -> String {
    items.map(|it| it.as_ref().to_owned()).collect::<Vec<_>>().join(", ")
}
