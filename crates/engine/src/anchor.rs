//! Symbols that memories are bound to: named when a memory is made, looked for when it is told.
//!
//! A symbol is known by its file, its name and what its code means, without white space and comments.
//! The file is read as it is at that moment; no index is needed, except to find what moved elsewhere.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ::graph::{Facts, extract, language};
use model::{Anchor, ProjectPath};

use crate::{Engine, Error};

/// How many symbols a text may bind a learned memory to.
const NAMED: usize = 3;

/// The symbols of a file by their qualified names, and what the code of each means.
pub(crate) type Symbols = HashMap<String, u64>;

/// What a file defines at this moment.
pub(crate) struct Outline(Facts);

impl Outline {
    /// `None` for what is no source file that can be read.
    pub(crate) fn read(root: &Path, path: &str) -> Option<Self> {
        let lang = language(path)?;
        let bytes = source::contents(root, path).ok()?;
        Some(Self(extract(lang, path, &bytes)))
    }

    /// What the code of a symbol means now; `None` if there is no such symbol.
    pub(crate) fn hash(&self, name: &str) -> Option<String> {
        self.symbols().get(name).map(|it| format!("{it:016x}"))
    }

    pub(crate) fn symbols(&self) -> Symbols {
        let mut res = Symbols::new();
        for (name, meaning) in self.defs() {
            // Overloads are one symbol in several pieces.
            let known = res.entry(name);
            known.and_modify(|it| *it = it.rotate_left(7) ^ meaning).or_insert(meaning);
        }
        res
    }

    /// The qualified names that a person may mean: all of it, else its last part, else a line.
    fn meant(&self, given: &str) -> Vec<String> {
        let given = given.replace("::", ".").replace('#', ".");
        let unique = |mut names: Vec<String>| {
            names.sort_unstable();
            names.dedup();
            names
        };
        let all: Vec<String> = self.defs().map(|it| it.0).collect();
        if all.contains(&given) {
            return vec![given];
        }
        if let Ok(line) = given.parse::<u32>() {
            return self.around(line).into_iter().collect();
        }
        unique(all.into_iter().filter(|it| it.ends_with(&format!(".{given}"))).collect())
    }

    /// The innermost symbol around a line, counted from 1.
    fn around(&self, line: u32) -> Option<String> {
        let line = line.checked_sub(1)?;
        let holds = |it: &(u32, &::graph::Def)| it.1.lines.0 <= line && line <= it.1.lines.1;
        let around = (0_u32..).zip(&self.0.defs).filter(holds);
        around.min_by_key(|it| it.1.lines.1 - it.1.lines.0).map(|it| self.0.qualified(it.0))
    }

    fn defs(&self) -> impl Iterator<Item = (String, u64)> {
        (0_u32..).zip(&self.0.defs).map(|(i, it)| (self.0.qualified(i), it.meaning))
    }
}

impl Engine {
    /// Paths as typed, some with a symbol or a line behind a colon → the paths alone, and anchors.
    pub(crate) fn anchored(
        &self,
        given: &[PathBuf],
        cwd: &Path,
    ) -> Result<(Vec<PathBuf>, Vec<Anchor>), Error> {
        let (mut paths, mut anchors): (Vec<PathBuf>, Vec<Anchor>) = (Vec::new(), Vec::new());
        for path in given {
            let Some((file, symbol)) = self.split_symbol(path, cwd) else {
                paths.push(path.clone());
                continue;
            };
            let anchor = self.anchor(self.path(&file, cwd)?, &symbol)?;
            paths.push(file);
            if !anchors.contains(&anchor) {
                anchors.push(anchor);
            }
        }
        Ok((paths, anchors))
    }

    /// `src/a.rs:verify` when `src/a.rs` is there and nothing bears the whole as its name.
    fn split_symbol(&self, path: &Path, cwd: &Path) -> Option<(PathBuf, String)> {
        let text = path.to_str()?;
        let is_there = |it: &Path| {
            self.path(it, cwd).is_ok_and(|it| source::exists(&self.place.root, it.as_str()))
        };
        if is_there(path) {
            return None;
        }
        // Symbols may have colons in their names, `Server::run`; files seldom do.
        let split = |at: usize| {
            let (file, symbol) = (&text[..at], text[at..].trim_start_matches(':'));
            let splits = !symbol.is_empty() && is_there(Path::new(file));
            splits.then(|| (PathBuf::from(file), symbol.to_owned()))
        };
        text.match_indices(':').find_map(|it| split(it.0))
    }

    fn anchor(&self, file: ProjectPath, symbol: &str) -> Result<Anchor, Error> {
        let Some(outline) = Outline::read(&self.place.root, file.as_str()) else {
            return Err(Error::refused(
                format!("`{file}` is no source file whose symbols are known"),
                "name the file alone",
            ));
        };
        match &outline.meant(symbol)[..] {
            [name] => {
                let hash = outline.hash(name).unwrap_or_default();
                Ok(Anchor { file, symbol: name.clone(), hash })
            }
            [] => Err(Error::refused(
                format!("`{file}` defines nothing that is called `{symbol}`"),
                format!("`waylore symbols {file}` lists what it defines, once it is indexed"),
            )),
            several => Err(Error::refused(
                format!("`{symbol}` is the name of several in `{file}`: {}", several.join(", ")),
                "name one of them in full",
            )),
        }
    }

    /// The same symbols as they are now: whoever says a memory anew has seen them so.
    pub(crate) fn anchored_anew(&self, anchors: Vec<Anchor>) -> Vec<Anchor> {
        let anew = |it: Anchor| {
            let now = Outline::read(&self.place.root, it.file.as_str());
            match now.and_then(|now| now.hash(&it.symbol)) {
                Some(hash) => Anchor { hash, ..it },
                None => it,
            }
        };
        anchors.into_iter().map(anew).collect()
    }

    /// The symbols of some files that a text names as code: in backticks, or with a call's brackets.
    pub(crate) fn anchors_named(&self, text: &str, files: &[ProjectPath]) -> Vec<Anchor> {
        let names = names_in(text);
        let mut res = Vec::new();
        if names.is_empty() {
            return res;
        }
        for file in files.iter().take(NAMED) {
            let Some(outline) = Outline::read(&self.place.root, file.as_str()) else { continue };
            for name in &names {
                if let [name] = &outline.meant(name)[..]
                    && let Some(hash) = outline.hash(name)
                    && res.len() < NAMED
                {
                    res.push(Anchor { file: file.clone(), symbol: name.clone(), hash });
                }
            }
        }
        res.dedup();
        res
    }
}

/// Identifiers that a text marks as code: `` `verify` ``, `verify()`, `Server::run(`.
fn names_in(text: &str) -> Vec<String> {
    let is_name = |it: &str| {
        let mut parts = it.split(['.', ':']).filter(|it| !it.is_empty());
        let is_word = |it: &str| {
            it.starts_with(|it: char| it.is_alphabetic() || it == '_')
                && it.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$')
        };
        it.len() > 2 && parts.clone().next().is_some() && parts.all(is_word)
    };
    let quoted = text.split('`').skip(1).step_by(2).map(|it| it.trim_end_matches("()"));
    let called = text.match_indices('(').map(|(at, _)| {
        let before = &text[..at];
        let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.' | ':');
        let start = before
            .rfind(|it| !is_part(it))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        &before[start..]
    });
    let mut res: Vec<String> =
        quoted.chain(called).filter(|it| is_name(it)).map(str::to_owned).collect();
    res.sort_unstable();
    res.dedup();
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_marked_as_code_is_a_name() {
        let names =
            names_in("The `verify` of Server::run(x) calls parse_all(); a ` b` (see) or ü(1)");
        assert_eq!(names, ["Server::run", "parse_all", "verify"]);
        assert!(names_in("nothing marked here, not even run or verify").is_empty());
    }
}
