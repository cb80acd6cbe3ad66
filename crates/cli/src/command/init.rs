//! `waylore init`.

use engine::{Filter, Progress, Reach, RuleBook, RulesTaken, Shown};
use model::{Kind, Status};
use serde_json::json;

use super::index::{Reading, all_cores, read_project};
use super::shared::{agreed, line};
use super::{Session, connect, learn};
use crate::output::{BOLD, DIM, Output, count};
use crate::wire::MemoryWire;

/// Get to know a repository: its code, its past, its rules, its agents
///
/// Reads the code and the git history, learns from past sessions of coding agents, takes rules from CLAUDE.md,
/// AGENTS.md and the like, and lets the agents found here call Waylore. Rules and agents only after a yes. Run it
/// again at any time: what is known stays, what changed is followed. Nothing leaves this machine.
#[derive(clap::Args, Debug)]
pub(crate) struct InitArgs {
    /// Take the rules and connect the agents without asking
    #[arg(short, long)]
    yes: bool,
    /// Leave the rule files alone
    #[arg(long)]
    no_rules: bool,
    /// Leave the agents' settings alone
    #[arg(long)]
    no_connect: bool,
}

/// What came of it, part by part.
struct Done {
    reading: Reading,
    learned: learn::Sum,
    books: Vec<RuleBook>,
    /// Absent when nobody agreed to them.
    rules: Option<RulesTaken>,
    hosts: Vec<connect::Met>,
    examples: Vec<Shown>,
}

pub(crate) async fn run(args: InitArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let place = session.engine.place.clone();
    out.say(&format!(
        "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}",
        session.engine.project().name(),
        place.root.display()
    ));
    let reading = read_project(&Progress::default(), all_cores(), session).await?;
    for (what, line) in reading.lines() {
        out.say(&format!("{what}: {line}"));
    }
    let learned = learn::all_found(session).await?;
    out.say(&said_learned(&learned));
    let (books, rules) = take_rules(&args, session).await?;
    let hosts = if args.no_connect {
        Vec::new()
    } else {
        connect::meet(&session.environment, args.yes, out)?
    };
    let examples = examples(session).await?;
    let done = Done { reading, learned, books, rules, hosts, examples };
    if out.json {
        out.data_json("initialised", to_json(&done, session));
    } else {
        render(&done, session);
    }
    Ok(0)
}

fn said_learned(sum: &learn::Sum) -> String {
    match (sum.n_new, sum.n_known) {
        (0, 0) => "sessions: none of this project were found on this machine".to_owned(),
        (0, known) => {
            format!("sessions: {} known already", count(known, "session was", "sessions were"))
        }
        (new, _) => format!(
            "sessions: {} learned from, {} kept",
            count(new, "session was", "sessions were"),
            count(sum.kept.len(), "memory was", "memories were")
        ),
    }
}

/// The rules that were found, and what became of them if somebody agreed.
async fn take_rules(
    args: &InitArgs,
    session: &mut Session<'_>,
) -> anyhow::Result<(Vec<RuleBook>, Option<RulesTaken>)> {
    let out = session.output;
    let books = if args.no_rules { Vec::new() } else { session.engine.rules() };
    let n_rules: usize = books.iter().map(|it| it.rules.len()).sum();
    if n_rules == 0 {
        return Ok((books, None));
    }
    let named: Vec<String> =
        books.iter().map(|it| format!("{} in {}", it.rules.len(), it.path)).collect();
    out.say(&format!("rules: {}", named.join(", ")));
    let question = format!("Keep {} as yours?", count(n_rules, "rule", "rules"));
    if !agreed(args.yes, &question)? {
        out.hint("`waylore init --yes` takes them in; agents are told only those their host does not read itself");
        return Ok((books, None));
    }
    let taken = session.engine.take_rules(&books, true).await?;
    out.say(&format!(
        "rules: {} new, {} reworded, {} gone from their file, {} known already",
        taken.added.len(),
        taken.changed.len(),
        taken.retired.len(),
        taken.n_known
    ));
    Ok((books, Some(taken)))
}

/// What makes a reader act differently comes first.
const TELLING: &[Kind] = &[
    Kind::ErrorPattern,
    Kind::Gotcha,
    Kind::DeadEnd,
    Kind::CausalDependency,
    Kind::WorkflowRecipe,
    Kind::Preference,
];
/// How many examples are shown.
const EXAMPLES: usize = 3;

/// A few notes, of different kinds as far as there are, the surest first.
async fn examples(session: &Session<'_>) -> anyhow::Result<Vec<Shown>> {
    let mut standing = session.engine.list(&Filter::standing(1_000), Some(Reach::Project)).await?;
    standing.retain(|it| it.memory.status() == Status::Live);
    standing.sort_by(|a, b| b.current.cmp(&a.current).then(a.memory.id.cmp(&b.memory.id)));
    let of = |kind: &Kind| standing.iter().find(|it| it.memory.kind.core() == Some(*kind));
    let mut res: Vec<Shown> = TELLING.iter().filter_map(of).take(EXAMPLES).cloned().collect();
    for it in &standing {
        let is_shown = res.iter().any(|known| known.memory.id == it.memory.id);
        if res.len() < EXAMPLES && !is_shown {
            res.push(it.clone());
        }
    }
    Ok(res)
}

fn render(done: &Done, session: &Session<'_>) {
    let out = session.output;
    if done.examples.is_empty() {
        out.say(
            "nothing is known yet that an agent would act on; it comes with the first sessions",
        );
    } else {
        out.say("\nfor example:");
        for it in &done.examples {
            out.line(&line(it, &session.engine.config.types));
        }
    }
    next_steps(done, out);
}

fn next_steps(done: &Done, out: &Output) {
    let connected: Vec<&str> =
        done.hosts.iter().filter(|it| it.connected).map(|it| it.host).collect();
    if connected.is_empty() {
        out.hint("`waylore connect claude-code` lets an agent know all this");
    } else {
        out.hint(&format!("start {} as always: it is told what is known", connected.join(" or ")));
    }
    out.hint("`waylore context start --task \"…\"` shows what an agent would be told for a task");
    let waiting = done.learned.kept.values().filter(|it| it.memory.flags.needs_review).count();
    if waiting > 0 {
        let of = count(waiting, "memory waits", "memories wait");
        out.hint(&format!("`waylore review`: {of} for your yes or no"));
    }
}

fn to_json(done: &Done, session: &Session<'_>) -> serde_json::Value {
    let books: Vec<_> = done
        .books
        .iter()
        .map(|it| {
            json!({ "file": it.path, "rules": it.rules.len(), "described": it.n_described, "too_long": it.n_too_long })
        })
        .collect();
    let taken = done.rules.as_ref().map(|it| {
        json!({ "added": it.added.len(), "changed": it.changed.len(), "retired": it.retired.len(), "known": it.n_known })
    });
    let hosts: Vec<_> =
        done.hosts.iter().map(|it| json!({ "host": it.host, "connected": it.connected })).collect();
    let examples: Vec<_> = done.examples.iter().map(|it| MemoryWire::from(&it.memory)).collect();
    json!({
        "project": session.engine.project().name(),
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
