//! Symbol anchors: a memory can be bound to symbols of its files, by name and structural hash.
//!
//! The structural hash ignores white space and comments. A file is parsed as it is now; the code graph
//! is only needed to find symbols that moved to another file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ::graph::{FileFacts, extract_facts, language_of_path};
use model::{ProjectPath, SymbolAnchor};

use crate::{Error, ProjectReader};

/// Anchors that a learned memory gets from its text.
const MAX_LEARNED_ANCHORS: usize = 3;

/// The structural hashes of a file's symbols, by qualified name.
pub(crate) type SymbolHashes = HashMap<String, u64>;

/// The definitions of a source file.
pub(crate) struct SourceOutline(FileFacts);

impl SourceOutline {
    /// Parses a file; `None` if it is no readable source file.
    pub(crate) fn read(root: &Path, path: &str) -> Option<Self> {
        let language = language_of_path(path)?;
        let bytes = source::read_source(root, path).ok()?;
        Some(Self(extract_facts(language, path, &bytes)))
    }

    /// The structural hash of a symbol; `None` if there is no such symbol.
    pub(crate) fn symbol_hash(&self, name: &str) -> Option<String> {
        self.symbol_hashes().get(name).map(|it| format!("{it:016x}"))
    }

    pub(crate) fn symbol_hashes(&self) -> SymbolHashes {
        let mut hashes = SymbolHashes::new();
        for (name, hash) in self.definitions() {
            // Overloads share a name. Their hashes are combined in order, so that a change to any of
            // them changes the result.
            let known = hashes.entry(name);
            known.and_modify(|it| *it = it.rotate_left(7) ^ hash).or_insert(hash);
        }
        hashes
    }

    /// The qualified names that a user may mean: an exact match, else the symbol around a line
    /// number, else all that end with the given name.
    fn find_names(&self, given: &str) -> Vec<String> {
        let given = given.replace("::", ".").replace('#', ".");
        let all: Vec<String> = self.definitions().map(|it| it.0).collect();
        // A full name wins over the suffixes of others.
        if all.contains(&given) {
            return vec![given];
        }
        if let Ok(line) = given.parse::<u32>() {
            return self.symbol_around(line).into_iter().collect();
        }
        let suffix = format!(".{given}");
        let mut names: Vec<String> = all.into_iter().filter(|it| it.ends_with(&suffix)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The innermost symbol around a line, counted from 1.
    fn symbol_around(&self, line: u32) -> Option<String> {
        let line = line.checked_sub(1)?;
        let defs = self.0.defs_with_ids();
        let around = defs.filter(|it| it.1.lines.0 <= line && line <= it.1.lines.1);
        around.min_by_key(|it| it.1.lines.1 - it.1.lines.0).map(|it| self.0.qualified_name(it.0))
    }

    /// The qualified name and the structural hash of each definition.
    fn definitions(&self) -> impl Iterator<Item = (String, u64)> {
        self.0.defs_with_ids().map(|(id, it)| (self.0.qualified_name(id), it.structural_hash))
    }
}

/// Splits paths as the user typed them: `src/a.rs:verify` gives the path and an anchor.
pub(crate) fn split_anchors(
    reader: &ProjectReader,
    given: &[PathBuf],
    cwd: &Path,
) -> Result<(Vec<PathBuf>, Vec<SymbolAnchor>), Error> {
    let (mut paths, mut anchors): (Vec<PathBuf>, Vec<SymbolAnchor>) = (Vec::new(), Vec::new());
    for path in given {
        let Some((file, symbol)) = split_symbol(reader, path, cwd) else {
            paths.push(path.clone());
            continue;
        };
        let anchor = find_anchor(reader, reader.project_path(&file, cwd)?, &symbol)?;
        paths.push(file);
        if !anchors.contains(&anchor) {
            anchors.push(anchor);
        }
    }
    Ok((paths, anchors))
}

/// Splits `src/a.rs:verify` if `src/a.rs` exists and no file has the whole name.
fn split_symbol(reader: &ProjectReader, path: &Path, cwd: &Path) -> Option<(PathBuf, String)> {
    let text = path.to_str()?;
    let exists = |it: &Path| {
        reader
            .project_path(it, cwd)
            .is_ok_and(|it| source::exists_in_project(&reader.place.root, it.as_str()))
    };
    if exists(path) {
        return None;
    }
    // Symbols may have colons in their names, as in `Server::run`, so the first colon after an
    // existing file counts.
    let split_at = |at: usize| {
        let (file, symbol) = (&text[..at], text[at..].trim_start_matches(':'));
        let is_split = !symbol.is_empty() && exists(Path::new(file));
        is_split.then(|| (PathBuf::from(file), symbol.to_owned()))
    };
    text.match_indices(':').find_map(|it| split_at(it.0))
}

/// The anchor of a symbol that the user named; refuses a name that fits none or several.
fn find_anchor(
    reader: &ProjectReader,
    file: ProjectPath,
    symbol: &str,
) -> Result<SymbolAnchor, Error> {
    let Some(outline) = SourceOutline::read(&reader.place.root, file.as_str()) else {
        return Err(Error::refuse(
            format!("`{file}` is not a source file whose symbols are known"),
            "name the file alone",
        ));
    };
    match &outline.find_names(symbol)[..] {
        [name] => {
            let hash = outline.symbol_hash(name).unwrap_or_default();
            Ok(SymbolAnchor { file, symbol: name.clone(), hash })
        }
        [] => Err(Error::refuse(
            format!("`{file}` defines no symbol named `{symbol}`"),
            format!("`waylore symbols {file}` lists its symbols, once it is indexed"),
        )),
        several => Err(Error::refuse(
            format!("`{symbol}` fits several symbols of `{file}`: {}", several.join(", ")),
            "name one of them in full",
        )),
    }
}

/// Updates the hashes of anchors to the code now. Used when a memory is stated again: its author has
/// seen this code.
pub(crate) fn refresh_anchors(
    reader: &ProjectReader,
    anchors: Vec<SymbolAnchor>,
) -> Vec<SymbolAnchor> {
    let refresh = |anchor: SymbolAnchor| {
        let outline = SourceOutline::read(&reader.place.root, anchor.file.as_str());
        match outline.and_then(|it| it.symbol_hash(&anchor.symbol)) {
            Some(hash) => SymbolAnchor { hash, ..anchor },
            None => anchor,
        }
    };
    anchors.into_iter().map(refresh).collect()
}

/// Anchors for the symbols of some files that a text names as code.
pub(crate) fn anchors_in_text(
    reader: &ProjectReader,
    text: &str,
    files: &[ProjectPath],
) -> Vec<SymbolAnchor> {
    let names = code_names(text);
    let mut anchors = Vec::new();
    if names.is_empty() {
        return anchors;
    }
    for file in files.iter().take(MAX_LEARNED_ANCHORS) {
        let Some(outline) = SourceOutline::read(&reader.place.root, file.as_str()) else {
            continue;
        };
        for name in &names {
            // A name that fits several symbols is no anchor.
            if let [name] = &outline.find_names(name)[..]
                && let Some(hash) = outline.symbol_hash(name)
                && anchors.len() < MAX_LEARNED_ANCHORS
            {
                anchors.push(SymbolAnchor { file: file.clone(), symbol: name.clone(), hash });
            }
        }
    }
    anchors.dedup();
    anchors
}

/// Identifiers that a text marks as code: `` `verify` ``, `verify()`, `Server::run(`.
fn code_names(text: &str) -> Vec<String> {
    let is_name = |it: &str| {
        let mut parts = it.split(['.', ':']).filter(|it| !it.is_empty());
        let is_identifier = |it: &str| {
            it.starts_with(|it: char| it.is_alphabetic() || it == '_')
                && it.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$')
        };
        it.len() > 2 && parts.clone().next().is_some() && parts.all(is_identifier)
    };
    // Every second piece between backticks is quoted.
    let quoted = text.split('`').skip(1).step_by(2).map(|it| it.trim_end_matches("()"));
    let called = text.match_indices('(').map(|(at, _)| {
        let before = &text[..at];
        let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.' | ':');
        let start = before
            .rfind(|it| !is_part(it))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        &before[start..]
    });
    let mut names: Vec<String> =
        quoted.chain(called).filter(|it| is_name(it)).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_marked_as_code_is_a_name() {
        let names =
            code_names("The `verify` of Server::run(x) calls parse_all(); a ` b` (see) or ü(1)");
        assert_eq!(names, ["Server::run", "parse_all", "verify"]);
        assert!(code_names("nothing marked here, not even run or verify").is_empty());
    }
}
