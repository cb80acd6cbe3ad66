//! Drafts that were kept, as memories that are not stored yet.

use model::{
    Actor, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryScope, MemorySource, ProjectId,
    SignalKind, SoftStates, SymbolAnchor, UsageCounters, Visibility,
};
use observe::{MemoryDraft, SessionOverview};
use promote::{MemoryStatement, PromotionVerdict};

/// Sessions stored as provenance of one memory.
pub(super) const MAX_PROVENANCE: usize = 50;

/// A memory made of a draft, and the stored memories it must be compared with.
pub(super) struct FreshMemory {
    pub(super) memory: Memory,
    pub(super) similar: Vec<Memory>,
}

/// The parts of a memory that cannot be computed: they come from outside.
pub(super) struct MemoryParts {
    pub(super) project: Option<ProjectId>,
    /// Random part of the id.
    pub(super) entropy: [u8; 10],
    pub(super) anchors: Vec<SymbolAnchor>,
}

/// Makes a memory of a draft; `None` if the verdict dropped it.
pub(super) fn memory_from_draft(
    session: &SessionOverview,
    draft: MemoryDraft,
    signal: SignalKind,
    verdict: &PromotionVerdict,
    parts: MemoryParts,
) -> Option<Memory> {
    let PromotionVerdict::Keep { confidence, needs_review, tainted, .. } = verdict else {
        return None;
    };
    let is_recorded = signal == SignalKind::Recorded;
    let agent = || Actor::Agent(session.agent.clone());
    let MemoryParts { project, entropy, anchors } = parts;
    Some(Memory {
        // The id carries the end of the session, not the present: learning the same sessions later
        // sorts their memories the same way.
        id: MemoryId::new(session.ended, entropy),
        project,
        summary: promote::compose_summary(&draft.content, &draft.kind),
        citation: promote::compose_citation(&draft.content),
        content: draft.content,
        kind: draft.kind,
        source: if is_recorded {
            MemorySource::AgentExplicit
        } else {
            MemorySource::ObserverInferred
        },
        scope: if draft.modules.is_empty() { MemoryScope::Global } else { MemoryScope::Module },
        visibility: Visibility::Personal,
        confidence: *confidence,
        tags: draft.tags,
        files: draft.files,
        modules: draft.modules,
        anchors,
        work_unit: None,
        session: Some(session.id),
        provenance: vec![session.id],
        commit: None,
        branch: None,
        relations: Vec::new(),
        half_life_days: None,
        flags: MemoryFlags {
            needs_review: *needs_review,
            tainted: *tainted,
            ..MemoryFlags::default()
        },
        states: SoftStates::default(),
        payload: draft.payload,
        created_by: if is_recorded { agent() } else { Actor::Observer },
        created_at: session.ended,
        updated_at: session.ended,
        version: 0,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters::default(),
    })
}

/// The part of a memory that duplicate detection compares.
pub(super) fn statement(memory: &Memory) -> MemoryStatement<'_> {
    MemoryStatement { text: &memory.content, files: &memory.files, kind: &memory.kind }
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
        };
        let draft = MemoryDraft {
            kind: MemoryType::Core(model::MemoryKind::Gotcha),
            content: text.to_owned(),
            files: Vec::new(),
            modules: Vec::new(),
            tags: Vec::new(),
            payload: None,
            sessions: Vec::new(),
        };
        // The text decides the id, so that two memories of a test differ.
        let mut entropy = [0; 10];
        for (at, byte) in text.bytes().enumerate() {
            entropy[at % 10] ^= byte;
        }
        let parts = MemoryParts { project: None, entropy, anchors: Vec::new() };
        memory_from_draft(&session(10_000), draft, SignalKind::SelfCorrection, &verdict, parts)
            .unwrap()
    }
}
