//! Description of a module in the project's own words: the first sentence of its manifest, its
//! README or its entry file.
//!
//! ```text
//! README.md    # Title … A **fast** [parser](http://z) for things. More.   →  A fast parser for things
//! lib.rs       //! The only crate that knows SQL.                          →  The only crate that knows SQL
//! ```
//!
//! `engine` reads the files and tries them in that order. Texts are searched by line and by
//! character, not parsed: a wrong description costs little, and any text must do.

/// A longer description is cut at a word.
const MAX_DESCRIPTION_CHARS: usize = 180;

/// A text with at most this many letters is a heading or a badge, not a description.
const MAX_HEADING_LETTERS: usize = 8;

/// Paragraphs of a README that are considered.
const MAX_README_PARAGRAPHS: usize = 3;

/// Lines of a paragraph that are read; the first sentence has ended by then.
const MAX_PARAGRAPH_LINES: usize = 12;

/// Lines at the top of a Rust file in which its `//!` comment must begin.
const MAX_LINES_BEFORE_RUST_DOC: usize = 80;

/// Words that mark a comment as a licence or as a setting of a linter.
const BOILERPLATE_WORDS: &[&str] =
    &["copyright", "license", "licence", "eslint", "prettier", "@ts-", "spdx", "jshint"];

/// Openings of instructions. They explain how to do something, not what the module is.
const INSTRUCTION_OPENINGS: &[&str] = &[
    "First",
    "Then ",
    "To ",
    "Run ",
    "Install",
    "This command",
    "Please",
    "Make sure",
    "You ",
    "If ",
    "See ",
];

/// Abbreviations, without their last full stop, after which a sentence goes on.
const ABBREVIATIONS: &[&str] = &["e.g", "i.e", "vs", "etc", "Mr", "St"];

/// Openings of sentences that describe the whole of what a README belongs to.
#[rustfmt::skip]
const SELF_DESCRIPTION_OPENINGS: &[&str] = &[
    "This plugin", "This package", "This library", "This crate", "This module", "This project", "This tool", "This is the repository",
    "This directory", "This folder", "This application", "This website",
];

/// The description in a manifest; `manifest` is its file name.
pub fn manifest_description(manifest: &str, text: &str) -> Option<String> {
    let description = match manifest {
        "package.json" => {
            let json: serde_json::Value = serde_json::from_str(text).ok()?;
            json["description"].as_str()?.to_owned()
        }
        "Cargo.toml" | "pyproject.toml" => toml_string_field(text, "description")?,
        "pom.xml" => {
            let from = text.find("<description>")? + "<description>".len();
            text[from..].split("</description>").next()?.to_owned()
        }
        _ => return None,
    };
    // A description is one line of plain text. What cleaning would remove may hide something.
    let is_disguised = |it: char| it.is_control() && !it.is_whitespace();
    if description.contains(is_disguised) || description.contains("</") {
        return None;
    }
    first_sentence(&description)
}

/// The name of the package in a manifest; `manifest` is its file name.
pub fn manifest_name(manifest: &str, text: &str) -> Option<String> {
    let name = match manifest {
        "package.json" => {
            let json: serde_json::Value = serde_json::from_str(text).ok()?;
            let name = json["name"].as_str()?.to_owned();
            // Without the scope: `@vitejs/vite` is `vite`.
            name.rsplit('/').next()?.to_owned()
        }
        "Cargo.toml" | "pyproject.toml" => toml_string_field(text, "name")?,
        "go.mod" => {
            // The last part of the module path that is not a major version: `…/hugo/v2` is `hugo`.
            let path = text.lines().find_map(|it| it.strip_prefix("module "))?.trim();
            let is_version = |part: &str| {
                part.strip_prefix('v').is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
            };
            path.rsplit('/').find(|it| !is_version(it))?.to_owned()
        }
        _ => return None,
    };
    // The name becomes part of ids and output, so placeholders of templates (`{{name}}`) are refused.
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.');
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

/// The first string assigned to a field at the beginning of a line; it may span several lines.
/// Sections are ignored: in the manifests of Cargo and Python the package comes first.
fn toml_string_field(text: &str, field: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if let Some((name, value)) = line.split_once('=')
            && name.trim() == field
        {
            let multiline_quote =
                ["\"\"\"", "'''"].into_iter().find(|it| value.trim().starts_with(it));
            return match multiline_quote {
                Some(quote) => {
                    let from = rest.find(quote)? + quote.len();
                    rest[from..].split(quote).next().map(|it| it.trim().to_owned())
                }
                // The text after the first quote. `description.workspace = true` has none.
                None => value.split(['"', '\'']).nth(1).map(str::to_owned),
            };
        }
        if after.is_empty() {
            return None;
        }
        rest = after;
    }
}

/// Descriptions at the beginning of a file, in their order. Only a README can have more than one.
pub fn extract_descriptions(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, it)| it).to_ascii_lowercase();
    let description = match extension.as_str() {
        "md" | "markdown" | "rst" => return describe_readme(text),
        "rs" => describe_rust(text),
        "py" => describe_python(text),
        "go" => describe_go(text),
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "java" | "c" | "h" | "cpp" | "cs" | "php" => {
            describe_block_comment(text)
        }
        _ => None,
    };
    description.into_iter().collect()
}

/// One sentence of each of the first paragraphs of prose. Headings, badges, pictures, tables and
/// markup are skipped.
fn describe_readme(text: &str) -> Vec<String> {
    let is_prose = |line: &str| {
        let first = line.chars().next();
        // `*` and `_` may begin emphasis; `* ` begins a list.
        first.is_some_and(|it| it.is_alphanumeric() || matches!(it, '*' | '_' | '`'))
            && !line.starts_with("* ")
            && count_letters_outside_links(line) > MAX_HEADING_LETTERS
    };
    // `Title` above `=====`, in Markdown and reStructuredText.
    let is_underline = |line: &str| {
        line.len() > 2 && line.chars().all(|it| matches!(it, '=' | '-' | '~' | '*' | '#'))
    };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut descriptions = Vec::new();
    let (mut next, mut n_paragraphs, mut in_code_block) = (0, 0, false);
    while next < lines.len() && n_paragraphs < MAX_README_PARAGRAPHS {
        let line = lines[next];
        if line.starts_with("```") {
            in_code_block = !in_code_block;
        }
        let is_title = lines.get(next + 1).is_some_and(|it| is_underline(it));
        if in_code_block || is_title || is_underline(line) || !is_prose(line) {
            next += 1;
            continue;
        }
        // From the first line of prose, a paragraph reaches to the next empty line.
        let paragraph: Vec<&str> =
            lines[next..].iter().copied().take_while(|it| !it.is_empty()).collect();
        next += paragraph.len();
        n_paragraphs += 1;
        descriptions.extend(describing_sentence(&join_paragraph(paragraph.into_iter())));
    }
    descriptions
}

/// A later sentence of a paragraph that describes the thing itself ("This library …"), else its first
/// sentence.
fn describing_sentence(paragraph: &str) -> Option<String> {
    // A full stop before the opening shows that a sentence begins there, and not a part of one.
    let sentence_starts = SELF_DESCRIPTION_OPENINGS.iter().filter_map(|opening| {
        let end_of_previous = paragraph.find(&format!(". {opening} "))?;
        Some(end_of_previous + ". ".len())
    });
    if let Some(start) = sentence_starts.min()
        && let Some(sentence) = first_sentence(&paragraph[start..])
    {
        return Some(sentence);
    }
    first_sentence(paragraph)
}

/// Counts the letters of a line outside brackets: a line of badges has hardly any.
fn count_letters_outside_links(line: &str) -> usize {
    let mut depth = 0_i32;
    let mut n_letters = 0;
    for character in line.chars() {
        match character {
            '[' | '(' | '<' => depth += 1,
            ']' | ')' | '>' => depth -= 1,
            // A lone closing bracket makes the depth negative; the rest is still outside.
            _ if depth <= 0 && character.is_alphabetic() => n_letters += 1,
            _ => {}
        }
    }
    n_letters
}

/// The first `//!` comment near the top. Licence comments and attributes may come before it.
fn describe_rust(text: &str) -> Option<String> {
    let docs = text.lines().take(MAX_LINES_BEFORE_RUST_DOC).skip_while(|it| !it.starts_with("//!"));
    let docs = docs.map_while(|it| it.strip_prefix("//!")).map(str::trim);
    // A heading or a link definition is not a sentence.
    let docs = docs.skip_while(|it| it.is_empty() || it.starts_with('#') || it.starts_with("[`"));
    first_sentence(&join_paragraph(docs))
}

/// The module docstring.
fn describe_python(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let code = text.lines().skip_while(|it| it.starts_with('#') || it.trim().is_empty());
    let code = code.collect::<Vec<_>>().join("\n");
    // A raw string: `r"""…"""`.
    let code = code.strip_prefix('r').unwrap_or(&code);
    let quote = ["\"\"\"", "'''"].into_iter().find(|it| code.starts_with(it))?;
    let docstring = code[quote.len()..].split(quote).next()?;
    first_sentence(&join_paragraph(docstring.lines().skip_while(|it| it.trim().is_empty())))
}

/// The package comment. The map shows the module's name already, so `Package x provides …` becomes
/// `provides …`.
fn describe_go(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|it| it.starts_with("// Package "))?;
    let comment = lines[first..].iter().map_while(|it| it.strip_prefix("//"));
    let text = join_paragraph(comment);
    let after_name = text.strip_prefix("Package ").and_then(|it| it.split_once(' '));
    match after_name {
        Some((_name, rest)) => first_sentence(rest),
        None => first_sentence(&text),
    }
}

/// The first block comment at the top that is not a licence or a setting of a linter.
fn describe_block_comment(text: &str) -> Option<String> {
    let mut rest = text.trim_start();
    while let Some(block) = rest.strip_prefix("/*") {
        let (comment, after) = block.split_once("*/")?;
        let lines = comment.lines().map(|it| it.trim().trim_start_matches('*').trim());
        let paragraph = join_paragraph(prose_lines(lines).into_iter());
        let lower = paragraph.to_lowercase();
        if !paragraph.is_empty() && !BOILERPLATE_WORDS.iter().any(|it| lower.contains(it)) {
            return first_sentence(&paragraph);
        }
        rest = after.trim_start();
    }
    None
}

/// Tags of `JSDoc` that describe the file itself, and whether a name follows the tag.
const FILE_TAGS: &[(&str, bool)] = &[
    ("@module", true),
    ("@packageDocumentation", false),
    ("@fileoverview", false),
    ("@file", false),
    ("@overview", false),
    ("@description", false),
];

/// The lines of a block comment that describe the file: those before the first tag, or the text of a tag about
/// the file and the lines below it. Any other tag (`@param x`) documents an item and ends the text.
fn prose_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut prose: Vec<&str> = Vec::new();
    for line in lines {
        if !line.starts_with('@') {
            // Empty lines before the text do not end it.
            if !(line.is_empty() && prose.is_empty()) {
                prose.push(line);
            }
            continue;
        }
        let tag = line.split_whitespace().next().unwrap_or_default();
        let known = FILE_TAGS.iter().find(|it| it.0.eq_ignore_ascii_case(tag));
        // Text before a tag is the description.
        let (Some((_, has_name)), true) = (known, prose.is_empty()) else { break };
        let mut text = line[tag.len()..].trim_start();
        if *has_name {
            text = text.split_once(' ').map_or("", |it| it.1);
        }
        let text = text.trim_start_matches(['-', ' ']);
        if !text.is_empty() {
            prose.push(text);
        }
    }
    prose
}

/// Joins lines up to the first empty one.
fn join_paragraph<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> =
        lines.map(str::trim).take_while(|it| !it.is_empty()).take(MAX_PARAGRAPH_LINES).collect();
    lines.join(" ")
}

/// The first sentence of a text without markup; `None` if it describes nothing.
fn first_sentence(text: &str) -> Option<String> {
    let plain = strip_markup(text);
    let sentence_end = plain.match_indices(". ").find(|(position, _)| {
        // A full stop after an abbreviation or an initial does not end the sentence.
        let word = plain[..*position].rsplit([' ', '(']).next().unwrap_or_default();
        let is_initial = word.len() <= 1;
        !is_initial && !ABBREVIATIONS.contains(&word)
    });
    let sentence = sentence_end.map_or(plain.as_str(), |(position, _)| &plain[..position]);
    // The introduction of a list means nothing without the list.
    if sentence.ends_with(':') {
        return None;
    }
    let mut description = sentence.trim_end_matches('.').to_owned();
    if description.chars().count() > MAX_DESCRIPTION_CHARS {
        description = description.chars().take(MAX_DESCRIPTION_CHARS).collect();
        let end_of_word = description.rfind(' ').unwrap_or(description.len());
        description.truncate(end_of_word);
        description.push('…');
    }
    // A first word with an underscore is an identifier: the sentence documents an item of the file.
    let first_word = description.split(' ').next().unwrap_or_default();
    let is_about_other_things = INSTRUCTION_OPENINGS.iter().any(|it| description.starts_with(it))
        || first_word.contains('_');
    let n_letters = description.chars().filter(|it| it.is_alphabetic()).count();
    (n_letters > MAX_HEADING_LETTERS && !is_about_other_things).then_some(description)
}

/// Removes links, tags, emphasis and control characters; white space becomes single blanks.
fn strip_markup(text: &str) -> String {
    let mut without_links = String::new();
    let mut rest = text.trim();
    // `[text](address)` becomes `[text`; the filter below removes the bracket.
    while let Some(end_of_text) = rest.find("](") {
        let (before, after) = rest.split_at(end_of_text);
        without_links.push_str(before);
        rest = after.find(')').map_or("", |it| &after[it + 1..]);
    }
    without_links.push_str(rest);
    let plain: String = strip_tags(&without_links)
        .chars()
        .map(|it| if it.is_whitespace() { ' ' } else { it })
        .filter(|it| !it.is_control() && !matches!(it, '*' | '[' | ']' | '<' | '>'))
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes HTML tags and replaces Javadoc links by their target: `{@link a.b.C}` is `C`.
fn strip_tags(text: &str) -> String {
    let mut stripped = String::new();
    let mut rest = text;
    while let Some(bracket) = rest.find(['<', '{']) {
        stripped.push_str(&rest[..bracket]);
        rest = &rest[bracket..];
        let is_tag = rest[1..].starts_with(|it: char| it.is_ascii_alphabetic() || it == '/');
        let end = if is_tag {
            rest.find('>')
        } else if rest.starts_with("{@") {
            rest.find('}')
        } else {
            None
        };
        let Some(end) = end else {
            // A lone bracket is text.
            stripped.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        // A tag is dropped. A link leaves the last part of its target.
        if !is_tag {
            let target = rest[..end].rsplit(' ').next().unwrap_or_default();
            stripped.push_str(target.rsplit(['.', '#']).next().unwrap_or_default());
        }
        rest = &rest[end + 1..];
    }
    stripped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_come_from_the_beginning_of_a_file() {
        for (path, text, expected) in [
            (
                "lib.rs",
                "//! The only crate that knows SQL.\n//!\n//! More.",
                "The only crate that knows SQL",
            ),
            (
                "x.go",
                "// Copyright\n\n// Package hugofs provides the file systems used by Hugo.\npackage hugofs",
                "provides the file systems used by Hugo",
            ),
            (
                "__init__.py",
                "# license\n\"\"\"\nClasses to represent the database, e.g. tables. More.\n\"\"\"",
                "Classes to represent the database, e.g. tables",
            ),
            (
                "index.ts",
                "/* eslint-disable */\n/**\n * Draws arrows between shapes.\n * @module x\n */",
                "Draws arrows between shapes",
            ),
            (
                "retry.ts",
                "/**\n * @module retry\n *\n * Repeats requests that failed.\n * @param x the request\n */",
                "Repeats requests that failed",
            ),
            (
                "queue.js",
                "/** @fileoverview Orders jobs by their deadline. More. */\nmodule.exports = {};",
                "Orders jobs by their deadline",
            ),
            (
                "after.ts",
                "/** @param x an item */\n/** Sends mail to the people who subscribed. */",
                "Sends mail to the people who subscribed",
            ),
            (
                "README.md",
                "# Title\n\n[![build](http://x)](http://y)\n\nA **fast** [parser](http://z) for things. More.",
                "A fast parser for things",
            ),
            (
                "README.md",
                "# Website\n\nThis website is built using [Docusaurus 2](https://docusaurus.io/), a generator.",
                "This website is built using Docusaurus 2, a generator",
            ),
            (
                "README.md",
                "Browsers differ in what they know. This plugin makes old ones do. More.",
                "This plugin makes old ones do",
            ),
            (
                "package-info.java",
                "/* Licensed under the X License */\n/** Provides {@link a.Gson} for <b>JSON</b>. */\npackage a;",
                "Provides Gson for JSON",
            ),
        ] {
            let descriptions = extract_descriptions(path, text);
            assert_eq!(descriptions.first().map(String::as_str), Some(expected), "{path}");
        }
        // Code, headings, introductions of lists, licences and documentation of single items.
        for (path, text) in [
            ("lib.rs", "use x;"),
            ("a.py", "import x"),
            ("README.md", "# Title\n"),
            ("README.md", "# Title\n\nTemplates that are supported include:\n\n- one\n"),
            ("a.ts", "/* Copyright X */ code"),
            ("__init__.py", "\"\"\"\nLANG_INFO is a dictionary of languages.\n\"\"\""),
        ] {
            assert!(extract_descriptions(path, text).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_readme_has_more_than_one_paragraph_to_choose_from() {
        let text = "A fast site generator by friends.\n\n---\n\nThis is the repository for the documentation site.";
        assert_eq!(
            extract_descriptions("README.md", text),
            [
                "A fast site generator by friends",
                "This is the repository for the documentation site"
            ]
        );
    }

    #[test]
    fn a_manifest_names_its_package() {
        for (manifest, text, name) in [
            ("package.json", r#"{"name": "@vitejs/vite-monorepo"}"#, Some("vite-monorepo")),
            ("Cargo.toml", "[package]\nname = \"ripgrep\"\n", Some("ripgrep")),
            ("pyproject.toml", "[project]\nname = 'Flask'\n", Some("Flask")),
            ("go.mod", "module github.com/a/hugo/v2\n\ngo 1.25\n", Some("hugo")),
            ("Cargo.toml", "[workspace]\n", None),
        ] {
            assert_eq!(manifest_name(manifest, text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn a_manifest_has_a_field_for_its_description() {
        assert_eq!(
            manifest_description("package.json", r#"{"description": "Draws things. Well."}"#)
                .as_deref(),
            Some("Draws things")
        );
        assert_eq!(
            manifest_description("Cargo.toml", "[package]\ndescription = \"An event loop\"\n")
                .as_deref(),
            Some("An event loop")
        );
        assert_eq!(
            manifest_description(
                "Cargo.toml",
                "[package]\ndescription = \"\"\"\nGrep, but with\nan index.\n\"\"\"\n"
            )
            .as_deref(),
            Some("Grep, but with an index")
        );
        assert_eq!(
            manifest_description("Cargo.toml", "[package]\ndescription.workspace = true\n"),
            None
        );
        assert_eq!(manifest_description("package.json", "nonsense"), None);
    }
}
