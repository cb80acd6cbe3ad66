//! A memory with its current state: confidence after ageing, days without use, and existing files.
//! Search, context blocks and file warnings all assess a memory here before they rank it. A list of
//! memories that were not searched for is ranked here too ([`rank_equally_relevant`]).

use model::{DAY_MS, Memory, Phase, ProjectPath, QuietSpan, current_confidence, lived_millis};
use recall::{
    DisabledStages, FusedHit, MemoryCondition, RankCandidate, RankedHit, ScoreFactors,
    SearchPurpose,
};

use super::search_results::{HitExplanation, SearchHit};
use crate::{NotebookScope, ProjectReader, RatedMemory};

/// A memory that can be ranked.
#[derive(Clone)]
pub(crate) struct AssessedMemory {
    pub(crate) rated: RatedMemory,
    pub(crate) condition: MemoryCondition,
}

/// Assesses a memory of a notebook at the current time. `quiet` are the spans in which the user did
/// not work; they age nothing.
pub(crate) fn assess_memory(
    reader: &ProjectReader,
    memory: Memory,
    scope: NotebookScope,
    quiet: &[QuietSpan],
) -> AssessedMemory {
    let current_confidence = current_confidence(&memory, &reader.config.types, reader.now, quiet);
    #[expect(clippy::cast_precision_loss, reason = "days, not milliseconds, matter")]
    let days_unused = lived_millis(memory.last_touched(), reader.now, quiet) as f32 / DAY_MS as f32;
    // Churn (recent changes of the memory's files) needs the code graph, so only a search that uses it
    // looks it up.
    let condition = MemoryCondition { current_confidence, days_unused, churn: None };
    AssessedMemory { rated: RatedMemory { memory, scope, current_confidence }, condition }
}

/// True if any file that a memory names exists, or if it names none. True for the user's memories,
/// which may name files of any project.
pub(crate) fn has_existing_file(reader: &ProjectReader, memory: &Memory) -> bool {
    let exists = |it: &ProjectPath| source::exists_in_project(&reader.place.root, it.as_str());
    memory.project.is_none() || memory.files.is_empty() || memory.files.iter().any(exists)
}

/// Ranks memories that no query tells apart, by confidence, age and phase alone; best first.
pub(crate) fn rank_equally_relevant(
    memories: &[AssessedMemory],
    phase: Phase,
    purpose: SearchPurpose,
    disabled: &DisabledStages,
) -> Vec<SearchHit> {
    let mut candidates = Vec::new();
    for (assessed, position) in memories.iter().zip(0..) {
        candidates.push(RankCandidate {
            memory: &assessed.rated.memory,
            condition: assessed.condition,
            // All have the same score. The key is the position in `memories`.
            fused: FusedHit { key: position, score: 1.0, traces: Vec::new() },
            relevance: 1.0,
            // Callers test the files themselves: file warnings before, context blocks afterwards.
            files_missing: false,
        });
    }
    let ranked = recall::rank_candidates(&candidates, Some(phase), purpose.row(), disabled);
    let mut hits = Vec::new();
    for RankedHit { fused, factors, .. } in ranked {
        let rated = memories[fused.key as usize].rated.clone();
        hits.push(unsearched_hit(rated, factors));
    }
    hits
}

/// A hit of a list: no retrieval path explains it.
fn unsearched_hit(rated: RatedMemory, factors: ScoreFactors) -> SearchHit {
    let explanation = HitExplanation {
        traces: Vec::new(),
        matched_terms: Vec::new(),
        neighbour_boost: 0.0,
        file_boost: 0.0,
        factors,
        rerank_score: None,
        linked_from: None,
        caveats: Vec::new(),
    };
    SearchHit { rated, score: factors.score, explanation }
}
