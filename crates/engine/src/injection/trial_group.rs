//! The trial group of a session. A trial is an A/B test of memory: some groups get fewer notes, and
//! `statistics.rs` compares the groups.
//!
//! The group follows from the hash of the session id, so no process has to store it. While a trial
//! runs it is recorded in the session's shown log (the file that lists what the session was shown);
//! when the session is learned from, a *milestone* of the project, a named fact in its store, keeps it
//! for good: `group full 0192…`.

use model::{SessionId, TrialGroup};
use store::{Milestone, ShownEntry};

use super::shown_notes::open_shown_log;
use crate::{Error, ProjectReader};

/// Prefix of the milestone that stores the trial group of a learned session.
const GROUP_MILESTONE: &str = "group ";

/// The trial group of a session. Without a trial, and for a request without a session, it is the
/// group that gets everything.
pub(super) fn trial_group(reader: &ProjectReader, session: &str) -> TrialGroup {
    if !reader.policy.injection.on_trial || session.is_empty() {
        return TrialGroup::Full;
    }
    // A project that is not registered yet has no memories to test.
    let Some(project) = reader.state.id() else { return TrialGroup::Full };
    // A subagent is named `session/agent` and belongs to the group of its session.
    let parent = session.split('/').next().unwrap_or_default();
    // The project's id is hashed too, so that a session id falls into another group elsewhere.
    TrialGroup::assign_group(parent, &project.to_string())
}

/// Records the trial group of a session, while a trial runs.
pub(super) fn record_trial_group(reader: &ProjectReader, session: &str) -> Result<(), Error> {
    if !reader.policy.injection.on_trial {
        return Ok(());
    }
    let log = open_shown_log(reader, session);
    let entry = ShownEntry::Group(trial_group(reader, session));
    // Recorded once: the hook calls this at every event.
    if !log.read_entries().contains(&entry) {
        log.record(&[entry])?;
    }
    Ok(())
}

/// The milestone that keeps the recorded trial group of a session; `None` if none was recorded.
/// `host_session` is the host's id of the session, which names its shown log.
pub(crate) fn trial_milestone(
    reader: &ProjectReader,
    host_session: &str,
    session: SessionId,
) -> Option<Milestone> {
    let shown = open_shown_log(reader, host_session).read_entries();
    let group = shown.iter().find_map(|it| match it {
        ShownEntry::Group(group) => Some(*group),
        _ => None,
    })?;
    Some(Milestone { name: format!("{GROUP_MILESTONE}{group} {session}"), count: 0 })
}

/// Parses a milestone of [`trial_milestone`].
pub(crate) fn parse_trial_milestone(milestone: &Milestone) -> Option<(TrialGroup, SessionId)> {
    let (group, session) = milestone.name.strip_prefix(GROUP_MILESTONE)?.split_once(' ')?;
    Some((TrialGroup::from_slug(group)?, session.parse().ok()?))
}
