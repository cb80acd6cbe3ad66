//! Comparison of two memories of a context: same, contradicting or different.
//!
//! A cosine cannot tell "the limit is 3" from "the limit is 5". Vectors are therefore only a first
//! filter, and memories with near vectors are compared word by word
//! (`promote::compare_parsed`). Memories without a vector are always compared by their words.
//! `conflict_groups` and the packing of `context_builder` use the result.
//!
//! Of two memories that contradict each other, `overrides` at the end decides whether one of them
//! counts: the one that is shared with fewer people, if it is newer and as confident.

use std::collections::HashMap;

use infer::EmbeddingModel;
use model::{Memory, MemoryId, PerMille, Visibility};
use promote::{MemoryStatement, ParsedStatement, StatementRelation, compare_parsed};
use recall::dot_product;
use store::VectorPart;

use crate::models::cosine_calibration;
use crate::retrieval::{SearchHit, damaged_vector_notice};
use crate::{Error, NotebookScope, ProjectReader, RatedMemory};

/// Pairs whose cosine is further than this below the duplicate threshold are different, whatever
/// their words. Nearer pairs are compared by their words.
const TEXT_COMPARISON_MARGIN: f32 = 0.15;

/// The result of comparing two memories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MemorySimilarity {
    Different,
    /// One of the two is enough. The similarity is raised to at least the duplicate threshold,
    /// because packing compares it with that.
    Same(PerMille),
    Contradicts,
}

/// Compares memories by their vectors and words. Every pair is compared, so what depends on one memory
/// alone is computed once.
pub(super) struct DuplicateDetector<'a> {
    /// Vectors of length one.
    vectors: HashMap<MemoryId, Vec<VectorPart>>,
    statements: HashMap<MemoryId, ParsedStatement<'a>>,
    /// Memories whose vectors cannot be read; only their words are compared.
    damaged: Vec<MemoryId>,
    /// Cosine from which two memories are duplicates.
    threshold: f32,
}

/// Reads the vectors of some hits. Memories without a vector are compared by their words.
pub(super) async fn load_duplicate_detector<'a>(
    reader: &ProjectReader,
    hits: &'a [SearchHit],
) -> Result<DuplicateDetector<'a>, Error> {
    let embeddings = reader.config.models.embeddings().await.ok();
    let model = embeddings.as_ref().map_or("", EmbeddingModel::id);
    let threshold = cosine_calibration(model).duplicate;
    let (mut vectors, mut damaged) = (HashMap::new(), Vec::new());
    for notebook in reader.notebooks().into_iter().filter(|_| embeddings.is_some()) {
        // Each notebook stores the vectors of its own memories.
        let own = hits.iter().filter(|it| it.rated.scope == notebook.scope);
        let ids: Vec<MemoryId> = own.map(|it| it.rated.memory.id).collect();
        let stored = notebook.store.vectors().get_many(ids, model.to_owned()).await?;
        // A memory has vectors of its whole text and of its sentences. Those of sentences are
        // stored as small codes only, without the values that a cosine needs, and are dropped here.
        // Kept, they would have a cosine of zero with everything.
        for (id, mut parts) in stored.parts {
            parts.retain(|it| !it.values.is_empty());
            for part in &mut parts {
                normalize_vector(&mut part.values);
            }
            vectors.insert(id, parts);
        }
        damaged.extend(stored.damaged);
    }
    let parse = |it: &'a SearchHit| {
        (it.rated.memory.id, ParsedStatement::new(to_statement(&it.rated.memory)))
    };
    let statements = hits.iter().map(parse).collect();
    Ok(DuplicateDetector { vectors, statements, damaged, threshold })
}

impl DuplicateDetector<'_> {
    /// A notice about memories whose vectors are damaged.
    pub(super) fn damage_notice(&self) -> Option<String> {
        damaged_vector_notice(&self.damaged, "compared by its words")
    }

    /// The similarity from which two memories are not both shown; the same number as `threshold`.
    pub(super) fn duplicate_threshold(&self) -> PerMille {
        to_per_mille(self.threshold)
    }

    /// Compares two of the memories that the detector was loaded for.
    pub(super) fn compare(&self, a: &Memory, b: &Memory) -> MemorySimilarity {
        let cosine = self.cosine_of(a.id, b.id);
        // Without vectors no pair is far, and every pair is compared by its words.
        let is_far = cosine.is_some_and(|it| it < self.threshold - TEXT_COMPARISON_MARGIN);
        if is_far || have_different_files(a, b) {
            return MemorySimilarity::Different;
        }
        // Words decide first: they see a changed number that the vectors do not.
        let (Some(a), Some(b)) = (self.statements.get(&a.id), self.statements.get(&b.id)) else {
            return MemorySimilarity::Different;
        };
        match compare_parsed(a, b) {
            StatementRelation::Contradicts { .. } => MemorySimilarity::Contradicts,
            StatementRelation::Same => MemorySimilarity::Same(PerMille::ONE),
            StatementRelation::Near { similarity } => {
                MemorySimilarity::Same(similarity.max(self.duplicate_threshold()))
            }
            // Paraphrases share few words but have near vectors.
            StatementRelation::Unrelated => match cosine.filter(|it| *it >= self.threshold) {
                Some(cosine) => MemorySimilarity::Same(to_per_mille(cosine)),
                None => MemorySimilarity::Different,
            },
        }
    }

    /// The cosine of two memories. A shared sentence does not make two memories the same, so every
    /// part of each must be near some part of the other: the worst of the best matches counts.
    fn cosine_of(&self, a: MemoryId, b: MemoryId) -> Option<f32> {
        let (a, b) = (self.vectors.get(&a)?, self.vectors.get(&b)?);
        Some(coverage(a, b)?.min(coverage(b, a)?))
    }
}

/// Measures how well `others` cover `parts`: for each part the cosine of its best match, and of these
/// the lowest. `None` if either is empty.
fn coverage(parts: &[VectorPart], others: &[VectorPart]) -> Option<f32> {
    let mut lowest: Option<f32> = None;
    for part in parts {
        let cosines = others.iter().map(|it| dot_product(&part.values, &it.values));
        let best_match = cosines.reduce(f32::max)?;
        lowest = Some(lowest.map_or(best_match, |it| it.min(best_match)));
    }
    lowest
}

/// Scales a vector to length one, so that the dot product of two is their cosine.
fn normalize_vector(values: &mut [f32]) {
    let length = dot_product(values, values).sqrt().max(f32::EPSILON);
    for value in values {
        *value /= length;
    }
}

/// True if both memories name files and share none. The same advice about two files is two pieces of
/// advice.
fn have_different_files(a: &Memory, b: &Memory) -> bool {
    !a.files.is_empty() && !b.files.is_empty() && !a.files.iter().any(|it| b.files.contains(it))
}

const fn to_statement(memory: &Memory) -> MemoryStatement<'_> {
    MemoryStatement {
        text: memory.content.as_str(),
        files: memory.files.as_slice(),
        kind: &memory.kind,
    }
}

fn to_per_mille(fraction: f32) -> PerMille {
    PerMille::from_fraction(f64::from(fraction.clamp(0.0, 1.0))).unwrap_or(PerMille::ZERO)
}

/// True if a memory overrides another that contradicts it: it is more personal, newer and at least
/// as confident.
pub(super) fn overrides(one: &RatedMemory, other: &RatedMemory) -> bool {
    sharing_level(one) < sharing_level(other)
        && one.memory.updated_at > other.memory.updated_at
        && one.current_confidence >= other.current_confidence
}

/// The owner of a memory, in a word.
pub(super) const fn attribution(rated: &RatedMemory) -> &'static str {
    match sharing_level(rated) {
        SharingLevel::Personal => "personal",
        SharingLevel::Project => "project",
        SharingLevel::Team => "team",
        SharingLevel::Organization => "organization",
    }
}

/// The people that a memory is shared with, the fewest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SharingLevel {
    Personal,
    Project,
    Team,
    Organization,
}

const fn sharing_level(rated: &RatedMemory) -> SharingLevel {
    match (rated.scope, rated.memory.visibility) {
        (NotebookScope::User, _) => SharingLevel::Personal,
        (NotebookScope::Project, Visibility::Personal | Visibility::Project) => {
            SharingLevel::Project
        }
        (NotebookScope::Project, Visibility::Team) => SharingLevel::Team,
        (NotebookScope::Project, Visibility::Organization) => SharingLevel::Organization,
    }
}
