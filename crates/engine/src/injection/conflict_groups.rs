//! Groups of memories that contradict one another. A context block shows such memories together, with
//! remarks that say which one counts, so that the agent does not follow the wrong one.
//!
//! `context_builder` groups its checked entries here and packs each group as a whole. Most groups have
//! one member. A group of two reads like this, with the remarks in brackets:
//!
//! ```text
//! - [GOTCHA] the limit is 5 (personal; overrides #0badcafe) [#deadbeef]
//! - [GOTCHA] the limit is 3 (team; overridden by #deadbeef) [#0badcafe]
//! ```
//!
//! A memory *overrides* another that contradicts it if it is shared with fewer people, newer and as
//! confident (`duplicates::overrides`).

use model::{MemoryId, PerMille, ProjectPath};
use recall::{DisabledStages, RankingStage};

use super::duplicates::{DuplicateDetector, MemorySimilarity, attribution, overrides};
use crate::retrieval::SearchHit;

/// A memory that may enter a context.
pub(super) struct ContextEntry {
    pub(super) hit: SearchHit,
    /// Its files by their current names, the request's files first.
    pub(super) files: Vec<ProjectPath>,
    /// Remarks in brackets after the note.
    pub(super) remarks: Vec<String>,
}

/// Memories that contradict one another, the one that counts most first.
pub(super) type ConflictGroup = Vec<ContextEntry>;

/// Groups entries that contradict one another and adds the remarks. Returns the groups, and the
/// entries that repeat a member of a larger group, with the id of that member.
pub(super) fn group_conflicts(
    entries: Vec<ContextEntry>,
    detector: &DuplicateDetector<'_>,
    disabled: &DisabledStages,
) -> (Vec<ConflictGroup>, Vec<(SearchHit, MemoryId)>) {
    let (mut groups, mut repeated) = (Vec::new(), Vec::new());
    for entry in entries {
        repeated.extend(add_to_group(&mut groups, entry, detector, disabled));
    }
    groups.iter_mut().filter(|it| it.len() > 1).for_each(add_remarks);
    (groups, repeated)
}

/// Adds an entry to the group it contradicts, or as a group of its own. Returns the entry if it
/// repeats a member of a group with several members. Duplicates of single memories are left to the
/// packing, which knows which of the two fits.
fn add_to_group(
    groups: &mut Vec<ConflictGroup>,
    entry: ContextEntry,
    detector: &DuplicateDetector<'_>,
    disabled: &DisabledStages,
) -> Option<(SearchHit, MemoryId)> {
    let mut contradicted = None;
    for (position, group) in groups.iter().enumerate() {
        let drops_duplicates = group.len() > 1 && disabled.is_enabled(RankingStage::Duplicates);
        let mut contradicts = false;
        for member in group {
            let member = &member.hit.rated.memory;
            match detector.compare(member, &entry.hit.rated.memory) {
                // Goes before a contradiction to another member: the group has this side already.
                MemorySimilarity::Same(_) if drops_duplicates => {
                    return Some((entry.hit, member.id));
                }
                MemorySimilarity::Contradicts => contradicts = true,
                MemorySimilarity::Same(_) | MemorySimilarity::Different => {}
            }
        }
        // Entries come best first, so the first group it contradicts has the best score.
        if contradicts {
            contradicted = Some(position);
            break;
        }
    }
    match contradicted.map(|it| &mut groups[it]) {
        None => groups.push(vec![entry]),
        Some(group) if overrides(&entry.hit.rated, &group[0].hit.rated) => group.insert(0, entry),
        Some(group) => group.push(entry),
    }
    None
}

/// Adds remarks about the relation of the first member to each other member.
fn add_remarks(group: &mut ConflictGroup) {
    let (first, others) = group.split_first_mut().expect("a group has members");
    let first_id = first.hit.rated.memory.id.short();
    first.remarks.insert(0, attribution(&first.hit.rated).to_owned());
    for other in others {
        let other_id = other.hit.rated.memory.id.short();
        let (active, passive) = if overrides(&first.hit.rated, &other.hit.rated) {
            ("overrides", "overridden by")
        } else {
            ("contradicts", "contradicts")
        };
        first.remarks.push(format!("{active} #{other_id}"));
        other.remarks.insert(0, attribution(&other.hit.rated).to_owned());
        other.remarks.push(format!("{passive} #{first_id}"));
        // The agent sees the remarks, `--explain` the caveats.
        first.hit.explanation.caveats.push(format!("{active} #{other_id}"));
        other.hit.explanation.caveats.push(format!("{passive} #{first_id}"));
    }
}

/// The similarity of two groups; `None` if they differ, or if one has several members.
pub(super) fn group_similarity(
    a: &ConflictGroup,
    b: &ConflictGroup,
    detector: &DuplicateDetector<'_>,
) -> Option<PerMille> {
    let ([a], [b]) = (a.as_slice(), b.as_slice()) else {
        return None;
    };
    match detector.compare(&a.hit.rated.memory, &b.hit.rated.memory) {
        MemorySimilarity::Same(similarity) => Some(similarity),
        MemorySimilarity::Different | MemorySimilarity::Contradicts => None,
    }
}
