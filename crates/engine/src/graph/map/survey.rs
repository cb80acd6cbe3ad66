//! Finding the modules: read what is kept and what lies there, think, keep.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use ::graph::{
    MANIFESTS, MapSite, Module, Package, Tool, WORKFLOWS, called, decode_ties, encode_module,
    is_test_path, keep_ids, know_tests, language, modules, tools,
};
use observe::Worked;
use store::{GraphStamp, MapRows, TiesRow};

use super::about;
use crate::models::aside;
use crate::{Engine, Error, Reach};

/// Manifests whose text says something; of the others it is enough that they are there.
const MUTE: &[&str] = &[
    "yarn.lock",
    "pnpm-lock.yaml",
    "package-lock.json",
    "bun.lock",
    "uv.lock",
    "poetry.lock",
    "gradlew",
    "mvnw",
];

/// What files that were changed in the same sessions count, beside those of the same commits.
const SESSIONS_TIE: f32 = 0.5;

impl Engine {
    /// Finds the modules of the project as it is indexed; how many there are.
    pub async fn index_map(&mut self) -> Result<usize, Error> {
        let notebook = self.notebook(Reach::Project).await?;
        let Some(id) = notebook.project else {
            return Err(Error::nothing("there is no project here"));
        };
        let store = self.graph_store(id);
        let (stamps, links, ties) =
            (store.stamps().await?, store.links().await?, store.ties().await?);
        let before: BTreeMap<String, String> = store.map().await?.members.into_iter().collect();
        let worked = observe::worked(&self.visits(&notebook.store, None).await?);
        let root = self.place.root.clone();
        let rows = aside(move || {
            let sites = sites(&stamps, &links, &ties, &worked);
            let (packages, texts) = manifests(&root, &sites);
            let mut found = modules(&sites, &packages);
            let project = packages.iter().find(|it| it.root.is_empty());
            let name = project.and_then(|it| it.name.as_deref());
            about::describe(&mut found, name, &root, &texts);
            keep_ids(&mut found, &followed(before, &sites));
            let paths: Vec<&str> = sites.iter().map(|it| it.path.as_str()).collect();
            rows(&found, &tools(&texts, &paths))
        })
        .await;
        let n_modules = rows.modules.len();
        store.keep_map(rows).await?;
        Ok(n_modules)
    }
}

/// Whether a file of the index is part of a module. Manifests are files of the index, too, but no part.
pub(in crate::graph) fn is_site(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_manifest =
        model::words::extension(name) == Some("json") || MANIFESTS.iter().any(|it| it.0 == name);
    language(path).is_some() && !is_manifest
}

/// Source files with what they refer to.
fn sites(
    stamps: &[GraphStamp],
    links: &[(u32, u32, u32)],
    ties: &[TiesRow],
    worked: &Worked,
) -> Vec<MapSite> {
    let mut stamps: Vec<&GraphStamp> = stamps.iter().filter(|it| is_site(&it.path)).collect();
    stamps.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let by_id: HashMap<u32, usize> = stamps.iter().enumerate().map(|it| (it.1.id, it.0)).collect();
    let by_path: HashMap<&str, usize> =
        stamps.iter().enumerate().map(|it| (it.1.path.as_str(), it.0)).collect();
    let site = |it: &&GraphStamp| MapSite {
        path: it.path.clone(),
        is_test: is_test_path(&it.path),
        is_empty: it.size == 0,
        ..MapSite::default()
    };
    let mut res: Vec<MapSite> = stamps.iter().map(site).collect();
    for (from, to, weight) in links {
        if let (Some(from), Some(to)) = (by_id.get(from), by_id.get(to)) {
            res[*from].links.push((*to, *weight));
        }
    }
    for row in ties {
        let Some(at) = by_path.get(row.path.as_str()) else { continue };
        #[expect(clippy::cast_possible_truncation, reason = "a sum of shares, for ordering")]
        let churn = row.churn as f32;
        res[*at].churn = churn;
        for tie in decode_ties(&row.together).unwrap_or_default() {
            if let Some(other) = by_path.get(tie.path.as_str()) {
                res[*at].ties.push((*other, tie.strength));
            }
        }
    }
    // Sessions count beside commits: what was worked on together belongs together, committed or not.
    for (from, to, share) in &worked.together {
        if let (Some(from), Some(to)) = (by_path.get(from.as_str()), by_path.get(to.as_str())) {
            res[*from].ties.push((*to, share * SESSIONS_TIE));
        }
    }
    for (path, n) in &worked.often {
        if let Some(at) = by_path.get(path.as_str()) {
            #[expect(clippy::cast_precision_loss, reason = "counts of sessions are small")]
            let more = *n as f32;
            res[*at].churn += more;
        }
    }
    know_tests(&mut res);
    res
}

/// What was known of files, under the names they have now. A file that is gone and has one namesake in a
/// folder of the same name, among those that are new, moved there with it.
fn followed(before: BTreeMap<String, String>, sites: &[MapSite]) -> BTreeMap<String, String> {
    let tail = |path: &str| {
        let parts: Vec<&str> = path.rsplit('/').take(2).collect();
        parts.join("/")
    };
    let now: BTreeSet<&str> = sites.iter().map(|it| it.path.as_str()).collect();
    let mut arrived: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for path in now.iter().filter(|it| !before.contains_key(**it)) {
        arrived.entry(tail(path)).or_default().push(path);
    }
    let follow = |(path, id): (String, String)| match arrived.get(&tail(&path)).map(Vec::as_slice) {
        Some([only]) if !now.contains(path.as_str()) => ((*only).to_owned(), id),
        _ => (path, id),
    };
    before.into_iter().map(follow).collect()
}

/// The packages of a project, and the texts of its manifests and its CI.
fn manifests(root: &Path, sites: &[MapSite]) -> (Vec<Package>, Vec<(String, String)>) {
    let mut folders: BTreeSet<&str> = BTreeSet::from([""]);
    for site in sites {
        let mut folder = site.path.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            if !folders.insert(above) {
                break;
            }
            folder = above;
        }
    }
    let (mut packages, mut texts) = (Vec::new(), Vec::new());
    for folder in folders {
        let (mut is_package, mut package) = (false, None);
        for (name, makes_package) in MANIFESTS {
            let path =
                if folder.is_empty() { (*name).to_owned() } else { format!("{folder}/{name}") };
            if !source::exists(root, &path) {
                continue;
            }
            let text = if MUTE.contains(name) { None } else { source::glance(root, &path) };
            let text = text.unwrap_or_default();
            is_package |= *makes_package && is_own(name, &text);
            package = package.or_else(|| called(name, &text));
            texts.push((path, text));
        }
        if is_package || (folder.is_empty() && package.is_some()) {
            packages.push(Package { root: folder.to_owned(), name: package });
        }
    }
    for place in WORKFLOWS {
        let inside = source::files_in(root, place);
        let files = if inside.is_empty() { vec![(*place).to_owned()] } else { inside };
        texts.extend(files.into_iter().filter_map(|it| {
            let text = source::glance(root, &it)?;
            Some((it, text))
        }));
    }
    (packages, texts)
}

/// Whether a manifest describes a package of its own, not only a workspace or a setting.
fn is_own(name: &str, text: &str) -> bool {
    match name {
        "Cargo.toml" => text.lines().any(|it| it.trim() == "[package]"),
        "package.json" => text.contains("\"name\""),
        _ => true,
    }
}

fn rows(modules: &[Module], tools: &[Tool]) -> MapRows {
    let members: BTreeMap<&str, &str> = modules
        .iter()
        .flat_map(|it| it.files.iter().map(|file| (file.as_str(), it.id.as_str())))
        .collect();
    MapRows {
        modules: modules.iter().map(|it| (it.id.clone(), encode_module(it))).collect(),
        members: members.into_iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
        tools: tools
            .iter()
            .map(|it| (it.kind.slug().to_owned(), it.value.clone(), it.from.clone()))
            .collect(),
    }
}
