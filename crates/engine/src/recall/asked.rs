//! A question on its way: what is known about it, whom it is put to, and what each path finds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use infer::Embeddings;
use model::{MemoryId, words};
use recall::{Bearing, Class, Codes, Found, Fused, Paths, Purpose, Stage, dot};
use store::Filter;

use super::ask::Question;
use super::book::{Book, read};
use super::hunt::Hunt;
use super::index::ShutOut;
use crate::models::{self, Meaning, aside};
use crate::{Engine, Error};

/// How many candidates the path of vectors names.
const DENSE: usize = 50;
/// How many the path of words names.
const KEYWORD: usize = 50;
/// The most of a question that is read; what comes after it changes nothing.
const LONGEST: usize = 8 << 10;
/// How many memories a question gives their vectors in passing.
const IN_PASSING: usize = 32;

pub(super) struct Asked<'a> {
    pub(super) question: &'a Question,
    pub(super) text: &'a str,
    pub(super) terms: Vec<String>,
    pub(super) class: Class,
    pub(super) books: Vec<Book>,
    pub(super) embeddings: Option<Embeddings>,
    pub(super) meaning: Meaning,
    pub(super) notices: Vec<String>,
}

/// The vector of a question, and where it stands in each notebook.
pub(super) struct View {
    vector: Vec<f32>,
    /// What is compared with codes.
    head: Vec<f32>,
    bearings: Vec<Bearing>,
}

/// What was found on all paths.
pub(super) struct Pursuit {
    pub(super) paths: Paths,
    pub(super) met: Met,
    pub(super) view: Option<View>,
    /// What was wrong on the way.
    pub(super) notices: Vec<String>,
}

/// A candidate's key: its notebook and its number there.
pub(super) fn key(book: usize, number: u32) -> u32 {
    number | u32::try_from(book).unwrap_or(0) << 31
}

pub(super) fn place(key: u32) -> (usize, u32) {
    ((key >> 31) as usize, key & !(1 << 31))
}

/// The strongest that was met on the way, for the decision whether there is an answer.
#[derive(Clone, Copy, Default)]
pub(super) struct Met {
    /// The weight of the terms that one memory holds.
    pub(super) mass: f64,
    /// Its share in the weight of all terms.
    pub(super) share: f64,
    /// How far one stands out by its vector.
    pub(super) place: Option<f32>,
}

impl View {
    /// Whether the codes hold only the beginning of what the vectors say.
    const fn is_cut(&self) -> bool {
        self.head.len() < self.vector.len()
    }
}

impl Asked<'_> {
    /// Where the question stands in each notebook.
    fn view(&self, vector: &[f32]) -> View {
        let head = models::head(vector);
        let bearing = |it: &Book| read(&it.index).lie.bearing(&head, self.meaning.prior());
        let bearings = self.books.iter().map(bearing).collect();
        View { vector: vector.to_vec(), head, bearings }
    }

    /// Memories as their codes see the question: by their best part and their best sentence.
    pub(super) fn measured(
        &self,
        at: usize,
        view: &View,
        numbers: impl Iterator<Item = u32>,
    ) -> Vec<Found> {
        let index = read(&self.books[at].index);
        let see = |codes: &Codes, number: u32| {
            let (score, row) = codes.nearest_of(number, &view.head)?;
            Some((score, view.bearings[at].place(&row, score)))
        };
        let measure = |number: u32| {
            let part = see(&index.codes, number)?;
            let sentence = see(&index.sentences, number).unwrap_or(part);
            let (score, place) = (part.0.max(sentence.0), f32::midpoint(part.1, sentence.1));
            Some(Found { key: key(at, number), score, place })
        };
        numbers.filter_map(measure).collect()
    }

    /// How crowded the notebooks are, and how many vectors they have.
    pub(super) fn crowd(&self) -> (f32, usize) {
        let (mut crowding, mut n_vectors) = (0.0_f32, 0);
        for book in &self.books {
            let index = read(&book.index);
            crowding = crowding.max(index.lie.crowding(self.meaning.prior()));
            n_vectors += index.codes.len();
        }
        (crowding, n_vectors)
    }

    /// The newest of those who may answer, for when nothing was asked in words.
    pub(super) fn newest(&self, limit: usize) -> Vec<Fused> {
        let mut res = Vec::new();
        for (at, book) in self.books.iter().enumerate() {
            let mut numbers: Vec<u32> = book.allowed.iter().collect();
            numbers.reverse();
            let fused = |it| Fused { key: key(at, it), score: 1.0, traces: Vec::new() };
            res.extend(numbers.into_iter().take(limit).map(fused));
        }
        res
    }
}

impl Engine {
    pub(super) async fn begin<'a>(&self, question: &'a Question) -> Result<Asked<'a>, Error> {
        let text = &question.text[..question.text.floor_char_boundary(LONGEST)];
        let mut notices = Vec::new();
        let embeddings = match self.config.models.embeddings().await {
            Ok(it) => Some(it),
            Err(error) => {
                notices.push(format!("only words are searched: {error}"));
                None
            }
        };
        let filter = admitted(&question.filter, question.purpose);
        let shut_out = self.shut_out(question.purpose).await?;
        let notebooks = self.within(question.reach);
        let wants_vectors = question.without.keeps(Stage::Dense) && !text.trim().is_empty();
        // A provider takes its time, and whoever asks waits: `embed` is there for that.
        let in_passing = if self.config.models.is_built_in() { IN_PASSING } else { 0 };
        let mut indexes = Vec::new();
        for notebook in &notebooks {
            let index = self.index(&notebook.store).await?;
            let lacks = !read(&index).unembedded().is_empty();
            indexes.push(index);
            if lacks && wants_vectors && embeddings.is_some() {
                match self.embed_some(&notebook.store, in_passing).await {
                    Ok(it) if it.left == 1 => notices.push(
                        "1 memory has no vector yet and is found by its words alone".to_owned(),
                    ),
                    Ok(it) if it.left > 1 => notices.push(format!(
                        "{} memories have no vector yet and are found by their words alone",
                        it.left
                    )),
                    Ok(_) => {}
                    Err(error) => notices.push(format!("new memories have no vectors: {error}")),
                }
                self.index(&notebook.store).await?;
            }
        }
        let notebooks = notebooks.into_iter().zip(indexes).collect();
        let books = self.books(notebooks, &filter, &shut_out).await?;
        let model = embeddings.as_ref().map_or("", Embeddings::id);
        Ok(Asked {
            question,
            text,
            terms: words::keywords(text),
            class: recall::classify(text),
            books,
            meaning: models::meaning(model),
            embeddings,
            notices,
        })
    }

    /// The vector of the question, unless nobody asked for one or there is none to be had.
    pub(super) async fn vector(&self, asked: &mut Asked<'_>) -> Option<Vec<f32>> {
        let dense = asked.question.without.keeps(Stage::Dense) && !asked.text.trim().is_empty();
        asked.embeddings.as_ref().filter(|_| dense)?;
        let text = self.config.models.sayable(asked.text);
        if text != asked.text {
            asked.notices.push(
                "what looks like a secret in the question was not sent to the provider".to_owned(),
            );
        }
        match self.config.models.query(&text).await {
            Ok(vector) => Some(vector),
            Err(error) => {
                asked.notices.push(format!("only words are searched: {error}"));
                None
            }
        }
    }

    /// What each path says about every candidate that any of them names, for a question with this
    /// vector.
    pub(super) async fn paths(
        &self,
        asked: &Asked<'_>,
        vector: Option<&[f32]>,
    ) -> Result<Pursuit, Error> {
        // The store looks for words on a thread of its own, while vectors are compared on this one.
        let mut hunts = Vec::new();
        for book in &asked.books {
            let hunt = hunt(asked, book);
            hunts.push(hunt.map(|it| book.notebook.store.look(move |words| it.run(words))));
        }
        let view = vector.map(|it| asked.view(it));
        let (mut paths, mut met, mut damaged) = (Paths::default(), Met::default(), Vec::new());
        paths.graph = self.graph_path(asked).await?;
        for ((at, book), hunt) in asked.books.iter().enumerate().zip(hunts) {
            let near = view.as_ref().map(|it| near(book, &it.vector)).unwrap_or_default();
            // Measured while the words are looked for; what else is found, afterwards.
            let seen = |numbers: HashSet<u32>| {
                let view = view.as_ref().map(|it| asked.measured(at, it, numbers.into_iter()));
                view.unwrap_or_default()
            };
            let mut dense = seen(near.iter().copied().collect());
            let matches = match hunt {
                Some(hunt) => recall::best(hunt.await?, KEYWORD, &near),
                None => Vec::new(),
            };
            let held = matches.iter().map(|it| it.number);
            let tied = paths.graph.iter().map(|it| place(it.key)).filter(|it| it.0 == at);
            let others = held.chain(tied.map(|it| it.1));
            dense.extend(seen(others.filter(|it| near.binary_search(it).is_err()).collect()));
            if let Some(view) = view.as_ref().filter(|it| it.is_cut()) {
                damaged.extend(self.rescore(asked, at, view, &mut dense).await?);
            }
            paths.dense.extend(dense);
            for it in matches {
                met.mass = met.mass.max(it.mass);
                met.share = met.share.max(it.share);
                #[expect(clippy::cast_possible_truncation, reason = "a score, for ordering")]
                let score = it.score as f32;
                paths.keyword.push(Found { key: key(at, it.number), score, place: 0.0 });
            }
        }
        recall::place_by_best(&mut paths.keyword);
        recall::place_by_best(&mut paths.graph);
        for list in [&mut paths.dense, &mut paths.keyword] {
            list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
        }
        met.place = paths.dense.iter().map(|it| it.place).reduce(f32::max);
        let notices = without_vector(&damaged, "placed by what is known of it without");
        Ok(Pursuit { paths, met, view, notices: notices.into_iter().collect() })
    }

    /// Puts candidates in the order of their whole vectors, where their codes are only the beginning;
    /// says whose are damaged. Those keep the place that their codes give them.
    async fn rescore(
        &self,
        asked: &Asked<'_>,
        at: usize,
        view: &View,
        dense: &mut [Found],
    ) -> Result<Vec<MemoryId>, Error> {
        let Some(embeddings) = &asked.embeddings else { return Ok(Vec::new()) };
        let book = &asked.books[at];
        let known: Vec<(u32, MemoryId)> = {
            let index = read(&book.index);
            dense.iter().filter_map(|it| Some((it.key, index.id(place(it.key).1)?))).collect()
        };
        let ids = known.iter().map(|it| it.1).collect();
        let whole = book.notebook.store.vectors_of(ids, embeddings.id().to_owned()).await?;
        let ids: HashMap<u32, MemoryId> = known.into_iter().collect();
        let index = read(&book.index);
        recall::reorder(dense, |it| {
            let parts = whole.of.get(ids.get(&it.key)?)?.iter().filter(|it| !it.values.is_empty());
            let exact = parts.map(|it| dot(&it.values, &view.vector)).reduce(f32::max)?;
            // A sentence has a code only: what it was nearer than the whole, it stays.
            let (part, _) = index.codes.nearest_of(place(it.key).1, &view.head)?;
            Some(exact + (it.score - part))
        });
        Ok(whole.damaged)
    }

    /// What does not count here, whatever the filter says: memories a person kept out of this
    /// project and, unasked, those of branches that are not merged.
    async fn shut_out(&self, purpose: Purpose) -> Result<ShutOut, Error> {
        let memories: HashSet<MemoryId> = self.excluded().await?.into_iter().collect();
        let branches =
            if purpose.row().automatic { self.closed_branches().await } else { Vec::new() };
        Ok(ShutOut { memories, branches })
    }

    /// The branches that are not merged into what is checked out, as far as that is known.
    pub(super) async fn unmerged(&self) -> Vec<String> {
        let place = self.place.clone();
        aside(move || source::unmerged(&place)).await.unwrap_or_default()
    }
}

/// Who is to be looked for by words, if that is asked for.
fn hunt(asked: &Asked<'_>, book: &Book) -> Option<Hunt> {
    let (index, allowed) = (Arc::clone(&book.index), Arc::clone(&book.allowed));
    let wanted = !asked.terms.is_empty() && asked.question.without.keeps(Stage::Keyword);
    wanted.then(|| Hunt { terms: asked.terms.clone(), index, allowed })
}

/// The numbers of the memories of which a part or a sentence is nearest to a vector, sorted.
fn near(book: &Book, vector: &[f32]) -> Vec<u32> {
    let (index, code) = (read(&book.index), models::code(vector));
    let slots = |codes: &Codes| {
        let near = recall::nearest(codes, &code, &book.allowed, DENSE);
        // Codes of another length are no answer; they were left out when they came.
        near.unwrap_or_default().into_iter().map(|it| it.slot)
    };
    let mut res: Vec<u32> = slots(&index.codes).chain(slots(&index.sentences)).collect();
    res.sort_unstable();
    res.dedup();
    res
}

/// What is said of memories whose vectors are damaged, and what became of them.
pub(super) fn without_vector(damaged: &[MemoryId], fate: &str) -> Option<String> {
    let first = damaged.first()?;
    let more = match damaged.len() - 1 {
        0 => String::new(),
        n => format!(" (and of {n} more)"),
    };
    Some(format!("the vector of memory #{}{more} is damaged: it is {fate}", first.short()))
}

/// The filter as the purpose allows it.
fn admitted(filter: &Filter, purpose: Purpose) -> Filter {
    let mut res = filter.clone();
    if purpose.row().automatic {
        res.statuses.retain(|it| purpose.statuses().contains(it));
    }
    res
}
