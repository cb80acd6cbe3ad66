//! One question about one session: sends its dossier, checks the claims of the answer, and stores them.
//!
//! A session is asked about once. A milestone with the day and the session records the call before its
//! claims are read, so that the limits of a day hold across processes. A call that fails leaves the
//! session as it was: the next run asks again, a few times at most.

use std::collections::BTreeSet;
use std::time::Duration;

use model::{
    Actor, AnsweredScope, DAY_MS, Deprecation, DropReason, Memory, MemoryType, PerMille,
    ProjectPath, Relation, RelationKind, RelationTarget, SessionId, SignalKind, Timestamp,
};
use observe::{ClaimEvidence, ClaimSource, Evidence, MemoryDraft, PatternKey, TellCue, shell};
use promote::{
    AnswerFacts, AnsweredClaim, CheckedClaim, ClaimVerdict, KnownMemory, PromotionVerdict,
};
use source::Transcript;
use store::{AuditAction, Milestone, SightingRow, StoreChange, WriteBatch};

use super::{ASK_PROMPT, SessionMaterial, read_material};
use crate::draft_resolution::similar_memories;
use crate::editing::user_batch;
use crate::learn::claim_detection::project_words;
use crate::learn::fresh_memory::memory_from_draft;
use crate::learn::protection::{is_active, is_user_protected};
use crate::learn::related::{load_parts, session_head};
use crate::{Error, NotebookScope, Project};

/// Longest answer, in tokens.
const MAX_ANSWER_TOKENS: u32 = 800;
/// Time for an answer. Agent programs start slowly, and retry by themselves.
const QUESTION_TIMEOUT: Duration = Duration::from_mins(2);
/// Stored memories that a claim is compared with.
const MAX_COMPARED: u32 = 10;
/// Calls about one session that may fail.
const MAX_FAILED_CALLS: usize = 3;
/// Beginnings of the names of milestones: a call that was answered, and one that failed.
const ASKED: &str = "asked";
const FAILED: &str = "ask_failed";
/// Tag of a memory that holds on this machine only.
const MACHINE_TAG: &str = "machine";
/// Confidence of a claim that the model is fully sure of, per mille.
const FULL_CONFIDENCE: u32 = 900;

/// Limits of the calls of one day in one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskLimits {
    pub calls_per_day: u32,
    pub tokens_per_day: u32,
}

/// The result of a question about a session.
#[derive(Clone, Debug)]
pub enum QuestionOutcome {
    /// The file has no session, or one of a subagent, whose parent is asked about.
    NoSession,
    AskedBefore,
    /// Too few episodes.
    TooLittle,
    /// The calls or tokens of today are used up. The session waits.
    LimitReached,
    /// No model is configured.
    NoModel,
    /// The call failed, or its answer cannot be used. The session waits.
    Failed {
        why: String,
    },
    Answered(Box<AnsweredQuestion>),
}

/// The claims of an answer, after the checks.
#[derive(Clone, Debug)]
pub struct AnsweredQuestion {
    pub session: SessionId,
    pub n_tokens: u64,
    pub memories: Vec<Memory>,
    /// Refused claims: the text, and the reason with its details.
    pub refused: Vec<(String, String)>,
}

/// Calls of a project, by the milestones that record them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskCounts {
    pub n_calls: u64,
    pub n_tokens: u64,
    pub n_failed: u64,
}

/// Asks the model about the session of a transcript.
pub(crate) async fn ask_about(
    project: &mut Project,
    transcript: &Transcript,
    limits: AskLimits,
) -> Result<QuestionOutcome, Error> {
    project.require_memory_enabled()?;
    if !project.config.models.can_answer_questions() {
        return Ok(QuestionOutcome::NoModel);
    }
    let Some(material) = read_material(project, transcript).await? else {
        return Ok(QuestionOutcome::NoSession);
    };
    if material.session.parent.is_some() {
        return Ok(QuestionOutcome::NoSession);
    }
    let store = project.ensure_notebook(NotebookScope::Project).await?.store;
    let milestones = store.learning().list_milestones().await?;
    let session = material.session.id;
    if let Some(reason) = reason_not_to_ask(&milestones, session, project.now, limits) {
        return Ok(reason);
    }
    if material.dossier.n_moments < super::MIN_EPISODES {
        return Ok(QuestionOutcome::TooLittle);
    }
    let dossier = material.dossier.text.clone();
    let models = project.config.models.clone();
    let answer =
        models.answer_question(ASK_PROMPT, dossier, MAX_ANSWER_TOKENS, QUESTION_TIMEOUT).await;
    let Some(answer) = answer else { return Ok(QuestionOutcome::NoModel) };
    let sent = u64::from(material.dossier.n_tokens + recall::estimate_tokens(ASK_PROMPT));
    let parsed = match answer {
        Ok(answer) => {
            let received = u64::from(recall::estimate_tokens(&answer.text));
            let (input, output) = answer.usage.unwrap_or((sent, received));
            let claims = promote::parse_answer(&answer.text);
            (claims, input + output)
        }
        Err(error) => (Err(error.to_string()), sent),
    };
    match parsed {
        (Ok(claims), n_tokens) => {
            let checked = check_answer(project, &material, claims).await?;
            let answered = store_claims(project, &material, checked, n_tokens).await?;
            Ok(QuestionOutcome::Answered(Box::new(answered)))
        }
        (Err(why), n_tokens) => {
            record_call(project, FAILED, session, n_tokens, Vec::new()).await?;
            Ok(QuestionOutcome::Failed { why })
        }
    }
}

/// Counts the calls about sessions of a project.
pub(crate) fn count_calls(milestones: &[Milestone]) -> AskCounts {
    let mut acc = AskCounts::default();
    for call in milestones.iter().filter_map(RecordedCall::parse) {
        acc.n_calls += 1;
        acc.n_tokens += call.n_tokens;
        acc.n_failed += u64::from(call.has_failed);
    }
    acc
}

/// Returns whether a sighting is a claim of a model.
pub(crate) fn is_model_claim(sighting: &SightingRow) -> bool {
    let source = sighting.key.split(' ').next().and_then(ClaimSource::from_slug);
    sighting.signal == SignalKind::Claim && source == Some(ClaimSource::Model)
}

/// A call as its milestone records it: `asked 20774 <session>`, with its tokens as the count.
struct RecordedCall<'a> {
    day: i64,
    session: &'a str,
    n_tokens: u64,
    has_failed: bool,
}

impl<'a> RecordedCall<'a> {
    fn parse(milestone: &'a Milestone) -> Option<Self> {
        let mut words = milestone.name.split(' ');
        let has_failed = match words.next()? {
            ASKED => false,
            FAILED => true,
            _ => return None,
        };
        let day = words.next()?.parse().ok()?;
        let n_tokens = u64::try_from(milestone.count).unwrap_or(0);
        Some(Self { day, session: words.next()?, n_tokens, has_failed })
    }
}

fn reason_not_to_ask(
    milestones: &[Milestone],
    session: SessionId,
    now: Timestamp,
    limits: AskLimits,
) -> Option<QuestionOutcome> {
    let id = session.to_string();
    let calls: Vec<RecordedCall<'_>> = milestones.iter().filter_map(RecordedCall::parse).collect();
    let n_failed = calls.iter().filter(|it| it.session == id && it.has_failed).count();
    let is_answered = calls.iter().any(|it| it.session == id && !it.has_failed);
    if is_answered || n_failed >= MAX_FAILED_CALLS {
        return Some(QuestionOutcome::AskedBefore);
    }
    let today: Vec<&RecordedCall<'_>> =
        calls.iter().filter(|it| it.day == now.0 / DAY_MS).collect();
    let n_tokens: u64 = today.iter().map(|it| it.n_tokens).sum();
    let is_used_up = today.len() >= limits.calls_per_day as usize
        || n_tokens >= u64::from(limits.tokens_per_day);
    is_used_up.then_some(QuestionOutcome::LimitReached)
}

/// Checks the claims of an answer against the dossier, the repository and the stored memories.
async fn check_answer(
    project: &Project,
    material: &SessionMaterial,
    claims: Vec<Result<AnsweredClaim, CheckedClaim>>,
) -> Result<Vec<CheckedClaim>, Error> {
    let store = project.project_store_reader().expect("asking registers the project");
    let to_known = |it: &Memory| KnownMemory { id: it.id.short(), text: it.content.clone() };
    let mut known: Vec<KnownMemory> = material.context.known.iter().map(to_known).collect();
    for claim in claims.iter().flatten() {
        let similar = similar_memories(&store, &claim.text, MAX_COMPARED).await?;
        // A candidate, and a memory that waits for the user, is told to no agent yet.
        let is_told = |it: &Memory| !it.flags.candidate && !it.flags.needs_review;
        known.extend(similar.iter().filter(|it| is_told(it)).map(to_known));
    }
    let lines = &material.dossier.lines;
    let edited = material.session.files.iter().map(|it| it.path.as_str().to_owned());
    let trusted = lines.iter().filter(|it| !it.tainted).map(|it| it.text.clone());
    // Commands that the dossier names beside its lines, or not at all.
    let pad = &material.pad;
    let calls = pad.calls.iter().filter(|it| !pad.is_tainted(it.order));
    let commands = calls.filter_map(|it| it.command).map(|it| pad.strings.text(it).to_owned());
    let trusted: Vec<String> = trusted.chain(edited).chain(commands).collect();
    let root = project.place.root.clone();
    let words = project_words(project).await;
    let exists = |name: &str| {
        // A path must exist as it is; of other names the words are looked up.
        source::exists_in_project(&root, name) || (!name.contains('/') && words.has_name(name))
    };
    let facts = AnswerFacts {
        lines,
        trusted_text: &trusted.join("\n"),
        rules: &material.context.rules,
        known: &known,
        later_commands: &succeeded_commands(material),
        exists: &exists,
        has_secret: &|text| secrets::redact(text).text != text,
    };
    Ok(promote::check_claims(claims, &facts))
}

/// Commands that succeeded in the second half of the session, after most of what a claim may quote.
fn succeeded_commands(material: &SessionMaterial) -> Vec<String> {
    let pad = &material.pad;
    let later = pad.calls.iter().skip(pad.calls.len() / 2).filter(|it| it.has_succeeded());
    let commands = later.filter_map(|it| it.command).map(|it| pad.strings.text(it));
    commands.map(shell::essential_command).filter(|it| !it.is_empty()).collect()
}

/// Stores the kept claims as memories, and all claims as sightings of the session.
async fn store_claims(
    project: &mut Project,
    material: &SessionMaterial,
    checked: Vec<CheckedClaim>,
    n_tokens: u64,
) -> Result<AnsweredQuestion, Error> {
    let session = &material.session;
    let head = session_head(project, session);
    let (mut memories, mut refused, mut sightings) = (Vec::new(), Vec::new(), Vec::new());
    let (mut retired, mut replaced) = (Vec::new(), BTreeSet::new());
    for CheckedClaim { claim, verdict } in checked {
        let mut memory = None;
        let mut dropped = None;
        match &verdict {
            ClaimVerdict::Live | ClaimVerdict::Review => {
                let draft = claim_draft(&claim);
                let parts = load_parts(project, &draft, &head);
                let keep = keep_verdict(&claim, &verdict);
                memory = memory_from_draft(session, draft, SignalKind::Claim, &keep, parts);
                if let Some(fresh) = memory.as_mut()
                    && verdict == ClaimVerdict::Live
                    && let Some(old) = find_replaced(&claim, &material.context.known)
                    // Two claims cannot change the same stored version of a memory.
                    && replaced.insert(old.id)
                {
                    retired.extend(replace_memory(old, fresh));
                }
            }
            ClaimVerdict::Refused { why, detail } => {
                let reason = match detail.as_str() {
                    "" => why.description().to_owned(),
                    detail => format!("{}: {detail}", why.description()),
                };
                refused.push((secrets::redact(&claim.text).text, reason.clone()));
                dropped = Some((DropReason::Check, secrets::redact(&reason).text));
            }
        }
        let evidence = claim_evidence(&claim, session.ended);
        let fingerprint = model::fingerprint_text(&claim.text);
        sightings.push(SightingRow {
            session: session.id,
            signal: SignalKind::Claim,
            key: PatternKey::claim(ClaimSource::Model, &fingerprint).as_str().to_owned(),
            times: 1,
            tainted: verdict == ClaimVerdict::Review,
            evidence: evidence.to_json(),
            memory: memory.as_ref().map(|it| it.id),
            dropped,
        });
        memories.extend(memory);
    }
    let inserted = memories.iter().map(|it| StoreChange::Insert(Box::new(it.clone())));
    let mut changes: Vec<StoreChange> = retired.into_iter().chain(inserted).collect();
    changes.push(StoreChange::AddSightings(sightings));
    record_call(project, ASKED, session.id, n_tokens, changes).await?;
    Ok(AnsweredQuestion { session: session.id, n_tokens, memories, refused })
}

/// The memory that a claim replaces. An id that was not in the dossier names none.
fn find_replaced<'a>(claim: &AnsweredClaim, known: &'a [Memory]) -> Option<&'a Memory> {
    let replaced = claim.replaces.as_ref()?;
    known.iter().find(|it| it.id.short() == *replaced)
}

/// Retires a memory in favour of a new one, unless the user wrote, confirmed or pinned it.
fn replace_memory(old: &Memory, fresh: &mut Memory) -> Option<StoreChange> {
    if is_user_protected(old) || !is_active(old) {
        return None;
    }
    let (kind, target) = (RelationKind::Supersedes, RelationTarget::Memory(old.id));
    fresh.relations.push(Relation { kind, target, confidence: PerMille::ONE, auto: true });
    let mut retired = old.clone();
    retired.states.deprecate(&Deprecation::superseded_by(fresh.id), fresh.updated_at);
    Some(StoreChange::Replace(Box::new(retired)))
}

/// Writes a call and its changes in one batch.
async fn record_call(
    project: &Project,
    name: &str,
    session: SessionId,
    n_tokens: u64,
    mut changes: Vec<StoreChange>,
) -> Result<(), Error> {
    let now = project.now;
    changes.push(StoreChange::PassMilestone(Milestone {
        name: format!("{name} {} {session}", now.0 / DAY_MS),
        count: i64::try_from(n_tokens).unwrap_or(i64::MAX),
    }));
    let batch = user_batch(AuditAction::Promote, now, changes);
    // Two processes may ask at the same time; the second answer is dropped.
    let key = (name == ASKED).then(|| format!("{ASKED} {session}"));
    let batch = WriteBatch { actor: Actor::Observer, key, ..batch };
    project.write(NotebookScope::Project, batch).await?;
    Ok(())
}

fn claim_draft(claim: &AnsweredClaim) -> MemoryDraft {
    // A team that shares its memories can leave these out.
    let is_local = claim.scope == AnsweredScope::Machine;
    MemoryDraft {
        kind: MemoryType::Core(claim.kind),
        content: claim.text.clone(),
        files: claim_files(claim),
        modules: Vec::new(),
        tags: is_local.then(|| MACHINE_TAG.to_owned()).into_iter().collect(),
        payload: None,
        scope: None,
        wish: None,
        is_confirmed: true,
    }
}

fn keep_verdict(claim: &AnsweredClaim, verdict: &ClaimVerdict) -> PromotionVerdict {
    let needs_review = *verdict == ClaimVerdict::Review;
    // Text that may come from outside the project earns less trust.
    let share = if needs_review { 700 } else { 1000 };
    let confidence = u32::from(claim.sure) * FULL_CONFIDENCE / 1000 * share / 1000;
    let confidence = PerMille::new(u16::try_from(confidence).unwrap_or(u16::MAX).min(950));
    let (score, tainted) = (confidence, needs_review);
    PromotionVerdict::Keep { confidence, score, needs_review, tainted, candidate: false }
}

fn claim_files(claim: &AnsweredClaim) -> Vec<ProjectPath> {
    claim.files.iter().filter_map(|it| ProjectPath::parse(it).ok()).collect()
}

fn claim_evidence(claim: &AnsweredClaim, said_at: Timestamp) -> Evidence {
    let mask = |it: &str| secrets::redact(it).text;
    let quotes: Vec<String> = claim.quotes.iter().map(|it| mask(&it.text)).collect();
    let cue = Some(mask(&claim.when)).filter(|it| !it.is_empty()).map(TellCue::Task);
    Evidence::Claim(Box::new(ClaimEvidence {
        source: ClaimSource::Model,
        text: mask(&claim.text),
        quote: quotes.join(" … "),
        files: claim_files(claim),
        tell_at: cue.into_iter().collect(),
        outcome: None,
        score: PerMille::new(claim.sure),
        said_at: Some(said_at),
    }))
}
