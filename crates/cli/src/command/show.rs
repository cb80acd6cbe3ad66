//! `waylore show`: prints all fields of one memory. Its confidence falls without use (*decay*); *caveats* are
//! reasons for doubt, such as a symbol that changed since.

use engine::{Error, RatedMemory};
use model::{CustomType, MemoryId, ProjectPath, Relation, RelationTarget};
use serde_json::json;

use super::CommandContext;
use super::explain::{list_given, print_explanation};
use super::session_report::ReportDetail;
use super::shared::{kind_label, status_note};
use crate::output::{BOLD_STYLE, DIM_STYLE, WARN_STYLE, escape_controls};
use crate::reader::{EVIDENCE_IS_UNFILTERED, readable_memory, readable_text, refuse_agent};
use crate::wire::MemoryWire;

/// Show everything about a memory
///
/// Any id that a note carries is accepted: of a memory, or of a fix that was seen once and is no memory yet.
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// Id of the memory, or a prefix of it
    id: String,
}

pub(crate) async fn run(args: ShowArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    command.project.maintenance().store_injections().await?;
    let found = match command.project.retriever().find_by_id(&args.id).await {
        // A note may carry the id of a finding, which is no memory yet; a session has an id, too.
        Err(Error::NotFound { .. }) => {
            refuse_agent(EVIDENCE_IS_UNFILTERED, "the user can run `waylore show` in a terminal")?;
            let explanation = command.project.session_history().explain(&args.id).await?;
            let given = list_given(&explanation, command).await?;
            print_explanation(&explanation, &given, ReportDetail::Folded, command.output);
            return Ok(0);
        }
        found => found?,
    };
    let missing = command.project.retriever().missing_relation_targets(&found.memory).await?;
    // Rating computes the confidence now. One memory in, one rated memory out.
    let mut rated =
        command.project.retriever().rate(&found.notebook, vec![found.memory]).await?.remove(0);
    let caveats = command.project.retriever().check_staleness(&mut rated).await;
    if command.output.json {
        let body = json!({ "memory": MemoryWire::from(&rated), "caveats": caveats });
        command.output.print_json("memory", body);
    } else {
        for line in render(&rated, &missing, &caveats, &command.settings.types) {
            command.output.print_line(&line);
        }
    }
    Ok(0)
}

/// All lines: a header, the text, and the fields that are not empty. `missing` are the targets of
/// relations that no longer exist.
fn render(
    rated: &RatedMemory,
    missing: &[MemoryId],
    caveats: &[String],
    declared: &[CustomType],
) -> Vec<String> {
    let memory = &*readable_memory(&rated.memory);
    let mut lines = header_lines(rated);
    lines.push(String::new());
    lines.extend(escape_controls(&memory.content).lines().map(|it| format!("  {it}")));
    lines.push(String::new());
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("{DIM_STYLE}{name:<10}{DIM_STYLE:#} {value}"));
        }
    };
    let anchors = memory.anchors.iter().map(|it| format!("{}:{}", it.file, it.symbol));
    field("files", join_items(memory.files.iter().map(ProjectPath::as_str)));
    field("symbols", join_items(anchors));
    field("caveats", caveats.join("; "));
    field("modules", memory.modules.join(", "));
    field("tags", memory.tags.join(", "));
    field("relations", join_items(memory.relations.iter().map(|it| format_relation(it, missing))));
    if let Some(payload) = &memory.payload {
        field("payload", payload.to_json().to_string());
    }
    field("learned", format_origin(memory));
    field("decays", format_decay(memory, declared));
    let counters = &memory.counters;
    if counters.access_count + counters.used_count > 0 {
        let (shown, used) = (counters.access_count, counters.used_count);
        let times = |n: u64| match n {
            0 => "never".to_owned(),
            1 => "once".to_owned(),
            n => format!("{n} times"),
        };
        let (shown, used) = (times(shown), times(used));
        field("use", format!("shown {shown}, used {used}"));
    }
    let others = if memory.version > 1 { " (waylore history shows the others)" } else { "" };
    field("version", format!("{}{others}", memory.version));
    field("as a note", format_as_note(memory, declared));
    field("id", memory.id.to_string());
    lines
}

/// Id, kind and confidence, and a remark if the memory is not live.
fn header_lines(rated: &RatedMemory) -> Vec<String> {
    let memory = &rated.memory;
    // The current confidence is lower than the stored one if the memory has decayed.
    let stored = if rated.current_confidence == memory.confidence {
        String::new()
    } else {
        format!(" (was {})", memory.confidence)
    };
    let mut lines = vec![format!(
        "{BOLD_STYLE}#{}{BOLD_STYLE:#} · {} · confidence {}{stored}",
        memory.id.short(),
        memory.kind,
        rated.current_confidence,
    )];
    if let Some(note) = status_note(memory.status()) {
        let reason = memory.states.deprecated_reason.as_deref().map(readable_text);
        let reason = reason.map(|it| format!(": {it}")).unwrap_or_default();
        lines.push(format!("{WARN_STYLE}{note}{reason}{WARN_STYLE:#}"));
    }
    lines
}

fn format_relation(relation: &Relation, missing: &[MemoryId]) -> String {
    let target = match &relation.target {
        RelationTarget::Memory(id) if missing.contains(id) => format!("#{} (gone)", id.short()),
        RelationTarget::Memory(id) => format!("#{}", id.short()),
        RelationTarget::File(path) => path.to_string(),
    };
    format!("{} {target}", relation.kind)
}

/// Time, author, source, branch and commit of a memory.
fn format_origin(memory: &model::Memory) -> String {
    let short_commit = |it: &String| format!(", commit {}", it.chars().take(8).collect::<String>());
    let commit = memory.commit.as_ref().map(short_commit).unwrap_or_default();
    let branch = memory.branch.as_ref().map(|it| format!(", branch {it}")).unwrap_or_default();
    let (at, by) = (memory.created_at.format_minute(), &memory.created_by);
    format!("{at} by {by} ({}{branch}{commit})", memory.source)
}

/// The memory as an agent sees it: `[gotcha] Run migrations first [^ Memory: … #ab12cd34]`.
fn format_as_note(memory: &model::Memory, declared: &[CustomType]) -> String {
    format!(
        "[{}] {} [^ Memory: {} #{}]",
        kind_label(&memory.kind, declared),
        memory.summary,
        memory.citation,
        memory.id.short()
    )
}

fn format_decay(memory: &model::Memory, declared: &[CustomType]) -> String {
    if memory.flags.pinned {
        return "pinned, never decays".to_owned();
    }
    // A half-life of its own, or that of its type.
    match memory.half_life_days.or_else(|| memory.kind.half_life_days(declared)) {
        Some(days) => format!("by half for every {days} days without use"),
        None => "never".to_owned(),
    }
}

fn join_items<T: AsRef<str>>(items: impl Iterator<Item = T>) -> String {
    items.map(|it| it.as_ref().to_owned()).collect::<Vec<_>>().join(", ")
}
