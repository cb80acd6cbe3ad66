//! Which memories say the same and which contradict one another. A cosine alone cannot tell "the
//! limit is 3" from "the limit is 5", so what is near is compared word by word.

use std::collections::HashMap;

use infer::Embeddings;
use model::{Memory, MemoryId, PerMille, Visibility};
use promote::{Relationship, Statement, compare};
use recall::dot;
use store::Part;

use super::ask::Hit;
use super::asked::without_vector;
use crate::{Engine, Error, Reach, Shown, models};

/// How far below a duplicate two vectors may be for their texts to be worth comparing.
const WORTH_COMPARING: f32 = 0.15;

/// How two memories stand to one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kinship {
    Apart,
    Same(PerMille),
    Contradicts,
}

/// The vectors of some memories, and what counts as the same.
pub(super) struct Likeness {
    vectors: HashMap<MemoryId, Vec<Part>>,
    /// Whose vectors cannot be read: their words are compared.
    damaged: Vec<MemoryId>,
    duplicate: f32,
}

impl Engine {
    /// Reads what it takes to compare hits; without vectors their words are compared.
    pub(super) async fn likeness(&self, hits: &[Hit]) -> Result<Likeness, Error> {
        let embeddings = self.config.models.embeddings().await.ok();
        let model = embeddings.as_ref().map_or("", Embeddings::id);
        let duplicate = models::meaning(model).duplicate;
        let (mut vectors, mut damaged) = (HashMap::new(), Vec::new());
        for notebook in self.notebooks().into_iter().filter(|_| embeddings.is_some()) {
            let own = hits.iter().filter(|it| it.shown.reach == notebook.reach);
            let ids: Vec<MemoryId> = own.map(|it| it.shown.memory.id).collect();
            let read = notebook.store.vectors_of(ids, model.to_owned()).await?;
            vectors.extend(read.of);
            damaged.extend(read.damaged);
        }
        Ok(Likeness { vectors, damaged, duplicate })
    }
}

impl Likeness {
    /// What is to be said of those that were not compared by their vectors.
    pub(super) fn notice(&self) -> Option<String> {
        without_vector(&self.damaged, "compared by its words")
    }

    /// From here on two memories are not both shown.
    pub(super) fn duplicate(&self) -> PerMille {
        thousandths(self.duplicate)
    }

    pub(super) fn between(&self, a: &Memory, b: &Memory) -> Kinship {
        let cosine = self.cosine(a.id, b.id);
        if cosine.is_some_and(|it| it < self.duplicate - WORTH_COMPARING) || about_others(a, b) {
            return Kinship::Apart;
        }
        match compare(&statement(a), &statement(b)) {
            Relationship::Contradicts { .. } => Kinship::Contradicts,
            Relationship::Same => Kinship::Same(PerMille::ONE),
            Relationship::Near { similarity } => Kinship::Same(similarity.max(self.duplicate())),
            Relationship::Unrelated => match cosine.filter(|it| *it >= self.duplicate) {
                Some(cosine) => Kinship::Same(thousandths(cosine)),
                None => Kinship::Apart,
            },
        }
    }

    /// How near two memories are: every part of each must be near some part of the other, for a
    /// shared sentence does not make them one.
    fn cosine(&self, a: MemoryId, b: MemoryId) -> Option<f32> {
        let (a, b) = (self.vectors.get(&a)?, self.vectors.get(&b)?);
        let covered = |these: &[Part], those: &[Part]| {
            let nearest = |it: &Part| {
                those.iter().map(|other| cosine(&it.values, &other.values)).reduce(f32::max)
            };
            these.iter().filter_map(nearest).reduce(f32::min)
        };
        Some(covered(a, b)?.min(covered(b, a)?))
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let length = |it: &[f32]| dot(it, it).sqrt();
    dot(a, b) / (length(a) * length(b)).max(f32::EPSILON)
}

/// The same advice about two files is two pieces of advice.
fn about_others(a: &Memory, b: &Memory) -> bool {
    !a.files.is_empty() && !b.files.is_empty() && !a.files.iter().any(|it| b.files.contains(it))
}

const fn statement(memory: &Memory) -> Statement<'_> {
    Statement { text: memory.content.as_str(), files: memory.files.as_slice(), kind: &memory.kind }
}

fn thousandths(fraction: f32) -> PerMille {
    PerMille::from_fraction(f64::from(fraction.clamp(0.0, 1.0))).unwrap_or(PerMille::ZERO)
}

/// Whether one memory overrides another that contradicts it: a person's own counts more than the
/// project's, and that more than the team's, as long as it is newer and at least as sure.
pub(super) fn overrides(one: &Shown, other: &Shown) -> bool {
    level(one) < level(other)
        && one.memory.updated_at > other.memory.updated_at
        && one.current >= other.current
}

/// Whose memory it is, in a word.
pub(super) fn attribution(shown: &Shown) -> &'static str {
    ["personal", "project", "team", "organization"][usize::from(level(shown))]
}

const fn level(shown: &Shown) -> u8 {
    match (shown.reach, shown.memory.visibility) {
        (Reach::User, _) => 0,
        (Reach::Project, Visibility::Personal | Visibility::Project) => 1,
        (Reach::Project, Visibility::Team) => 2,
        (Reach::Project, Visibility::Organization) => 3,
    }
}
