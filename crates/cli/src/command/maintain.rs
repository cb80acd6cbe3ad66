//! `waylore maintain`.

use engine::Maintained;
use serde_json::json;

use super::Session;
use super::shared::begin;
use crate::output::{count, size};
use crate::wire::reach_word;

/// Tidy up: forget what has faded, back up, check, give space back
#[derive(clap::Args, Debug)]
pub(crate) struct MaintainArgs {
    /// Show what would be done without doing it
    #[arg(long)]
    dry_run: bool,
    /// Compact the files even when there is little to gain
    #[arg(long)]
    compact: bool,
}

pub(crate) async fn run(args: MaintainArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let every = session.settings.number("backup.every_days");
    begin("checking and tidying", session);
    let done = session.engine.maintain(every, args.compact, args.dry_run).await?;
    let code = if done.iter().any(|it| !it.findings.is_empty()) { 3 } else { 0 };
    if session.output.json {
        let one = |it: &Maintained| {
            json!({
                "reach": reach_word(it.reach),
                "faded": it.faded.iter().map(|it| it.id).collect::<Vec<_>>(),
                "removed": it.gone,
                "findings": it.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "backup": it.backup.as_ref().map(|it| &it.name),
                "reclaimed_bytes": it.reclaimed,
            })
        };
        session.output.data_json("maintained", json!({ "dry_run": args.dry_run, "notebooks": done.iter().map(one).collect::<Vec<_>>() }));
        return Ok(code);
    }
    for it in &done {
        render(it, args.dry_run, session);
    }
    if done.is_empty() {
        session.output.say("there is nothing to look after yet");
    }
    Ok(code)
}

fn render(it: &Maintained, dry_run: bool, session: &Session<'_>) {
    let out = session.output;
    let whose = reach_word(it.reach);
    for finding in &it.findings {
        out.warn(&finding.to_string());
    }
    if !it.findings.is_empty() {
        out.line(&format!("{whose}: damaged, so nothing was tidied"));
        return;
    }
    let (forgotten, removed) =
        if dry_run { ("would be forgotten", "would be removed") } else { ("forgotten", "removed") };
    let mut parts = vec!["every row matches its hash".to_owned()];
    if !it.faded.is_empty() {
        parts.push(format!(
            "{} unused for three half-lives {forgotten}",
            count(it.faded.len(), "memory", "memories")
        ));
    }
    if !it.gone.is_empty() {
        parts.push(format!(
            "{} forgotten over 30 days ago {removed}",
            count(it.gone.len(), "memory", "memories")
        ));
    }
    if let Some(backup) = &it.backup {
        parts.push(format!("backup {}", backup.name));
    }
    if it.reclaimed > 0 {
        parts.push(format!("{} given back", size(it.reclaimed)));
    }
    out.line(&format!("{whose}: {}", parts.join(", ")));
}
