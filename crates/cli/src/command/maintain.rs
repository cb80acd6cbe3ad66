//! `waylore maintain`: the daily maintenance that the daemon also runs, for each notebook (the database of the
//! project's memories, and that of the user's): check every row, forget what was not used for long, remove what
//! was forgotten long ago, back up, compact.

use engine::{CompactMode, MaintenanceOptions, MaintenanceReport};
use serde_json::json;

use super::CommandContext;
use super::shared::{WriteMode, report_start};
use crate::failure::FailureKind;
use crate::output::{format_count, format_size};
use crate::wire::notebook_word;

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

pub(crate) async fn run(args: MaintainArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let options = MaintenanceOptions {
        backup_every_days: command.settings.get_number("backup.every_days"),
        compact: if args.compact { CompactMode::Always } else { CompactMode::IfWorthwhile },
        dry_run: args.dry_run,
    };
    report_start("checking and tidying", command);
    let reports = command.project.maintenance().maintain(options).await?;
    let is_damaged = reports.iter().any(|it| !it.findings.is_empty());
    let code = if is_damaged { FailureKind::Environment as u8 } else { 0 };
    if command.output.json {
        let report_json = |it: &MaintenanceReport| {
            json!({
                "notebook": notebook_word(it.scope),
                "decayed": it.faded.iter().map(|it| it.id).collect::<Vec<_>>(),
                // Candidates that were not confirmed in time.
                "unconfirmed": it.unconfirmed.iter().map(|it| it.id).collect::<Vec<_>>(),
                "removed": it.removed,
                // Damage of the database.
                "findings": it.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "backup": it.backup.as_ref().map(|it| &it.name),
                "reclaimed_bytes": it.reclaimed_bytes,
            })
        };
        let notebooks: Vec<_> = reports.iter().map(report_json).collect();
        let body = json!({ "dry_run": args.dry_run, "notebooks": notebooks });
        command.output.print_json("maintained", body);
        return Ok(code);
    }
    for report in &reports {
        render(report, WriteMode::from_dry_run_flag(args.dry_run), command);
    }
    if reports.is_empty() {
        command.output.say("nothing to maintain yet");
    }
    Ok(code)
}

/// Prints one line for a notebook: `project: every row matches its hash, backup 2026-11-16 …`.
fn render(report: &MaintenanceReport, mode: WriteMode, command: &CommandContext<'_>) {
    let out = command.output;
    let notebook = notebook_word(report.scope);
    for finding in &report.findings {
        out.warn(&finding.to_string());
    }
    if !report.findings.is_empty() {
        out.print_line(&format!("{notebook}: damaged, so nothing was changed"));
        return;
    }
    let (forgotten, removed) = match mode {
        WriteMode::DryRun => ("would be forgotten", "would be removed"),
        WriteMode::Write => ("forgotten", "removed"),
    };
    let mut parts = vec!["every row matches its hash".to_owned()];
    if !report.faded.is_empty() {
        parts.push(format!(
            "{} unused for three half-lives {forgotten}",
            format_count(report.faded.len(), "memory", "memories")
        ));
    }
    if !report.unconfirmed.is_empty() {
        parts.push(format!(
            "{} not confirmed in 60 days {forgotten}",
            format_count(report.unconfirmed.len(), "candidate", "candidates")
        ));
    }
    if !report.removed.is_empty() {
        parts.push(format!(
            "{} forgotten over 30 days ago {removed}",
            format_count(report.removed.len(), "memory", "memories")
        ));
    }
    if let Some(backup) = &report.backup {
        parts.push(format!("backup {}", backup.name));
    }
    if report.reclaimed_bytes > 0 {
        parts.push(format!("{} given back", format_size(report.reclaimed_bytes)));
    }
    out.print_line(&format!("{notebook}: {}", parts.join(", ")));
}
