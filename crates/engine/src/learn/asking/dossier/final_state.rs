//! The parts of a dossier that no claim may quote: its first line, which names the session, and the section
//! on the state at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::ValidationBasis;
use observe::SessionOverview;

use super::one_line;
use super::timeline::{CheckRun, Timeline};

/// Files and checks that are listed.
const MAX_LISTED_FILES: usize = 12;
const MAX_LISTED_CHECKS: usize = 6;

/// One line about the session.
pub(super) fn describe_session(session: &SessionOverview) -> String {
    let n_edited = session.files.iter().filter(|it| it.edits > 0).count();
    // `retries` counts the errors of the session, whether a call was repeated after them or not.
    let n_errors = session.retries;
    format!(
        "SESSION of {}: {} tool calls, {n_edited} files edited, {n_errors} failures. Step numbers count tool calls.",
        session.agent, session.steps
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
    let mut last_runs: BTreeMap<&str, &CheckRun> = BTreeMap::new();
    for check in &timeline.checks {
        last_runs.insert(check.command.as_str(), check);
    }
    let mut last_runs: Vec<&CheckRun> = last_runs.into_values().collect();
    last_runs.sort_by_key(|it| std::cmp::Reverse(it.call));
    for check in last_runs.into_iter().take(MAX_LISTED_CHECKS) {
        let verb = if check.has_passed { "passed" } else { "FAILED" };
        let _ = writeln!(acc, "- last run of `{}`: {verb}", one_line(&check.command, 80));
    }
    let _ = writeln!(acc, "- the work was {}", describe_work(session, timeline));
    if !timeline.pad.reverted_edits.is_empty() {
        let _ = writeln!(acc, "- edits taken back: {}", timeline.pad.reverted_edits.len());
    }
    acc
}

/// The fate of the work, by the evidence for it.
fn describe_work(session: &SessionOverview, timeline: &Timeline<'_>) -> String {
    if !timeline.commits.is_empty() {
        return "committed in the session".to_owned();
    }
    let last_report = timeline.pad.validations.last();
    let reported = last_report.map(|it| it.kind.description()).unwrap_or_default();
    match session.validation_basis {
        Some(ValidationBasis::Deferred) => "committed after the session".to_owned(),
        Some(ValidationBasis::Said) => {
            format!("not committed in the session; the host reported that {reported}")
        }
        Some(ValidationBasis::Observed) if passes_after_last_edit(timeline) => {
            "not committed in the session; its checks passed".to_owned()
        }
        // A subagent is confirmed by its parent, which may have done no more than commit.
        Some(ValidationBasis::Observed) => {
            "not committed in the session; a check or a commit of its parent confirms it".to_owned()
        }
        None if last_report.is_some() => {
            format!("not committed, and the host denied that {reported}")
        }
        None => "not committed, and no check confirms it".to_owned(),
    }
}

/// Returns whether a check of the session itself passed after its last edit.
fn passes_after_last_edit(timeline: &Timeline<'_>) -> bool {
    timeline.edits.last().is_some_and(|it| timeline.passes_later(it.0))
}
