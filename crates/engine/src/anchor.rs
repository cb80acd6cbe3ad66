//! Symbol anchors: bind a memory to symbols of its files, by qualified name and structural hash.
//!
//! The structural hash ignores white space and comments. If it differs later, the code has changed,
//! and retrieval lowers the confidence of the memory (`staleness.rs`). Users name anchors as
//! `path:symbol`; learned memories get them from code names in their text. Files are parsed on
//! demand, so no code graph is needed. A *qualified* name has the enclosing symbols before it:
//! `Server.run`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use graph::{FileFacts, extract_facts, language_of_path};
use model::{ProjectPath, SymbolAnchor};

use crate::{Error, ProjectReader};

/// Most anchors that a learned memory gets from its text.
const MAX_LEARNED_ANCHORS: usize = 3;

/// The structural hashes of a file's symbols, by qualified name.
pub(crate) type SymbolHashes = HashMap<String, u64>;

/// The definitions of a source file.
pub(crate) struct SourceOutline(FileFacts);

impl SourceOutline {
    /// Parses a file; `None` if it is not a readable file of a known language.
    pub(crate) fn read(root: &Path, path: &str) -> Option<Self> {
        let language = language_of_path(path)?;
        let bytes = source::read_source(root, path).ok()?;
        Some(Self(extract_facts(language, path, &bytes)))
    }

    /// Returns the structural hash of a symbol in hex; `None` if there is no such symbol.
    pub(crate) fn symbol_hash(&self, name: &str) -> Option<String> {
        self.symbol_hashes().get(name).map(|it| format!("{it:016x}"))
    }

    /// Returns the structural hashes of all symbols.
    pub(crate) fn symbol_hashes(&self) -> SymbolHashes {
        let mut hashes = SymbolHashes::new();
        for (name, hash) in self.definitions() {
            // Overloads share a name. Their hashes are combined, so that a change of any of them
            // changes the result. The rotation makes the order count and keeps equal hashes from
            // cancelling out.
            let entry = hashes.entry(name);
            entry.and_modify(|it| *it = it.rotate_left(7) ^ hash).or_insert(hash);
        }
        hashes
    }

    /// Finds the qualified names that a user may mean: the exact name, else the symbol around a
    /// line number, else all names that end with the given one.
    fn find_names(&self, given: &str) -> Vec<String> {
        // Qualified names are separated by dots in every language.
        let given = given.replace("::", ".").replace('#', ".");
        let all: Vec<String> = self.definitions().map(|(name, _)| name).collect();
        // The exact name wins, also if other names end with it.
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

    /// Finds the innermost symbol around a line, counted from 1.
    fn symbol_around(&self, line: u32) -> Option<String> {
        // The lines of a definition are counted from 0.
        let line = line.checked_sub(1)?;
        let around = self.0.defs_with_ids().filter(|(_, def)| {
            let (first, last) = def.lines;
            (first..=last).contains(&line)
        });
        // The innermost is the shortest.
        let innermost = around.min_by_key(|(_, def)| {
            let (first, last) = def.lines;
            last - first
        });
        innermost.map(|(id, _)| self.0.qualified_name(id))
    }

    /// Returns the qualified name and the structural hash of each definition.
    fn definitions(&self) -> impl Iterator<Item = (String, u64)> {
        self.0.defs_with_ids().map(|(id, it)| (self.0.qualified_name(id), it.structural_hash))
    }
}

/// Splits paths as the user typed them: `src/a.rs:verify` becomes the path and an anchor.
pub(crate) fn split_anchors(
    reader: &ProjectReader,
    given: &[PathBuf],
    cwd: &Path,
) -> Result<(Vec<PathBuf>, Vec<SymbolAnchor>), Error> {
    let (mut paths, mut anchors): (Vec<PathBuf>, Vec<SymbolAnchor>) = (Vec::new(), Vec::new());
    for path in given {
        // A path without a symbol.
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

/// Updates the hashes of anchors to the current code. Called when a user states or confirms a
/// memory again, which then holds for this code.
pub(crate) fn refresh_anchors(
    reader: &ProjectReader,
    anchors: Vec<SymbolAnchor>,
) -> Vec<SymbolAnchor> {
    let refresh = |anchor: SymbolAnchor| {
        let outline = SourceOutline::read(&reader.place.root, anchor.file.as_str());
        match outline.and_then(|it| it.symbol_hash(&anchor.symbol)) {
            Some(hash) => SymbolAnchor { hash, ..anchor },
            // The symbol is gone; the old hash keeps the anchor marked as changed.
            None => anchor,
        }
    };
    anchors.into_iter().map(refresh).collect()
}

/// Finds anchors for the symbols that a text names as code, in the given files.
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
    // Parsing is slow, so at most as many files are read as there can be anchors.
    for file in files.iter().take(MAX_LEARNED_ANCHORS) {
        // Not source code, or deleted since.
        let Some(outline) = SourceOutline::read(&reader.place.root, file.as_str()) else {
            continue;
        };
        add_anchors(&mut anchors, &outline, file, &names);
    }
    anchors
}

/// Adds the symbols of a file that the names mean, each once, up to the limit.
fn add_anchors(
    acc: &mut Vec<SymbolAnchor>,
    outline: &SourceOutline,
    file: &ProjectPath,
    names: &[String],
) {
    for name in names {
        // A name that fits several symbols is ambiguous and no anchor.
        let [symbol] = &outline.find_names(name)[..] else { continue };
        let Some(hash) = outline.symbol_hash(symbol) else { continue };
        let anchor = SymbolAnchor { file: file.clone(), symbol: symbol.clone(), hash };
        // Two names can mean one symbol: `run` and `Server::run`.
        if acc.len() < MAX_LEARNED_ANCHORS && !acc.contains(&anchor) {
            acc.push(anchor);
        }
    }
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
    // Symbols can contain colons, as in `Server::run`, so the first colon after an existing file is
    // the separator.
    for (colon, _) in text.match_indices(':') {
        let (file, symbol) = (&text[..colon], text[colon..].trim_start_matches(':'));
        if !symbol.is_empty() && exists(Path::new(file)) {
            return Some((PathBuf::from(file), symbol.to_owned()));
        }
    }
    None
}

/// Finds the anchor of a symbol that the user named. Refuses a name that fits no symbol or several.
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
            let hash = outline.symbol_hash(name).expect("a name that was found has a definition");
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

/// Finds the identifiers that a text marks as code: `` `verify` ``, `verify()`, `Server::run(`.
/// Names of one or two characters are too common and left out.
fn code_names(text: &str) -> Vec<String> {
    // Split at backticks, every second piece is quoted.
    let quoted = text.split('`').skip(1).step_by(2).map(|it| it.trim_end_matches("()"));
    // The name before each opening parenthesis.
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.' | ':');
    let called = text.match_indices('(').map(|(parenthesis, _)| {
        let before = &text[..parenthesis];
        before.rsplit(|it| !is_part(it)).next().unwrap_or_default()
    });
    let mut names: Vec<String> =
        quoted.chain(called).filter(|it| is_code_name(it)).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns whether a text is an identifier, or several joined by dots or colons (`Server::run`).
fn is_code_name(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['.', ':']).filter(|it| !it.is_empty()).collect();
    let is_identifier = |part: &&str| {
        part.starts_with(|it: char| it.is_alphabetic() || it == '_')
            && part.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$')
    };
    text.chars().count() > 2 && !parts.is_empty() && parts.iter().all(is_identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_marked_as_code_is_a_name() {
        // ` b` is no identifier, `(see)` has no name before it, `zü` is too short.
        let names =
            code_names("The `verify` of Server::run(x) calls parse_all(); a ` b` (see) or zü(1)");
        assert_eq!(names, ["Server::run", "parse_all", "verify"]);
        assert!(code_names("nothing marked here, not even run or verify").is_empty());
    }

    #[test]
    fn two_names_of_a_symbol_give_one_anchor() {
        let code = b"struct Server;\nimpl Server { fn run() {} }\nfn parse_all() {}\n";
        let language = language_of_path("a.rs").unwrap();
        let outline = SourceOutline(extract_facts(language, "a.rs", code));
        let file = ProjectPath::parse("a.rs").unwrap();
        let names = code_names("`Server::run` calls `parse_all`, so `run` reads the file");
        let mut anchors = Vec::new();
        add_anchors(&mut anchors, &outline, &file, &names);
        let symbols: Vec<&str> = anchors.iter().map(|it| it.symbol.as_str()).collect();
        assert_eq!(symbols, ["Server.run", "parse_all"]);
    }
}
