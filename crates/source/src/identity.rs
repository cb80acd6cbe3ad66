//! Decides which known project a place is, if any.
//!
//! The two mistakes are not equal: a project taken for new has lost its memory until somebody says so;
//! two projects taken for one have told each other's secrets. So every rule asks for evidence, and doubt is `New`.
//! This module looks at nothing outside its arguments.

use std::path::{Path, PathBuf};

use crate::fingerprint::Fingerprint;
use crate::os;
use crate::place::{Place, PlaceKind};

/// A location where a project was seen before; a project has one for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub project: String,
    pub key_dir: PathBuf,
    pub dir_key: Option<String>,
    pub root_commit: Option<String>,
    pub remote: Option<String>,
}

/// What a place turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// The location is known and unchanged.
    Here(String),
    /// The location is new, or changed, but the project is known.
    Same { project: String, why: Why },
    /// No evidence for any known project.
    New,
}

/// The evidence for `Match::Same`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The very same directory, under another path.
    Renamed,
    /// Another clone of the same repository.
    Clone,
    /// Another clone, as far as a cut-off history lets one tell.
    Shallow,
    /// The same history, and the old location is gone: moved to another disk, restored or cloned again.
    Moved,
    /// The same path, where only the path names the project.
    Path,
    /// The directory was known before it became a repository.
    Initialised,
}

impl Why {
    /// Says it to a person.
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
/// `print` is called only when the location is not known or has changed; `still_there` only to tell a move from a fork.
pub fn same_project(
    known: &[Known],
    place: &Place,
    print: impl FnOnce() -> Fingerprint,
    still_there: impl Fn(&Path) -> bool,
) -> Match {
    let here = |it: &&Known| {
        it.key_dir == place.key_dir && it.dir_key.is_some() && it.dir_key == place.dir_key
    };
    if let Some(here) = known.iter().find(here) {
        return Match::Here(here.project.clone());
    }
    let print = print();
    for rule in RULES {
        let holds = |it: &&Known| {
            (rule.holds)(&Pair {
                known: it,
                all: known,
                place,
                print: &print,
                still_there: &still_there,
            })
        };
        let mut found = known.iter().filter(holds).map(|it| &it.project);
        // Two answers are no answer; a later rule may still know.
        if let Some(project) = found.next()
            && found.all(|it| it == project)
        {
            return Match::Same { project: project.clone(), why: rule.why };
        }
    }
    Match::New
}

/// A place beside one known location.
struct Pair<'a> {
    known: &'a Known,
    all: &'a [Known],
    place: &'a Place,
    print: &'a Fingerprint,
    still_there: &'a dyn Fn(&Path) -> bool,
}

struct Rule {
    why: Why,
    holds: fn(&Pair) -> bool,
}

/// Strongest evidence first; the first rule that names exactly one project decides.
///
/// What no row covers is new: a fork beside its origin (`Clone` wants equal remotes), a copy beside its original without
/// a remote, a path taken over by another repository (`Moved` wants an equal root).
const RULES: &[Rule] = &[
    // The root commit is asked for as well: a repository can be replaced inside a directory that stays.
    Rule { why: Why::Renamed, holds: |it| it.same_directory() && !it.other_root() },
    Rule { why: Why::Clone, holds: |it| it.same_root() && it.same_remote() },
    // A fork has another remote, so an equal remote alone is as good as the server's word.
    Rule { why: Why::Shallow, holds: |it| it.unknown_root() && it.same_remote() },
    // The remote may have changed with the move; what makes a fork a fork is that its origin is still there.
    Rule { why: Why::Moved, holds: |it| it.same_root() && it.is_gone() },
    // A directory without git has no history to compare; restored from a backup, only its path is left.
    Rule { why: Why::Path, holds: |it| it.same_path() && it.never_git() },
    Rule { why: Why::Initialised, holds: |it| it.was_plain() },
];

impl Pair<'_> {
    fn same_directory(&self) -> bool {
        self.place.dir_key.as_deref().is_some_and(os::is_lasting)
            && self.known.dir_key == self.place.dir_key
    }

    fn same_path(&self) -> bool {
        self.known.key_dir == self.place.key_dir
    }

    fn same_root(&self) -> bool {
        self.print.root_commit.is_some() && self.known.root_commit == self.print.root_commit
    }

    fn unknown_root(&self) -> bool {
        self.print.root_commit.is_none() || self.known.root_commit.is_none()
    }

    fn other_root(&self) -> bool {
        !self.unknown_root() && !self.same_root()
    }

    fn same_remote(&self) -> bool {
        self.print.remote.is_some() && self.known.remote == self.print.remote
    }

    /// Whether the project is nowhere else: as long as one of its places stands, another remote
    /// means a fork. At an equal path the place itself has taken over from what was known there.
    fn is_gone(&self) -> bool {
        let of_project = self.all.iter().filter(|it| it.project == self.known.project);
        let mut others = of_project.filter(|it| it.key_dir != self.place.key_dir);
        others.all(|it| !(self.still_there)(&it.key_dir))
    }

    fn never_git(&self) -> bool {
        self.place.git_dir.is_none() && !self.had_git()
    }

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

    /// `path key root remote`, with `-` for what is not known.
    fn columns(row: &str) -> [Option<String>; 4] {
        let mut words = row.split_whitespace().map(|it| (it != "-").then(|| it.to_owned()));
        std::array::from_fn(|_| words.next().flatten())
    }

    /// Known locations of the projects `p0`, `p1`, … beside the place `row`; a path ending in `.git` has git.
    fn check(known: &[&str], row: &str, gone: &[&str]) -> String {
        let known = known.iter().enumerate().map(|(i, it)| {
            let [path, dir_key, root_commit, remote] = columns(it);
            Known {
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
        let place = Place { root, key_dir, git_dir, kind, dir_key, skipped: Vec::new() };
        let print = || Fingerprint { root_commit, remote, name: String::new() };
        match same_project(&known, &place, print, |it| {
            !gone.iter().any(|gone| it == Path::new(gone))
        }) {
            Match::Here(project) => format!("here {project}"),
            Match::Same { project, why } => format!("{why:?} {project}"),
            Match::New => "new".to_owned(),
        }
    }

    #[test]
    fn one_known_location_is_judged_by_the_rules() {
        const GONE: &[&str] = &["/a/.git", "/a"];
        const THERE: &[&str] = &[];
        #[rustfmt::skip]
        let cases = [
            // known                      place                          old    verdict        because
            ("/a/.git born:1:1 r1 m1",    "/a/.git born:1:1 r2 m2",      THERE, "here p0",     "unchanged: nothing else is asked"),
            ("/a/.git node:1:1 r1 m1",    "/a/.git node:1:1 r1 m1",      THERE, "here p0",     "an inode will do at the same path"),
            ("/a/.git born:1:1 r1 -",     "/b/.git born:1:1 r1 -",       GONE,  "Renamed p0",  "renamed on one filesystem"),
            ("/a/.git born:1:1 - -",      "/b/.git born:1:1 r1 m1",      GONE,  "Renamed p0",  "renamed after its first commit"),
            ("/a/.git born:1:1 r1 -",     "/mnt/.git born:1:1 r1 -",     THERE, "Renamed p0",  "one directory mounted twice"),
            ("/a/.git born:1:1 r1 -",     "/b/.git born:1:1 r2 -",       GONE,  "new",         "other history in the same directory"),
            ("/a/.git node:1:1 - -",      "/b/.git node:1:1 - -",        GONE,  "new",         "inode numbers are used again"),
            ("/a born:1:1 - -",           "/b born:1:1 - -",             GONE,  "Renamed p0",  "a plain directory renamed"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 r1 m1",      THERE, "Clone p0",    "a second clone"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 - m1",       THERE, "Shallow p0",  "a shallow second clone"),
            ("/a/.git born:1:1 - m1",     "/b/.git born:2:2 r1 m1",      THERE, "Shallow p0",  "a full clone of what was shallow"),
            ("/a/.git born:1:1 - m1",     "/b/.git born:2:2 - m1",       THERE, "Shallow p0",  "two shallow clones"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 - m2",       THERE, "new",         "a shallow fork"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 r1 m2",      THERE, "new",         "a fork beside its origin"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 r1 m2",      GONE,  "Moved p0",    "the origin is gone"),
            ("/a/.git born:1:1 r1 -",     "/b/.git born:2:2 r1 -",       THERE, "new",         "a copy beside its original"),
            ("/a/.git born:1:1 r1 -",     "/b/.git born:2:2 r1 -",       GONE,  "Moved p0",    "moved to another disk"),
            ("/a/.git born:1:1 r1 m1",    "/b/.git born:2:2 r2 m1",      GONE,  "new",         "history rewritten upstream"),
            ("/a/.git born:1:1 r1 m1",    "/a/.git born:2:2 r2 m2",      THERE, "new",         "the path re-used by another repository"),
            ("/a/.git born:1:1 - -",      "/a/.git born:2:2 - -",        THERE, "new",         "an empty repository made anew"),
            ("/a/.git born:1:1 r1 m1",    "/a/.git born:2:2 r1 m1",      THERE, "Clone p0",    "cloned again in place"),
            ("/a/.git born:1:1 r1 -",     "/a/.git born:2:2 r1 -",       THERE, "Moved p0",    "restored from a backup"),
            ("/a/.git - r1 -",            "/a/.git - r1 -",              THERE, "Moved p0",    "a filesystem without identities"),
            ("/a/.git - r1 -",            "/a/.git - r2 -",              THERE, "new",         "the same, path re-used"),
            ("/a born:1:1 - -",           "/a born:2:2 - -",             THERE, "Path p0",     "a plain directory restored"),
            ("/a born:1:1 - -",           "/b born:2:2 - -",             GONE,  "new",         "another plain directory"),
            ("/a born:1:1 r1 -",          "/a born:2:2 - -",             THERE, "new",         "a bare repository replaced by a directory"),
            ("/a born:1:1 - -",           "/a/.git born:2:2 r1 m1",      THERE, "Initialised p0", "`git init` in a known directory"),
            ("/a/.git born:1:1 r1 -",     "/a born:2:2 - -",             GONE,  "new",         "`.git` deleted: no evidence is left"),
        ];
        for (known, place, gone, verdict, because) in cases {
            assert_eq!(check(&[known], place, gone), verdict, "{because}");
        }
    }

    #[test]
    fn a_project_that_stands_in_one_place_has_not_moved_from_another() {
        let known = |path: &str, key: &str| Known {
            project: "p0".to_owned(),
            key_dir: path.into(),
            dir_key: Some(key.to_owned()),
            root_commit: Some("r1".to_owned()),
            remote: Some("m1".to_owned()),
        };
        let places = [known("/a/.git", "born:1:1"), known("/b/.git", "born:2:2")];
        let fork = Place {
            root: "/c".into(),
            key_dir: "/c/.git".into(),
            git_dir: Some("/c/.git".into()),
            kind: PlaceKind::Git,
            dir_key: Some("born:3:3".to_owned()),
            skipped: Vec::new(),
        };
        let print = || Fingerprint {
            root_commit: Some("r1".to_owned()),
            remote: Some("m2".to_owned()),
            name: String::new(),
        };
        let judged = |gone: &[&str]| {
            same_project(&places, &fork, print, |it| !gone.iter().any(|gone| it == Path::new(gone)))
        };
        assert_eq!(judged(&["/b/.git"]), Match::New, "a fork, while the other clone stands");
        assert!(matches!(judged(&["/a/.git", "/b/.git"]), Match::Same { why: Why::Moved, .. }));
    }

    #[test]
    fn among_several_the_strongest_evidence_decides() {
        let two = ["/a/.git born:1:1 r1 m1", "/b/.git born:2:2 r1 m2"];
        assert_eq!(check(&two, "/c/.git born:3:3 r1 m2", &[]), "Clone p1");
        assert_eq!(check(&two, "/c/.git born:1:1 r1 m2", &["/a/.git"]), "Renamed p0");
        assert_eq!(check(&two, "/b/.git born:2:2 r1 m1", &[]), "here p1");
        assert_eq!(check(&two, "/c/.git born:3:3 r1 m3", &["/a/.git"]), "Moved p0");
    }

    #[test]
    fn two_answers_are_no_answer() {
        let two = ["/a/.git born:1:1 r1 m1", "/b/.git born:2:2 r1 m2"];
        assert_eq!(check(&two, "/c/.git born:3:3 r1 m3", &["/a/.git", "/b/.git"]), "new");
    }

    #[test]
    fn an_unchanged_location_costs_no_fingerprint() {
        let place = Place {
            root: "/a".into(),
            key_dir: "/a/.git".into(),
            git_dir: Some("/a/.git".into()),
            kind: PlaceKind::Git,
            dir_key: Some("born:1:1".to_owned()),
            skipped: Vec::new(),
        };
        let known = Known {
            project: "p".to_owned(),
            key_dir: place.key_dir.clone(),
            dir_key: place.dir_key.clone(),
            root_commit: None,
            remote: None,
        };
        let res = same_project(
            &[known],
            &place,
            || unreachable!("not asked"),
            |_| unreachable!("not asked"),
        );
        assert_eq!(res, Match::Here("p".to_owned()));
    }

    #[test]
    fn every_rule_has_a_reason_of_its_own() {
        for (i, rule) in RULES.iter().enumerate() {
            assert!(
                RULES[..i]
                    .iter()
                    .all(|it| it.why != rule.why && it.why.reading() != rule.why.reading())
            );
        }
    }
}
