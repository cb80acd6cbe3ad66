//! The parts of a dossier that no claim may quote: its first line, which names the session, and the section
//! on the state at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::ValidationBasis;
use observe::SessionOverview;

use super::one_line;
use super::timeline::Timeline;

/// Files and checks that are listed.
const MAX_LISTED_FILES: usize = 12;
const MAX_LISTED_CHECKS: usize = 6;

/// One line about the session.
pub(super) fn describe_session(session: &SessionOverview) -> String {
    let n_edited = session.files.iter().filter(|it| it.edits > 0).count();
    format!(
        "SESSION of {}: {} tool calls, {n_edited} files edited, {} failures. Step numbers count tool calls.",
        session.agent, session.steps, session.retries
    )
}

/// Files, checks and commits at the end.
pub(super) fn describe_state(session: &SessionOverview, timeline: &Timeline<'_>) -> String {
    let mut acc = String::new();
    let mut edited: Vec<(&str, u32)> = Vec::new();
    for file in session.files.iter().filter(|it| it.edits > 0) {
        edited.push((file.path.as_str(), file.edits));
    }
    edited.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    if !edited.is_empty() {
        let n_more = edited.len().saturating_sub(MAX_LISTED_FILES);
        let names: Vec<&str> = edited.iter().take(MAX_LISTED_FILES).map(|it| it.0).collect();
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        let _ = writeln!(acc, "- files edited: {}{more}", names.join(", "));
    }
    // The last run of each check decides.
    let mut last: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
    for check in &timeline.checks {
        last.insert(check.command.as_str(), (check.call, check.has_passed));
    }
    let mut checks: Vec<(&str, (u32, bool))> = last.into_iter().collect();
    checks.sort_by_key(|it| std::cmp::Reverse(it.1.0));
    for (command, (_, has_passed)) in checks.into_iter().take(MAX_LISTED_CHECKS) {
        let verb = if has_passed { "passed" } else { "FAILED" };
        let _ = writeln!(acc, "- last run of `{}`: {verb}", one_line(command, 80));
    }
    let work = match (timeline.commits.len(), session.validation_basis) {
        (0, Some(ValidationBasis::Deferred)) => "committed after the session",
        (0, Some(_)) => "not committed in the session; its checks passed",
        (0, None) => "not committed, and no check confirms it",
        (_, _) => "committed in the session",
    };
    let _ = writeln!(acc, "- the work was {work}");
    if !timeline.pad.reverted_edits.is_empty() {
        let _ = writeln!(acc, "- edits taken back: {}", timeline.pad.reverted_edits.len());
    }
    acc
}
