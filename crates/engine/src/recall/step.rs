//! What is said between two steps: what could be said is gathered here, `recall::decide` decides.
//!
//! Asked at every step, so no vectors and no models: words, files and what the session did.

use std::collections::HashSet;

use model::{
    Kind, Memory, MemoryId, PerMille, Phase, ProjectPath, Tier, Timestamp, TrustLevel, words,
};
use recall::decide::{Decision, Ground, Offer, Step, Withheld, decide};
use recall::{Purpose, Stage, Without, frame, pipeline};
use store::{DataDir, ShownLog};

use super::ask::Question;
use super::context::{Occasion, live};
use super::recorded::Recorded;
use crate::find::shared;
use crate::{Engine, Error, RecipeFound, Shown};

/// The end of a step.
#[derive(Clone, Debug)]
pub struct StepAsked {
    /// The host's name for the session.
    pub session: String,
    /// Counted from 1.
    pub number: u32,
    pub level: TrustLevel,
    /// What the session is about; empty when nobody said.
    pub task: String,
    /// The files this step touched, and all that the session touched.
    pub files: Vec<ProjectPath>,
    pub touched: Vec<ProjectPath>,
    /// What this step searched for.
    pub searches: Vec<String>,
    /// Notes recorded from then on count as recorded in this step.
    pub since: Timestamp,
}

/// What is said, if anything, and what became of everything that could have been said.
#[derive(Clone, Debug, Default)]
pub struct StepContext {
    /// Empty when nothing is said.
    pub text: String,
    pub used: u32,
    /// Tokens said between steps of this session before.
    pub spent: u32,
    pub ground: Option<Ground>,
    pub said: Vec<StepOffer>,
    pub left_out: Vec<(StepOffer, Withheld)>,
}

/// Something that could be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOffer {
    pub ground: Ground,
    /// A memory's id, or what stands for a note that is none yet.
    pub word: String,
    pub line: String,
}

/// The most that is weighed for one search.
const PER_SEARCH: u32 = 5;
/// How a line begins that says how much was said.
pub(super) const SPENT: &str = "step ";

impl Engine {
    /// What would be said now; nothing is noted as shown.
    pub async fn context_step(&self, asked: &StepAsked) -> Result<StepContext, Error> {
        if !self.group(&asked.session).hears(Tier::Step) {
            return Ok(StepContext::default());
        }
        let shown = self.shown_log(&asked.session).read();
        let mut offers = Vec::new();
        self.offer_warnings(&mut offers, asked, &shown).await?;
        self.offer_recorded(&mut offers, asked);
        self.offer_known(&mut offers, asked).await?;
        self.offer_next(&mut offers, asked).await?;
        let mut known = HashSet::new();
        offers.retain(|it| !shown.contains(&it.0.word) && known.insert(it.0.word.clone()));
        let spent = spent(&shown);
        let step = Step { number: asked.number, level: asked.level, spent };
        let (mut words, mut offers): (Vec<StepOffer>, Vec<Offer>) = offers.into_iter().unzip();
        let mut gone = Vec::new();
        let Decision { text, used, ground, said, left_out } = loop {
            let decision = decide(step, &offers);
            let unfounded = self.unfounded_offers(&words, &decision.said).await?;
            if unfounded.is_empty() {
                break decision;
            }
            // What would have been said speaks of what is not there: decided again without it.
            for at in unfounded.into_iter().rev() {
                gone.push((words.remove(at), Withheld::Gone));
                offers.remove(at);
            }
        };
        let said = said.into_iter().map(|it| words[it].clone()).collect();
        let mut left_out: Vec<(StepOffer, Withheld)> =
            left_out.into_iter().map(|(at, why)| (words[at].clone(), why)).collect();
        left_out.append(&mut gone);
        Ok(StepContext { text, used, spent, ground, said, left_out })
    }

    /// Which of the offers that would be said speak of what is gone, by their place.
    async fn unfounded_offers(
        &self,
        words: &[StepOffer],
        said: &[usize],
    ) -> Result<Vec<usize>, Error> {
        let mut res = Vec::new();
        for at in said {
            // A step of a recipe goes by the recipe's id; a note that is none yet has no memory.
            let id = words[*at].word.split(' ').next().unwrap_or_default();
            let Ok(id) = id.parse::<MemoryId>() else { continue };
            let Some(memory) = self.memory_at(id).await? else { continue };
            if self.unfounded(&memory).await.is_some() {
                res.push(*at);
            }
        }
        res.sort_unstable();
        Ok(res)
    }

    /// Notes that it was said, so that it is not said again.
    pub fn said_at_step(&self, asked: &StepAsked, context: &StepContext) -> Result<(), Error> {
        self.enrol(&asked.session)?;
        if context.said.is_empty() {
            return Ok(());
        }
        let mut words: Vec<String> = context.said.iter().map(|it| it.word.clone()).collect();
        words.push(format!("{SPENT}{} {}", asked.number, context.used));
        Ok(self.shown_log(&asked.session).add(&words)?)
    }

    /// What is known about something that is being searched for by words: an answer, or nothing.
    pub async fn by_pattern(&self, pattern: &str) -> Result<Vec<Shown>, Error> {
        self.by_pattern_near(pattern, &[]).await
    }

    /// The same, with files at hand.
    async fn by_pattern_near(
        &self,
        pattern: &str,
        files: &[ProjectPath],
    ) -> Result<Vec<Shown>, Error> {
        let question = Question {
            text: pattern.to_owned(),
            files: files.to_vec(),
            filter: live(PER_SEARCH),
            reach: None,
            phase: Some(Phase::Implement),
            purpose: Purpose::Step,
            without: by_words(),
        };
        let answer = self.recall(&question).await?;
        let hits = answer.hits.into_iter().map(|it| it.shown);
        Ok(hits.filter(|it| holds_most(&it.memory, pattern)).collect())
    }

    pub(crate) fn shown_log(&self, session: &str) -> ShownLog {
        ShownLog::of(&DataDir::new(&self.config.data), session)
    }

    async fn offer_warnings(
        &self,
        acc: &mut Vec<(StepOffer, Offer)>,
        asked: &StepAsked,
        shown: &HashSet<String>,
    ) -> Result<(), Error> {
        let ids: HashSet<MemoryId> = shown.iter().filter_map(|it| it.parse().ok()).collect();
        for it in self.by_file(&asked.files, &ids).await? {
            acc.push(self.offer(Ground::Touched, &it));
        }
        Ok(())
    }

    /// Notes that were just recorded and are no memories yet.
    fn offer_recorded(&self, acc: &mut Vec<(StepOffer, Offer)>, asked: &StepAsked) {
        for Recorded { id, session, note } in self.recorded_since(asked.since) {
            let label = note.kind.core().map_or("NOTE", |it| it.row().label);
            let (short, remarks) = (session.short(), ["not yet reviewed".to_owned()]);
            let note_line =
                frame::Note { label, text: &note.content, id: &short, remarks: &remarks };
            let line = frame::line(&note_line);
            let (ground, kind) = (Ground::Recorded, note.kind.core());
            let word = format!("note {session} {id}");
            let offer = Offer { ground, kind, confidence: PerMille::ZERO, line: line.clone() };
            acc.push((StepOffer { ground, word, line }, offer));
        }
    }

    async fn offer_known(
        &self,
        acc: &mut Vec<(StepOffer, Offer)>,
        asked: &StepAsked,
    ) -> Result<(), Error> {
        for search in asked.searches.iter().filter(|it| !it.trim().is_empty()) {
            for it in self.by_pattern_near(search, &asked.files).await? {
                acc.push(self.offer(Ground::Known, &it));
            }
        }
        Ok(())
    }

    async fn offer_next(
        &self,
        acc: &mut Vec<(StepOffer, Offer)>,
        asked: &StepAsked,
    ) -> Result<(), Error> {
        if asked.task.trim().is_empty() || asked.touched.is_empty() {
            return Ok(());
        }
        let (without, around) = (by_words(), asked.files.clone());
        let occasion = Occasion { without, around, ..Occasion::of(Phase::Implement) };
        let pool = self.related(&asked.task, Some(Kind::WorkflowRecipe), &occasion).await?;
        let mut hits = pool.hits;
        hits.retain(|it| holds_most(&it.shown.memory, &asked.task));
        let Some(found) = hits.into_iter().find_map(RecipeFound::of) else { return Ok(()) };
        let Some(step) = pipeline::next_step(&found.recipe, &asked.touched) else { return Ok(()) };
        let text = format!("next: {}", pipeline::step_said(step));
        let line = self.note(&found.shown.memory, &text, &[]);
        let word = format!("{} {}", found.shown.memory.id, step.order);
        let (ground, kind) = (Ground::NextStep, Some(Kind::WorkflowRecipe));
        let offer = Offer { ground, kind, confidence: found.shown.current, line: line.clone() };
        acc.push((StepOffer { ground, word, line }, offer));
        Ok(())
    }

    fn offer(&self, ground: Ground, shown: &Shown) -> (StepOffer, Offer) {
        let memory = &shown.memory;
        let line = self.told(memory);
        let (kind, confidence) = (memory.kind.core(), shown.current);
        let offer = Offer { ground, kind, confidence, line: line.clone() };
        (StepOffer { ground, word: memory.id.to_string(), line }, offer)
    }
}

/// No vectors, no models: there is no time.
fn by_words() -> Without {
    Without(vec![Stage::Dense, Stage::Neighbours, Stage::Rerank, Stage::Hyde])
}

/// Whether a memory holds most of what is asked for, which is more than one word. Without vectors nobody
/// else judges whether it is relevant.
fn holds_most(memory: &Memory, text: &str) -> bool {
    let terms = words::keywords(text);
    let n_held = shared(&terms, memory).len();
    n_held >= 2 && 3 * n_held >= 2 * terms.len()
}

/// How much the session was told between steps.
fn spent(shown: &HashSet<String>) -> u32 {
    let tokens =
        |it: &String| -> Option<u32> { it.strip_prefix(SPENT)?.split_once(' ')?.1.parse().ok() };
    shown.iter().filter_map(tokens).fold(0, u32::saturating_add)
}
