//! One example payload per type. A field that is renamed in the code breaks the build here.

use model::{
    CausalDependency, ContextCost, DeadEnd, E2eKind, E2eObservation, ErrorPattern, MemoryKind,
    Payload, PerMille, PrefetchPattern, ProjectPath, RecipeStep, SessionId, TaskCalibration,
    Timestamp, WorkUnitOutcome, WorkflowRecipe,
};

/// `None` for types that carry none.
pub(super) fn example(kind: MemoryKind) -> Option<Payload> {
    Some(match kind {
        MemoryKind::Gotcha
        | MemoryKind::Decision
        | MemoryKind::Preference
        | MemoryKind::Pattern
        | MemoryKind::Requirement
        | MemoryKind::ModuleInsight => return None,
        MemoryKind::ErrorPattern => Payload::ErrorPattern(ErrorPattern {
            fingerprint: "9f2c41d07a6be835".to_owned(),
            tool: "shell".to_owned(),
            message: "error: linker <path> not found".to_owned(),
            resolution: Some("install the C toolchain, then run the build again".to_owned()),
        }),
        MemoryKind::PrefetchPattern => Payload::PrefetchPattern(PrefetchPattern {
            always: vec![path("src/cart/mod.ts"), path("src/cart/total.ts")],
            often: vec![path("src/cart/total.test.ts")],
            trigger_module: Some("cart".to_owned()),
            session_count: 7,
        }),
        MemoryKind::WorkState => work_state(),
        MemoryKind::CausalDependency => Payload::CausalDependency(CausalDependency {
            from: "src/auth/login.ts".to_owned(),
            to: "src/middleware/rate-limiter.ts".to_owned(),
            sessions: vec![session()],
            lift: PerMille::new(820),
            directed: true,
        }),
        MemoryKind::TaskCalibration => Payload::TaskCalibration(TaskCalibration {
            module: "payment".to_owned(),
            methodology: "native".to_owned(),
            avg_actual: 31,
            avg_planned: 10,
            ratio: 3100,
            samples: 4,
        }),
        MemoryKind::E2eObservation => Payload::E2eObservation(E2eObservation {
            kind: E2eKind::Timing,
            tool: "mcp:browser/click".to_owned(),
            app_state: Some("signed in, cart open".to_owned()),
        }),
        MemoryKind::DeadEnd => Payload::DeadEnd(DeadEnd {
            tried: "caching the total in the session".to_owned(),
            why_failed: "two tabs share one session".to_owned(),
            used_instead: Some("compute it from the lines".to_owned()),
            task_context: Some("speed up the cart".to_owned()),
        }),
        MemoryKind::WorkUnitOutcome => outcome(),
        MemoryKind::WorkflowRecipe => recipe(),
        MemoryKind::ContextCost => Payload::ContextCost(ContextCost {
            module: "cart".to_owned(),
            avg_tokens: 18_400,
            p90_tokens: 31_000,
            samples: 12,
        }),
    })
}

fn work_state() -> Payload {
    let said = [("done", "the total is computed"), ("next", "the tests of the cart")];
    Payload::WorkState(said.map(|(key, text)| (key.to_owned(), text.into())).into_iter().collect())
}

fn outcome() -> Payload {
    Payload::WorkUnitOutcome(WorkUnitOutcome {
        succeeded: true,
        files_modified: vec![path("src/cart/total.ts")],
        decisions: vec!["totals are computed, never stored".to_owned()],
        steps: 24,
        tokens: 61_000,
        retries: 1,
        failure_reason: None,
    })
}

fn recipe() -> Payload {
    let step = |order, description: &str, file: Option<&str>| RecipeStep {
        order,
        description: description.to_owned(),
        file: file.map(path),
        line: None,
    };
    Payload::WorkflowRecipe(WorkflowRecipe {
        task_pattern: "add an API endpoint".to_owned(),
        steps: vec![
            step(1, "declare the route", Some("src/routes.ts")),
            step(2, "run the contract tests", None),
        ],
        success_count: 5,
        last_validated_at: super::events::AT.0,
    })
}

/// A session whose id every example shares.
pub(super) fn session() -> SessionId {
    SessionId::new(Timestamp(super::events::AT.0), [1; 10])
}

pub(super) fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).expect("the examples stay inside the project")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_valid() {
        for kind in MemoryKind::ALL {
            if let Some(payload) = example(*kind) {
                assert_eq!(Payload::parse(*kind, &payload.to_json()), Ok(payload));
            }
        }
    }
}
