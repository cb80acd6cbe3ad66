//! Contexts for the stages of an agent pipeline: planning, testing, recovery and specification.
//!
//! A *context* is the text that an agent gets before such a stage: memories under headings, its
//! *sections*. The table in [`PipelineContext::row`] defines them. A section takes the memories of one
//! kind that pass its filter; in the context of recovery, for example, `Attempts that failed:` takes
//! the outcomes of work units that did not succeed. The engine finds the section of each memory with
//! `section_index`, formats it with `format_memory`, and gives both to `pack`. A *payload* is the
//! structured part of a memory, such as the reason of a failure. The rest of the file serves recipes
//! and step limits of a running task.

use model::{
    E2eKind, Memory, MemoryKind, Payload, Phase, ProjectPath, RecipeStep, Timestamp,
    WorkUnitOutcome, WorkflowRecipe, closed,
};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// A pipeline stage with a context of its own.
    pub enum PipelineContext : "context" {
        /// Before planning.
        Plan = "plan",
        /// Before testing or review.
        Qa = "qa",
        /// After a failed attempt.
        Recovery = "recovery",
        /// Before writing a specification.
        Spec = "spec",
    }
}

/// Definition of one context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineRow {
    /// The phase whose weights and budget apply.
    pub phase: Phase,
    /// Sections in the order of the text.
    pub sections: &'static [ContextSection],
}

/// Memories under one heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSection {
    pub title: &'static str,
    pub kind: MemoryKind,
    pub filter: SectionFilter,
    /// Reserved share of the budget, per mille.
    pub share: u16,
    /// True if memories must relate to the task, its modules or its files. Sections without this
    /// describe the current attempt.
    pub must_relate: bool,
}

/// Filter within a memory kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionFilter {
    All,
    /// Outcomes of attempts that failed.
    Failed,
    /// Memories of the last two hours.
    Fresh,
    /// Observations of this kind from end-to-end tests of a user interface.
    Ui(E2eKind),
}

/// Age limit of a fresh memory: two hours.
const FRESH_MILLIS: i64 = 2 * 60 * 60 * 1000;

impl PipelineContext {
    #[rustfmt::skip]
    pub const fn row(self) -> PipelineRow {
        use E2eKind::{Precondition, TestSequence, Timing, ToolGotcha, UiBehavior};
        use SectionFilter::{All, Failed, Fresh, Ui};
        match self {
            //          title                                           kind                          filter            share must_relate
            Self::Plan => checked_row(Phase::Define, const { &[
                section("Mind when touching these files:",              MemoryKind::Gotcha,           All,              200, true),
                section("Recipes that worked:",                         MemoryKind::WorkflowRecipe,   All,              250, true),
                section("Constraints, from what was tried and failed:", MemoryKind::DeadEnd,          All,              200, true),
                section("Effort against plan:",                         MemoryKind::TaskCalibration,  All,              80,  true),
                section("Changes together:",                            MemoryKind::CausalDependency, All,              150, true),
                section("Recent outcomes:",                             MemoryKind::WorkUnitOutcome,  All,              120, true),
            ] }),
            Self::Qa => checked_row(Phase::Validate, const { &[
                section("Mind when touching these files:",              MemoryKind::Gotcha,           All,              200, true),
                section("Verify that these errors do not come back:",   MemoryKind::ErrorPattern,     All,              250, true),
                section("Verify that these requirements are met:",      MemoryKind::Requirement,      All,              200, true),
                section("Before testing the interface:",                MemoryKind::E2eObservation,   Ui(Precondition), 70,  true),
                section("In this sequence:",                            MemoryKind::E2eObservation,   Ui(TestSequence), 70,  true),
                section("Mind the timing:",                             MemoryKind::E2eObservation,   Ui(Timing),       70,  true),
                section("Mind the tool:",                               MemoryKind::E2eObservation,   Ui(ToolGotcha),   70,  true),
                section("Verify this behaviour:",                       MemoryKind::E2eObservation,   Ui(UiBehavior),   70,  true),
            ] }),
            Self::Recovery => checked_row(Phase::Refine, const { &[
                section("Where the work stands:",                       MemoryKind::WorkState,        All,              250, false),
                section("Attempts that failed:",                        MemoryKind::WorkUnitOutcome,  Failed,           250, true),
                section("Just tried and failed, not to be tried again:", MemoryKind::DeadEnd,         Fresh,            250, false),
                section("Fixes for similar errors:",                    MemoryKind::ErrorPattern,     All,              250, true),
            ] }),
            Self::Spec => checked_row(Phase::Explore, const { &[
                section("Preferences:",                                 MemoryKind::Preference,       All,              250, true),
                section("Decisions:",                                   MemoryKind::Decision,         All,              250, true),
                section("Patterns:",                                    MemoryKind::Pattern,          All,              200, true),
                section("About the modules:",                           MemoryKind::ModuleInsight,    All,              300, true),
            ] }),
        }
    }

    /// Index of the section that accepts a memory; `None` if no section does.
    pub fn section_index(self, memory: &Memory, now: Timestamp) -> Option<usize> {
        self.row().sections.iter().position(|it| it.accepts(memory, now))
    }
}

impl ContextSection {
    fn accepts(&self, memory: &Memory, now: Timestamp) -> bool {
        if memory.kind.core_kind() != Some(self.kind) {
            return false;
        }
        match self.filter {
            SectionFilter::All => true,
            SectionFilter::Fresh => {
                (0..=FRESH_MILLIS).contains(&now.millis_since(memory.created_at))
            }
            // Without an outcome, nothing is known about a failure.
            SectionFilter::Failed => match &memory.payload {
                Some(Payload::WorkUnitOutcome(it)) => !it.succeeded,
                _ => false,
            },
            SectionFilter::Ui(kind) => match &memory.payload {
                Some(Payload::E2eObservation(it)) => it.kind == kind,
                // Observations without a payload count as behaviour.
                None => kind == E2eKind::UiBehavior,
                // A payload of another kind: nothing is known about the interface.
                Some(_) => false,
            },
        }
    }
}

const fn section(
    title: &'static str,
    kind: MemoryKind,
    filter: SectionFilter,
    share: u16,
    must_relate: bool,
) -> ContextSection {
    ContextSection { title, kind, filter, share, must_relate }
}

const fn checked_row(phase: Phase, sections: &'static [ContextSection]) -> PipelineRow {
    let (mut sum, mut i) = (0, 0);
    // A `while` loop, because `for` is not allowed in a `const fn`.
    while i < sections.len() {
        sum += sections[i].share;
        i += 1;
    }
    assert!(sum == 1000, "the shares of a context must add up to 1000");
    PipelineRow { phase, sections }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut i = 0;
    while i < PipelineContext::ALL.len() {
        PipelineContext::ALL[i].row();
        i += 1;
    }
};

/// Formats a memory for a pipeline context, from its payload if that is more specific: a dead end as
/// `tried a global lock, failed because it blocks the reader, use a channel`.
pub fn format_memory(memory: &Memory) -> String {
    let summary = if memory.summary.is_empty() { &memory.content } else { &memory.summary };
    match &memory.payload {
        Some(Payload::DeadEnd(it)) => {
            let instead = it.used_instead.as_ref().map(|it| format!(", use {it}"));
            format!(
                "tried {}, failed because {}{}",
                trim_sentence_end(&it.tried),
                trim_sentence_end(&it.why_failed),
                instead.as_deref().map(trim_sentence_end).unwrap_or_default()
            )
        }
        Some(Payload::TaskCalibration(it)) => {
            format!(
                "{}: {}× over {}",
                it.module,
                format_ratio(it.ratio),
                format_task_count(it.samples)
            )
        }
        Some(Payload::CausalDependency(it)) => {
            let arrow = if it.directed { "→" } else { "↔" };
            let sessions = match it.sessions.len() {
                // The user stated it.
                0 => String::new(),
                1 => "1 session, ".to_owned(),
                n => format!("{n} sessions, "),
            };
            format!("{} changes {arrow} {}, {sessions}{}", it.from, it.to, memory.confidence)
        }
        Some(Payload::WorkUnitOutcome(it)) => format!("{}: {summary}", format_outcome(it)),
        Some(Payload::WorkflowRecipe(it)) => {
            let mut lines = vec![format!("{}:", trim_sentence_end(summary))];
            lines.extend(
                it.steps.iter().map(|it| format!("{}. {}", it.order, format_recipe_step(it))),
            );
            lines.join("\n")
        }
        // The other payloads add nothing to the summary that this context needs.
        Some(
            Payload::ErrorPattern(_)
            | Payload::PrefetchPattern(_)
            | Payload::WorkState(_)
            | Payload::E2eObservation(_)
            | Payload::ContextCost(_),
        )
        | None => summary.clone(),
    }
}

/// Formats a recipe step with its file.
pub fn format_recipe_step(step: &RecipeStep) -> String {
    match &step.file {
        Some(file) => format!("{} ({file})", trim_sentence_end(&step.description)),
        None => trim_sentence_end(&step.description).to_owned(),
    }
}

/// The recipe step after the last one whose file was touched; `None` if no step was touched or none
/// is left.
pub fn next_recipe_step<'a>(
    recipe: &'a WorkflowRecipe,
    touched: &[ProjectPath],
) -> Option<&'a RecipeStep> {
    let is_done = |it: &RecipeStep| it.file.as_ref().is_some_and(|it| touched.contains(it));
    let last_done = recipe.steps.iter().rposition(is_done)?;
    recipe.steps.get(last_done + 1)
}

/// Step limit of a task, scaled by `calibration` (actual over planned steps, per mille), at most
/// doubled and never unlimited.
pub fn calibrated_step_limit(base: u32, calibration: u32) -> u32 {
    const MAX_STEPS: u64 = 500;
    const MAX_CALIBRATION: u64 = 2000;
    let steps = (u64::from(base) * u64::from(calibration).min(MAX_CALIBRATION)).div_ceil(1000);
    u32::try_from(steps.min(MAX_STEPS)).expect("it is at most five hundred")
}

fn format_outcome(outcome: &WorkUnitOutcome) -> String {
    let end = match (&outcome.failure_reason, outcome.succeeded) {
        (_, true) => "succeeded".to_owned(),
        (None, false) => "failed".to_owned(),
        (Some(why), false) => format!("failed because {}", trim_sentence_end(why)),
    };
    let retries = match outcome.retries {
        0 => String::new(),
        1 => " and 1 retry".to_owned(),
        n => format!(" and {n} retries"),
    };
    format!("{end} after {} steps{retries}", outcome.steps)
}

fn trim_sentence_end(text: &str) -> &str {
    text.trim().trim_end_matches(['.', ':'])
}

/// A per mille value as a factor with one decimal.
fn format_ratio(ratio: u32) -> String {
    // Half of a tenth is added for rounding.
    let tenths = (u64::from(ratio) + 50) / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn format_task_count(n: u32) -> String {
    if n == 1 { "1 task".to_owned() } else { format!("{n} tasks") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_context_has_two_sections_for_the_same_kind_and_filter() {
        for pipeline in PipelineContext::ALL {
            let sections = pipeline.row().sections;
            for (i, it) in sections.iter().enumerate() {
                let same =
                    |other: &&ContextSection| (other.kind, other.filter) == (it.kind, it.filter);
                assert!(sections[..i].iter().find(same).is_none(), "{pipeline}: {}", it.title);
            }
        }
    }

    #[test]
    fn the_step_limit_follows_the_calibration_within_bounds() {
        // Base limit, calibration per mille, expected limit.
        let rows = [
            (50, 1000, 50),
            (50, 3100, 100),
            (50, 1333, 67),
            (10, 500, 5),
            (400, 2000, 500),
            (u32::MAX, u32::MAX, 500),
            (0, 2000, 0),
        ];
        for (base, calibration, limit) in rows {
            assert_eq!(calibrated_step_limit(base, calibration), limit, "{base} × {calibration}");
        }
    }

    #[test]
    fn a_ratio_is_rounded_to_one_decimal() {
        assert_eq!([3_100, 950, 1_049, 0].map(format_ratio), ["3.1", "1.0", "1.0", "0.0"]);
    }
}
