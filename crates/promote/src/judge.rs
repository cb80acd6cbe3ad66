//! Judges the candidates of a session: which drafts become memories, and with what confidence.
//!
//! A *signal* is a pattern in what a session did or said, such as an error that recurred and its fix; each
//! has a score, its weight as evidence. A *candidate* is a draft of a memory, made from all sessions that
//! showed the pattern. The *gate* of a session type lists the signals that such a session may teach.
//! *Tainted* text is derived from text outside the project, such as a web page. The *confidence* is stored
//! with the memory; the *score* of the candidate only decides whether it is kept.
//!
//! Each candidate passes four stages: its signal, the gate of the session type, its content, its score. Those that
//! pass compete for the number of memories that one session may become. Every drop has a reason:
//!
//! ```text
//! candidate                                       verdict
//! self correction, validated build                keep 0.79 score 0.84
//! the same, work not validated yet                waiting: the session's work is not validated yet
//! an error and its fix, in 1 session              frequency: seen in 1 of 2 sessions
//! two files touched together                      statistic: told at its moment, not stored
//! ```
//!
//! The same candidates and the same facts give the same verdicts. Taint is a flag of the candidate and is
//! applied where it is read, so that judging twice does not apply it twice.

use model::{
    DropReason, MemoryKind, MemoryType, PerMille, SessionOutcome, SessionType, SignalKind,
    SignalUse, ValidationBasis, ValidationKind,
};

use crate::gate::{AdmissionRule, Gate, GateCondition, gate_for};
use crate::safety::detect_instruction;

/// A draft that may become a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each read by one rule")]
pub struct PromotionCandidate {
    pub signal: SignalKind,
    /// Identifies the pattern, and breaks ties between equal scores.
    pub key: String,
    /// The text of the draft; `None` if the evidence gives an agent nothing to act on.
    pub content: Option<String>,
    pub kind: MemoryType,
    /// Validated sessions that show the pattern, this one included.
    pub sessions: u32,
    /// Occurrences in this session.
    pub occurrences: u32,
    /// The text is derived from text outside the project.
    pub tainted: bool,
    /// Several agents that worked at the same time confirm it.
    pub has_quorum: bool,
    /// The subtask that it comes from has succeeded by itself.
    pub is_in_finished_subtask: bool,
    /// The initial confidence of a note or a user's statement; others start from their signal's score.
    pub initial_confidence: Option<PerMille>,
    /// This session itself confirms it, such as by a failed command that succeeded after the fix: one
    /// session with one occurrence is enough, and the rest of the session's work does not matter.
    pub is_confirmed: bool,
    /// Its text is inferred and was stated by nothing in the session, such as that work was thrown away.
    pub is_guess: bool,
    /// An earlier session made a memory from the pattern, which this one would confirm. The limits
    /// count new memories only.
    pub has_memory: bool,
}

impl PromotionCandidate {
    /// The agent recorded it or the user said it. Scores and shares sort out guesses, so they never
    /// drop such a statement.
    const fn is_explicit(&self) -> bool {
        matches!(self.signal, SignalKind::Recorded | SignalKind::UserCorrection)
    }

    /// Sure enough to be told: the kind of statement is, or a second session states the same.
    fn is_sure(&self) -> bool {
        let is_repeated = self.sessions >= 2 || self.has_quorum;
        is_repeated || (self.signal.row().feeds == SignalUse::Memory && !self.is_guess)
    }

    /// An approach that was given up: the session shows it, or the agent recorded it as one.
    fn is_dead_end(&self) -> bool {
        let is_recorded_as_one = self.signal == SignalKind::Recorded
            && self.kind.core_kind() == Some(MemoryKind::DeadEnd);
        self.signal == SignalKind::DeadEnd || is_recorded_as_one
    }
}

/// Everything about the session that decides on its candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFacts {
    pub kind: SessionType,
    pub outcome: SessionOutcome,
    /// The evidence that the session's work holds; `None` if it is not validated.
    pub validation_basis: Option<ValidationBasis>,
    /// Validations that the host reported as passed.
    pub reported_validations: Vec<ValidationKind>,
    /// Per mille by which thresholds are raised, because users rejected too many memories.
    pub tightening: u16,
}

/// The verdict on a candidate: it becomes a memory with these properties, or it is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromotionVerdict {
    Keep {
        confidence: PerMille,
        score: PerMille,
        needs_review: bool,
        tainted: bool,
        /// It is not sure enough to be told to an agent, and waits for a confirmation.
        candidate: bool,
    },
    Dropped {
        reason: DropReason,
        detail: String,
    },
}

/// The minimum score of a memory kind.
#[rustfmt::skip]
pub const fn min_score_of(kind: MemoryKind) -> PerMille {
    PerMille::new(match kind {
        MemoryKind::DeadEnd                                     => 300,
        MemoryKind::Gotcha | MemoryKind::ErrorPattern           => 500,
        MemoryKind::ModuleInsight | MemoryKind::TaskCalibration => 550,
        MemoryKind::WorkflowRecipe                              => 650,
        // Dependencies, files and all others.
        _                                                       => 600,
    })
}

/// The highest confidence that evidence alone can give. Only a user's own statement exceeds it.
pub const MAX_EARNED_CONFIDENCE: PerMille = PerMille::new(950);
/// Confidence that each further session adds, in per mille.
const SESSION_BONUS_PER_MILLE: u32 = 30;
/// The most that all further sessions add, in per mille: the bonus of four.
const MAX_SESSION_BONUS_PER_MILLE: u32 = 120;
/// Tenths of its signal's score with which a candidate starts; the bonus comes on top.
const INITIAL_CONFIDENCE_TENTHS: u16 = 9;
/// Tenths of a confidence that remain if the text is tainted.
const TAINTED_CONFIDENCE_TENTHS: u32 = 7;
/// Penalty on the score of a tainted candidate, in per mille.
const TAINTED_SCORE_PENALTY: u16 = 300;
/// Share of a session's memories that one signal may take, in per mille, rounded up.
const MAX_SIGNAL_SHARE_PER_MILLE: u32 = 400;
/// Share of rejected memories beyond which thresholds are raised, in tenths.
const MAX_REJECTED_TENTHS: u32 = 3;
/// Per mille by which thresholds are raised then.
const TIGHTENING_PER_MILLE: u16 = 200;
/// Fewer judged memories say nothing about the share of rejected ones.
const MIN_JUDGED_MEMORIES: u32 = 10;

/// The result of a stage: a value for the next one, or the verdict that drops the candidate.
type StageResult<T> = Result<T, PromotionVerdict>;

/// Judges the candidates of one session. The verdicts have the order of the candidates.
pub fn judge_candidates(
    candidates: &[PromotionCandidate],
    facts: &SessionFacts,
) -> Vec<PromotionVerdict> {
    let mut verdicts: Vec<PromotionVerdict> =
        candidates.iter().map(|it| judge_alone(it, facts)).collect();
    apply_budget(&mut verdicts, candidates, facts);
    verdicts
}

/// The stages that need one candidate only. Their order decides which reason a drop gets.
fn judge_alone(candidate: &PromotionCandidate, facts: &SessionFacts) -> PromotionVerdict {
    match pass_stages(candidate, facts) {
        Ok(kept) => kept,
        Err(dropped) => dropped,
    }
}

/// The verdict that keeps the candidate, or as an error the one that drops it.
fn pass_stages(
    candidate: &PromotionCandidate,
    facts: &SessionFacts,
) -> StageResult<PromotionVerdict> {
    check_signal(candidate)?;
    let gate = gate_for(facts.kind);
    if candidate.signal == SignalKind::Claim {
        return keep_claim(candidate, &gate);
    }
    let rule = check_gate(candidate, &gate, facts)?;
    check_content(candidate)?;
    check_score(candidate, &gate, rule, facts)
}

/// Keeps a claim as a candidate. What confirms it comes later, so that neither the outcome of the session
/// nor a minimum decides: the scorer has chosen it among the claims of its session.
fn keep_claim(candidate: &PromotionCandidate, gate: &Gate) -> StageResult<PromotionVerdict> {
    if gate.condition == GateCondition::Never {
        let detail = "nothing is learned from such a session";
        return Err(drop_candidate(DropReason::Gate, detail));
    }
    check_content(candidate)?;
    let confidence = compute_confidence(candidate, 0);
    Ok(PromotionVerdict::Keep {
        confidence,
        score: compute_score(candidate, confidence),
        needs_review: false,
        tainted: candidate.tainted,
        candidate: true,
    })
}

/// The signal must be one that becomes memories. A statistic is never stored, whatever the session.
fn check_signal(candidate: &PromotionCandidate) -> StageResult<()> {
    match candidate.signal.row().feeds {
        SignalUse::Memory | SignalUse::Candidate => Ok(()),
        SignalUse::Statistics => {
            Err(drop_candidate(DropReason::Statistic, "told at its moment, not stored"))
        }
    }
}

/// The session must have succeeded, admit the signal, and be validated.
fn check_gate(
    candidate: &PromotionCandidate,
    gate: &Gate,
    facts: &SessionFacts,
) -> StageResult<AdmissionRule> {
    let signal = candidate.signal;
    let is_user_word = signal == SignalKind::UserCorrection;
    if facts.outcome == SessionOutcome::Failure && !candidate.is_dead_end() && !is_user_word {
        let detail = "the session failed; only dead ends are learned from it";
        return Err(drop_candidate(DropReason::Failed, detail));
    }
    let Some(rule) = gate.rule_for(signal) else {
        let detail = format!("{signal} is not learned from a {} session", facts.kind);
        return Err(drop_candidate(DropReason::Gate, detail));
    };
    if candidate.occurrences < rule.min_occurrences && !candidate.is_confirmed {
        let (n, needed) = (candidate.occurrences, rule.min_occurrences);
        let detail = format!("seen {n} of {needed} times in the session");
        return Err(drop_candidate(DropReason::Gate, detail));
    }
    // An approach that was given up has failed, and the user's word holds, whatever the session's outcome. A
    // finished subtask and a failure that was resolved have been validated by themselves.
    let holds_without_validation = candidate.is_dead_end()
        || is_user_word
        || candidate.is_confirmed
        || candidate.is_in_finished_subtask;
    if !holds_without_validation
        && !gate.is_open(facts.validation_basis, &facts.reported_validations)
    {
        let detail = "the session's work is not validated yet";
        return Err(drop_candidate(DropReason::Waiting, detail));
    }
    Ok(rule)
}

/// Enough sessions must show the pattern, and the text must be useful and harmless.
fn check_content(candidate: &PromotionCandidate) -> StageResult<()> {
    // Agents that agree independently are as good as several sessions.
    let is_enough = candidate.has_quorum || candidate.is_confirmed;
    let needed = if is_enough { 1 } else { candidate.signal.row().sessions };
    if candidate.sessions < needed {
        let detail = format!("seen in {} of {needed} sessions", candidate.sessions);
        return Err(drop_candidate(DropReason::Frequency, detail));
    }
    let Some(content) = &candidate.content else {
        let detail = "the evidence gives an agent nothing to act on";
        return Err(drop_candidate(DropReason::SaysNothing, detail));
    };
    // The user may instruct the agent.
    if candidate.signal == SignalKind::UserCorrection {
        return Ok(());
    }
    match detect_instruction(content) {
        Some(reason) => Err(drop_candidate(DropReason::Trust, reason)),
        None => Ok(()),
    }
}

/// The score of a guess must reach the minimum of the memory kind and of the session type. Explicit
/// statements have no minimum; tainted ones wait for the user's review.
fn check_score(
    candidate: &PromotionCandidate,
    gate: &Gate,
    rule: AdmissionRule,
    facts: &SessionFacts,
) -> StageResult<PromotionVerdict> {
    let confidence = compute_confidence(candidate, rule.reduction);
    let score = compute_score(candidate, confidence);
    if !candidate.is_explicit() {
        check_min_scores(candidate, gate, facts, score)?;
    }
    Ok(PromotionVerdict::Keep {
        confidence,
        score,
        needs_review: (gate.needs_review && !candidate.is_confirmed) || candidate.tainted,
        tainted: candidate.tainted,
        candidate: !candidate.is_sure(),
    })
}

fn check_min_scores(
    candidate: &PromotionCandidate,
    gate: &Gate,
    facts: &SessionFacts,
    score: PerMille,
) -> StageResult<()> {
    // A custom type is judged like an insight.
    let kind = candidate.kind.core_kind().unwrap_or(MemoryKind::ModuleInsight);
    let kind_minimum = tighten_threshold(min_score_of(kind), facts.tightening);
    if score < kind_minimum {
        return Err(drop_candidate(DropReason::Score, format!("{score} of {kind_minimum}")));
    }
    let gate_minimum = tighten_threshold(gate.min_score, facts.tightening);
    // A dead end is worth more than its score, and tainted text was penalised already.
    if score < gate_minimum && !candidate.is_dead_end() && !candidate.tainted {
        let detail = format!("{score} of {gate_minimum}, the minimum of a {} session", facts.kind);
        return Err(drop_candidate(DropReason::Score, detail));
    }
    Ok(())
}

/// The confidence of a candidate: nine tenths of its signal's score, a bonus for each further session, less
/// the `reduction` of the gate. Tainted text keeps only a part of it.
pub fn compute_confidence(candidate: &PromotionCandidate, reduction: u16) -> PerMille {
    let by_signal =
        PerMille::new(candidate.signal.row().score.get() * INITIAL_CONFIDENCE_TENTHS / 10);
    let initial = candidate.initial_confidence.unwrap_or(by_signal);
    // Agreement of parallel agents counts like one further session.
    let n_confirming = candidate.sessions.saturating_sub(1) + u32::from(candidate.has_quorum);
    let bonus = (n_confirming * SESSION_BONUS_PER_MILLE).min(MAX_SESSION_BONUS_PER_MILLE);
    let confidence = initial
        .saturating_add(u16::try_from(bonus).unwrap_or(0))
        .saturating_sub(reduction)
        .at_most(MAX_EARNED_CONFIDENCE);
    if candidate.tainted {
        let reduced = u32::from(confidence.get()) * TAINTED_CONFIDENCE_TENTHS / 10;
        PerMille::new(u16::try_from(reduced).unwrap_or(0))
    } else {
        confidence
    }
}

/// The mean of the signal's score and the confidence, less the penalty for tainted text.
fn compute_score(candidate: &PromotionCandidate, confidence: PerMille) -> PerMille {
    let signal_score = candidate.signal.row().score;
    let mean = PerMille::new(u16::midpoint(signal_score.get(), confidence.get()));
    mean.saturating_sub(if candidate.tainted { TAINTED_SCORE_PENALTY } else { 0 })
}

/// The threshold raised by so many per mille of itself: 600 tightened by 200 is 720.
fn tighten_threshold(threshold: PerMille, tightening: u16) -> PerMille {
    let increase = u32::from(threshold.get()) * u32::from(tightening) / 1000;
    threshold.saturating_add(u16::try_from(increase).unwrap_or(u16::MAX))
}

/// Keeps the best candidates for new memories: as many as the gate allows, and of each guessing signal
/// at most its share. Explicit statements come before all guesses. Candidates that confirm a memory add
/// none, so they are neither counted nor dropped.
fn apply_budget(
    acc: &mut [PromotionVerdict],
    candidates: &[PromotionCandidate],
    facts: &SessionFacts,
) {
    let limit = gate_for(facts.kind).max_memories;
    let signal_limit = (limit * MAX_SIGNAL_SHARE_PER_MILLE).div_ceil(1000).max(1);
    // Rank and position of the candidates that passed all stages, best first.
    let mut ranked: Vec<((bool, PerMille), usize)> = Vec::new();
    for (nth, verdict) in acc.iter().enumerate() {
        let candidate = &candidates[nth];
        // Candidates cost nothing until they are confirmed; their number is limited where they are chosen.
        if let PromotionVerdict::Keep { score, candidate: false, .. } = verdict
            && !candidate.has_memory
        {
            ranked.push(((candidate.is_explicit(), *score), nth));
        }
    }
    // Ties break on the key, so that the same candidates give the same verdicts.
    ranked.sort_by(|(rank_a, a), (rank_b, b)| {
        rank_b.cmp(rank_a).then_with(|| candidates[*a].key.cmp(&candidates[*b].key))
    });
    let to_u32 = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    // One entry per kept candidate.
    let mut kept_signals: Vec<SignalKind> = Vec::new();
    for (_, nth) in ranked {
        let signal = candidates[nth].signal;
        let n_of_signal = to_u32(kept_signals.iter().filter(|it| **it == signal).count());
        // When the session is full, that is the reason, even if the signal is over its share as well.
        if to_u32(kept_signals.len()) >= limit {
            let detail = format!("{limit} better candidates were kept");
            acc[nth] = drop_candidate(DropReason::Budget, detail);
        } else if n_of_signal >= signal_limit && !candidates[nth].is_explicit() {
            let detail = format!("{signal_limit} better candidates of the same signal were kept");
            acc[nth] = drop_candidate(DropReason::Budget, detail);
        } else {
            kept_signals.push(signal);
        }
    }
}

fn drop_candidate(reason: DropReason, detail: impl Into<String>) -> PromotionVerdict {
    PromotionVerdict::Dropped { reason, detail: detail.into() }
}

/// Per mille by which thresholds are raised, given how many of the judged memories users rejected.
pub fn threshold_tightening(n_rejected: u32, n_judged: u32) -> u16 {
    let is_high = n_rejected * 10 > n_judged * MAX_REJECTED_TENTHS;
    if n_judged >= MIN_JUDGED_MEMORIES && is_high { TIGHTENING_PER_MILLE } else { 0 }
}

#[cfg(test)]
mod tests;
