//! What a session was and how it ended, as far as it decides what may be learned from it.

use model::{
    Behaviour, Outcome, ProjectPath, SessionId, SessionType, Timestamp, ToolKind, ValidationBasis,
    ValidationKind, infer_session_type,
};

use crate::Scratchpad;
use crate::facts::file_uses;
use crate::scratchpad::{Does, State};

/// A finished session in brief.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub id: SessionId,
    pub parent: Option<SessionId>,
    pub agent: String,
    pub kind: SessionType,
    pub task: String,
    pub started: Timestamp,
    pub ended: Timestamp,
    pub steps: u32,
    /// The steps that the host said it would take.
    pub planned: Option<u32>,
    pub tokens: u64,
    pub retries: u32,
    pub outcome: Outcome,
    /// How it is known that its work holds; `None` while nothing speaks for it.
    pub validated: Option<ValidationBasis>,
    /// What the host said it validated.
    pub said: Vec<ValidationKind>,
    /// The events with which one of several subtasks succeeded.
    pub subtasks: Vec<u32>,
    pub external: Option<String>,
    pub files: Vec<FileRow>,
}

/// What a session did to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    pub path: ProjectPath,
    pub reads: u32,
    pub edits: u32,
    pub first_step: u32,
}

/// The session behind a scratchpad; `None` before its first event.
pub fn session(pad: &Scratchpad) -> Option<Session> {
    let uses = file_uses(pad);
    let mut files: Vec<FileRow> = Vec::new();
    for (name, it) in &uses {
        if let Ok(path) = ProjectPath::parse(pad.names.text(*name)) {
            let (reads, edits, first_step) = (it.n_reads, it.n_edits, it.first_call);
            files.push(FileRow { path, reads, edits, first_step });
        }
    }
    files.sort_by(|a, b| a.first_step.cmp(&b.first_step).then_with(|| a.path.cmp(&b.path)));
    let outcome = outcome(pad);
    Some(Session {
        id: pad.session?,
        parent: pad.parent,
        agent: pad.agent.clone(),
        kind: pad.said_type.unwrap_or_else(|| infer_session_type(behaviour(pad))),
        task: pad.task.clone(),
        started: pad.started.unwrap_or_default(),
        ended: pad.ended.unwrap_or_default(),
        steps: pad.n_steps(),
        planned: pad.planned_steps,
        tokens: pad.tokens.input.saturating_add(pad.tokens.output),
        retries: u32::try_from(pad.failures.len()).unwrap_or(u32::MAX),
        outcome,
        validated: validated(pad).filter(|_| outcome != Outcome::Failure),
        said: pad.validations.iter().filter(|it| it.ok).map(|it| it.kind).collect(),
        subtasks: pad.subtasks.clone(),
        external: pad.external.as_ref().map(|it| it.1.clone()),
        files,
    })
}

fn behaviour(pad: &Scratchpad) -> Behaviour {
    let mut acc = Behaviour { plan_mode_only: !pad.calls.is_empty(), ..Behaviour::default() };
    for call in pad.calls.iter().filter(|it| it.state != State::Rejected) {
        let edits = pad.touches_of(call).iter().any(|it| it.writes) && call.state == State::Ok;
        let reads = call.n_touches > 0 || call.does.any(Does::SEARCH | Does::LIST);
        match call.tool {
            _ if edits => acc.n_edits += 1,
            _ if call.does.any(Does::REVIEW) => acc.n_reviews += 1,
            ToolKind::Read | ToolKind::Search | ToolKind::List => acc.n_looks += 1,
            ToolKind::Shell if reads => acc.n_looks += 1,
            _ => acc.n_others += 1,
        }
        acc.plan_mode_only &= call.planning;
    }
    acc
}

fn outcome(pad: &Scratchpad) -> Outcome {
    let refused = pad.validations.iter().rev().find(|it| it.kind == ValidationKind::QaPassed);
    if let Some(outcome) = pad.outcome {
        return outcome;
    }
    match (refused.map(|it| it.ok), validated(pad)) {
        (Some(false), _) => Outcome::Failure,
        (_, Some(_)) => Outcome::Success,
        (_, None) => Outcome::Partial,
    }
}

/// What speaks for the work: the host, or a check that passed after the last edit, or a commit.
fn validated(pad: &Scratchpad) -> Option<ValidationBasis> {
    match pad.validations.last().map(|it| it.ok) {
        Some(true) => return Some(ValidationBasis::Said),
        Some(false) => return None,
        None => {}
    }
    let last_edit = pad.good_touches().filter(|it| it.writes).map(|it| it.call).last();
    let passes = |it: &(u32, &crate::Call)| {
        it.1.is_good()
            && it.1.does.any(Does::TEST | Does::CHECK)
            && last_edit.is_none_or(|edit| it.0 > edit)
    };
    let checked = (0_u32..).zip(&pad.calls).any(|it| passes(&it) && last_edit.is_some());
    // Of the last check, only how it ended counts: what passes and then fails does not hold.
    let last_check =
        (0_u32..).zip(&pad.calls).filter(|it| it.1.does.any(Does::TEST | Does::CHECK)).last();
    let fails_at_last =
        last_check.is_some_and(|it| it.1.is_bad() && last_edit.is_none_or(|edit| it.0 > edit));
    let committed = pad.calls.iter().any(|it| it.is_good() && it.does.any(Does::COMMIT));
    ((checked && !fails_at_last) || committed).then_some(ValidationBasis::Observed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::pad;
    use expect_test::{Expect, expect};

    fn check(script: &str, expect: Expect) {
        let it = session(&pad(script)).unwrap();
        let validated = it.validated.map_or("–", ValidationBasis::slug);
        expect.assert_eq(&format!("{} {} {validated}", it.kind.slug(), it.outcome.slug()));
    }

    #[test]
    fn work_holds_when_a_check_passes_after_the_last_edit() {
        check("edit a.rs\nrun cargo test", expect!["build success observed"]);
        check("run cargo test\nedit a.rs", expect!["build partial –"]);
        check("edit a.rs\nfail cargo test: error: x\ncommit", expect!["build success observed"]);
        check("edit a.rs\nrun cargo build\nfail cargo test: error: x", expect!["build partial –"]);
        check("edit a.rs\nrun echo test", expect!["build partial –"]);
        check("read a.rs\ngrep x → a.rs", expect!["insights partial –"]);
        check("run gh pr view 3\nread a.rs", expect!["pr_review partial –"]);
        check("run ls\nrun curl x", expect!["terminal partial –"]);
        check("refuse a.rs\nread b.rs", expect!["insights partial –"]);
    }
}
