//! `waylore stats`.

use std::collections::BTreeMap;

use engine::{Activity, Compared, Saved, Stats, Trial};
use model::Status;
use serde_json::json;

use super::Session;
use super::shared::status_word;
use crate::output::{BOLD, DIM, count, size};
use crate::wire::reach_word;

/// Show how much is remembered, of what kind, and how large it is
#[derive(clap::Args, Debug)]
pub(crate) struct StatsArgs {}

pub(crate) async fn run(_: StatsArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let stats = session.engine.stats().await?;
    let activity = session.engine.activity().await?;
    let trial = session.engine.trial().await?;
    let coverage = match session.engine.coverage().await {
        Ok(it) => Some(it),
        Err(engine::Error::Model(error)) => {
            session.output.warn(&format!("the provider of vectors fails: {error}"));
            None
        }
        Err(error) => return Err(error.into()),
    };
    if session.output.json {
        let notebooks: Vec<_> = stats.iter().map(to_json).collect();
        let vectors = coverage
            .map(|it| json!({ "model": it.model, "memories": it.total, "without": it.lacking }));
        session.output.data_json(
            "stats",
            json!({ "project": session.engine.project().name(), "notebooks": notebooks, "vectors": vectors, "activity": activity_json(&activity), "trial": trial.as_ref().map(trial_json) }),
        );
        return Ok(0);
    }
    for it in &stats {
        render(it, session);
    }
    if activity.sessions > 0 || activity.shown > 0 {
        session.output.line(&said(&activity));
        session.output.line(&spared(&activity.saved));
    }
    if let Some(trial) = &trial {
        render_trial(trial, session);
    }
    if let Some(it) = coverage.filter(|it| it.total > 0) {
        let lacking = match it.lacking {
            0 => "all have a vector".to_owned(),
            n => format!("{} no vector", count(n, "memory has", "memories have")),
        };
        session.output.line(&format!("{DIM}{lacking} by {}{DIM:#}", it.model));
    }
    if !stats.iter().any(|it| it.reach == engine::Reach::Project) {
        session
            .output
            .say(&format!("nothing is remembered about `{}` yet", session.engine.project().name()));
        session.output.hint("waylore remember \"…\" keeps something");
    }
    Ok(0)
}

fn said(it: &Activity) -> String {
    format!(
        "{} ({} validated): {} learned, {} dropped; agents were told {}, and followed {}",
        count(it.sessions, "session", "sessions"),
        it.validated,
        count(it.learned, "memory", "memories"),
        count(it.dropped, "sighting", "sightings"),
        times(it.shown),
        times(it.used)
    )
}

/// What was saved and how that is known; nothing is said to be saved that nobody saw.
fn spared(it: &Saved) -> String {
    if it.errors == 0 {
        return "saved: nothing that could be counted yet".to_owned();
    }
    let n = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let tokens = it
        .tokens()
        .zip(it.tokens_per_step)
        .map(|(all, each)| format!(", about {all} tokens at {each} a step, the average here"));
    format!(
        "saved: {} ended or avoided with what was told, {} fewer than the shortest way found without{}",
        count(n(it.errors), "error was", "errors were"),
        count(n(it.calls), "call", "calls"),
        tokens.unwrap_or_default()
    )
}

fn times(n: u64) -> String {
    count(usize::try_from(n).unwrap_or(usize::MAX), "note", "notes")
}

fn render_trial(it: &Trial, session: &Session<'_>) {
    let groups: Vec<String> =
        it.sessions.iter().map(|(group, n)| format!("{n} {}", group.slug())).collect();
    session.output.line(&format!("on trial: sessions {}", groups.join(", ")));
    for (what, compared) in measures(it) {
        let text = match compared {
            Compared::TooFew { have, need } => format!("{have} of {need} sessions a group so far"),
            Compared::Seen { n, effect, interval, p, level } => {
                let verdict = if compared.is_certain() { "certain" } else { "may be chance" };
                format!(
                    "fewer with memory in {:.0} % of pairs (95 %: {:.0} to {:.0} %), p {p:.4} of {level:.4}, {n} sessions each: {verdict}",
                    effect * 100.0,
                    interval.0 * 100.0,
                    interval.1 * 100.0
                )
            }
        };
        session.output.line(&format!("  {what}: {text}"));
    }
}

fn measures(it: &Trial) -> [(&'static str, Compared); 3] {
    [("steps", it.steps), ("tokens", it.tokens), ("retries", it.retries)]
}

fn trial_json(it: &Trial) -> serde_json::Value {
    let mut res = json!({});
    for (group, n) in &it.sessions {
        res["sessions"][group.slug()] = json!(n);
    }
    for (what, compared) in measures(it) {
        res[what] = match compared {
            Compared::TooFew { have, need } => json!({ "have": have, "need": need }),
            Compared::Seen { n, effect, interval, p, level } => json!({
                "sessions": n, "effect": effect, "interval": [interval.0, interval.1], "p": p,
                "level": level, "certain": compared.is_certain(),
            }),
        };
    }
    res
}

fn activity_json(it: &Activity) -> serde_json::Value {
    json!({
        "sessions": it.sessions,
        "validated": it.validated,
        "learned": it.learned,
        "dropped": it.dropped,
        "shown": it.shown,
        "used": it.used,
        "saved": {
            "errors": it.saved.errors,
            "calls": it.saved.calls,
            "tokens": it.saved.tokens(),
            "tokens_per_step": it.saved.tokens_per_step,
        },
    })
}

fn to_json(it: &Stats) -> serde_json::Value {
    let tally: Vec<_> = it
        .tally
        .iter()
        .map(|it| json!({ "type": it.kind, "status": it.status, "count": it.count }))
        .collect();
    json!({
        "reach": reach_word(it.reach),
        "tally": tally,
        "database_bytes": it.size.database,
        "log_bytes": it.size.log,
        "backup_bytes": it.size.backups,
        "backups": it.backups.len(),
    })
}

fn render(it: &Stats, session: &Session<'_>) {
    let out = session.output;
    let standing = |status: Status| !matches!(status, Status::Deleted | Status::Deprecated);
    let n: u64 = it.tally.iter().filter(|it| standing(it.status)).map(|it| it.count).sum();
    let name = match it.reach {
        engine::Reach::Project => session.engine.project().name(),
        engine::Reach::User => "yours, in every project",
    };
    out.line(&format!(
        "{BOLD}{name}{BOLD:#}: {}",
        count(usize::try_from(n).unwrap_or(0), "memory stands", "memories stand")
    ));
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut others: BTreeMap<Status, u64> = BTreeMap::new();
    for tally in &it.tally {
        if standing(tally.status) {
            *kinds.entry(&tally.kind).or_default() += tally.count;
        }
        if tally.status != Status::Live {
            *others.entry(tally.status).or_default() += tally.count;
        }
    }
    for (kind, n) in &kinds {
        out.line(&format!("  {n:>5}  {kind}"));
    }
    for (status, n) in &others {
        out.line(&format!("  {n:>5}  {DIM}{}{DIM:#}", status_word(*status)));
    }
    out.line(&format!(
        "  {DIM}{} on disk, {} ({}){DIM:#}",
        size(it.size.database + it.size.log),
        count(it.backups.len(), "backup", "backups"),
        size(it.size.backups)
    ));
}
