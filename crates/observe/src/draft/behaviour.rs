//! Drafts about how work is done: recipes, and how long it takes.

use std::collections::BTreeMap;

use model::{Kind, Payload, RecipeStep, TaskCalibration, WorkflowRecipe};

use super::{Draft, Seen, Support, n_sessions};
use crate::signal::sequence::{CHANGE, EDIT, FEWEST_STEPS};

/// What most sessions that changed a module did until it was committed, when that is more than finishing
/// any change: another folder to edit, or a check of its own.
pub(super) fn routine(key: &str, seen: &[Seen], support: Support) -> Option<Draft> {
    let last = seen.last()?;
    let module = key.strip_prefix(CHANGE)?;
    let n = u32::try_from(n_sessions(seen)).ok()?;
    // More than four in five of those that began so must have come to an end.
    if n * 10 <= support.all.max(n) * 8 {
        return None;
    }
    let mut common: Vec<&String> = last.evidence.steps.iter().collect();
    common.retain(|step| {
        let n_with = seen.iter().filter(|it| it.evidence.steps.contains(step)).count();
        n_with * 10 > seen.len() * 8
    });
    let edits = common.iter().filter(|it| it.starts_with(EDIT)).count();
    if common.len() < FEWEST_STEPS || edits < 2 {
        return None;
    }
    let told: Vec<String> = common.iter().map(|it| told(it)).collect();
    let content = format!(
        "A change in `{module}` goes like this: {}. {n} of {} sessions that began so ended with a commit.",
        told.join(", then "),
        support.all.max(n)
    );
    let steps = (1..).zip(&common).map(|(order, it)| RecipeStep {
        order,
        description: (*it).clone(),
        file: None,
        line: None,
    });
    let payload = Payload::WorkflowRecipe(WorkflowRecipe {
        task_pattern: key.to_owned(),
        steps: steps.collect(),
        success_count: n,
        last_validated_at: last.at.0.max(0),
    });
    let mut res = Draft::new(Kind::WorkflowRecipe, content).with(payload);
    res.modules.push(module.to_owned());
    Some(res)
}

fn told(step: &str) -> String {
    match step.strip_prefix(EDIT) {
        Some(folder) => format!("edit `{folder}`"),
        None => format!("run `{step}`"),
    }
}

/// The checks that most sessions ran before a commit, in the order most of them had.
pub(super) fn recipe(seen: &[Seen]) -> Option<Draft> {
    let last = seen.last()?;
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for it in seen {
        for (place, step) in it.evidence.steps.iter().enumerate() {
            places.entry(step).or_default().push(place * 1000 / it.evidence.steps.len());
        }
    }
    let middle = |it: &Vec<usize>| it.iter().sum::<usize>() / it.len();
    let mut common: Vec<(usize, &str)> = places
        .iter()
        .filter(|it| it.1.len() * 10 >= seen.len() * 4)
        .map(|it| (middle(it.1), *it.0))
        .collect();
    common.sort_unstable();
    let steps: Vec<String> =
        common.into_iter().map(|it| it.1.to_owned()).filter(|it| it != "git commit").collect();
    if steps.len() < 2 {
        return None;
    }
    let told: Vec<String> = steps.iter().map(|it| format!("`{it}`")).collect();
    let content =
        format!("Before a commit run {}: that is how sessions finish a change here.", join(&told));
    let steps =
        std::iter::once("edit").chain(steps.iter().map(String::as_str)).chain(["git commit"]);
    let steps = (1..).zip(steps).map(|(order, it)| RecipeStep {
        order,
        description: it.to_owned(),
        file: None,
        line: None,
    });
    let payload = Payload::WorkflowRecipe(WorkflowRecipe {
        task_pattern: "finish a change".to_owned(),
        steps: steps.collect(),
        success_count: u32::try_from(n_sessions(seen)).ok()?,
        last_validated_at: last.at.0.max(0),
    });
    Some(Draft::new(Kind::WorkflowRecipe, content).with(payload))
}

fn join(steps: &[String]) -> String {
    match steps.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{}, then {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// From here on it took longer than planned, in thousandths of the plan.
const OVERRUN: u64 = 1_200;

pub(super) fn calibration(module: &str, seen: &[Seen]) -> Option<Draft> {
    let n = u64::try_from(seen.len()).ok().filter(|it| *it > 0)?;
    let actual = seen.iter().map(|it| it.evidence.number).sum::<u64>() / n;
    let planned = (seen.iter().map(|it| it.evidence.other).sum::<u64>() / n).max(1);
    let ratio = actual * 1000 / planned;
    // What comes out about as planned needs no other plan.
    if ratio <= OVERRUN {
        return None;
    }
    let place =
        if module.is_empty() { "the project's root".to_owned() } else { format!("`{module}`") };
    let content = format!(
        "Plan work in {place} with {}.{} times the steps you expect; it has taken that over {n} sessions.",
        ratio / 1000,
        ratio % 1000 / 100
    );
    let small = |it: u64| u32::try_from(it).unwrap_or(u32::MAX);
    let payload = Payload::TaskCalibration(TaskCalibration {
        module: module.to_owned(),
        methodology: "native".to_owned(),
        avg_actual: small(actual),
        avg_planned: small(planned),
        ratio: small(ratio),
        samples: small(n),
    });
    let mut res = Draft::new(Kind::TaskCalibration, content).with(payload);
    if !module.is_empty() {
        res.modules.push(module.to_owned());
    }
    Some(res)
}
