//! Definitions that other files can see, against a plain count of them in the text.
//!
//! `waylore-eval exports --repo FOLDER` (repeatable) counts exported or public definitions with one
//! table of patterns per language, in a text without comments and strings. The count knows no
//! grammar, so it also sees what the parser stumbles over. A definition is found if the graph has
//! one of that name in that line. `--show N` names at most N misses per repository.

mod blanking;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use ::graph::{FileFacts, SourceLanguage, extract_facts, language_of_path};
use anyhow::Context;
use regex::Regex;

use blanking::blank_comments_and_strings;

/// A pattern for the definitions of one language; its group `name` is the name.
struct DefinitionPattern {
    langs: &'static [SourceLanguage],
    pattern: &'static str,
}

/// The names of modifiers before a Java or C# definition, without `private` and `internal`.
macro_rules! modifiers {
    () => {
        r"(?:static |final |abstract |sealed |partial |readonly |async |override |virtual |unsafe |new |default |synchronized |strictfp |native |ref )*"
    };
}

/// All patterns apply to a text without comments and strings; `(?m)` lets `^` match at every line.
#[rustfmt::skip]
const DEFINITION_PATTERNS: &[DefinitionPattern] = {
    use SourceLanguage::{C, Cpp, CSharp, Go, Java, JavaScript, Php, Python, Ruby, Rust, Tsx, TypeScript};
    &[
        row(&[TypeScript, Tsx, JavaScript], r"(?m)^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\s*\*?|class|interface|type|enum|const enum|const|let|var|namespace) +(?P<name>[A-Za-z_$][\w$]*)\b"),
        row(&[JavaScript], r"(?m)^(?:module\.)?exports\.(?P<name>[A-Za-z_$][\w$]*) = (?:async )?function\b"),
        row(&[Python], r"(?m)^(?:async )?(?:def|class) +(?P<name>\w+)"),
        row(&[Rust], r"(?m)^[ \t]*pub (?:default |const |unsafe |async |extern +)*(?:fn|struct|enum|trait|type|mod|union|static|const) +(?P<name>[A-Za-z_]\w*)\b"),
        row(&[Go], r"(?m)^func (?:\([^)]*\) )?(?P<name>[A-Z]\w*)"),
        row(&[Go], r"(?m)^(?:type|var|const) (?P<name>[A-Z]\w*)"),
        row(&[Java], concat!(r"(?m)^[ \t]*(?:public |protected )", modifiers!(), r"(?:class|interface|enum|record|@interface) +(?P<name>\w+)")),
        row(&[Java], concat!(r"(?m)^[ \t]*(?:public |protected )", modifiers!(), r"(?:<[^(;{=]*> )?[\w.]+(?:<[^(;{=]*>)?(?:\[\])* +(?P<name>\w+)\(")),
        row(&[CSharp], concat!(r"(?m)^[ \t]*(?:public |protected )", modifiers!(), r"(?:class|interface|enum|struct|record struct|record class|record) +(?P<name>\w+)")),
        row(&[CSharp], concat!(r"(?m)^[ \t]*(?:public |protected )", modifiers!(), r"[\w.]+(?:<[^(;{=]*>)?(?:\[\])?\?? +(?P<name>\w+)(?:<[\w, ]*>)?\(")),
        row(&[C, Cpp], r"(?m)^(?:[A-Za-z_]\w*[ \t*]+)+\**(?P<name>[A-Za-z_]\w*)\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\s*(?:const\s*|noexcept\s*|override\s*)*\{"),
        row(&[C, Cpp], r"(?m)^[ \t]*(?:typedef )?(?:struct|union|enum|enum class|enum struct) +(?:\w+::)*(?P<name>[A-Za-z_]\w*)\s*(?:: *[\w:]+\s*)?\{"),
        row(&[Cpp], r"(?m)^[ \t]*class +(?:[A-Z_]+ )?(?P<name>[A-Za-z_]\w*)(?: final)?\s*(?::[^;{}:][^;{}]*)?\{"),
        row(&[Ruby], r"(?m)^[ \t]*def +(?:\w+\.)?(?P<name>[A-Za-z_]\w*[?!=]?)"),
        row(&[Ruby], r"(?m)^[ \t]*(?:class|module) +(?:\w+::)*(?P<name>[A-Z]\w*)"),
        row(&[Php], r"(?m)^[ \t]*(?:abstract |final |readonly )*(?:class|interface|trait|enum) +(?P<name>\w+)"),
        row(&[Php], r"(?m)^[ \t]*(?:abstract |final |public |static )*function +&?(?P<name>\w+)"),
    ]
};

const fn row(langs: &'static [SourceLanguage], pattern: &'static str) -> DefinitionPattern {
    DefinitionPattern { langs, pattern }
}

/// Words that a pattern may take for a name or for the type before it, as in `return call(x) {`.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &["if", "for", "while", "switch", "return", "else", "new", "operator", "defined", "sizeof", "catch", "do", "self"];

/// A definition in the text, by line (from 0) and name.
type CountedDefinition = (u32, String);

/// The outcome of one repository.
#[derive(Default)]
struct ExportScore {
    n_counted: usize,
    n_found: usize,
    /// Files whose grammar reported an error.
    n_partial_files: usize,
    misses: Vec<String>,
}

pub(crate) fn run(_: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let values_of = |name: &str| -> Vec<String> {
        let pairs = args.windows(2).filter(|it| it[0] == name);
        pairs.map(|it| it[1].clone()).collect()
    };
    let repos = values_of("--repo");
    if repos.is_empty() {
        println!("exports: skipped, there is no --repo FOLDER");
        return Ok(());
    }
    let n_shown = values_of("--show").first().map_or(Ok(20), |it| it.parse())?;
    let patterns = DEFINITION_PATTERNS
        .iter()
        .map(|it| Ok((it.langs, Regex::new(it.pattern).context("a pattern of the table")?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    println!(
        "| repository | counted | found | share | files understood in part |\n|---|---|---|---|---|"
    );
    let mut named = Vec::new();
    for repo in &repos {
        let score = measure_repository(Path::new(repo), &patterns);
        let name = Path::new(repo).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let share = 100.0 * score.n_found as f64 / score.n_counted.max(1) as f64;
        let (counted, found, partial) = (score.n_counted, score.n_found, score.n_partial_files);
        println!("| {name} | {counted} | {found} | {share:.2} % | {partial} |");
        named.extend(score.misses.into_iter().take(n_shown).map(|it| format!("{name}: {it}")));
    }
    for miss in named {
        println!("{miss}");
    }
    Ok(())
}

fn measure_repository(repo: &Path, patterns: &[(&'static [SourceLanguage], Regex)]) -> ExportScore {
    let walked = source::walk_files(repo, &|it| language_of_path(it).is_some());
    let mut score = ExportScore::default();
    for (path, _) in &walked.files {
        let (Some(lang), Ok(text)) = (language_of_path(path), source::read_source(repo, path))
        else {
            continue;
        };
        let facts = extract_facts(lang, path, &text);
        score.n_partial_files += usize::from(facts.n_syntax_errors > 0);
        let text = String::from_utf8_lossy(&text);
        let counted = count_definitions(facts.lang, &text, patterns);
        let found = found_definitions(&facts);
        for (line, name) in counted {
            score.n_counted += 1;
            if found.contains(&(line, name.as_str())) {
                score.n_found += 1;
            } else {
                let code = text.lines().nth(line as usize).unwrap_or_default().trim();
                let code: String = code.chars().take(100).collect();
                score.misses.push(format!("{path}:{} `{name}` in `{code}`", line + 1));
            }
        }
    }
    score
}

/// The definitions of a text by the patterns of its language.
fn count_definitions(
    lang: SourceLanguage,
    text: &str,
    patterns: &[(&'static [SourceLanguage], Regex)],
) -> Vec<CountedDefinition> {
    let blanked = blank_comments_and_strings(lang, text);
    // Ordered and without duplicates: two patterns may match one definition.
    let mut counted = BTreeSet::new();
    for (_, pattern) in patterns.iter().filter(|it| it.0.contains(&lang)) {
        for captures in pattern.captures_iter(&blanked) {
            let Some(name) = captures.name("name") else { continue };
            let line_start = blanked[..name.start()].rfind('\n').map_or(0, |it| it + 1);
            let first_word = blanked[line_start..].split_whitespace().next().unwrap_or_default();
            if KEYWORDS.contains(&name.as_str()) || KEYWORDS.contains(&first_word) {
                continue;
            }
            let line = blanked[..name.start()].matches('\n').count();
            counted.insert((u32::try_from(line).unwrap_or(u32::MAX), name.as_str().to_owned()));
        }
    }
    counted.into_iter().collect()
}

/// The definitions of the graph by line and name, and names that are exported without one.
fn found_definitions(facts: &FileFacts) -> HashSet<(u32, &str)> {
    let defs = facts.defs.iter().map(|it| (it.position.line, facts.string(it.name)));
    // Imports that are passed on: Rust's `pub mod name;`, and `export const { a } = …`.
    let imports = facts.imports.iter().map(|it| (it.line, facts.string(it.local_name)));
    let mut found: HashSet<(u32, &str)> = defs.chain(imports).collect();
    // Overloads are one definition, at the first signature. The others have its name in a line
    // between its first and its last.
    for def in facts.defs.iter().filter(|it| it.kind.is_callable()) {
        let name = facts.string(def.name);
        found.extend((def.lines.0..=def.lines.1).map(|it| (it, name)));
    }
    found
}
