//! Summarises a finished session: its type, outcome and validation, and the files it touched.
//!
//! The input is the scratchpad, the log of the session with all its calls. The summary is stored with the
//! session, and the crate `promote` decides by it what may be learned. A report of the host (the program
//! that runs the agent) always counts more than what the calls suggest.
//!
//! Example: an edit of `a.rs`, then `cargo test` with success → type `build`, outcome `success`, validation
//! `observed`. With the test before the edit, the outcome is `partial`, and there is no validation.

use model::{
    ProjectPath, SessionBehaviour, SessionId, SessionOutcome, SessionType, Timestamp, ToolKind,
    ValidationBasis, ValidationKind, WorkUnit, infer_session_type,
};

use crate::Scratchpad;
use crate::facts::file_uses;
use crate::scratchpad::{CallEffects, CallState, LoggedCall};

/// A finished session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionOverview {
    pub id: SessionId,
    /// The session that started this one as a subagent.
    pub parent: Option<SessionId>,
    pub agent: String,
    /// Absolute path of the folder that it worked in; empty if it is not known.
    pub root: String,
    /// The unit of planned work that the host named.
    pub work_unit: Option<WorkUnit>,
    pub kind: SessionType,
    pub task: String,
    pub started: Timestamp,
    pub ended: Timestamp,
    /// Tool calls: a step is a call, because not every host reports steps.
    pub steps: u32,
    /// The number of steps that the host announced.
    pub planned_steps: Option<u32>,
    pub tokens: u64,
    /// Errors that occurred. Each one is taken for a retry, whether or not the call was repeated.
    pub retries: u32,
    pub outcome: SessionOutcome,
    /// The evidence that the work of the session holds; `None` while it is not validated.
    pub validation_basis: Option<ValidationBasis>,
    /// Validations that the host reported as passed.
    pub reported_validations: Vec<ValidationKind>,
    /// Positions of the events that reported a subtask as succeeded.
    pub succeeded_subtasks: Vec<u32>,
    /// The first source of external text.
    pub external: Option<String>,
    pub files: Vec<FileActivity>,
}

/// Activity of a session on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileActivity {
    pub path: ProjectPath,
    pub reads: u32,
    pub edits: u32,
    /// Number of the first call that touched it.
    pub first_step: u32,
}

/// Summarises the session of a scratchpad; `None` before its first event.
pub fn summarise_session(pad: &Scratchpad) -> Option<SessionOverview> {
    let uses = file_uses(pad);
    let mut files: Vec<FileActivity> = Vec::new();
    for (file, file_use) in &uses {
        // A path that was truncated or is no project path is left out.
        if let Ok(path) = ProjectPath::parse(pad.strings.text(*file)) {
            files.push(FileActivity {
                path,
                reads: file_use.n_reads,
                edits: file_use.n_edits,
                first_step: file_use.first_call,
            });
        }
    }
    files.sort_by(|a, b| a.first_step.cmp(&b.first_step).then_with(|| a.path.cmp(&b.path)));
    let outcome = infer_outcome(pad);
    Some(SessionOverview {
        id: pad.session?,
        parent: pad.parent,
        agent: pad.agent.clone(),
        root: pad.root.clone(),
        work_unit: pad.work_unit.clone(),
        kind: pad.declared_type.unwrap_or_else(|| infer_session_type(summarise_behaviour(pad))),
        task: pad.task.clone(),
        started: pad.started.unwrap_or_default(),
        ended: pad.ended.unwrap_or_default(),
        steps: pad.n_steps(),
        planned_steps: pad.planned_steps,
        tokens: pad.tokens.input.saturating_add(pad.tokens.output),
        retries: u32::try_from(pad.errors.len()).unwrap_or(u32::MAX),
        outcome,
        // A session that the host reported as failed is not validated by its own checks.
        validation_basis: find_validation_basis(pad).filter(|_| outcome != SessionOutcome::Failure),
        reported_validations: pad.validations.iter().filter(|it| it.ok).map(|it| it.kind).collect(),
        succeeded_subtasks: pad.succeeded_subtasks.clone(),
        external: pad.external.as_ref().map(|it| it.source.clone()),
        files,
    })
}

/// Counts the kinds of calls, from which the session type is inferred.
fn summarise_behaviour(pad: &Scratchpad) -> SessionBehaviour {
    // Holds until a call outside plan mode is found below.
    let plan_mode_only = !pad.calls.is_empty();
    let mut acc = SessionBehaviour { plan_mode_only, ..SessionBehaviour::default() };
    for call in pad.calls.iter().filter(|it| it.state != CallState::Rejected) {
        let has_write = pad.touches_of_call(call).iter().any(|it| it.is_write);
        let looks_by_command = call.n_touches > 0
            || call.effects.has_any(CallEffects::RUNS_SEARCH | CallEffects::LISTS_FILES);
        let is_look = match call.tool {
            ToolKind::Read | ToolKind::Search | ToolKind::List => true,
            ToolKind::Shell => looks_by_command,
            _ => false,
        };
        // Each call counts once, as the first of these; an edit whichever tool made it.
        if has_write && call.state == CallState::Ok {
            acc.n_edits += 1;
        } else if call.effects.has_any(CallEffects::READS_REVIEW) {
            acc.n_reviews += 1;
        } else if is_look {
            acc.n_looks += 1;
        } else {
            acc.n_others += 1;
        }
        acc.plan_mode_only &= call.in_plan_mode;
    }
    acc
}

fn infer_outcome(pad: &Scratchpad) -> SessionOutcome {
    // The outcome that the host reports decides.
    if let Some(outcome) = pad.outcome {
        return outcome;
    }
    // The host can also report only that its quality check failed.
    let last_qa = pad.validations.iter().rev().find(|it| it.kind == ValidationKind::QaPassed);
    if last_qa.is_some_and(|it| !it.ok) {
        SessionOutcome::Failure
    } else if find_validation_basis(pad).is_some() {
        SessionOutcome::Success
    } else {
        SessionOutcome::Partial
    }
}

/// The evidence that the work holds: a report of the host, else a check that passed after the last edit,
/// or a commit.
fn find_validation_basis(pad: &Scratchpad) -> Option<ValidationBasis> {
    if let Some(reported) = pad.validations.last() {
        return reported.ok.then_some(ValidationBasis::Said);
    }
    // A commit counts whatever the checks report: the user or the agent accepted the work.
    let is_commit =
        |it: &LoggedCall| it.has_succeeded() && it.effects.has_any(CallEffects::MAKES_COMMIT);
    let has_commit = pad.calls.iter().any(is_commit);
    (has_commit || passes_last_check(pad)).then_some(ValidationBasis::Observed)
}

/// Returns whether a check (tests, a build, a linter) passed after the last edit and none failed after that.
fn passes_last_check(pad: &Scratchpad) -> bool {
    // Without an edit there is nothing to validate.
    let last_edit = pad.successful_touches().filter(|it| it.is_write).last();
    let Some(last_edit) = last_edit else { return false };
    // A check before the edit says nothing about it.
    let later_calls = &pad.calls[last_edit.call as usize + 1..];
    let is_check =
        |it: &&LoggedCall| it.effects.has_any(CallEffects::RUNS_TEST | CallEffects::RUNS_CHECK);
    let checks: Vec<&LoggedCall> = later_calls.iter().filter(is_check).collect();
    // The last check decides: work that passes one check and then fails another does not hold. A last check
    // that was refused or has no result decides nothing; the ones before it count.
    let has_failed_last = checks.last().is_some_and(|it| it.has_failed());
    let has_passed = checks.iter().any(|it| it.has_succeeded());
    has_passed && !has_failed_last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_script::pad_from_script;
    use expect_test::{Expect, expect};

    /// Checks a session, given in the notation of `test_script`: its type, its outcome and the basis of its
    /// validation, `–` if it is not validated.
    fn check(script: &str, expect: Expect) {
        let overview = summarise_session(&pad_from_script(script)).unwrap();
        let basis = overview.validation_basis.map_or("–", ValidationBasis::slug);
        let (kind, outcome) = (overview.kind.slug(), overview.outcome.slug());
        expect.assert_eq(&format!("{kind} {outcome} {basis}"));
    }

    #[test]
    fn work_holds_when_a_check_passes_after_the_last_edit() {
        check("edit a.rs\nrun cargo test", expect!["build success observed"]);
        check("run cargo test\nedit a.rs", expect!["build partial –"]);
        check("edit a.rs\nfail cargo test: error: x\ncommit", expect!["build success observed"]);
        check("edit a.rs\nrun cargo build\nfail cargo test: error: x", expect!["build partial –"]);
        check("edit a.rs\nrun echo test", expect!["build partial –"]);
    }

    #[test]
    fn the_calls_of_a_session_decide_its_type() {
        check("read a.rs\ngrep x → a.rs", expect!["insights partial –"]);
        check("run gh pr view 3\nread a.rs", expect!["pr_review partial –"]);
        check("run ls\nrun curl x", expect!["terminal partial –"]);
        // A refused call does not count.
        check("refuse a.rs\nread b.rs", expect!["insights partial –"]);
    }
}
