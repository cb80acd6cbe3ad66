//! From a question to a ranked answer: read candidates, think, read what was chosen, think again.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use model::{Memory, MemoryId, RelationTarget};
use recall::{Fused, LeftOut, Ranked, Stage, Standing, Verdict};

use super::ask::{Answer, PassedOver, Question};
use super::asked::{Asked, key, place};
use super::book::read;
use super::weigh::{Gains, Read, fuse, has_scale, hit, judge, n_weighed, rank};
use crate::models::{PATIENCE, aside};
use crate::{Engine, Error, Reach, Shown};

/// From this share of recency on, in thousandths, it is worth asking how much files change.
const COUNTS: u16 = 100;
/// How many of the best a reranker reads.
const RERANKED: usize = 20;
/// A search with fewer good hits than this is worth a second try with an imagined answer.
const FEW: usize = 3;
/// From this score on a hit is a good one.
const GOOD: f32 = 0.5;

/// Beside the best, what is weaker than this is noise.
const WEAK: f32 = 0.15;
/// How many linked memories an answer pulls in.
const PULLED: usize = 3;
/// What a language model is told when it imagines an answer.
const IMAGINE: &str = "You help to search the notes of a software project. Write the one or two \
sentences such a note would hold if it answered the question. Write only the note.";
/// How long imagining may take: somebody asked and waits.
const IMAGINING: Duration = Duration::from_secs(8);

impl Engine {
    /// Answers a question.
    pub async fn recall(&self, question: &Question) -> Result<Answer, Error> {
        let mut asked = self.begin(question).await?;
        let vector = self.vector(&mut asked).await;
        let mut pursuit = self.paths(&asked, vector.as_deref()).await?;
        let (mut fused, mut gains) = fuse(&asked, &pursuit);
        let mut boosts = self.boost(&asked, &mut fused).await?;
        let mut found = self.read_candidates(&asked, fused).await?;
        let mut verdict = judge(&asked, &found, pursuit.met);
        if self.is_worth_imagining(&asked, &verdict, &found)
            && let Some(vector) = self.imagined(&mut asked).await
        {
            pursuit = self.paths(&asked, Some(&vector)).await?;
            (fused, gains) = fuse(&asked, &pursuit);
            boosts = self.boost(&asked, &mut fused).await?;
            found = self.read_candidates(&asked, fused).await?;
            verdict = judge(&asked, &found, pursuit.met);
        }
        asked.notices.append(&mut pursuit.notices);
        self.rerank(&mut asked, &mut found).await;
        let ranked = rank(&asked, &found, self.now);
        let mut res = Answer {
            hits: Vec::new(),
            passed_over: Vec::new(),
            class: asked.class,
            verdict,
            notices: asked.notices.clone(),
        };
        self.hand_out(&asked, ranked, found, &Gains { neighbours: gains, boosts }, &mut res)
            .await?;
        Ok(res)
    }

    /// Reads what was found, with what it is worth now. What cannot be read is not a candidate.
    async fn read_candidates(
        &self,
        asked: &Asked<'_>,
        mut fused: Vec<Fused>,
    ) -> Result<Vec<Read>, Error> {
        fused.truncate(n_weighed(asked));
        let mut memories: HashMap<u32, (Reach, Memory, Standing)> = HashMap::new();
        for (at, book) in asked.books.iter().enumerate() {
            let of_book = fused.iter().map(|it| place(it.key)).filter(|it| it.0 == at);
            let numbers: Vec<i64> = of_book.map(|it| i64::from(it.1)).collect();
            if numbers.is_empty() {
                continue;
            }
            let (read, quiet) = book.notebook.store.candidates(numbers).await?;
            let quiet = quiet.until(self.now);
            for (number, memory) in read {
                let standing = self.standing(&memory, &quiet);
                let key = key(at, u32::try_from(number).unwrap_or(0));
                memories.insert(key, (book.notebook.reach, memory, standing));
            }
        }
        self.add_churn(asked, &mut memories).await?;
        let read = |fused: Fused| {
            let (reach, memory, standing) = memories.remove(&fused.key)?;
            let files_gone = self.files_gone(&memory);
            let shown = Shown { memory, reach, current: standing.current };
            Some(Read { fused, shown, standing, files_gone, reranked: None })
        };
        Ok(fused.into_iter().filter_map(read).collect())
    }

    /// Says of each memory of the project how much its files change, where that counts.
    async fn add_churn(
        &self,
        asked: &Asked<'_>,
        memories: &mut HashMap<u32, (Reach, Memory, Standing)>,
    ) -> Result<(), Error> {
        let counts = asked.question.purpose.row().recency >= COUNTS
            && asked.question.without.keeps(Stage::Habit);
        let Some(store) = self.near_store().filter(|_| counts) else { return Ok(()) };
        let own = |it: &&(Reach, Memory, Standing)| it.0 == Reach::Project;
        let files = memories.values().filter(own).flat_map(|it| &it.1.files);
        let files: BTreeSet<String> = files.map(|it| it.as_str().to_owned()).collect();
        if files.is_empty() {
            return Ok(());
        }
        let churn = store.churn(files.into_iter().collect()).await?;
        for (reach, memory, standing) in memories.values_mut() {
            if *reach == Reach::Project {
                let known = memory.files.iter().filter_map(|it| churn.get(it.as_str()).copied());
                standing.churn = known.reduce(f32::max);
            }
        }
        Ok(())
    }

    /// Whether a memory speaks of files, and none of them is there any more.
    fn files_gone(&self, memory: &Memory) -> bool {
        let there = |it: &model::ProjectPath| source::exists(&self.place.root, it.as_str());
        memory.project.is_some() && !memory.files.is_empty() && !memory.files.iter().any(there)
    }

    /// Lets a reranker read the best, where there is one and there is time for it.
    async fn rerank(&self, asked: &mut Asked<'_>, found: &mut [Read]) {
        let wanted = asked.question.purpose.row().reranks
            && asked.question.without.keeps(Stage::Rerank)
            && !asked.text.trim().is_empty();
        if !wanted || found.is_empty() {
            return;
        }
        let n_read = RERANKED.min(found.len());
        let texts = found[..n_read].iter().map(|it| it.shown.memory.content.clone()).collect();
        match self.config.models.rerank(asked.text, texts).await {
            None => {}
            Some(Ok(scores)) => {
                for (it, score) in found.iter_mut().zip(scores) {
                    it.reranked = Some(score);
                }
            }
            Some(Err(error)) => asked.notices.push(format!("not reranked: {error}")),
        }
    }

    /// Deals the ranked candidates out: into the answer, or past it with a reason.
    async fn hand_out(
        &self,
        asked: &Asked<'_>,
        ranked: Vec<Ranked>,
        found: Vec<Read>,
        gains: &Gains,
        acc: &mut Answer,
    ) -> Result<(), Error> {
        let mut found: HashMap<u32, Read> =
            found.into_iter().map(|it| (it.fused.key, it)).collect();
        let whole = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
        let filter = &asked.question.filter;
        let (mut skip, limit) = (whole(filter.offset), whole(filter.limit));
        for ranked in ranked {
            let Some(read) = found.remove(&ranked.fused.key) else { continue };
            let left_out = ranked.left_out;
            let hit = hit(asked, ranked, read, gains);
            let reason = match (left_out, acc.verdict) {
                (Some(LeftOut::Unsure), _) => Some(PassedOver::Unsure),
                (Some(LeftOut::OutOfPhase), _) => Some(PassedOver::OutOfPhase),
                (Some(LeftOut::FilesGone), _) => Some(PassedOver::FilesGone),
                (None, Verdict::Nothing { .. }) => Some(PassedOver::Irrelevant),
                (None, Verdict::Answered { .. })
                    if hit.because.factors.relevance < WEAK && has_scale(asked) =>
                {
                    Some(PassedOver::Irrelevant)
                }
                (None, _) if skip > 0 || acc.hits.len() >= limit => {
                    skip = skip.saturating_sub(1);
                    Some(PassedOver::Beyond)
                }
                (None, _) => None,
            };
            match reason {
                Some(reason) => acc.passed_over.push((hit, reason)),
                None => acc.hits.push(hit),
            }
        }
        if asked.question.without.keeps(Stage::Expand) {
            self.expand(asked, acc).await?;
        }
        Ok(())
    }

    /// Adds memories that are linked to those given, behind them: they were not asked for, but
    /// belong to what was.
    async fn expand(&self, asked: &Asked<'_>, acc: &mut Answer) -> Result<(), Error> {
        let room = usize::try_from(asked.question.filter.limit).unwrap_or(usize::MAX);
        let room = room.saturating_sub(acc.hits.len()).min(PULLED);
        let mut known: Vec<MemoryId> = acc.hits.iter().map(|it| it.shown.memory.id).collect();
        let mut pulled = Vec::new();
        for hit in &acc.hits {
            for relation in &hit.shown.memory.relations {
                let RelationTarget::Memory(id) = relation.target else { continue };
                if pulled.len() < room
                    && relation.kind.pulls()
                    && !known.contains(&id)
                    && let Some(read) = self.linked(asked, id).await?
                {
                    known.push(id);
                    pulled.push((read, hit.shown.memory.id));
                }
            }
        }
        for (read, by) in pulled {
            let ranked = rank(asked, std::slice::from_ref(&read), self.now).remove(0);
            let mut hit = hit(asked, ranked, read, &Gains::default());
            hit.because.pulled_by = Some(by);
            acc.hits.push(hit);
        }
        Ok(())
    }

    /// A linked memory, if it may answer at all.
    async fn linked(&self, asked: &Asked<'_>, id: MemoryId) -> Result<Option<Read>, Error> {
        for (at, book) in asked.books.iter().enumerate() {
            let number = read(&book.index).number(id).filter(|it| book.allowed.contains(*it));
            if let Some(number) = number {
                let fused = Fused { key: key(at, number), score: 0.0, traces: Vec::new() };
                return Ok(self.read_candidates(asked, vec![fused]).await?.pop());
            }
        }
        Ok(None)
    }

    /// The vector of an answer a language model imagines: it may be near what the question is not.
    async fn imagined(&self, asked: &mut Asked<'_>) -> Option<Vec<f32>> {
        let embeddings = asked.embeddings.clone()?;
        let written =
            self.config.models.write(IMAGINE, asked.text.to_owned(), 160, IMAGINING).await?;
        let vector = match written {
            Ok(text) => aside(move || embeddings.embed_query(&text, PATIENCE)).await,
            Err(error) => Err(error),
        };
        vector.map_err(|error| asked.notices.push(format!("no second search: {error}"))).ok()
    }

    /// Whether a second search with an imagined answer may find what the first did not.
    fn is_worth_imagining(&self, asked: &Asked<'_>, verdict: &Verdict, found: &[Read]) -> bool {
        let good = found.iter().filter(|it| it.fused.score > GOOD).count();
        let poor = good < FEW || matches!(verdict, Verdict::Nothing { .. });
        poor && self.config.models.can_write()
            && asked.question.purpose.row().imagines
            && asked.question.without.keeps(Stage::Hyde)
            && asked.embeddings.is_some()
            && !asked.text.trim().is_empty()
    }
}
