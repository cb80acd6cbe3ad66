//! What is thought about candidates: one list of what the paths found, whether it holds an answer, and
//! in which order. Nothing is read here.

use std::collections::HashMap;

use infer::Embeddings;
use model::Timestamp;
use recall::{
    Candidate, Evidence, FEW_VECTORS, Found, Fused, Nearness, Path, Paths, Ranked, Rule, Stage,
    Standing, Verdict, dates, neighbours,
};
use store::Filter;

use super::ask::{Because, Hit};
use super::asked::{Asked, Met, Pursuit, key, place};
use super::book::read;
use crate::Shown;
use crate::find::shared;

/// How many of the fused candidates are read and weighed for each that is wanted, and for how many
/// at least: trust and age move a memory by some places, not from the end to the beginning.
const WEIGHED: usize = 3;
const WANTED: usize = 10;
/// The nearest say whether a question is about code: all candidates are weighed alike.
const NEAREST: usize = 10;
/// How much a date in the question raises a memory from about then.
const DATED: f32 = 0.5;

/// A memory that was read, on its way to a place in the answer.
pub(super) struct Read {
    pub(super) fused: Fused,
    pub(super) shown: Shown,
    pub(super) standing: Standing,
    pub(super) files_gone: bool,
    /// What was said about it by somebody who read it with the question.
    pub(super) reranked: Option<f32>,
}

/// What candidates gained beside what the paths said.
#[derive(Default)]
pub(super) struct Gains {
    /// From memories beside them.
    pub(super) neighbours: HashMap<u32, f32>,
    /// From files next to those of the best.
    pub(super) boosts: HashMap<u32, f32>,
}

pub(super) fn n_weighed(asked: &Asked<'_>) -> usize {
    let Filter { limit, offset, .. } = asked.question.filter;
    let wanted = usize::try_from(limit.saturating_add(offset)).unwrap_or(usize::MAX);
    wanted.max(WANTED).saturating_mul(WEIGHED)
}

/// Whether what fusing gives says how well something fits, and not only what fits better.
pub(super) fn has_scale(asked: &Asked<'_>) -> bool {
    asked.question.without.keeps(Stage::Scores)
}

/// One list of what the paths found, and what each gained from its neighbours.
pub(super) fn fuse(asked: &Asked<'_>, pursuit: &Pursuit) -> (Vec<Fused>, HashMap<u32, f32>) {
    let Pursuit { paths, view, .. } = pursuit;
    if asked.terms.is_empty() && paths.dense.is_empty() && paths.graph.is_empty() {
        return (asked.newest(n_weighed(asked)), HashMap::new());
    }
    let without = &asked.question.without;
    let rule = if has_scale(asked) { Rule::Scores } else { Rule::Ranks };
    let is_code = |it: &&Found| {
        let (book, number) = place(it.key);
        read(&asked.books[book].index).is_code(number)
    };
    let nearest = &paths.dense[..NEAREST.min(paths.dense.len())];
    let n_code = nearest.iter().filter(is_code).count();
    let weights = asked.class.weights_among(n_code, nearest.len());
    let mut fused = recall::fuse(paths, weights, rule);
    if without.has(Stage::Neighbours) {
        return (fused, HashMap::new());
    }
    let beside = |it: u32| {
        let (book, number) = place(it);
        let (session, beside) =
            read(&asked.books[book].index).beside(number, neighbours::WINDOW)?;
        let named = beside.into_iter().map(|(number, distance)| (key(book, number), distance));
        Some(neighbours::Place { session: key(book, session), beside: named.collect() })
    };
    // A neighbour that no path named is measured by its vector; words it does not hold.
    let own = |it: u32| {
        let (book, number) = place(it);
        let allowed = asked.books[book].allowed.contains(number);
        let view = view.as_ref().filter(|_| allowed && rule == Rule::Scores)?;
        let dense = asked.measured(book, view, std::iter::once(number));
        let keyword = vec![Found { key: it, score: 0.0, place: 0.0 }];
        // Where the graph has spoken about others, its silence counts.
        let graph = if paths.graph.is_empty() { Vec::new() } else { keyword.clone() };
        recall::fuse(&Paths { dense, keyword, graph }, weights, rule).pop()
    };
    let words = |it: u32| {
        let (book, number) = place(it);
        read(&asked.books[book].index).words_of(number)
    };
    let gains = neighbours::raise(&mut fused, beside, own, words);
    (fused, gains)
}

/// Whether anything is relevant. What nobody asked in words is not judged.
pub(super) fn judge(asked: &Asked<'_>, found: &[Read], met: Met) -> Verdict {
    let without = &asked.question.without;
    let halved = without.has(Stage::Dense) || without.has(Stage::Keyword);
    // Cosines of another model mean something else, and in few memories nothing can stand out.
    let foreign = matches!(asked.embeddings, Some(Embeddings::Provider(_)));
    let (crowding, n_vectors) = asked.crowd();
    let unjudged = foreign && n_vectors < usize::from(FEW_VECTORS);
    if asked.text.trim().is_empty() || without.has(Stage::Abstain) || halved || unjudged {
        return Verdict::Open;
    }
    let cosine = |it: &Read| it.fused.trace(Path::Dense).map(|it| it.score);
    #[expect(clippy::cast_possible_truncation, reason = "measures, for comparing")]
    let (mass, share) = (met.mass as f32, met.share as f32);
    let nearness = if foreign {
        met.place.map(Nearness::Place)
    } else {
        found.iter().filter_map(cosine).reduce(f32::max).map(Nearness::Cosine)
    };
    let nearness = nearness.unwrap_or_default();
    let evidence = Evidence { nearness, share, mass, crowding, n_vectors };
    // What has no vector yet can only be judged by its words.
    let by_words_alone = |it: &Read| {
        it.fused.trace(Path::Keyword).is_some() && it.fused.trace(Path::Dense).is_none()
    };
    match recall::judge(evidence) {
        Verdict::Nothing { .. } if found.iter().any(by_words_alone) => {
            recall::judge(Evidence { nearness: Nearness::Unknown, ..evidence })
        }
        verdict => verdict,
    }
}

pub(super) fn rank(asked: &Asked<'_>, found: &[Read], now: Timestamp) -> Vec<Ranked> {
    let question = asked.question;
    let when = dates::when(asked.text, now).filter(|_| question.without.keeps(Stage::Dates));
    let relevance = |it: &Read| {
        let fit = when.map_or(0.0, |when| dates::fit(when, it.shown.memory.created_at));
        it.reranked.unwrap_or(it.fused.score) * (1.0 + DATED * fit)
    };
    let best = found.iter().map(relevance).fold(1.0, f32::max);
    let candidates: Vec<Candidate<'_>> = found
        .iter()
        .map(|it| Candidate {
            memory: &it.shown.memory,
            standing: it.standing,
            fused: it.fused.clone(),
            relevance: relevance(it) / best,
            files_gone: it.files_gone,
        })
        .collect();
    recall::rank(&candidates, question.phase, question.purpose.row(), &question.without)
}

pub(super) fn hit(asked: &Asked<'_>, ranked: Ranked, read: Read, gains: &Gains) -> Hit {
    let gained = |by: &HashMap<u32, f32>| by.get(&ranked.fused.key).copied().unwrap_or_default();
    let words = shared(&asked.terms, &read.shown.memory);
    let mut doubts = Vec::new();
    if read.files_gone {
        doubts.push("the files it speaks of are gone".to_owned());
    }
    Hit {
        score: ranked.factors.score,
        because: Because {
            neighbours: gained(&gains.neighbours),
            boost: gained(&gains.boosts),
            traces: ranked.fused.traces,
            words,
            factors: ranked.factors,
            reranked: read.reranked,
            pulled_by: None,
            doubts,
        },
        shown: read.shown,
    }
}
