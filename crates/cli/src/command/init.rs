//! `waylore init`: the set-up of a repository. Runs the parts of `index`, `learn` and `connect` in turn, and
//! imports rule files: `CLAUDE.md`, `AGENTS.md` and others, in which people wrote instructions for agents.

use engine::{MemoryFilter, NotebookScope, ParsedRuleFile, RatedMemory, RuleImport, TaskProgress};
use model::{MemoryKind, MemoryStatus};
use serde_json::json;

use super::index::{ProjectIndexReport, all_cores, index_project};
use super::shared::{SUMMARY_COLUMN, ask_yes_no, format_memory};
use super::{CommandContext, connect, learn};
use crate::output::{BOLD_STYLE, DIM_STYLE, format_count};
use crate::reader::is_agent;
use crate::wire::MemoryWire;

/// Set up a repository: index the code, learn from sessions, import rules, connect agents
///
/// Indexes the code and the git history, learns from past sessions of coding agents, imports rules from CLAUDE.md,
/// AGENTS.md and similar files, and connects the agents found on this machine. Asks before importing rules and before
/// changing settings. Can be run again at any time. Nothing leaves this machine.
#[derive(clap::Args, Debug)]
pub(crate) struct InitArgs {
    /// Import rules and connect agents without asking
    #[arg(short, long)]
    yes: bool,
    /// Do not import rule files
    #[arg(long)]
    no_rules: bool,
    /// Show every line that connecting an agent would change
    #[arg(long)]
    diff: bool,
    /// Do not connect agents
    #[arg(long)]
    no_connect: bool,
}

/// Results by part.
struct InitReport {
    indexed: ProjectIndexReport,
    learned: learn::LearnTotals,
    rule_files: Vec<ParsedRuleFile>,
    /// `None` if there are none, or if the user declined.
    rules: Option<RuleImport>,
    hosts: Vec<connect::HostConnection>,
    examples: Vec<RatedMemory>,
    /// Memories that wait for review, from this and earlier runs.
    n_pending: usize,
}

pub(crate) async fn run(args: InitArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let place = command.project.place.clone();
    out.say(&format!(
        "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{}{DIM_STYLE:#}",
        command.project.project_state().name(),
        place.root.display()
    ));
    let indexed = index_project(&TaskProgress::default(), all_cores(), command).await?;
    for (label, line) in indexed.summary_lines() {
        out.say(&format!("{label}: {line}"));
    }
    let learned = learn::learn_from_all_hosts(command).await?;
    out.say(&describe_learning(&learned));
    // From here on the user is asked: rules become memories, and `connect` changes settings of hosts (the
    // programs that run agents).
    let (rule_files, rules) = import_rules(&args, command).await?;
    let hosts = if args.no_connect {
        Vec::new()
    } else {
        connect::connect_found_hosts(&command.environment, args.yes, args.diff, out)?
    };
    let examples = example_memories(command).await?;
    let n_pending = count_pending(command).await?;
    let report = InitReport { indexed, learned, rule_files, rules, hosts, examples, n_pending };
    if out.json {
        out.print_json("initialised", to_json(&report, command));
    } else {
        render(&report, command);
    }
    Ok(0)
}

fn describe_learning(totals: &learn::LearnTotals) -> String {
    let line = match (totals.n_new, totals.n_known) {
        (0, 0) if totals.n_failed > 0 => "sessions: none learned from".to_owned(),
        (0, 0) => "sessions: none found for this project on this machine".to_owned(),
        (0, known) => {
            format!("sessions: {} known already", format_count(known, "session", "sessions"))
        }
        (new, _) => format!(
            "sessions: {} learned from, {} kept",
            format_count(new, "session", "sessions"),
            format_count(totals.n_kept(), "memory", "memories")
        ),
    };
    if totals.n_failed == 0 {
        return line;
    }
    format!(
        "{line}; {} could not be learned, to be tried again after an upgrade (`waylore doctor` lists them)",
        totals.n_failed
    )
}

/// Finds rule files and imports them if the user agrees. Returns the files, and the result of the import.
async fn import_rules(
    args: &InitArgs,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<(Vec<ParsedRuleFile>, Option<RuleImport>)> {
    let out = command.output;
    let files = if args.no_rules { Vec::new() } else { command.project.editor().list_rules() };
    let n_rules: usize = files.iter().map(|it| it.rules.len()).sum();
    if n_rules == 0 {
        return Ok((files, None));
    }
    let counts: Vec<String> =
        files.iter().map(|it| format!("{} in {}", it.rules.len(), it.path)).collect();
    out.say(&format!("rules: {}", counts.join(", ")));
    let question = format!("Import {} as your own rules?", format_count(n_rules, "rule", "rules"));
    if !ask_yes_no(args.yes, &question)? {
        out.hint("`waylore init --yes` imports them; agents get only rules that their host does not read itself");
        return Ok((files, None));
    }
    // The user has just agreed to them, so they need no review. An agent cannot agree for the user.
    let trust = if is_agent() { engine::RuleTrust::External } else { engine::RuleTrust::Vouched };
    let imported = command.project.editor().import_rules(&files, trust).await?;
    out.say(&format!("rules: {}", format_import(&imported)));
    Ok((files, Some(imported)))
}

/// The counts of an import that are not zero.
fn format_import(imported: &RuleImport) -> String {
    let counts = [
        (imported.added.len(), "new"),
        (imported.changed.len(), "reworded"),
        (imported.retired.len(), "gone from their file"),
        (imported.n_known, "known already"),
    ];
    let parts: Vec<String> =
        counts.iter().filter(|it| it.0 > 0).map(|(n, what)| format!("{n} {what}")).collect();
    parts.join(", ")
}

/// Kinds of memories to show as examples, most actionable first.
const EXAMPLE_KINDS: &[MemoryKind] = &[
    MemoryKind::ErrorPattern,
    MemoryKind::Gotcha,
    MemoryKind::DeadEnd,
    MemoryKind::CausalDependency,
    MemoryKind::WorkflowRecipe,
    MemoryKind::Preference,
];
const MAX_EXAMPLES: usize = 3;
/// Newest memories among which the examples are chosen.
const EXAMPLE_CANDIDATES: u32 = 1_000;

/// Up to three memories: the most certain one of each kind in the order of [`EXAMPLE_KINDS`]; if there are
/// fewer, the most certain others.
async fn example_memories(command: &CommandContext<'_>) -> anyhow::Result<Vec<RatedMemory>> {
    let filter = MemoryFilter::active(EXAMPLE_CANDIDATES);
    let mut live = command.project.retriever().list(&filter, Some(NotebookScope::Project)).await?;
    live.retain(|it| it.memory.status() == MemoryStatus::Live);
    live.sort_by(|a, b| {
        b.current_confidence.cmp(&a.current_confidence).then(a.memory.id.cmp(&b.memory.id))
    });
    let mut examples: Vec<RatedMemory> = Vec::new();
    for kind in EXAMPLE_KINDS {
        // The list is sorted, so the first of a kind is its best.
        examples.extend(live.iter().find(|it| it.memory.kind.core_kind() == Some(*kind)).cloned());
    }
    examples.truncate(MAX_EXAMPLES);
    for rated in &live {
        let is_chosen = examples.iter().any(|it| it.memory.id == rated.memory.id);
        if examples.len() < MAX_EXAMPLES && !is_chosen {
            examples.push(rated.clone());
        }
    }
    Ok(examples)
}

/// Counts the memories that wait for review.
async fn count_pending(command: &CommandContext<'_>) -> anyhow::Result<usize> {
    let filter = MemoryFilter {
        statuses: vec![MemoryStatus::NeedsReview, MemoryStatus::Tainted],
        ..MemoryFilter::active(u32::MAX)
    };
    Ok(command.project.retriever().list(&filter, None).await?.len())
}

fn render(report: &InitReport, command: &CommandContext<'_>) {
    let out = command.output;
    if report.examples.is_empty() {
        out.say("no actionable memories yet; they come with the first sessions");
    } else {
        out.say("\nfor example:");
        for rated in &report.examples {
            out.print_row(SUMMARY_COLUMN, &format_memory(rated, &command.project.config.types));
        }
    }
    print_next_steps(report, command);
}

fn print_next_steps(report: &InitReport, command: &CommandContext<'_>) {
    let out = command.output;
    let connected: Vec<&str> =
        report.hosts.iter().filter(|it| it.connected).map(|it| it.host).collect();
    if connected.is_empty() {
        // Only hosts that are here; without one there is nothing to connect.
        let installed = connect::connection_states(&command.environment).unwrap_or_default();
        match installed.first() {
            Some((host, _)) => {
                out.hint(&format!("`waylore connect {}` connects the agent", host.name));
            }
            None => out.hint("no agent was found on this machine; `waylore connect --help` lists those that can be connected"),
        }
    } else {
        out.hint(&format!(
            "start {} as always; it will get relevant notes",
            connected.join(" or ")
        ));
    }
    out.hint("`waylore context start --task \"…\"` shows the notes for a task");
    if report.n_pending > 0 {
        let pending = format_count(report.n_pending, "memory waits", "memories wait");
        out.hint(&format!("{pending} for your verdict: `waylore review`"));
    }
}

fn to_json(report: &InitReport, command: &CommandContext<'_>) -> serde_json::Value {
    let rule_file_json = |it: &ParsedRuleFile| {
        json!({
            "file": it.path,
            "rules": it.rules.len(),
            "described": it.n_descriptions,
            "too_long": it.n_too_long,
        })
    };
    let rule_files: Vec<_> = report.rule_files.iter().map(rule_file_json).collect();
    let rules = report.rules.as_ref().map(|it| {
        json!({
            "added": it.added.len(),
            "changed": it.changed.len(),
            "retired": it.retired.len(),
            "known": it.n_known,
        })
    });
    let hosts: Vec<_> = report
        .hosts
        .iter()
        .map(|it| json!({ "host": it.host, "connected": it.connected }))
        .collect();
    let examples: Vec<_> = report.examples.iter().map(|it| MemoryWire::from(&it.memory)).collect();
    json!({
        "project": command.project.project_state().name(),
        "files": report.indexed.code.n_files,
        "symbols": report.indexed.code.n_symbols,
        "commits": report.indexed.history.n_commits,
        "modules": report.indexed.n_modules,
        "sessions": report.learned.n_new,
        "known_sessions": report.learned.n_known,
        "failed_sessions": report.learned.n_failed,
        "kept": report.learned.n_kept(),
        "rule_files": rule_files,
        "rules": rules,
        "hosts": hosts,
        "examples": examples,
    })
}

#[cfg(test)]
mod tests {
    use super::describe_learning;
    use super::learn::LearnTotals;

    #[test]
    fn sessions_that_could_not_be_learned_are_named() {
        let mut failed = LearnTotals::default();
        failed.n_failed = 1;
        let line = describe_learning(&failed);
        assert!(line.contains("1 could not be learned") && line.contains("doctor"), "{line}");
        assert!(!describe_learning(&LearnTotals::default()).contains("could not"));
    }
}
