//! Context blocks for the stages of a development pipeline (plan, check, retry, specification), and
//! what such a pipeline asks besides: the workflow recipe that fits a task, and the number of steps
//! after which a task should be stopped.
//!
//! The sections of each stage are the table in `recall/pipeline.rs`. This file collects the candidates
//! of every section; `context_builder` checks and packs them.

use std::collections::HashSet;

use model::{MemoryKind, Payload, ProjectPath, WorkflowRecipe};
use observe::StepCalibration;
use recall::{PipelineContext, RelevanceVerdict, SearchPurpose, pipeline};
use store::MemoryFilter;

use super::context_builder::build_context;
use super::context_candidates::{ContextCandidates, list_ranked, live_filter, search_related};
use super::context_request::{ContextBlock, ContextRequest};
use super::note_format::format_text;
use crate::learn::step_calibration;
use crate::lookup::list_memories;
use crate::retrieval::SearchHit;
use crate::{Error, ProjectReader, RatedMemory};

/// Candidates of one type.
const CANDIDATES_PER_TYPE: u32 = 30;
/// Files that a task names, of which the memories are candidates.
const MAX_NAMED_FILES: usize = 20;
/// Candidates of one type in one module or file.
const CANDIDATES_PER_PLACE: u32 = 100;
/// Calibration of a task that takes as many steps as planned: actual steps per planned step, per
/// mille.
const NEUTRAL_CALIBRATION: u32 = 1000;

/// The workflow recipe that fits a task.
#[derive(Clone, Debug)]
pub struct MatchedRecipe {
    pub rated: RatedMemory,
    pub recipe: WorkflowRecipe,
}

/// The number of steps after which a task should be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopLimit {
    pub limit: u32,
    /// Actual steps per planned step in the module, per mille; 1000 if nothing is known.
    pub calibration: u32,
    /// Number of tasks behind `calibration`.
    pub samples: u32,
}

/// Builds the block for a pipeline stage; a request without a stage gets the block of a plan. With a
/// task, modules or files it holds what relates to them, otherwise the most valuable memories.
pub(crate) async fn build_pipeline_context(
    reader: &ProjectReader,
    request: &ContextRequest,
) -> Result<ContextBlock, Error> {
    let stage = request.pipeline.unwrap_or(PipelineContext::Plan);
    let mut request = ContextRequest { pipeline: Some(stage), ..request.clone() };
    let (text, purpose) = (search_text(&request), SearchPurpose::Start);
    // A plan that names a file must know what is bound to the file, whatever the words match.
    for file in resolve_bare_names(reader, files_named_in(&text)).await? {
        if !request.files.contains(&file) {
            request.files.push(file);
        }
    }
    let request = &request;
    let mut candidates = ContextCandidates::from_hits(Vec::new());
    let mut known = HashSet::new();
    for section in stage.row().sections {
        // Two sections may show the same type; its candidates are collected once.
        if !known.insert(section.kind) {
            continue;
        }
        let by_place = place_filters(section.kind, request);
        let has_subject = !text.is_empty() || !by_place.is_empty();
        if has_subject && section.must_relate {
            // What relates to the subject, by place and by text.
            candidates.hits.extend(list_ranked(reader, &by_place, request, purpose).await?);
            if !text.is_empty() {
                let related = search_related(reader, &text, Some(section.kind), request).await?;
                add_candidates(&mut candidates, related);
            }
        } else {
            // The best of the type. Some sections describe the current attempt, whatever the subject.
            let all = [kind_filter(section.kind, CANDIDATES_PER_TYPE)];
            candidates.hits.extend(list_ranked(reader, &all, request, purpose).await?);
        }
    }
    build_context(reader, request, purpose, candidates).await
}

/// Finds the recipe that fits a task best.
pub(crate) async fn find_recipe(
    reader: &ProjectReader,
    task: &str,
) -> Result<Option<MatchedRecipe>, Error> {
    let (kind, request) =
        (Some(MemoryKind::WorkflowRecipe), ContextRequest::for_pipeline(PipelineContext::Plan));
    let candidates = search_related(reader, task, kind, &request).await?;
    Ok(candidates.hits.into_iter().find_map(MatchedRecipe::from_hit))
}

/// Calibrates a planned number of steps with what tasks of the module really took.
pub(crate) async fn calibrate_step_limit(
    reader: &ProjectReader,
    n_planned: u32,
    module: &str,
) -> Result<StopLimit, Error> {
    let filter = MemoryFilter {
        module: Some(module.to_owned()),
        ..kind_filter(MemoryKind::TaskCalibration, 1)
    };
    // A stored calibration, which a person imported or confirmed, comes first. The filter asks for one
    // memory, the newest of the module.
    let newest = list_memories(reader, &filter, None).await?.pop();
    let (calibration, samples) = match newest.and_then(|it| it.memory.payload) {
        Some(Payload::TaskCalibration(it)) => (it.ratio, it.samples),
        _ => match step_calibration(reader, module).await? {
            Some(StepCalibration { ratio, samples }) => (ratio, samples),
            // Nothing is known of the module: a task takes as many steps as planned.
            None => (NEUTRAL_CALIBRATION, 0),
        },
    };
    let limit = pipeline::calibrated_step_limit(n_planned, calibration);
    Ok(StopLimit { limit, calibration, samples })
}

/// Formats a recipe with its steps as a note.
pub(crate) fn format_recipe(reader: &ProjectReader, recipe: &MatchedRecipe) -> String {
    let memory = &recipe.rated.memory;
    format_text(reader, memory, &pipeline::format_memory(memory), &[])
}

impl MatchedRecipe {
    pub(super) fn from_hit(hit: SearchHit) -> Option<Self> {
        match hit.rated.memory.payload.clone() {
            Some(Payload::WorkflowRecipe(recipe)) => Some(Self { rated: hit.rated, recipe }),
            _ => None,
        }
    }
}

/// The text that memories must relate to: the task and the report of its failure.
fn search_text(request: &ContextRequest) -> String {
    let parts = [request.task.trim(), request.failure_report.trim()];
    parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The project paths in a text, as far as they are spelled out: `src/auth.rs` or `Makefile.toml`.
fn files_named_in(text: &str) -> Vec<ProjectPath> {
    let is_separator = |it: char| it.is_whitespace() || "`'\"()[]<>{},;:!?".contains(it);
    let words =
        text.split(is_separator).map(|it| it.trim_end_matches('.').trim_start_matches("./"));
    let is_path = |it: &&str| it.contains(['/', '.']) && it.contains(char::is_alphabetic);
    let mut files: Vec<ProjectPath> =
        words.filter(is_path).filter_map(|it| ProjectPath::parse(it).ok()).collect();
    files.dedup();
    files.truncate(MAX_NAMED_FILES);
    files
}

/// Replaces names that are no path from the root of the project (`queue.ts`, `jobs/queue.ts`) by the file
/// that a memory is about and that ends with them, if there is exactly one.
async fn resolve_bare_names(
    reader: &ProjectReader,
    named: Vec<ProjectPath>,
) -> Result<Vec<ProjectPath>, Error> {
    let exists = |it: &ProjectPath| source::exists_in_project(&reader.place.root, it.as_str());
    // Most tasks spell paths out, so that the files of all memories need not be read.
    if named.iter().all(exists) {
        return Ok(named);
    }
    let mut bound: Vec<String> = Vec::new();
    for notebook in reader.notebooks() {
        let subjects = notebook.store.memories().list_subjects().await?;
        bound.extend(subjects.files.into_iter().map(|(file, _)| file));
    }
    bound.sort_unstable();
    bound.dedup();
    let resolve = |name: ProjectPath| {
        if exists(&name) || bound.binary_search_by(|it| it.as_str().cmp(name.as_str())).is_ok() {
            return name;
        }
        let ending = format!("/{name}");
        let mut ending_so = bound.iter().filter(|it| it.ends_with(&ending));
        match (ending_so.next(), ending_so.next()) {
            (Some(only), None) => ProjectPath::parse(only).unwrap_or(name),
            _ => name,
        }
    };
    Ok(named.into_iter().map(resolve).collect())
}

/// Filters for memories of a type about the request's modules and files.
fn place_filters(kind: MemoryKind, request: &ContextRequest) -> Vec<MemoryFilter> {
    let of_kind = || kind_filter(kind, CANDIDATES_PER_PLACE);
    let by_module = |it: &String| MemoryFilter { module: Some(it.clone()), ..of_kind() };
    let by_file = |it: &ProjectPath| MemoryFilter { file: Some(it.clone()), ..of_kind() };
    request.modules.iter().map(by_module).chain(request.files.iter().map(by_file)).collect()
}

fn kind_filter(kind: MemoryKind, limit: u32) -> MemoryFilter {
    MemoryFilter { kind: Some(kind.slug().to_owned()), ..live_filter(limit) }
}

/// Adds the candidates of one type. The block has an answer as soon as one type has one.
fn add_candidates(acc: &mut ContextCandidates, found: ContextCandidates) {
    acc.hits.extend(found.hits);
    acc.omitted.extend(found.omitted);
    acc.query_class = acc.query_class.or(found.query_class);
    acc.verdict = better_verdict(acc.verdict, found.verdict);
    // Every type is a search of its own and repeats the notices.
    for notice in found.notices {
        if !acc.notices.contains(&notice) {
            acc.notices.push(notice);
        }
    }
}

fn better_verdict(a: RelevanceVerdict, b: RelevanceVerdict) -> RelevanceVerdict {
    // An answer beats its absence, and either beats no verdict; then the strength counts.
    let rank = |it: RelevanceVerdict| match it {
        RelevanceVerdict::Open => (0, 0.0),
        RelevanceVerdict::Nothing { strength, .. } => (1, strength),
        RelevanceVerdict::Answered { strength, .. } => (2, strength),
    };
    if rank(b) > rank(a) { b } else { a }
}
