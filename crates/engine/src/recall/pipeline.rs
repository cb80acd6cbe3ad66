//! What the stages of a pipeline are told: a plan, a check, a second attempt, a specification; and the
//! recipe and the limit of a task.

use std::collections::HashSet;

use model::{Kind, Memory, Payload, Status, WorkflowRecipe};
use recall::{Pipeline, Purpose, Verdict, pipeline};
use store::Filter;

use super::context::{Context, Occasion, Pool, live};
use crate::{Engine, Error, Hit, Shown};

/// How many memories of a type, and of a type of one module or file, are weighed.
const PER_TYPE: u32 = 30;
const PER_PLACE: u32 = 100;

/// How one goes about a task, as it went well before.
#[derive(Clone, Debug)]
pub struct RecipeFound {
    pub shown: Shown,
    pub recipe: WorkflowRecipe,
}

/// After how many steps a task is to be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopLimit {
    pub limit: u32,
    /// Actual over planned steps of the module, in thousandths; 1000 where nothing is known.
    pub calibration: u32,
    /// How many tasks that rests on.
    pub samples: u32,
}

impl Engine {
    /// What a stage of a pipeline should know. `occasion.pipeline` says which; what it does not name is
    /// a plan's. With a task, only what relates to it, or is of its modules and files; without any of
    /// these, what counts most.
    pub async fn context_pipeline(&self, occasion: &Occasion) -> Result<Context, Error> {
        let stage = occasion.pipeline.unwrap_or(Pipeline::Plan);
        let occasion = &Occasion { pipeline: Some(stage), ..occasion.clone() };
        let text = asked(occasion);
        let mut pool = Pool::of(Vec::new());
        let mut known = HashSet::new();
        for section in stage.row().sections {
            if !known.insert(section.kind) {
                continue;
            }
            let places = places(section.kind, occasion);
            let is_bare = text.is_empty() && places.is_empty();
            if is_bare || !section.relates {
                let all = [of_kind(section.kind, PER_TYPE)];
                pool.hits.extend(self.listed(&all, occasion, Purpose::Start).await?);
                continue;
            }
            pool.hits.extend(self.listed(&places, occasion, Purpose::Start).await?);
            if !text.is_empty() {
                let related = self.related(&text, Some(section.kind), occasion).await?;
                add(&mut pool, related);
            }
        }
        self.assemble(occasion, Purpose::Start, pool).await
    }

    /// The recipe that fits a task best, if any does.
    pub async fn recipe(&self, task: &str) -> Result<Option<RecipeFound>, Error> {
        let occasion = Occasion::for_pipeline(Pipeline::Plan);
        let pool = self.related(task, Some(Kind::WorkflowRecipe), &occasion).await?;
        Ok(pool.hits.into_iter().find_map(RecipeFound::of))
    }

    /// After how many steps a task of a module is to be stopped, when `base` were planned.
    pub async fn stop_limit(&self, base: u32, module: &str) -> Result<StopLimit, Error> {
        let filter =
            Filter { module: Some(module.to_owned()), ..of_kind(Kind::TaskCalibration, 1) };
        let mut res = StopLimit { limit: 0, calibration: 1000, samples: 0 };
        for shown in self.list(&filter, None).await? {
            if let Some(Payload::TaskCalibration(it)) = &shown.memory.payload {
                (res.calibration, res.samples) = (it.ratio, it.samples);
            }
        }
        res.limit = pipeline::stop_limit(base, res.calibration);
        Ok(res)
    }

    /// A recipe as a note, with its steps.
    pub fn recipe_note(&self, found: &RecipeFound) -> String {
        let memory = &found.shown.memory;
        self.note(memory, &pipeline::said(memory), &[])
    }

    /// A memory as a note, whatever it is shown for.
    pub fn framed_note(&self, memory: &Memory) -> String {
        let mut remarks = Vec::new();
        if memory.status() != Status::Live {
            remarks.push(memory.status().slug().replace('_', " "));
        }
        self.note(memory, &memory.content, &remarks)
    }
}

impl RecipeFound {
    pub(super) fn of(hit: Hit) -> Option<Self> {
        match hit.shown.memory.payload.clone() {
            Some(Payload::WorkflowRecipe(recipe)) => Some(Self { shown: hit.shown, recipe }),
            _ => None,
        }
    }
}

/// What the memories must relate to: the task, and the report of its failure.
fn asked(occasion: &Occasion) -> String {
    let parts = [occasion.task.trim(), occasion.report.trim()];
    parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Where to look for memories of a type that are about the modules and files at hand.
fn places(kind: Kind, occasion: &Occasion) -> Vec<Filter> {
    let module = |it: &String| Filter { module: Some(it.clone()), ..of_kind(kind, PER_PLACE) };
    let file =
        |it: &model::ProjectPath| Filter { file: Some(it.clone()), ..of_kind(kind, PER_PLACE) };
    occasion.modules.iter().map(module).chain(occasion.files.iter().map(file)).collect()
}

fn of_kind(kind: Kind, limit: u32) -> Filter {
    Filter { kind: Some(kind.slug().to_owned()), ..live(limit) }
}

/// Adds what was found for one type. There is an answer as soon as one type has one.
fn add(pool: &mut Pool, found: Pool) {
    pool.hits.extend(found.hits);
    pool.left_out.extend(found.left_out);
    pool.class = pool.class.or(found.class);
    pool.verdict = better(pool.verdict, found.verdict);
    for notice in found.notices {
        if !pool.notices.contains(&notice) {
            pool.notices.push(notice);
        }
    }
}

fn better(a: Verdict, b: Verdict) -> Verdict {
    let worth = |it: Verdict| match it {
        Verdict::Open => (0, 0.0),
        Verdict::Nothing { strength, .. } => (1, strength),
        Verdict::Answered { strength, .. } => (2, strength),
    };
    if worth(b) > worth(a) { b } else { a }
}
