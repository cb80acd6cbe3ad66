//! Drafts about workflows: the steps of a change, and the number of steps it takes.
//!
//! The input of each function is the sightings of one pattern, one per session, oldest first. Two functions
//! read the steps of changes (signal `sequence`: `edit api`, `go test`, `git commit`): one routine per
//! module, and one recipe for the checks before any commit. The third reads actual and planned numbers of
//! steps (signal `step_overrun`). A module is a part of the project, by default a folder.

use std::collections::BTreeMap;

use model::{MemoryKind, Payload, RecipeStep, TaskCalibration, WorkflowRecipe};

use super::{MemoryDraft, SessionSighting, SupportCounts, count_sessions};
use crate::evidence::Evidence;
use crate::pattern_key::FINISHED_CHANGE;
use crate::signal::sequence::{COMMIT_STEP, EDIT_PREFIX, MIN_RECIPE_STEPS};

/// Share of the sessions that must have committed a routine, and that must contain each of its steps, in
/// per mille.
const ROUTINE_SHARE_PER_MILLE: usize = 800;
/// Share of the sessions that must have run a check of a commit recipe, in per mille. Lower, because a
/// check that fits the change is run less often.
const CHECK_SHARE_PER_MILLE: usize = 400;
/// From here on work took longer than planned, in per mille of the plan.
const OVERRUN_PER_MILLE: u64 = 1_200;

/// The steps that most sessions took from a change of the module to the commit. Only if they are more
/// than the steps that finish any change: at least two edited modules.
pub(super) fn draft_module_routine(
    task_pattern: &str,
    module: &str,
    seen: &[SessionSighting],
    support: SupportCounts,
) -> Option<MemoryDraft> {
    let last = seen.last()?;
    let n_committed = count_sessions(seen);
    // The number is counted elsewhere; it cannot be lower than the sessions seen here.
    let n_began = support.baseline.max(n_committed);
    if !exceeds_routine_share(n_committed as usize, n_began as usize) {
        return None;
    }
    // The steps of the latest session that most sessions took, in its order.
    let mut common: Vec<&String> = steps_of(&last.evidence).iter().collect();
    common.retain(|step| {
        let n_with_step = seen.iter().filter(|it| steps_of(&it.evidence).contains(step)).count();
        exceeds_routine_share(n_with_step, seen.len())
    });
    if common.len() < MIN_RECIPE_STEPS {
        return None;
    }
    // With one edited module, the rest are the checks of the commit recipe.
    let n_edits = common.iter().filter(|it| it.starts_with(EDIT_PREFIX)).count();
    if n_edits < 2 {
        return None;
    }
    let steps: Vec<String> = common.iter().map(|it| format_step(it)).collect();
    let content = format!(
        "A change in `{module}` goes like this: {}. {n_committed} of {n_began} sessions that began so ended with a commit.",
        steps.join(", then "),
    );
    let payload = Payload::WorkflowRecipe(WorkflowRecipe {
        task_pattern: task_pattern.to_owned(),
        steps: recipe_steps(common.iter().map(|it| it.as_str())),
        success_count: n_committed,
        last_validated_at: last.at.0.max(0),
    });
    let mut draft = MemoryDraft::new(MemoryKind::WorkflowRecipe, content).with_payload(payload);
    draft.modules.push(module.to_owned());
    Some(draft)
}

const fn exceeds_routine_share(n: usize, n_all: usize) -> bool {
    n * 1000 > n_all * ROUTINE_SHARE_PER_MILLE
}

/// The steps of a sequence.
fn steps_of(evidence: &Evidence) -> &[String] {
    match evidence {
        Evidence::Sequence { steps } => steps,
        _ => &[],
    }
}

fn format_step(step: &str) -> String {
    match step.strip_prefix(EDIT_PREFIX) {
        Some(module) => format!("edit `{module}`"),
        None => format!("run `{step}`"),
    }
}

fn recipe_steps<'a>(steps: impl IntoIterator<Item = &'a str>) -> Vec<RecipeStep> {
    let step = |(order, description): (u32, &str)| RecipeStep {
        order,
        description: description.to_owned(),
        file: None,
        line: None,
    };
    (1..).zip(steps).map(step).collect()
}

/// The checks that many sessions ran before a commit, in their usual order.
pub(super) fn draft_commit_recipe(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let last = seen.last()?;
    // Positions in per mille, because sessions have different numbers of steps.
    let mut positions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for sighting in seen {
        let steps = steps_of(&sighting.evidence);
        for (nth, step) in steps.iter().enumerate() {
            positions.entry(step).or_default().push(nth * 1000 / steps.len());
        }
    }
    // The checks of many sessions, in the order of their average positions; ties by name.
    let mut common: Vec<(usize, &str)> = Vec::new();
    for (step, step_positions) in positions {
        let is_common = step_positions.len() * 1000 >= seen.len() * CHECK_SHARE_PER_MILLE;
        // The commit comes after all checks; it is added below.
        if is_common && step != COMMIT_STEP {
            let average = step_positions.iter().sum::<usize>() / step_positions.len();
            common.push((average, step));
        }
    }
    common.sort_unstable();
    let checks: Vec<&str> = common.into_iter().map(|(_, check)| check).collect();
    // One check is no recipe.
    if checks.len() < 2 {
        return None;
    }
    let quoted: Vec<String> = checks.iter().map(|it| format!("`{it}`")).collect();
    let content = format!(
        "Before a commit run {}: that is how sessions finish a change here.",
        join_steps(&quoted)
    );
    let steps = std::iter::once("edit").chain(checks).chain([COMMIT_STEP]);
    let payload = Payload::WorkflowRecipe(WorkflowRecipe {
        task_pattern: FINISHED_CHANGE.to_owned(),
        steps: recipe_steps(steps),
        success_count: count_sessions(seen),
        last_validated_at: last.at.0.max(0),
    });
    Some(MemoryDraft::new(MemoryKind::WorkflowRecipe, content).with_payload(payload))
}

fn join_steps(steps: &[String]) -> String {
    match steps.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{}, then {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The ratio of actual to planned steps in a module, if it is an overrun.
pub(super) fn draft_calibration(module: &str, seen: &[SessionSighting]) -> Option<MemoryDraft> {
    // Every session with a plan is a sample, also one that took less than planned.
    let (mut sum_actual, mut sum_planned) = (0, 0);
    for sighting in seen {
        if let Evidence::StepOverrun { actual_steps, planned_steps } = sighting.evidence {
            sum_actual += actual_steps;
            sum_planned += planned_steps;
        }
    }
    let n_samples = u64::try_from(seen.len()).ok().filter(|it| *it > 0)?;
    let (actual, planned) = (sum_actual / n_samples, (sum_planned / n_samples).max(1));
    // In per mille, as the payload stores it.
    let ratio = actual * 1000 / planned;
    // Work that takes about as long as planned needs no other plan.
    if ratio <= OVERRUN_PER_MILLE {
        return None;
    }
    let place =
        if module.is_empty() { "the project's root".to_owned() } else { format!("`{module}`") };
    let content = format!(
        "Plan work in {place} with {}.{} times the steps you expect; it has taken that over {n_samples} sessions.",
        // With one decimal.
        ratio / 1000,
        ratio % 1000 / 100
    );
    let to_u32 = |it: u64| u32::try_from(it).unwrap_or(u32::MAX);
    let payload = Payload::TaskCalibration(TaskCalibration {
        module: module.to_owned(),
        // Samples of all methodologies are averaged; the default one stands for them.
        methodology: "native".to_owned(),
        avg_actual: to_u32(actual),
        avg_planned: to_u32(planned),
        ratio: to_u32(ratio),
        samples: to_u32(n_samples),
    });
    let mut draft = MemoryDraft::new(MemoryKind::TaskCalibration, content).with_payload(payload);
    if !module.is_empty() {
        draft.modules.push(module.to_owned());
    }
    Some(draft)
}
