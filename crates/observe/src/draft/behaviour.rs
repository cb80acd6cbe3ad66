//! Drafts about how work is done: recipes, and how long it takes.

use std::collections::BTreeMap;

use model::{Kind, Payload, RecipeStep, TaskCalibration, WorkflowRecipe};

use super::{Draft, Seen, n_sessions};

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

pub(super) fn calibration(module: &str, seen: &[Seen]) -> Option<Draft> {
    let n = u64::try_from(seen.len()).ok().filter(|it| *it > 0)?;
    let actual = seen.iter().map(|it| it.evidence.number).sum::<u64>() / n;
    let planned = (seen.iter().map(|it| it.evidence.other).sum::<u64>() / n).max(1);
    let ratio = actual * 1000 / planned;
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
    Some(Draft::new(Kind::TaskCalibration, content).with(payload))
}
