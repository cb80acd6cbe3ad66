//! `waylore init`.

use engine::{MemoryFilter, NotebookScope, ParsedRuleFile, RatedMemory, RuleImport, TaskProgress};
use model::{MemoryKind, MemoryStatus};
use serde_json::json;

use super::index::{IndexReading, all_cores, read_project};
use super::shared::{ask_yes_no, format_memory};
use super::{CommandSession, connect, learn};
use crate::output::{BOLD_STYLE, DIM_STYLE, Output, format_count};
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
    /// Do not connect agents
    #[arg(long)]
    no_connect: bool,
}

/// Results by part.
struct InitReport {
    reading: IndexReading,
    learned: learn::LearnTotals,
    books: Vec<ParsedRuleFile>,
    /// `None` if the user declined.
    rules: Option<RuleImport>,
    hosts: Vec<connect::HostConnection>,
    examples: Vec<RatedMemory>,
}

pub(crate) async fn run(args: InitArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let place = session.project.place.clone();
    out.say(&format!(
        "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{}{DIM_STYLE:#}",
        session.project.project_state().name(),
        place.root.display()
    ));
    let reading = read_project(&TaskProgress::default(), all_cores(), session).await?;
    for (what, line) in reading.summary_lines() {
        out.say(&format!("{what}: {line}"));
    }
    let learned = learn::all_found(session).await?;
    out.say(&said_learned(&learned));
    let (books, rules) = take_rules(&args, session).await?;
    let hosts = if args.no_connect {
        Vec::new()
    } else {
        connect::connect_found_hosts(&session.environment, args.yes, out)?
    };
    let examples = example_memories(session).await?;
    let done = InitReport { reading, learned, books, rules, hosts, examples };
    if out.json {
        out.data_json("initialised", to_json(&done, session));
    } else {
        render(&done, session);
    }
    Ok(0)
}

fn said_learned(sum: &learn::LearnTotals) -> String {
    match (sum.n_new, sum.n_known) {
        (0, 0) => "sessions: none found for this project on this machine".to_owned(),
        (0, known) => {
            format!(
                "sessions: {} known already",
                format_count(known, "session was", "sessions were")
            )
        }
        (new, _) => format!(
            "sessions: {} learned from, {} kept",
            format_count(new, "session was", "sessions were"),
            format_count(sum.kept.len(), "memory was", "memories were")
        ),
    }
}

/// The rules found, and the import result if the user agreed.
async fn take_rules(
    args: &InitArgs,
    session: &mut CommandSession<'_>,
) -> anyhow::Result<(Vec<ParsedRuleFile>, Option<RuleImport>)> {
    let out = session.output;
    let books = if args.no_rules { Vec::new() } else { session.project.editor().list_rules() };
    let n_rules: usize = books.iter().map(|it| it.rules.len()).sum();
    if n_rules == 0 {
        return Ok((books, None));
    }
    let named: Vec<String> =
        books.iter().map(|it| format!("{} in {}", it.rules.len(), it.path)).collect();
    out.say(&format!("rules: {}", named.join(", ")));
    let question = format!("Import {} as your own rules?", format_count(n_rules, "rule", "rules"));
    if !ask_yes_no(args.yes, &question)? {
        out.hint("`waylore init --yes` imports them; agents get only rules that their host does not read itself");
        return Ok((books, None));
    }
    let taken = session.project.editor().import_rules(&books, engine::RuleTrust::Vouched).await?;
    out.say(&format!(
        "rules: {} new, {} reworded, {} gone from their file, {} known already",
        taken.added.len(),
        taken.changed.len(),
        taken.retired.len(),
        taken.n_known
    ));
    Ok((books, Some(taken)))
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
/// Number of examples.
const MAX_EXAMPLES: usize = 3;

/// A few memories of different kinds, highest confidence first.
async fn example_memories(session: &CommandSession<'_>) -> anyhow::Result<Vec<RatedMemory>> {
    let mut standing = session
        .project
        .retriever()
        .list(&MemoryFilter::active(1_000), Some(NotebookScope::Project))
        .await?;
    standing.retain(|it| it.memory.status() == MemoryStatus::Live);
    standing.sort_by(|a, b| {
        b.current_confidence.cmp(&a.current_confidence).then(a.memory.id.cmp(&b.memory.id))
    });
    let of =
        |kind: &MemoryKind| standing.iter().find(|it| it.memory.kind.core_kind() == Some(*kind));
    let mut res: Vec<RatedMemory> =
        EXAMPLE_KINDS.iter().filter_map(of).take(MAX_EXAMPLES).cloned().collect();
    for it in &standing {
        let is_shown = res.iter().any(|known| known.memory.id == it.memory.id);
        if res.len() < MAX_EXAMPLES && !is_shown {
            res.push(it.clone());
        }
    }
    Ok(res)
}

fn render(done: &InitReport, session: &CommandSession<'_>) {
    let out = session.output;
    if done.examples.is_empty() {
        out.say("no actionable memories yet; they come with the first sessions");
    } else {
        out.say("\nfor example:");
        for it in &done.examples {
            out.print_line(&format_memory(it, &session.project.config.types));
        }
    }
    next_steps(done, out);
}

fn next_steps(done: &InitReport, out: &Output) {
    let connected: Vec<&str> =
        done.hosts.iter().filter(|it| it.connected).map(|it| it.host).collect();
    if connected.is_empty() {
        out.hint("`waylore connect claude-code` connects an agent");
    } else {
        out.hint(&format!(
            "start {} as always; it will get relevant notes",
            connected.join(" or ")
        ));
    }
    out.hint("`waylore context start --task \"…\"` shows the notes for a task");
    let waiting = done.learned.kept.values().filter(|it| it.memory.flags.needs_review).count();
    if waiting > 0 {
        let of = format_count(waiting, "memory waits", "memories wait");
        out.hint(&format!("`waylore review`: {of} to confirm or reject"));
    }
}

fn to_json(done: &InitReport, session: &CommandSession<'_>) -> serde_json::Value {
    let books: Vec<_> = done
        .books
        .iter()
        .map(|it| {
            json!({ "file": it.path, "rules": it.rules.len(), "described": it.n_descriptions, "too_long": it.n_too_long })
        })
        .collect();
    let taken = done.rules.as_ref().map(|it| {
        json!({ "added": it.added.len(), "changed": it.changed.len(), "retired": it.retired.len(), "known": it.n_known })
    });
    let hosts: Vec<_> =
        done.hosts.iter().map(|it| json!({ "host": it.host, "connected": it.connected })).collect();
    let examples: Vec<_> = done.examples.iter().map(|it| MemoryWire::from(&it.memory)).collect();
    json!({
        "project": session.project.project_state().name(),
        "files": done.reading.code.n_files,
        "symbols": done.reading.code.n_symbols,
        "commits": done.reading.history.n_commits,
        "modules": done.reading.n_modules,
        "sessions": done.learned.n_new,
        "known_sessions": done.learned.n_known,
        "kept": done.learned.kept.len(),
        "rule_files": books,
        "rules": taken,
        "hosts": hosts,
        "examples": examples,
    })
}
