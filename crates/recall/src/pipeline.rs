//! What the stages of an agent pipeline ask for: which memories, under which heading, in which words.

use model::{
    E2eKind, Kind, Memory, Payload, Phase, ProjectPath, RecipeStep, Timestamp, WorkUnitOutcome,
    WorkflowRecipe, closed,
};

closed! {
    /// A stage of a pipeline that asks for a context of its own.
    pub enum Pipeline : "context" {
        /// Before a plan is made.
        Plan = "plan",
        /// Before the work is checked.
        Qa = "qa",
        /// After the work failed.
        Recovery = "recovery",
        /// Before it is written down what is wanted.
        Spec = "spec",
    }
}

/// What one stage asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineRow {
    /// Whose weights and budget count.
    pub phase: Phase,
    /// In the order of the text.
    pub sections: &'static [Section],
}

/// Memories that stand together under a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    pub title: &'static str,
    pub kind: Kind,
    pub only: Only,
    /// Room that is kept for it, in thousandths of the budget.
    pub share: u16,
    /// Whether its memories must relate to the task, or be of its modules or files. What does not is
    /// about this very moment.
    pub relates: bool,
}

/// Which memories of a type a section wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    All,
    /// Outcomes of attempts that failed.
    Failed,
    /// What was learned within the last hours.
    Fresh,
    Ui(E2eKind),
}

/// How long something is fresh: two hours.
const FRESH: i64 = 2 * 60 * 60 * 1000;

impl Pipeline {
    #[rustfmt::skip]
    pub const fn row(self) -> PipelineRow {
        use E2eKind::{Precondition, TestSequence, Timing, ToolGotcha, UiBehavior};
        use Only::{All, Failed, Fresh, Ui};
        match self {
            //                     heading                                       type                    which             share relates
            Self::Plan => asks(Phase::Define, const { &[
                section("Recipes that worked:",                         Kind::WorkflowRecipe,   All,              300, true),
                section("Constraints, from what was tried and failed:", Kind::DeadEnd,          All,              250, true),
                section("Effort against plan:",                         Kind::TaskCalibration,  All,              100, true),
                section("What changes along:",                          Kind::CausalDependency, All,              200, true),
                section("Recent outcomes:",                             Kind::WorkUnitOutcome,  All,              150, true),
            ] }),
            Self::Qa => asks(Phase::Validate, const { &[
                section("Verify that these errors do not come back:",   Kind::ErrorPattern,     All,              300, true),
                section("Verify that these requirements are met:",      Kind::Requirement,      All,              250, true),
                section("Before testing the interface:",                Kind::E2eObservation,   Ui(Precondition), 90,  true),
                section("In this sequence:",                            Kind::E2eObservation,   Ui(TestSequence), 90,  true),
                section("Mind the timing:",                             Kind::E2eObservation,   Ui(Timing),       90,  true),
                section("Mind the tool:",                               Kind::E2eObservation,   Ui(ToolGotcha),   90,  true),
                section("Verify this behaviour:",                       Kind::E2eObservation,   Ui(UiBehavior),   90,  true),
            ] }),
            Self::Recovery => asks(Phase::Refine, const { &[
                section("Where the work stands:",                       Kind::WorkState,        All,              250, false),
                section("Attempts that failed:",                        Kind::WorkUnitOutcome,  Failed,           250, true),
                section("Just tried and failed, not to be tried again:", Kind::DeadEnd,         Fresh,            250, false),
                section("What ended such errors before:",               Kind::ErrorPattern,     All,              250, true),
            ] }),
            Self::Spec => asks(Phase::Explore, const { &[
                section("Preferences:",                                 Kind::Preference,       All,              250, true),
                section("Decisions:",                                   Kind::Decision,         All,              250, true),
                section("Patterns:",                                    Kind::Pattern,          All,              200, true),
                section("About the modules:",                           Kind::ModuleInsight,    All,              300, true),
            ] }),
        }
    }

    /// The place of a memory among the sections; `None` when the stage has no use for it.
    pub fn section_of(self, memory: &Memory, now: Timestamp) -> Option<usize> {
        self.row().sections.iter().position(|it| it.wants(memory, now))
    }
}

impl Section {
    fn wants(&self, memory: &Memory, now: Timestamp) -> bool {
        memory.kind.core() == Some(self.kind)
            && match (self.only, &memory.payload) {
                (Only::All, _) => true,
                (Only::Fresh, _) => (0..=FRESH).contains(&now.since(memory.created_at)),
                (Only::Failed, Some(Payload::WorkUnitOutcome(it))) => !it.succeeded,
                (Only::Ui(kind), Some(Payload::E2eObservation(it))) => it.kind == kind,
                // What nobody classified is behaviour.
                (Only::Ui(kind), None) => kind == E2eKind::UiBehavior,
                (Only::Failed | Only::Ui(_), _) => false,
            }
    }
}

const fn section(
    title: &'static str,
    kind: Kind,
    only: Only,
    share: u16,
    relates: bool,
) -> Section {
    Section { title, kind, only, share, relates }
}

const fn asks(phase: Phase, sections: &'static [Section]) -> PipelineRow {
    let (mut sum, mut i) = (0, 0);
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
    while i < Pipeline::ALL.len() {
        Pipeline::ALL[i].row();
        i += 1;
    }
};

/// A memory in the words of a pipeline: what its payload says, where that says more than its summary.
pub fn said(memory: &Memory) -> String {
    let summary = if memory.summary.is_empty() { &memory.content } else { &memory.summary };
    match &memory.payload {
        Some(Payload::DeadEnd(it)) => {
            let instead = it.used_instead.as_ref().map(|it| format!(", use {it}"));
            format!(
                "tried {}, failed because {}{}",
                bare(&it.tried),
                bare(&it.why_failed),
                instead.as_deref().map(bare).unwrap_or_default()
            )
        }
        Some(Payload::TaskCalibration(it)) => {
            format!("{}: {}× over {}", it.module, times(it.ratio), n_tasks(it.samples))
        }
        Some(Payload::CausalDependency(it)) => {
            let arrow = if it.directed { "→" } else { "↔" };
            let n = it.sessions.len();
            let sessions = if n == 1 { "1 session".to_owned() } else { format!("{n} sessions") };
            format!("{} changes {arrow} {}, {sessions}, {}", it.from, it.to, memory.confidence)
        }
        Some(Payload::WorkUnitOutcome(it)) => format!("{}: {summary}", outcome(it)),
        Some(Payload::WorkflowRecipe(it)) => {
            let mut lines = vec![format!("{}:", bare(summary))];
            lines.extend(it.steps.iter().map(|it| format!("{}. {}", it.order, step_said(it))));
            lines.join("\n")
        }
        _ => summary.clone(),
    }
}

/// A step of a recipe, with its file.
pub fn step_said(step: &RecipeStep) -> String {
    match &step.file {
        Some(file) => format!("{} ({file})", bare(&step.description)),
        None => bare(&step.description).to_owned(),
    }
}

/// The step of a recipe that comes after those whose files were touched; `None` when none was, or
/// nothing is left.
pub fn next_step<'a>(
    recipe: &'a WorkflowRecipe,
    touched: &[ProjectPath],
) -> Option<&'a RecipeStep> {
    let is_done = |it: &RecipeStep| it.file.as_ref().is_some_and(|it| touched.contains(it));
    let last = recipe.steps.iter().rposition(is_done)?;
    recipe.steps.get(last + 1)
}

/// How many steps a task may take before it is stopped: more where work takes longer than planned,
/// never more than twice, never without end. `calibration` is actual over planned, in thousandths.
pub fn stop_limit(base: u32, calibration: u32) -> u32 {
    const LONGEST: u64 = 500;
    const MOST: u64 = 2000;
    let steps = (u64::from(base) * u64::from(calibration).min(MOST)).div_ceil(1000);
    u32::try_from(steps.min(LONGEST)).expect("it is at most five hundred")
}

fn outcome(outcome: &WorkUnitOutcome) -> String {
    let end = match (&outcome.failure_reason, outcome.succeeded) {
        (_, true) => "succeeded".to_owned(),
        (None, false) => "failed".to_owned(),
        (Some(why), false) => format!("failed because {}", bare(why)),
    };
    let retries = match outcome.retries {
        0 => String::new(),
        1 => " and 1 retry".to_owned(),
        n => format!(" and {n} retries"),
    };
    format!("{end} after {} steps{retries}", outcome.steps)
}

fn bare(text: &str) -> &str {
    text.trim().trim_end_matches(['.', ':'])
}

/// Thousandths as a factor with one digit.
fn times(ratio: u32) -> String {
    let tenths = (u64::from(ratio) + 50) / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn n_tasks(n: u32) -> String {
    if n == 1 { "1 task".to_owned() } else { format!("{n} tasks") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_section_of_a_context_takes_what_another_wants() {
        for pipeline in Pipeline::ALL {
            let sections = pipeline.row().sections;
            for (i, it) in sections.iter().enumerate() {
                let same = |other: &&Section| (other.kind, other.only) == (it.kind, it.only);
                assert!(sections[..i].iter().find(same).is_none(), "{pipeline}: {}", it.title);
            }
        }
    }

    #[test]
    fn a_task_is_stopped_later_where_work_takes_longer() {
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
            assert_eq!(stop_limit(base, calibration), limit, "{base} × {calibration}");
        }
    }

    #[test]
    fn a_ratio_has_one_digit() {
        assert_eq!([3_100, 950, 1_049, 0].map(times), ["3.1", "1.0", "1.0", "0.0"]);
    }
}
