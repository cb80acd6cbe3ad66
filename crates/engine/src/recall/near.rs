//! The graph path and the boost: memories about files next to those at hand, and next to those of the
//! best candidates. Asked file by file from what the index keeps, and for the files at hand from what
//! sessions touched together; without an index, that alone is left.

use std::collections::{HashMap, HashSet};

use ::graph::decode_ties;
use model::ProjectPath;
use recall::{Found, Fused, Stage, boost};
use store::{GraphStore, NearRow, TouchedWith};

use super::ask::Question;
use super::asked::{Asked, key, place};
use crate::{Engine, Error, Reach};

/// How many memories the path names.
const GRAPH: usize = 15;
/// How many files one looks around in, and how many of their neighbours count.
const SEEDS: usize = 12;
const NEIGHBOURS: usize = 60;
/// What is kept of a tie that is one step away, by what it is made of.
const BY_CODE: f32 = 0.6;
const BY_HISTORY: f32 = 0.8;
const BY_SESSIONS: f32 = 0.7;
/// As much of edges between two files as makes them half as close as two can be, in thousandths.
const HALF: f32 = 4_000.0;
/// The longest word that may name a file.
const LONGEST: usize = 200;

/// How near files are to others: 1 for the file itself.
pub(super) type Nearness = HashMap<String, f32>;

impl Engine {
    /// What the graph says about the question: memories about the files at hand and those named, and
    /// about their neighbours.
    pub(super) async fn graph_path(&self, asked: &Asked<'_>) -> Result<Vec<Found>, Error> {
        if asked.question.without.has(Stage::Graph) {
            return Ok(Vec::new());
        }
        let store = self.near_store();
        let seeds = seeds(asked.question, asked.text, store.as_ref()).await?;
        if seeds.is_empty() {
            return Ok(Vec::new());
        }
        let mut around = match store {
            Some(store) => nearness(&store.near(seeds.clone()).await?),
            None => seeds.iter().map(|it| (it.clone(), 1.0)).collect(),
        };
        for book in asked.books.iter().filter(|it| it.notebook.reach == Reach::Project) {
            touched(&mut around, &book.notebook.store.touched_with(seeds.clone()).await?);
        }
        let mut near: Vec<(String, f32)> = around.into_iter().collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        near.truncate(NEIGHBOURS);
        let mut res: HashMap<u32, f32> = HashMap::new();
        for (at, book) in asked.books.iter().enumerate() {
            // The user's memories may name files of any project.
            if book.notebook.reach != Reach::Project {
                continue;
            }
            let paths = near.iter().map(|it| it.0.clone()).collect();
            let about = book.notebook.store.about_files(paths).await?;
            for ((_, weight), numbers) in near.iter().zip(about) {
                let numbers = numbers.iter().filter_map(|it| u32::try_from(*it).ok());
                for number in numbers.filter(|it| book.allowed.contains(*it)) {
                    let known = res.entry(key(at, number)).or_default();
                    *known = known.max(*weight);
                }
            }
        }
        let mut res: Vec<Found> =
            res.into_iter().map(|(key, score)| Found { key, score, place: 0.0 }).collect();
        res.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
        res.truncate(GRAPH);
        Ok(res)
    }

    /// Raises candidates about files next to those of the best; says what each gained.
    pub(super) async fn boost(
        &self,
        asked: &Asked<'_>,
        fused: &mut [Fused],
    ) -> Result<HashMap<u32, f32>, Error> {
        let wanted = asked.question.without.keeps(Stage::Boost) && fused.len() > boost::LEADERS;
        let project = asked.books.iter().position(|it| it.notebook.reach == Reach::Project);
        let (Some(store), Some(at)) = (self.near_store().filter(|_| wanted), project) else {
            return Ok(HashMap::new());
        };
        let n_looked = boost::REACH.min(fused.len());
        let own: Vec<u32> =
            fused[..n_looked].iter().map(|it| it.key).filter(|it| place(*it).0 == at).collect();
        let numbers: Vec<i64> = own.iter().map(|it| i64::from(place(*it).1)).collect();
        let files = asked.books[at].notebook.store.files_of(numbers).await?;
        let files: HashMap<u32, Vec<String>> = own.into_iter().zip(files).collect();
        let mut leading: Vec<String> = Vec::new();
        for it in &fused[..boost::LEADERS] {
            for file in files.get(&it.key).into_iter().flatten() {
                if leading.len() < SEEDS && !leading.contains(file) {
                    leading.push(file.clone());
                }
            }
        }
        if leading.is_empty() {
            return Ok(HashMap::new());
        }
        let n_leading = leading.len();
        let rows = store.near(leading).await?;
        let around: Vec<Nearness> =
            rows.iter().map(|it| nearness(std::slice::from_ref(it))).collect();
        #[expect(clippy::cast_precision_loss, reason = "a handful of files")]
        let touched = |key: u32| {
            let of = files.get(&key).map_or(&[][..], Vec::as_slice);
            let nearest = |it: &Nearness| {
                of.iter().filter_map(|file| it.get(file)).copied().fold(0.0, f32::max)
            };
            around.iter().map(nearest).sum::<f32>() / n_leading as f32
        };
        Ok(boost::lift(fused, touched))
    }

    /// The index of the project, if there is one.
    pub(crate) fn near_store(&self) -> Option<GraphStore> {
        let id = self.project.id()?;
        let store = self.near.get_or_init(|| self.graph_store(id));
        store.exists().then(|| store.clone())
    }
}

/// The files at hand and those the text names.
async fn seeds(
    question: &Question,
    text: &str,
    store: Option<&GraphStore>,
) -> Result<Vec<String>, Error> {
    let mut res: Vec<String> = question.files.iter().map(|it| it.as_str().to_owned()).collect();
    let words = named(text);
    if let Some(store) = store.filter(|_| !words.is_empty()) {
        res.extend(store.named(words).await?);
    }
    let mut known = HashSet::new();
    res.retain(|it| known.insert(it.clone()));
    res.truncate(SEEDS);
    Ok(res)
}

/// Words that may name a file: they have an ending, and are paths of a project.
fn named(text: &str) -> Vec<String> {
    let word = |it: &str| {
        let it =
            it.trim_matches(|it: char| !it.is_alphanumeric() && !matches!(it, '_' | '/' | '.'));
        // `src/auth.rs:12` names a line of it.
        let it = it.split(':').next().unwrap_or(it).trim_end_matches('.');
        let is_path =
            it.len() <= LONGEST && it.contains('.') && model::words::extension(it).is_some();
        is_path.then(|| ProjectPath::parse(it).ok()).flatten().map(|it| it.as_str().to_owned())
    };
    let mut res: Vec<String> = text.split_whitespace().filter_map(word).collect();
    res.truncate(SEEDS);
    res
}

/// How near files are to any of some: the nearest counts.
fn nearness(rows: &[NearRow]) -> Nearness {
    let mut res = Nearness::new();
    let mut note = |path: &str, weight: f32| {
        let known = res.entry(path.to_owned()).or_default();
        *known = known.max(weight);
    };
    for row in rows {
        note(&row.path, 1.0);
        // A file that half the project leans on is next to everybody, and so to nobody.
        #[expect(clippy::cast_precision_loss, reason = "a handful of links")]
        let crowded = 1.0 / (1.0 + row.links.len() as f32 / 32.0);
        for (path, weight) in &row.links {
            #[expect(clippy::cast_precision_loss, reason = "a sum of edges, for comparing")]
            let weight = *weight as f32;
            note(path, BY_CODE * crowded.max(0.4) * weight / (weight + HALF));
        }
        let ties = row.ties.as_ref().and_then(|it| decode_ties(&it.together)).unwrap_or_default();
        for tie in ties.iter().filter(|it| it.n > 1) {
            note(&tie.path, BY_HISTORY * tie.strength.min(1.0));
        }
    }
    res
}

/// Adds files that sessions touched about when they touched one of some.
fn touched(acc: &mut Nearness, with: &[TouchedWith]) {
    for it in with {
        for (path, n) in &it.others {
            #[expect(clippy::cast_precision_loss, reason = "a handful of sessions")]
            let share = *n as f32 / (it.n_sessions + 1) as f32;
            let known = acc.entry(path.clone()).or_default();
            *known = known.max(BY_SESSIONS * share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sessions_touched_together_is_near_and_more_so_the_oftener() {
        let others = vec![("often.rs".to_owned(), 9), ("twice.rs".to_owned(), 2)];
        let mut near = Nearness::from([("a.rs".to_owned(), 1.0), ("often.rs".to_owned(), 0.2)]);
        touched(&mut near, &[TouchedWith { n_sessions: 9, others }]);
        assert!((near["often.rs"] - 0.63).abs() < 1e-6 && (near["twice.rs"] - 0.14).abs() < 1e-6);
    }

    #[test]
    fn words_that_look_like_files_may_name_one() {
        let text = "what breaks if I change `src/auth.rs:12`, login.ts or e.g. the config? See ../x.rs and 3.5";
        assert_eq!(named(text), ["src/auth.rs", "login.ts"]);
    }

    #[test]
    fn a_file_is_nearest_to_itself_and_strong_ties_come_next() {
        let links = vec![("strong.rs".to_owned(), 40_000), ("weak.rs".to_owned(), 400)];
        let row = NearRow { path: "a.rs".to_owned(), links, ties: None };
        let near = nearness(&[row]);
        assert!((near["a.rs"] - 1.0).abs() < 1e-6);
        assert!(near["strong.rs"] > 3.0 * near["weak.rs"] && near["strong.rs"] < 0.7);
    }
}
