//! `waylore maintain`.

use engine::{CompactMode, MaintenanceOptions, MaintenanceReport};
use serde_json::json;

use super::CommandSession;
use super::shared::{WriteMode, report_start};
use crate::output::{format_count, format_size};
use crate::wire::reach_word;

/// Forget decayed memories, back up, check, compact
#[derive(clap::Args, Debug)]
pub(crate) struct MaintainArgs {
    /// Show what would be done without doing it
    #[arg(long)]
    dry_run: bool,
    /// Compact the files even if little space is gained
    #[arg(long)]
    compact: bool,
}

pub(crate) async fn run(args: MaintainArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let every = session.settings.get_number("backup.every_days");
    let compact = if args.compact { CompactMode::Always } else { CompactMode::IfWorthwhile };
    let options = MaintenanceOptions { backup_every_days: every, compact, dry_run: args.dry_run };
    report_start("checking and tidying", session);
    let done = session.project.maintenance().maintain(options).await?;
    let code = if done.iter().any(|it| !it.findings.is_empty()) { 3 } else { 0 };
    if session.output.json {
        let one = |it: &MaintenanceReport| {
            json!({
                "notebook": reach_word(it.scope),
                "decayed": it.faded.iter().map(|it| it.id).collect::<Vec<_>>(),
                "removed": it.removed,
                "findings": it.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "backup": it.backup.as_ref().map(|it| &it.name),
                "reclaimed_bytes": it.reclaimed_bytes,
            })
        };
        session.output.data_json("maintained", json!({ "dry_run": args.dry_run, "notebooks": done.iter().map(one).collect::<Vec<_>>() }));
        return Ok(code);
    }
    for it in &done {
        render(it, WriteMode::from_dry_run_flag(args.dry_run), session);
    }
    if done.is_empty() {
        session.output.say("nothing to maintain yet");
    }
    Ok(code)
}

fn render(it: &MaintenanceReport, mode: WriteMode, session: &CommandSession<'_>) {
    let out = session.output;
    let whose = reach_word(it.scope);
    for finding in &it.findings {
        out.warn(&finding.to_string());
    }
    if !it.findings.is_empty() {
        out.print_line(&format!("{whose}: damaged, so nothing was changed"));
        return;
    }
    let (forgotten, removed) = match mode {
        WriteMode::DryRun => ("would be forgotten", "would be removed"),
        WriteMode::Write => ("forgotten", "removed"),
    };
    let mut parts = vec!["every row matches its hash".to_owned()];
    if !it.faded.is_empty() {
        parts.push(format!(
            "{} unused for three half-lives {forgotten}",
            format_count(it.faded.len(), "memory", "memories")
        ));
    }
    if !it.removed.is_empty() {
        parts.push(format!(
            "{} forgotten over 30 days ago {removed}",
            format_count(it.removed.len(), "memory", "memories")
        ));
    }
    if let Some(backup) = &it.backup {
        parts.push(format!("backup {}", backup.name));
    }
    if it.reclaimed_bytes > 0 {
        parts.push(format!("{} given back", format_size(it.reclaimed_bytes)));
    }
    out.print_line(&format!("{whose}: {}", parts.join(", ")));
}
