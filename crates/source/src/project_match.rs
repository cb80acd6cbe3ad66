//! Decides which known project a place belongs to, if any.
//!
//! The input is a place (`project_place`), the locations in the user's registry, and on demand the
//! fingerprint of the repository. A table of rules names the evidence that is sufficient. The two
//! possible errors are not equal. A project taken for new loses its memories until the user
//! corrects it; two projects taken for one reveal each other's secrets. So every rule requires
//! evidence, and in doubt the result is `NewProject`. The module depends only on its arguments.

use std::path::{Path, PathBuf};

use crate::os;
use crate::project_place::{PlaceKind, ProjectPlace};
use crate::repository_fingerprint::RepositoryFingerprint;

/// A location where a project was seen before; a project may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownLocation {
    /// Id of the project, opaque here.
    pub project: String,
    pub key_dir: PathBuf,
    pub dir_key: Option<String>,
    /// First commit of the history.
    pub root_commit: Option<String>,
    pub remote: Option<String>,
}

/// The result for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectMatch {
    /// The location is known and unchanged.
    SameLocation(String),
    /// The location is new or changed, but the project is known.
    SameProject { project: String, evidence: MatchEvidence },
    /// There is no evidence for any known project.
    NewProject,
}

/// The evidence for [`ProjectMatch::SameProject`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchEvidence {
    /// The same directory under another path.
    Renamed,
    /// Another clone of the same repository.
    Clone,
    /// Another clone, as far as a shallow history shows.
    Shallow,
    /// The same history, and the old location no longer exists: moved to another disk, restored or
    /// cloned again.
    Moved,
    /// The same path, if only the path identifies the project.
    Path,
    /// The directory was known before it became a repository.
    Initialised,
}

impl MatchEvidence {
    /// Explanation for the user.
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Renamed => "the directory was moved or renamed",
            Self::Clone => "same first commit and same remote",
            Self::Shallow => "same remote, and the first commit of one is not known",
            Self::Moved => "same first commit, and the old location is gone",
            Self::Path => "same path, without a repository",
            Self::Initialised => "same directory, which has become a repository since",
        }
    }
}

/// Finds the project of `place` among the `known` ones.
///
/// `fingerprint` is called only if the location is unknown or has changed; `still_exists` only to
/// tell a move from a fork.
pub fn match_project(
    known: &[KnownLocation],
    place: &ProjectPlace,
    fingerprint: impl FnOnce() -> RepositoryFingerprint,
    still_exists: impl Fn(&Path) -> bool,
) -> ProjectMatch {
    let is_unchanged = |it: &&KnownLocation| {
        it.key_dir == place.key_dir && it.dir_key.is_some() && it.dir_key == place.dir_key
    };
    if let Some(location) = known.iter().find(is_unchanged) {
        return ProjectMatch::SameLocation(location.project.clone());
    }
    let fingerprint = fingerprint();
    for rule in MATCH_RULES {
        let holds = |it: &&KnownLocation| {
            (rule.holds)(&LocationPair {
                known: it,
                all: known,
                place,
                fingerprint: &fingerprint,
                still_exists: &still_exists,
            })
        };
        let mut found = known.iter().filter(holds).map(|it| &it.project);
        // A rule that matches two projects decides nothing; a later one may.
        if let Some(project) = found.next()
            && found.all(|it| it == project)
        {
            return ProjectMatch::SameProject { project: project.clone(), evidence: rule.evidence };
        }
    }
    ProjectMatch::NewProject
}

/// A place and one known location to compare it with.
struct LocationPair<'a> {
    known: &'a KnownLocation,
    /// All known locations.
    all: &'a [KnownLocation],
    place: &'a ProjectPlace,
    fingerprint: &'a RepositoryFingerprint,
    still_exists: &'a dyn Fn(&Path) -> bool,
}

/// A condition and the evidence that it gives.
struct MatchRule {
    evidence: MatchEvidence,
    holds: fn(&LocationPair) -> bool,
}

/// Strongest evidence first; the first rule that matches exactly one project decides.
///
/// A case without a row is a new project: a fork beside its origin (`Clone` requires equal
/// remotes), a copy beside its original without a remote, a path reused by another repository
/// (`Moved` requires an equal root).
const MATCH_RULES: &[MatchRule] = &[
    // The root commit is compared as well: a repository can be replaced inside a directory that
    // stays.
    MatchRule {
        evidence: MatchEvidence::Renamed,
        holds: |it| it.is_same_directory() && !it.has_other_root(),
    },
    MatchRule {
        evidence: MatchEvidence::Clone,
        holds: |it| it.has_same_root() && it.has_same_remote(),
    },
    // A fork has another remote, so an equal remote alone is sufficient.
    MatchRule {
        evidence: MatchEvidence::Shallow,
        holds: |it| it.has_unknown_root() && it.has_same_remote(),
    },
    // The remote may have changed with the move. In contrast to a fork, the origin no longer
    // exists.
    MatchRule { evidence: MatchEvidence::Moved, holds: |it| it.has_same_root() && it.is_gone() },
    // A directory without git has no history to compare; after a restore only its path is equal.
    MatchRule {
        evidence: MatchEvidence::Path,
        holds: |it| it.is_same_path() && it.was_never_git(),
    },
    MatchRule { evidence: MatchEvidence::Initialised, holds: |it| it.was_plain() },
];

impl LocationPair<'_> {
    /// True for one directory, possibly under another path.
    fn is_same_directory(&self) -> bool {
        self.place.dir_key.as_deref().is_some_and(os::is_lasting)
            && self.known.dir_key == self.place.dir_key
    }

    fn is_same_path(&self) -> bool {
        self.known.key_dir == self.place.key_dir
    }

    fn has_same_root(&self) -> bool {
        self.fingerprint.root_commit.is_some()
            && self.known.root_commit == self.fingerprint.root_commit
    }

    fn has_unknown_root(&self) -> bool {
        self.fingerprint.root_commit.is_none() || self.known.root_commit.is_none()
    }

    fn has_other_root(&self) -> bool {
        !self.has_unknown_root() && !self.has_same_root()
    }

    fn has_same_remote(&self) -> bool {
        self.fingerprint.remote.is_some() && self.known.remote == self.fingerprint.remote
    }

    /// True if no other location of the project exists any more. As long as one of its locations
    /// exists, another remote means a fork. At an equal path the place itself has replaced the
    /// known location.
    fn is_gone(&self) -> bool {
        let locations = self.all.iter().filter(|it| it.project == self.known.project);
        let mut others = locations.filter(|it| it.key_dir != self.place.key_dir);
        others.all(|it| !(self.still_exists)(&it.key_dir))
    }

    fn was_never_git(&self) -> bool {
        self.place.git_dir.is_none() && !self.had_git()
    }

    /// True if the known location is the folder of the working tree, without a repository then.
    fn was_plain(&self) -> bool {
        let is_own = matches!(self.place.kind, PlaceKind::Git | PlaceKind::Submodule);
        is_own && !self.had_git() && self.known.key_dir == self.place.root
    }

    fn had_git(&self) -> bool {
        self.known.root_commit.is_some() || self.known.remote.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `path key root remote`, with `-` for an unknown value.
    fn columns(row: &str) -> [Option<String>; 4] {
        let mut words = row.split_whitespace().map(|it| (it != "-").then(|| it.to_owned()));
        std::array::from_fn(|_| words.next().flatten())
    }

    /// Compares known locations of the projects `p0`, `p1`, … with the place `row`. A path that
    /// ends in `.git` has a repository.
    fn check(known: &[&str], row: &str, gone: &[&str]) -> String {
        let known = known.iter().enumerate().map(|(i, it)| {
            let [path, dir_key, root_commit, remote] = columns(it);
            KnownLocation {
                project: format!("p{i}"),
                key_dir: path.unwrap().into(),
                dir_key,
                root_commit,
                remote,
            }
        });
        let known = known.collect::<Vec<_>>();
        let [path, dir_key, root_commit, remote] = columns(row);
        let key_dir = PathBuf::from(path.unwrap());
        let is_git = key_dir.ends_with(".git");
        let root = if is_git { key_dir.parent().unwrap().to_owned() } else { key_dir.clone() };
        let kind = if is_git { PlaceKind::Git } else { PlaceKind::Plain };
        let git_dir = is_git.then(|| key_dir.clone());
        let place = ProjectPlace { root, key_dir, git_dir, kind, dir_key, skipped: Vec::new() };
        let fingerprint = || RepositoryFingerprint { root_commit, remote, name: String::new() };
        match match_project(&known, &place, fingerprint, |it| {
            !gone.iter().any(|gone| it == Path::new(gone))
        }) {
            ProjectMatch::SameLocation(project) => format!("same {project}"),
            ProjectMatch::SameProject { project, evidence } => format!("{evidence:?} {project}"),
            ProjectMatch::NewProject => "new".to_owned(),
        }
    }

    #[test]
    fn one_known_location_is_matched_by_the_rules() {
        // Paths that no longer exist: those of the known location, or none.
        const GONE: &[&str] = &["/a/.git", "/a"];
        const EXISTS: &[&str] = &[];
        #[rustfmt::skip]
        let cases = [
            // known                      place                          old    verdict
            // because
            ("/a/.git born:1:1 r1 m1",    "/a/.git born:1:1 r2 m2",      EXISTS,"same p0",     "unchanged: nothing else is asked"),
            ("/a/.git node:1:1 r1 m1",    "/a/.git node:1:1 r1 m1",      EXISTS,"same p0",     "an inode will do at the same path"),
            ("/a/.git born:1:1 r1 -",     "/b/.git born:1:1 r1 -",       GONE,  "Renamed p0",  "renamed on one filesystem"),
            ("/a/.git born:1:1 - -",      "/b/.git born:1:1 r1 m1",      GONE,  "Renamed p0",  "renamed after its first commit"),
            ("/a/.git born:1:1 r1 -",     "/mnt/.git born:1:1 r1 -",     EXISTS,"Renamed p0",  "one directory mounted twice"),
            ("/a/.git born:1:1 r1 -",     "/b/.git born:1:1 r2 -",       GONE,  "new",         "other history in the same directory"),
            ("/a/.git node:1:1 - -",      "/b/.git node:1:1 - -",        GONE,  "new",         "inode numbers are used again"),
            ("/a born:1:1 - -",           "/b born:1:1 - -",             GONE,  "Renamed p0",  "a plain directory renamed"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 r1 m1",      EXISTS,"Clone p0",    "a second clone"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 - m1",       EXISTS,"Shallow p0",  "a shallow second clone"),
            ("/a/.git born:1:1 - m1",     "/b/.git born:2:2 r1 m1",      EXISTS,"Shallow p0",  "a full clone of what was shallow"),
            ("/a/.git born:1:1 - m1",     "/b/.git born:2:2 - m1",       EXISTS,"Shallow p0",  "two shallow clones"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 - m2",       EXISTS,"new",         "a shallow fork"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 r1 m2",      EXISTS,"new",         "a fork beside its origin"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 r1 m2",      GONE,  "Moved p0",    "the origin is gone"),
            ("/a/.git born:1:1 r1 -",     "/b/.git born:2:2 r1 -",       EXISTS,"new",         "a copy beside its original"),
            ("/a/.git born:1:1 r1 -",     "/b/.git born:2:2 r1 -",       GONE,  "Moved p0",    "moved to another disk"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 r2 m1",      GONE,  "new",         "history rewritten upstream"),
            ("/a/.git born:1:1 r1 m1",    "/a/.git born:2:2 r2 m2",      EXISTS,"new",         "the path re-used by another repository"),
            ("/a/.git born:1:1 - -",      "/a/.git born:2:2 - -",        EXISTS,"new",         "an empty repository made anew"),
            ("/a/.git born:1:1 r1 m1",    "/a/.git born:2:2 r1 m1",      EXISTS,"Clone p0",    "cloned again in place"),
            ("/a/.git born:1:1 r1 -",     "/a/.git born:2:2 r1 -",       EXISTS,"Moved p0",    "restored from a backup"),
            ("/a/.git - r1 -",            "/a/.git - r1 -",              EXISTS,"Moved p0",    "a filesystem without identities"),
            ("/a/.git - r1 -",            "/a/.git - r2 -",              EXISTS,"new",         "the same, path re-used"),
            ("/a born:1:1 - -",           "/a born:2:2 - -",             EXISTS,"Path p0",     "a plain directory restored"),
            ("/a born:1:1 - -",           "/b born:2:2 - -",             GONE,  "new",         "another plain directory"),
            ("/a born:1:1 r1 -",          "/a born:2:2 - -",             EXISTS,"new",         "a bare repository replaced by a directory"),
            ("/a born:1:1 - -",           "/a/.git born:2:2 r1 m1",      EXISTS,"Initialised p0", "`git init` in a known directory"),
            ("/a/.git born:1:1 r1 -",     "/a born:2:2 - -",             GONE,  "new",         "`.git` deleted: no evidence is left"),
        ];
        for (known, place, gone, verdict, because) in cases {
            assert_eq!(check(&[known], place, gone), verdict, "{because}");
        }
    }

    #[test]
    fn a_project_with_an_existing_location_has_not_moved() {
        let known = |path: &str, key: &str| KnownLocation {
            project: "p0".to_owned(),
            key_dir: path.into(),
            dir_key: Some(key.to_owned()),
            root_commit: Some("r1".to_owned()),
            remote: Some("m1".to_owned()),
        };
        let clones = [known("/a/.git", "born:1:1"), known("/b/.git", "born:2:2")];
        let fork = ProjectPlace {
            root: "/c".into(),
            key_dir: "/c/.git".into(),
            git_dir: Some("/c/.git".into()),
            kind: PlaceKind::Git,
            dir_key: Some("born:3:3".to_owned()),
            skipped: Vec::new(),
        };
        let fingerprint = || RepositoryFingerprint {
            root_commit: Some("r1".to_owned()),
            remote: Some("m2".to_owned()),
            name: String::new(),
        };
        let matched = |gone: &[&str]| {
            match_project(&clones, &fork, fingerprint, |it| {
                !gone.iter().any(|gone| it == Path::new(gone))
            })
        };
        assert_eq!(
            matched(&["/b/.git"]),
            ProjectMatch::NewProject,
            "a fork, while the other clone exists"
        );
        assert!(matches!(
            matched(&["/a/.git", "/b/.git"]),
            ProjectMatch::SameProject { evidence: MatchEvidence::Moved, .. }
        ));
    }

    #[test]
    fn the_strongest_evidence_decides() {
        let two = ["/a/.git born:1:1 r1 m1", "/b/.git born:2:2 r1 m2"];
        assert_eq!(check(&two, "/c/.git born:3:3 r1 m2", &[]), "Clone p1");
        assert_eq!(check(&two, "/c/.git born:1:1 r1 m2", &["/a/.git"]), "Renamed p0");
        assert_eq!(check(&two, "/b/.git born:2:2 r1 m1", &[]), "same p1");
        assert_eq!(check(&two, "/c/.git born:3:3 r1 m3", &["/a/.git"]), "Moved p0");
    }

    #[test]
    fn a_rule_that_matches_two_projects_decides_nothing() {
        let two = ["/a/.git born:1:1 r1 m1", "/b/.git born:2:2 r1 m2"];
        assert_eq!(check(&two, "/c/.git born:3:3 r1 m3", &["/a/.git", "/b/.git"]), "new");
    }

    #[test]
    fn an_unchanged_location_needs_no_fingerprint() {
        let place = ProjectPlace {
            root: "/a".into(),
            key_dir: "/a/.git".into(),
            git_dir: Some("/a/.git".into()),
            kind: PlaceKind::Git,
            dir_key: Some("born:1:1".to_owned()),
            skipped: Vec::new(),
        };
        let known = KnownLocation {
            project: "p".to_owned(),
            key_dir: place.key_dir.clone(),
            dir_key: place.dir_key.clone(),
            root_commit: None,
            remote: None,
        };
        let matched = match_project(
            &[known],
            &place,
            || unreachable!("not called"),
            |_| unreachable!("not called"),
        );
        assert_eq!(matched, ProjectMatch::SameLocation("p".to_owned()));
    }

    #[test]
    fn every_rule_has_its_own_evidence() {
        for (position, rule) in MATCH_RULES.iter().enumerate() {
            assert!(MATCH_RULES[..position].iter().all(|it| it.evidence != rule.evidence
                && it.evidence.reading() != rule.evidence.reading()));
        }
    }
}
