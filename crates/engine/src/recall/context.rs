//! What an agent is told without asking for each memory: chosen, packed within a budget of tokens,
//! every choice explained. Here candidates are gathered; `assemble` does the rest.

use std::collections::HashSet;

use model::{
    DAY, Kind, Memory, MemoryId, PerMille, Phase, ProjectPath, Status, age, current_confidence,
};
use observe::Foreseen;
use recall::{
    Candidate, Class, Factors, Fused, PaidBy, Pipeline, Purpose, Standing, Verdict, Without, phase,
};
use store::{Filter, WARNING_KINDS};

use super::ask::{Because, Hit, PassedOver, Question};
use super::excerpt::Told;
use crate::{Engine, Error, Shown};

/// What a context is wanted for.
#[derive(Clone, Debug)]
pub struct Occasion {
    /// What is about to be done, in any words; empty when nobody said.
    pub task: String,
    /// The files at hand.
    pub files: Vec<ProjectPath>,
    pub phase: Phase,
    /// Tokens of the whole text; what the phase asks for when nobody says.
    pub budget: Option<u32>,
    /// Whole texts instead of summaries.
    pub full: bool,
    pub without: Without,
    /// What the session has seen already and need not see again.
    pub already_shown: HashSet<MemoryId>,
    /// What the session was told in a conversation that is gone: it is told again, if it still holds.
    pub lost: HashSet<MemoryId>,
    /// Only what concerns any work here: what is pinned, what speaks of no file, and errors that come
    /// again and again. The rest waits for its file.
    pub general: bool,
    /// What failed in earlier sessions is told as well, when nobody said what is to be done.
    pub outlook: bool,
    /// What the session has heard that is no memory, word for word.
    pub told: HashSet<String>,
    /// Files the session went over: what is remembered next to them is likelier.
    pub around: Vec<ProjectPath>,
    /// The modules the task is about.
    pub modules: Vec<String>,
    /// The stage of a pipeline that asks; its sections are what the text is divided into.
    pub pipeline: Option<Pipeline>,
    /// What said that the work failed; stands behind the notes, when there are any.
    pub report: String,
    /// The host that is told: it need not hear what it reads by itself.
    pub host: Option<&'static str>,
    /// Only what is surer than this, or pinned: what the trust level asks for, unasked.
    pub above: PerMille,
}

impl Occasion {
    /// Nothing is known but the phase.
    pub fn of(phase: Phase) -> Self {
        Self {
            task: String::new(),
            files: Vec::new(),
            phase,
            budget: None,
            full: false,
            without: Without::default(),
            already_shown: HashSet::new(),
            lost: HashSet::new(),
            general: false,
            outlook: true,
            told: HashSet::new(),
            around: Vec::new(),
            modules: Vec::new(),
            pipeline: None,
            report: String::new(),
            host: None,
            above: PerMille::ZERO,
        }
    }

    /// Nothing is known but the stage that asks.
    pub fn for_pipeline(pipeline: Pipeline) -> Self {
        Self { pipeline: Some(pipeline), ..Self::of(pipeline.row().phase) }
    }
}

/// A text to put before an agent, and what became of every memory that was looked at.
#[derive(Clone, Debug)]
pub struct Context {
    /// Empty when there is nothing worth saying.
    pub text: String,
    /// Tokens of `text`, at most `budget`.
    pub used: u32,
    pub budget: u32,
    pub phase: Phase,
    /// The errors to expect here, as they stand in the text; empty when there are none to tell.
    pub outlook: String,
    /// What stands there that is no memory, of the module map say, as words that say it was told.
    pub told: Vec<String>,
    /// The files the task will need, if sessions on such work agree on any. `None` where nobody looked:
    /// there is no task, or its session was told of files before.
    pub foreseen: Option<Foreseen>,
    /// In the order of the text.
    pub placed: Vec<Placement>,
    /// Best first.
    pub left_out: Vec<(Hit, Omitted)>,
    /// How the task was understood, when there was one.
    pub class: Option<Class>,
    pub verdict: Verdict,
    pub notices: Vec<String>,
}

/// A memory in a context.
#[derive(Clone, Debug)]
pub struct Placement {
    pub hit: Hit,
    /// The file it stands under.
    pub file: Option<ProjectPath>,
    /// The heading it stands under, in a context of a pipeline.
    pub section: Option<&'static str>,
    /// Tokens it added.
    pub cost: u32,
    pub paid_by: PaidBy,
}

/// Why a memory is not in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omitted {
    /// It would not have been in any answer.
    PassedOver(PassedOver),
    /// It needs `cost` tokens, and `left` were left at the end.
    OverBudget { cost: u32, left: u32 },
}

impl Omitted {
    pub const fn slug(self) -> &'static str {
        match self {
            Self::PassedOver(why) => why.slug(),
            Self::OverBudget { .. } => "over_budget",
        }
    }

    pub const fn reading(self) -> &'static str {
        match self {
            Self::PassedOver(why) => why.reading(),
            Self::OverBudget { .. } => "there was no room for it",
        }
    }
}

/// What may enter a context, before anything is checked or compared.
pub(super) struct Pool {
    pub(super) hits: Vec<Hit>,
    pub(super) left_out: Vec<(Hit, Omitted)>,
    pub(super) class: Option<Class>,
    pub(super) verdict: Verdict,
    pub(super) notices: Vec<String>,
    pub(super) outlook: String,
    pub(super) excerpt: Vec<Told>,
    pub(super) foreseen: Option<Foreseen>,
}

/// Stands for the files of a task among what was told: they are named once a session.
pub(super) const FILES: &str = "files";
/// How many hits of a question are candidates.
const ASKED: u32 = 60;
/// How many of the newest, of the pinned and of each type that the phase keeps room for are weighed
/// when nothing was asked.
const NEWEST: u32 = 100;
const PER_TYPE: u32 = 30;
/// How many memories of one file are weighed.
const PER_FILE: u32 = 300;

impl Engine {
    /// What an agent should know when it begins. A task that nothing relates to gives an empty
    /// context; without a task, what counts most is said.
    pub async fn context_start(&self, occasion: &Occasion) -> Result<Context, Error> {
        let mut pool = if occasion.task.trim().is_empty() {
            Pool::of(self.listed(&valued(occasion.phase), occasion, Purpose::Start).await?)
        } else {
            self.related(&occasion.task, None, occasion).await?
        };
        let of_kind = |file: &ProjectPath, kind: Kind| {
            let kind = Some(kind.slug().to_owned());
            Filter { kind, file: Some(file.clone()), ..live(PER_FILE) }
        };
        let warnings =
            occasion.files.iter().flat_map(|it| WARNING_KINDS.map(|kind| of_kind(it, kind)));
        let warnings: Vec<Filter> = warnings.collect();
        pool.hits.extend(self.listed(&warnings, occasion, Purpose::Start).await?);
        pool.hits.extend(self.lost(occasion).await?);
        if occasion.outlook && occasion.task.trim().is_empty() {
            pool.outlook = self.outlook().await?;
        }
        pool.excerpt = self.excerpt(occasion).await?;
        if !occasion.task.trim().is_empty() && !occasion.told.contains(FILES) {
            let mut foreseen = self.foreseen(&occasion.task).await?;
            let is_at_hand = |path: &str| {
                occasion.files.iter().chain(&occasion.around).any(|it| it.as_str() == path)
            };
            foreseen.files.retain(|it| !is_at_hand(&it.path));
            pool.foreseen = Some(foreseen);
        }
        self.assemble(occasion, Purpose::Start, pool).await
    }

    /// What an agent should know about the files at hand: warnings first.
    pub async fn context_file(&self, occasion: &Occasion) -> Result<Context, Error> {
        let of_file = |it: &ProjectPath| Filter { file: Some(it.clone()), ..live(PER_FILE) };
        let filters: Vec<Filter> = occasion.files.iter().map(of_file).collect();
        let pool = Pool::of(self.listed(&filters, occasion, Purpose::File).await?);
        self.assemble(occasion, Purpose::File, pool).await
    }

    /// What the session was told before its conversation was gone, and stands.
    async fn lost(&self, occasion: &Occasion) -> Result<Vec<Hit>, Error> {
        let mut found = Vec::new();
        for notebook in self.notebooks().into_iter().filter(|_| !occasion.lost.is_empty()) {
            let quiet = self.quiet(&notebook.store).await?;
            for id in &occasion.lost {
                let memory = notebook.store.get(*id).await?;
                let Some(memory) = memory.filter(|it| it.status() == Status::Live) else {
                    continue;
                };
                let standing = self.standing(&memory, &quiet);
                let shown = Shown { memory, reach: notebook.reach, current: standing.current };
                found.push((shown, standing));
            }
        }
        Ok(weighed(found, occasion.phase, Purpose::Start, &occasion.without))
    }

    /// What relates to a text, of one type or of any.
    pub(super) async fn related(
        &self,
        text: &str,
        kind: Option<Kind>,
        occasion: &Occasion,
    ) -> Result<Pool, Error> {
        let kind = kind.map(|it| it.slug().to_owned());
        let question = Question {
            text: text.to_owned(),
            files: [occasion.files.as_slice(), &occasion.around].concat(),
            filter: Filter { kind, ..live(ASKED) },
            reach: None,
            phase: Some(occasion.phase),
            purpose: Purpose::Start,
            without: occasion.without.clone(),
        };
        let answer = self.recall(&question).await?;
        let (mut hits, mut left_out) = (answer.hits, Vec::new());
        let answered = !matches!(answer.verdict, Verdict::Nothing { .. });
        for (hit, why) in answer.passed_over {
            // Files that seem to be gone may have been renamed: that is looked into later.
            match why {
                PassedOver::FilesGone if answered => hits.push(hit),
                _ => left_out.push((hit, Omitted::PassedOver(why))),
            }
        }
        let (class, verdict, notices) = (Some(answer.class), answer.verdict, answer.notices);
        let rest = Pool::of(Vec::new());
        Ok(Pool { hits, left_out, class, verdict, notices, ..rest })
    }

    /// Memories that pass any of the filters, weighed as if all were equally relevant.
    pub(super) async fn listed(
        &self,
        filters: &[Filter],
        occasion: &Occasion,
        purpose: Purpose,
    ) -> Result<Vec<Hit>, Error> {
        if filters.is_empty() {
            return Ok(Vec::new());
        }
        let (excluded, closed) = (self.excluded().await?, self.closed_branches().await);
        let mut found = Vec::new();
        for notebook in self.notebooks() {
            let (mut memories, mut known) = (Vec::new(), HashSet::<MemoryId>::new());
            for filter in filters {
                let listed = notebook.store.list(filter.clone()).await?;
                memories.extend(listed.into_iter().filter(|it| known.insert(it.id)));
            }
            memories.retain(|it| {
                let elsewhere = it.branch.as_ref().is_some_and(|it| closed.contains(it));
                !elsewhere && !excluded.contains(&it.id)
            });
            if memories.is_empty() {
                continue;
            }
            let quiet = self.quiet(&notebook.store).await?;
            found.extend(memories.into_iter().map(|it| {
                let standing = self.standing(&it, &quiet);
                (Shown { memory: it, reach: notebook.reach, current: standing.current }, standing)
            }));
        }
        Ok(weighed(found, occasion.phase, purpose, &occasion.without))
    }

    /// What a memory is worth at this moment.
    pub(super) fn standing(&self, memory: &Memory, quiet: &[model::QuietSpan]) -> Standing {
        let current = current_confidence(memory, &self.config.types, self.now, quiet);
        #[expect(clippy::cast_precision_loss, reason = "days, not milliseconds, matter")]
        let days = age(memory.last_touched(), self.now, quiet) as f32 / DAY as f32;
        Standing { current, days, churn: None }
    }
}

impl Pool {
    pub(super) fn of(hits: Vec<Hit>) -> Self {
        let (left_out, notices) = (Vec::new(), Vec::new());
        let (class, verdict, outlook) = (None, Verdict::Open, String::new());
        let (excerpt, foreseen) = (Vec::new(), None);
        Self { hits, left_out, class, verdict, notices, outlook, excerpt, foreseen }
    }
}

/// Only what nobody has doubts about.
pub(super) fn live(limit: u32) -> Filter {
    Filter { statuses: vec![Status::Live], ..Filter::standing(limit) }
}

/// Where to look for what counts most when nothing was asked.
fn valued(phase: Phase) -> Vec<Filter> {
    let of_kind =
        |it: &(Kind, u16)| Filter { kind: Some(it.0.slug().to_owned()), ..live(PER_TYPE) };
    let mut res = vec![live(NEWEST), Filter { pinned: Some(true), ..live(NEWEST) }];
    res.extend(phase::row(phase).shares.iter().map(of_kind));
    res
}

/// Weighs memories that are as relevant as one another; best first.
pub(super) fn weighed(
    found: Vec<(Shown, Standing)>,
    phase: Phase,
    purpose: Purpose,
    without: &Without,
) -> Vec<Hit> {
    let candidates: Vec<Candidate<'_>> = found
        .iter()
        .zip(0..)
        .map(|((shown, standing), key)| Candidate {
            memory: &shown.memory,
            standing: *standing,
            fused: Fused { key, score: 1.0, traces: Vec::new() },
            relevance: 1.0,
            files_gone: false,
        })
        .collect();
    let ranked = recall::rank(&candidates, Some(phase), purpose.row(), without);
    let hit = |it: recall::Ranked| listed_hit(found[it.fused.key as usize].0.clone(), it.factors);
    ranked.into_iter().map(hit).collect()
}

/// A hit that no path found: it is there for what it is about.
fn listed_hit(shown: Shown, factors: Factors) -> Hit {
    let because = Because {
        traces: Vec::new(),
        words: Vec::new(),
        neighbours: 0.0,
        boost: 0.0,
        factors,
        reranked: None,
        pulled_by: None,
        doubts: Vec::new(),
    };
    Hit { shown, score: factors.score, because }
}
