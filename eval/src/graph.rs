//! The call graph, against a precise index made with the language's own compiler.
//!
//! `waylore-eval graph --repo FOLDER --scip FILE` resolves every call site of the files that the
//! index covers and compares its target with the symbol that the index has at that position.

mod review_sheet;

use std::collections::HashMap;
use std::path::Path;

use ::graph::{
    DefFlags, DefKind, GraphChange, RefKind, ResolutionKind, ResolvedReference, ScipFile,
    SymbolGraph, extract_facts, language_of_path, parse_scip,
};

/// Line and column, the column in UTF-16 code units.
type Utf16Position = (u32, u32);

/// Target of a reference according to the index.
#[derive(Clone, PartialEq, Eq)]
enum ExpectedTarget {
    /// A symbol of the repository, by path and position of its definition.
    Repository(String, Utf16Position),
    /// A class and its constructor: indexers give the constructor where the graph has the class.
    Constructor((String, Utf16Position), (String, Utf16Position)),
    External,
    /// A parameter or variable inside a function, with its definition if the index has it.
    Local(Option<Utf16Position>),
}

/// Counts of resolved call sites.
#[derive(Default)]
#[expect(clippy::struct_field_names, reason = "all fields are counts")]
struct ResolutionScore {
    /// Call sites whose target should be found.
    n_expected: usize,
    n_found: usize,
    n_right: usize,
    n_wrong: usize,
    /// Resolved by the graph, while the index has no symbol at the position.
    n_unjudged: usize,
}

impl ExpectedTarget {
    /// The target for the name in the text: `__init__` written out is the constructor, a class name
    /// is the class.
    fn target_of_name(&self, text: &[u8]) -> Self {
        match self {
            Self::Constructor(_, own) if text.starts_with(b"__init__") => {
                Self::Repository(own.0.clone(), own.1)
            }
            Self::Constructor(class, _) => Self::Repository(class.0.clone(), class.1),
            other => other.clone(),
        }
    }

    fn repository_target(&self) -> Option<(&str, Utf16Position)> {
        match self {
            Self::Repository(path, at) => Some((path, *at)),
            _ => None,
        }
    }
}

impl ResolutionScore {
    /// Adds a call site; `is_in_scope` if its target is of a kind that the graph should find.
    fn add(
        &mut self,
        expected: Option<&ExpectedTarget>,
        is_in_scope: bool,
        resolved: Option<&ResolvedTarget>,
    ) {
        let own = expected.and_then(ExpectedTarget::repository_target);
        let is_expected = own.is_some() && is_in_scope;
        self.n_expected += usize::from(is_expected);
        let Some((path, at, _)) = resolved else { return };
        match expected {
            None => self.n_unjudged += 1,
            // Right, but not counted: a local symbol is not one of the graph.
            Some(ExpectedTarget::Local(Some(definition))) if definition == at => {}
            _ if own == Some((path.as_str(), *at)) => {
                self.n_right += 1;
                self.n_found += usize::from(is_expected);
            }
            _ => self.n_wrong += 1,
        }
    }

    fn format_line(&self, label: &str) -> String {
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        format!(
            "{label:<34} precision {:.4}  recall {:.4}  ({} sites; {} right, {} wrong, {} not judged)",
            share(self.n_right, self.n_right + self.n_wrong),
            share(self.n_found, self.n_expected),
            self.n_expected,
            self.n_right,
            self.n_wrong,
            self.n_unjudged
        )
    }
}

pub(crate) fn run(_: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let given = |name: &str| args.iter().skip_while(|it| *it != name).nth(1).cloned();
    if let (Some(repo), Some(n)) = (given("--repo"), given("--review-sheet")) {
        let (graph, texts) = load_graph(Path::new(&repo));
        let seed = given("--seed").map_or(Ok(1), |it| it.parse())?;
        review_sheet::print_review_sheet(
            &graph,
            &texts,
            &given("--lang").unwrap_or_default(),
            n.parse()?,
            seed,
        );
        return Ok(());
    }
    let (Some(repo), Some(scip)) = (given("--repo"), given("--scip")) else {
        println!("graph: skipped, there is no --repo FOLDER with a --scip FILE");
        return Ok(());
    };
    let samples = given("--show").and_then(|it| it.parse().ok()).unwrap_or(0);
    let bytes = std::fs::read(&scip)?;
    let index =
        parse_scip(&bytes).ok_or_else(|| anyhow::anyhow!("`{scip}` is not a SCIP index"))?;
    // Some indexers write paths relative to the folder they were started in.
    let prefix = given("--prefix").unwrap_or_default();
    let mut index = index;
    for it in &mut index {
        it.path.insert_str(0, &prefix);
    }
    measure_calls(Path::new(&repo), &index, samples);
    Ok(())
}

/// Builds the graph of a repository; the texts are needed to convert columns.
fn load_graph(repo: &Path) -> (SymbolGraph, HashMap<String, Vec<u8>>) {
    let walked = source::walk_files(repo, &|it| language_of_path(it).is_some());
    let (mut changes, mut texts) = (Vec::new(), HashMap::new());
    for (path, _) in &walked.files {
        let (Some(lang), Ok(text)) = (language_of_path(path), source::read_source(repo, path))
        else {
            continue;
        };
        changes
            .push(GraphChange::Put { path: path.clone(), facts: extract_facts(lang, path, &text) });
        texts.insert(path.clone(), text);
    }
    println!("{} files read, {} skipped", changes.len(), walked.skipped.len());
    let mut graph = SymbolGraph::default();
    graph.update(changes, 2);
    (graph, texts)
}

fn measure_calls(repo: &Path, index: &[ScipFile<'_>], samples: usize) {
    let (graph, texts) = load_graph(repo);
    // `confident` leaves out guesses; `all` includes them; `strict` also expects symbols that are
    // not callable.
    let (mut confident, mut all, mut strict) =
        (ResolutionScore::default(), ResolutionScore::default(), ResolutionScore::default());
    let (mut unique_name, mut overload) = (ResolutionScore::default(), ResolutionScore::default());
    let mut n_shown = 0;
    for (path, targets) in expected_targets(index, &texts) {
        let (Some(id), Some(text)) = (graph.file_id(&path), texts.get(&path)) else { continue };
        let lines: Vec<&[u8]> = text.split(|it| *it == b'\n').collect();
        let is_call = |it: &ResolvedReference| matches!(it.kind, RefKind::Call | RefKind::New);
        for site in graph.resolve_references(id).into_iter().filter(is_call) {
            let position = site.position;
            let at = (position.line, to_utf16_column(&lines, position.line, position.column));
            let line = lines.get(at.0 as usize).copied().unwrap_or_default();
            let name = &line[position.column as usize..];
            // The index has positions in UTF-16, the graph in bytes.
            let expected = targets.get(&at).map(|it| it.target_of_name(name));
            let expected = expected.as_ref();
            let resolved = resolved_target(&graph, &texts, &site, expected);
            let by = |kind: ResolutionKind| resolved.as_ref().filter(|it| it.2 == kind);
            unique_name.add(expected, false, by(ResolutionKind::Unique));
            overload.add(expected, false, by(ResolutionKind::Overload));
            let is_confident = |it: &&ResolvedTarget| {
                !matches!(it.2, ResolutionKind::Unique | ResolutionKind::Overload)
            };
            let confident_target = resolved.as_ref().filter(is_confident);
            let target = expected.and_then(ExpectedTarget::repository_target);
            let is_callable = target.is_some_and(|it| is_callable_at(&graph, &texts, it.0, it.1));
            confident.add(expected, is_callable, confident_target);
            all.add(expected, is_callable, resolved.as_ref());
            strict.add(expected, true, confident_target);
            let is_right = match (expected, confident_target) {
                (Some(ExpectedTarget::Local(Some(definition))), Some(it)) => it.1 == *definition,
                (Some(_), Some(it)) => target == Some((it.0.as_str(), it.1)),
                _ => !is_callable,
            };
            if !is_right && n_shown < samples {
                n_shown += 1;
                let line = String::from_utf8_lossy(line);
                println!(
                    "{path}:{}:{} → {confident_target:?}, expected {target:?}: {}",
                    at.0 + 1,
                    at.1 + 1,
                    line.trim()
                );
            }
        }
    }
    println!("{}", confident.format_line("functions, methods, types"));
    println!("{}", strict.format_line("any symbol of the repository"));
    println!("{}", all.format_line("with guesses"));
    for (label, score) in
        [("methods of a unique name", unique_name), ("undecided overloads, the first", overload)]
    {
        let (right, wrong, unjudged) = (score.n_right, score.n_wrong, score.n_unjudged);
        println!("{label}: {right} right, {wrong} wrong, {unjudged} not judged");
    }
}

/// Target of a call in the graph: path and position of the definition, and how it was resolved.
type ResolvedTarget = (String, Utf16Position, ResolutionKind);

fn resolved_target(
    graph: &SymbolGraph,
    texts: &HashMap<String, Vec<u8>>,
    site: &ResolvedReference,
    expected: Option<&ExpectedTarget>,
) -> Option<ResolvedTarget> {
    let (def, kind) = site.target?;
    let facts = graph.facts(def.file)?;
    let definition = facts.def(def.def);
    let path = graph.path(def.file)?;
    let lines: Vec<&[u8]> = texts.get(path)?.split(|it| *it == b'\n').collect();
    // Most indexers count definitions inside a function as local, so they are not judged.
    let mut enclosing = definition.parent;
    while let Some(parent) = enclosing {
        let parent = &facts.defs[parent.index()];
        let is_inside = parent.kind.is_callable() || parent.kind == DefKind::Test;
        if is_inside && !matches!(expected, Some(ExpectedTarget::Repository(..))) {
            return None;
        }
        enclosing = parent.parent;
    }
    let position = definition.position;
    let column = to_utf16_column(&lines, position.line, position.column);
    Some((path.to_owned(), (position.line, column), kind))
}

/// The graph has a function, method or class defined at a position.
fn is_callable_at(
    graph: &SymbolGraph,
    texts: &HashMap<String, Vec<u8>>,
    path: &str,
    at: Utf16Position,
) -> bool {
    let (Some(id), Some(text)) = (graph.file_id(path), texts.get(path)) else { return false };
    let Some(facts) = graph.facts(id) else { return false };
    let lines = [text.split(|it| *it == b'\n').nth(at.0 as usize).unwrap_or_default()];
    facts.defs.iter().any(|it| {
        it.position.line == at.0
            && to_utf16_column(&lines, 0, it.position.column) == at.1
            && (it.kind.is_callable()
                || it.kind == DefKind::Class
                || it.flags.has(DefFlags::CONSTRUCTOR))
    })
}

/// The targets of all references of the index, by file and position.
fn expected_targets(
    index: &[ScipFile<'_>],
    texts: &HashMap<String, Vec<u8>>,
) -> Vec<(String, HashMap<Utf16Position, ExpectedTarget>)> {
    let mut defined: HashMap<&str, Vec<(&str, Utf16Position)>> = HashMap::new();
    let mut local: HashMap<(&str, &str), Utf16Position> = HashMap::new();
    for file in index {
        for it in
            file.occurrences.iter().filter(|it| it.is_definition && it.symbol.starts_with("local"))
        {
            local.entry((&file.path, it.symbol)).or_insert((it.line, it.column));
        }
        for it in
            file.occurrences.iter().filter(|it| it.is_definition && !it.symbol.starts_with("local"))
        {
            defined.entry(it.symbol).or_default().push((&file.path, (it.line, it.column)));
        }
    }
    let mut by_file = Vec::new();
    // Files that the index covers and the repository does not have are left out.
    for file in index.iter().filter(|it| texts.contains_key(&it.path)) {
        let mut places: HashMap<Utf16Position, ExpectedTarget> = HashMap::new();
        for it in file.occurrences.iter().filter(|it| !it.is_definition) {
            let Some(target) = classify_symbol(it.symbol, &file.path, &defined) else { continue };
            let target = match target {
                ExpectedTarget::Local(None) => {
                    ExpectedTarget::Local(local.get(&(file.path.as_str(), it.symbol)).copied())
                }
                other => other,
            };
            let known = places.entry((it.line, it.column)).or_insert_with(|| target.clone());
            // Several symbols may be at one position; one of the repository wins.
            let is_own = |it: &ExpectedTarget| {
                matches!(it, ExpectedTarget::Repository(..) | ExpectedTarget::Constructor(..))
            };
            if is_own(&target) && !is_own(known) {
                *known = target;
            }
        }
        by_file.push((file.path.clone(), places));
    }
    by_file
}

/// The target of a symbol as seen from a file. Several definitions are overloads, of which the
/// first counts. But `rust-analyzer` gives one symbol to items of different programs, such as
/// tests: then the only one in the same file counts, and without such a one the target is unknown
/// (`None`).
fn classify_symbol(
    symbol: &str,
    from: &str,
    defined: &HashMap<&str, Vec<(&str, Utf16Position)>>,
) -> Option<ExpectedTarget> {
    let find = |symbol: &str| match defined.get(symbol)?.as_slice() {
        // Ambiguous: see above.
        many if many.len() > 1 && symbol.starts_with("rust-analyzer") => {
            let mut own = many.iter().filter(|it| it.0 == from);
            let only = own.next().filter(|_| own.next().is_none());
            Some(only.copied().ok_or(()))
        }
        many => many.first().copied().map(Ok),
    };
    // SCIP writes a parameter as `method().(name)`.
    let is_parameter = symbol.ends_with(')') && symbol.contains('(') && !symbol.ends_with("().");
    if symbol.starts_with("local") || is_parameter {
        return Some(ExpectedTarget::Local(find(symbol).and_then(Result::ok).map(|it| it.1)));
    }
    // `Self`: the symbol is the `impl` block, from which the type cannot always be derived.
    if symbol.ends_with(']') && symbol.contains("impl#[") {
        return None;
    }
    let class =
        symbol.strip_suffix("`<constructor>`().").or_else(|| symbol.strip_suffix("__init__()."));
    let place = |it: (&str, Utf16Position)| (it.0.to_owned(), it.1);
    match (class.and_then(find), find(symbol)) {
        // Ambiguous symbols are not judged.
        (Some(Err(())), _) | (_, Some(Err(()))) => None,
        (Some(Ok(class)), Some(Ok(own))) => {
            Some(ExpectedTarget::Constructor(place(class), place(own)))
        }
        (Some(Ok(it)), None) | (None, Some(Ok(it))) => {
            Some(ExpectedTarget::Repository(it.0.to_owned(), it.1))
        }
        (None, None) => Some(ExpectedTarget::External),
    }
}

/// Converts a column in bytes to UTF-16 code units.
fn to_utf16_column(lines: &[&[u8]], line: u32, column: u32) -> u32 {
    let line = lines.get(line as usize).copied().unwrap_or_default();
    let before = &line[..line.len().min(column as usize)];
    if before.is_ascii() {
        return column;
    }
    u32::try_from(String::from_utf8_lossy(before).encode_utf16().count()).unwrap_or(column)
}
