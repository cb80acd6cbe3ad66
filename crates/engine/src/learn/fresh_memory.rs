//! Fresh memories: memories built from kept drafts. They are not stored yet: `novelty` first compares
//! each with the stored memories. `related` calls this file and passes in everything that needs I/O
//! (random bytes, anchors), so that building is pure.

use model::{
    Actor, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryScope, MemorySource, ProjectId,
    SignalKind, SoftStates, SymbolAnchor, UsageCounters, Visibility,
};
use observe::{MemoryDraft, SessionOverview, WishKind};
use promote::PromotionVerdict;
use source::GitHead;

use crate::person_wish::suggest_wish_type;
use crate::remember::{MAX_BRANCH_CHARS, USER_CONFIDENCE};
use crate::text_admission::mask_label;

/// Most sessions stored as provenance of one memory.
pub(super) const MAX_PROVENANCE: usize = 50;

/// A memory made of a draft, and the stored memories it must be compared with.
pub(super) struct FreshMemory {
    pub(super) memory: Memory,
    pub(super) similar: Vec<Memory>,
}

/// The parts of a memory that need I/O, so that building a memory is pure.
pub(super) struct MemoryParts {
    pub(super) project: Option<ProjectId>,
    /// Random part of the id.
    pub(super) entropy: [u8; 10],
    pub(super) anchors: Vec<SymbolAnchor>,
    /// The branch and commit at the end of the session, as far as they are known.
    pub(super) head: GitHead,
}

/// Builds the memory of a draft; `None` if the verdict dropped it. The signal decides the author: a
/// recorded note is the agent's, what a person told us to remember is the person's, everything else was
/// inferred by the observer. A person's correction is a candidate, until the person confirms it.
pub(super) fn memory_from_draft(
    session: &SessionOverview,
    draft: MemoryDraft,
    signal: SignalKind,
    verdict: &PromotionVerdict,
    parts: MemoryParts,
) -> Option<Memory> {
    let PromotionVerdict::Keep { confidence, needs_review, tainted, candidate, .. } = verdict
    else {
        return None;
    };
    let (source, created_by) = match (signal, draft.wish) {
        (SignalKind::Recorded, _) => {
            (MemorySource::AgentExplicit, Actor::Agent(session.agent.clone()))
        }
        (_, Some(WishKind::Told)) => (MemorySource::UserTaught, Actor::User),
        _ => (MemorySource::ObserverInferred, Actor::Observer),
    };
    let is_told = draft.wish == Some(WishKind::Told);
    let kind = match draft.wish {
        Some(wish) => suggest_wish_type(wish, &draft.content),
        None => draft.kind,
    };
    let MemoryParts { project, entropy, anchors, head } = parts;
    Some(Memory {
        // Ids sort by their time. The end of the session is used instead of `now`, so that the
        // order is the same whenever the session is learned.
        id: MemoryId::new(session.ended, entropy),
        project,
        summary: promote::compose_summary(&draft.content, &kind),
        citation: promote::compose_citation(&draft.content),
        content: draft.content,
        kind,
        source,
        scope: draft.scope.unwrap_or(if draft.modules.is_empty() {
            MemoryScope::Global
        } else {
            MemoryScope::Module
        }),
        visibility: Visibility::Personal,
        confidence: if is_told { USER_CONFIDENCE.max(*confidence) } else { *confidence },
        tags: draft.tags,
        files: draft.files,
        modules: draft.modules,
        anchors,
        work_unit: session.work_unit.clone(),
        session: Some(session.id),
        provenance: vec![session.id],
        commit: head.commit,
        branch: head.branch.map(|it| mask_label(&it, MAX_BRANCH_CHARS)),
        relations: Vec::new(),
        half_life_days: None,
        flags: MemoryFlags {
            needs_review: *needs_review,
            tainted: *tainted,
            candidate: *candidate
                || matches!(draft.wish, Some(WishKind::Correction | WishKind::Suggestion)),
            user_verified: is_told,
            ..MemoryFlags::default()
        },
        states: SoftStates::default(),
        payload: draft.payload,
        created_by,
        created_at: session.ended,
        updated_at: session.ended,
        version: 0,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters::default(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use model::{MemoryType, PerMille, SessionId, SessionOutcome, SessionType, Timestamp};

    /// A validated build session without files.
    pub(in super::super) fn session(ended: i64) -> SessionOverview {
        SessionOverview {
            id: SessionId::new(Timestamp(ended), [7; 10]),
            parent: None,
            agent: "claude-code".to_owned(),
            root: String::new(),
            work_unit: None,
            kind: SessionType::Build,
            task: "add a retry".to_owned(),
            started: Timestamp(ended - 1_000),
            ended: Timestamp(ended),
            steps: 30,
            planned_steps: None,
            tokens: 0,
            retries: 0,
            outcome: SessionOutcome::Success,
            validation_basis: Some(model::ValidationBasis::Observed),
            reported_validations: Vec::new(),
            succeeded_subtasks: Vec::new(),
            external: None,
            files: Vec::new(),
        }
    }

    /// A learned gotcha with this text.
    pub(in super::super) fn memory(text: &str) -> Memory {
        let confidence = PerMille::new(700);
        let verdict = PromotionVerdict::Keep {
            confidence,
            score: confidence,
            needs_review: false,
            tainted: false,
            candidate: false,
        };
        let draft = MemoryDraft {
            kind: MemoryType::Core(model::MemoryKind::Gotcha),
            content: text.to_owned(),
            files: Vec::new(),
            modules: Vec::new(),
            tags: Vec::new(),
            payload: None,
            scope: None,
            is_confirmed: false,
            wish: None,
        };
        // The id is derived from the text, so that memories with different texts have different
        // ids.
        let mut entropy = [0; 10];
        for (position, byte) in text.bytes().enumerate() {
            entropy[position % 10] ^= byte;
        }
        let head = GitHead::default();
        let parts = MemoryParts { project: None, entropy, anchors: Vec::new(), head };
        memory_from_draft(&session(10_000), draft, SignalKind::SelfCorrection, &verdict, parts)
            .unwrap()
    }
}
