//! Retrieval by files, in two places of a search: [`search_by_files`] finds memories about files near
//! the files of the query, and [`boost_neighbouring_files`] raises candidates about files near those
//! of the best candidates. The second is no retrieval path but an adjustment after the fusion; it is
//! here and not in `search_stages` because it reads the same neighbours from the store.
//!
//! Files are near if code connects them (imports, calls), if commits changed them together, or if
//! sessions touched them together. Each kind of connection gives a proximity from 0 to 1, and the
//! strongest one counts. Code and commits come from the graph database; a project that is not indexed
//! has only the sessions. The proximity is that to the *seeds*: the files of the query and those that
//! its text names.
//!
//! A candidate is identified by its *key*: the notebook's position in the plan, and the *number* of
//! the memory in that notebook's database. *Fusion* merges the scores of all retrieval paths. For
//! example, with the seed `src/auth.rs`:
//!
//! ```text
//! src/auth.rs     1.0     the seed itself
//! src/login.rs    0.63    touched in 9 of the 9 sessions of the seed: 0.7 × 9 / (9 + 1)
//! src/token.rs    0.28    edges of weight 4000: half of 0.6, and a little less for a seed with links
//! ```

use std::collections::{HashMap, HashSet};

use history::decode_partners;
use model::ProjectPath;
use recall::{FusedHit, PathHit, RankingStage, file_boost};
use store::{CoAccessedFiles, FileNeighbors, GraphReader};

use super::query_plan::{QueryPlan, candidate_key, notebook_and_number};
use super::search_results::SearchQuery;
use crate::{Error, NotebookScope, ProjectReader};

/// Candidates that this path collects.
const GRAPH_CANDIDATES: usize = 15;
/// Seed files, whose neighbours are looked up.
const MAX_SEED_FILES: usize = 12;
/// Nearest files whose memories become candidates.
const MAX_NEIGHBOUR_FILES: usize = 60;
/// Highest proximity that code gives. A file has proximity 1 to itself.
const CODE_PROXIMITY: f32 = 0.6;
/// Highest proximity that common commits give.
const HISTORY_PROXIMITY: f32 = 0.8;
/// Highest proximity that common sessions give.
const SESSION_PROXIMITY: f32 = 0.7;
/// Sum of the weights of the edges between two files, per mille, that gives half of `CODE_PROXIMITY`.
const HALF_EDGE_WEIGHT: f32 = 4_000.0;
/// A file with this many links is a hub: it gives each of them half of the proximity.
const HUB_LINKS: f32 = 32.0;
/// Lowest factor of a hub.
const MIN_HUB_FACTOR: f32 = 0.4;
/// Bytes of the longest word that may name a file.
const MAX_PATH_BYTES: usize = 200;

/// Proximity of files to a set of seed files, 0 to 1.
type FileProximity = HashMap<String, f32>;

/// Finds memories about the query's files, the files its text names, and their neighbours.
pub(super) async fn search_by_files(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
) -> Result<Vec<PathHit>, Error> {
    if plan.query.disabled_stages.is_disabled(RankingStage::Graph) {
        return Ok(Vec::new());
    }
    let graph = reader.graph_reader();
    let seeds = seed_files(plan.query, plan.text, graph.as_ref()).await?;
    if seeds.is_empty() {
        return Ok(Vec::new());
    }
    let mut proximity = match graph {
        Some(graph) => neighbour_proximity(&graph.neighbors(seeds.clone()).await?),
        None => seeds.iter().map(|it| (it.clone(), 1.0)).collect(),
    };

    // Only the project's notebook: the user's memories may name files of any project.
    let Some(position) = project_position(plan) else { return Ok(Vec::new()) };
    let searched = &plan.notebooks[position];
    let store = &searched.notebook.store;
    add_co_accessed(&mut proximity, &store.learning().co_accessed_files(seeds).await?);

    // The nearest files, best first; ties by path, so that runs repeat.
    let mut nearest: Vec<(String, f32)> = proximity.into_iter().collect();
    nearest.sort_by(|(path_a, a), (path_b, b)| b.total_cmp(a).then_with(|| path_a.cmp(path_b)));
    nearest.truncate(MAX_NEIGHBOUR_FILES);
    let paths = nearest.iter().map(|(path, _)| path.clone()).collect();
    let numbers_by_file = store.memories().numbers_by_file(paths).await?;
    let mut scores: HashMap<u32, f32> = HashMap::new();
    for ((_, proximity), numbers) in nearest.iter().zip(numbers_by_file) {
        let known = numbers.iter().filter_map(|it| u32::try_from(*it).ok());
        for memory in known.filter(|it| searched.allowed.contains(*it)) {
            // A memory about several near files counts by the nearest.
            let best = scores.entry(candidate_key(position, memory)).or_default();
            *best = best.max(*proximity);
        }
    }
    // `retrieve_candidates` fills in `normalized` when all hits are known.
    let hit = |(key, score)| PathHit { key, score, normalized: 0.0 };
    let mut hits: Vec<PathHit> = scores.into_iter().map(hit).collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    hits.truncate(GRAPH_CANDIDATES);
    Ok(hits)
}

/// Boosts candidates about files near those of the best candidates, the leaders. Returns the gain of
/// each.
pub(super) async fn boost_neighbouring_files(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    fused: &mut [FusedHit],
) -> Result<HashMap<u32, f32>, Error> {
    let is_wanted = plan.query.disabled_stages.is_enabled(RankingStage::Boost)
        && fused.len() > file_boost::LEADER_COUNT;
    let graph = reader.graph_reader().filter(|_| is_wanted);
    let (Some(graph), Some(position)) = (graph, project_position(plan)) else {
        return Ok(HashMap::new());
    };

    // The files of every candidate that can gain.
    let n_boosted = file_boost::MAX_BOOSTED_RANK.min(fused.len());
    let (mut keys, mut numbers) = (Vec::new(), Vec::new());
    for hit in &fused[..n_boosted] {
        let (notebook, number) = notebook_and_number(hit.key);
        if notebook == position {
            keys.push(hit.key);
            numbers.push(i64::from(number));
        }
    }
    let files = plan.notebooks[position].notebook.store.memories().files_of(numbers).await?;
    let files_by_key: HashMap<u32, Vec<String>> = keys.into_iter().zip(files).collect();

    // The files of the leaders and their neighbours.
    let mut leading_files: Vec<String> = Vec::new();
    for leader in &fused[..file_boost::LEADER_COUNT] {
        // Leaders of the user's notebook have no entry.
        for file in files_by_key.get(&leader.key).into_iter().flatten() {
            if leading_files.len() < MAX_SEED_FILES && !leading_files.contains(file) {
                leading_files.push(file.clone());
            }
        }
    }
    if leading_files.is_empty() {
        return Ok(HashMap::new());
    }
    let n_leading = leading_files.len();
    let neighbours = graph.neighbors(leading_files).await?;
    let proximities: Vec<FileProximity> =
        neighbours.iter().map(|it| neighbour_proximity(std::slice::from_ref(it))).collect();

    // Averaged over the leading files: a candidate next to all of them gains more than one that is
    // very close to a single one.
    #[expect(clippy::cast_precision_loss, reason = "a handful of files")]
    let mean_proximity = |key: u32| {
        let files = files_by_key.get(&key).map_or(&[][..], Vec::as_slice);
        let nearest = |proximity: &FileProximity| {
            files.iter().filter_map(|it| proximity.get(it)).copied().fold(0.0, f32::max)
        };
        proximities.iter().map(nearest).sum::<f32>() / n_leading as f32
    };
    Ok(file_boost::boost_by_files(fused, mean_proximity))
}

/// The position of the project's notebook in the plan.
fn project_position(plan: &QueryPlan<'_>) -> Option<usize> {
    plan.notebooks.iter().position(|it| it.notebook.scope == NotebookScope::Project)
}

/// The query's files and those its text names.
async fn seed_files(
    query: &SearchQuery,
    text: &str,
    graph: Option<&GraphReader>,
) -> Result<Vec<String>, Error> {
    let mut seeds: Vec<String> = query.files.iter().map(|it| it.as_str().to_owned()).collect();
    let words = path_like_words(text);
    if let Some(graph) = graph.filter(|_| !words.is_empty()) {
        seeds.extend(graph.files_named(words).await?);
    }
    let mut known = HashSet::new();
    seeds.retain(|it| known.insert(it.clone()));
    seeds.truncate(MAX_SEED_FILES);
    Ok(seeds)
}

/// Words of a text that may be the path of a project file: they have a file extension.
fn path_like_words(text: &str) -> Vec<String> {
    let is_punctuation = |it: char| !it.is_alphanumeric() && !matches!(it, '_' | '/' | '.');
    let mut paths = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_matches(is_punctuation);
        // `src/auth.rs:12` names a line of the file.
        let word = word.split(':').next().unwrap_or(word).trim_end_matches('.');
        let has_extension = word.contains('.') && model::words::file_extension(word).is_some();
        // A path that leaves the project, as `../x.rs`, does not parse.
        if word.len() <= MAX_PATH_BYTES
            && has_extension
            && let Ok(path) = ProjectPath::parse(word)
        {
            paths.push(path.as_str().to_owned());
        }
    }
    paths.truncate(MAX_SEED_FILES);
    paths
}

/// The proximity of files to the nearest of some seed files, by code and by history.
fn neighbour_proximity(seeds: &[FileNeighbors]) -> FileProximity {
    let mut proximity = FileProximity::new();
    let mut raise = |path: &str, value: f32| {
        let known = proximity.entry(path.to_owned()).or_default();
        *known = known.max(value);
    };
    for seed in seeds {
        raise(&seed.path, 1.0);
        // A hub is linked to half the project, so a link to it says little.
        #[expect(clippy::cast_precision_loss, reason = "a handful of links")]
        let hub_factor = (1.0 / (1.0 + seed.links.len() as f32 / HUB_LINKS)).max(MIN_HUB_FACTOR);
        for (path, weight) in &seed.links {
            #[expect(clippy::cast_precision_loss, reason = "a sum of edges, for comparing")]
            let weight = *weight as f32;
            // Grows with the weight towards `CODE_PROXIMITY`, and never reaches it.
            raise(path, CODE_PROXIMITY * hub_factor * weight / (weight + HALF_EDGE_WEIGHT));
        }
        let partners = seed.history.as_ref().and_then(|it| decode_partners(&it.co_changed));
        // A single common commit may be a coincidence.
        for partner in partners.iter().flatten().filter(|it| it.n_commits > 1) {
            raise(&partner.path, HISTORY_PROXIMITY * partner.strength.min(1.0));
        }
    }
    proximity
}

/// Adds files that sessions touched together with a seed file.
fn add_co_accessed(acc: &mut FileProximity, co_accessed: &[CoAccessedFiles]) {
    for seed in co_accessed {
        for (path, n_common) in &seed.others {
            // One is added to the sessions, so that a single one does not count in full.
            #[expect(clippy::cast_precision_loss, reason = "a handful of sessions")]
            let share = *n_common as f32 / (seed.n_sessions + 1) as f32;
            let known = acc.entry(path.clone()).or_default();
            *known = known.max(SESSION_PROXIMITY * share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_touched_together_more_often_are_nearer() {
        let others = vec![("often.rs".to_owned(), 9), ("twice.rs".to_owned(), 2)];
        let mut proximity =
            FileProximity::from([("a.rs".to_owned(), 1.0), ("often.rs".to_owned(), 0.2)]);
        add_co_accessed(&mut proximity, &[CoAccessedFiles { n_sessions: 9, others }]);
        // 0.7 × 9 / (9 + 1), and 0.7 × 2 / (9 + 1).
        assert!((proximity["often.rs"] - 0.63).abs() < 1e-6);
        assert!((proximity["twice.rs"] - 0.14).abs() < 1e-6);
    }

    #[test]
    fn words_with_a_file_extension_may_name_a_file() {
        let text = "what breaks if I change `src/auth.rs:12`, login.ts or e.g. the config? See ../x.rs and 3.5";
        assert_eq!(path_like_words(text), ["src/auth.rs", "login.ts"]);
    }

    #[test]
    fn a_file_is_nearest_to_itself_and_strong_links_come_next() {
        let links = vec![("strong.rs".to_owned(), 40_000), ("weak.rs".to_owned(), 400)];
        let seed = FileNeighbors { path: "a.rs".to_owned(), links, history: None };
        let proximity = neighbour_proximity(&[seed]);
        assert!((proximity["a.rs"] - 1.0).abs() < 1e-6);
        assert!(proximity["strong.rs"] > 3.0 * proximity["weak.rs"]);
        assert!(proximity["strong.rs"] < 0.7);
    }
}
