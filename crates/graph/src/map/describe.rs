//! What a module says about itself: the first sentence of its manifest, its README or its entry file.

/// The longest description, in characters.
const LONGEST: usize = 180;

/// What begins so says how to do something, not what something is.
const HOW_TO: &[&str] = &[
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

/// What begins so speaks of the whole of what it stands in.
#[rustfmt::skip]
const SPEAKS_OF_ITSELF: &[&str] = &[
    "This plugin", "This package", "This library", "This crate", "This module", "This project", "This tool", "This is the repository",
    "This directory", "This folder", "This application", "This website",
];

/// The description in a manifest, by its name.
pub fn described(manifest: &str, text: &str) -> Option<String> {
    let value = match manifest {
        "package.json" => {
            let json: serde_json::Value = serde_json::from_str(text).ok()?;
            json["description"].as_str()?.to_owned()
        }
        "Cargo.toml" | "pyproject.toml" => in_toml(text, "description")?,
        "pom.xml" => {
            let from = text.find("<description>")? + "<description>".len();
            text[from..].split("</description>").next()?.to_owned()
        }
        _ => return None,
    };
    sentence(&value)
}

/// What a manifest calls what it describes.
pub fn called(manifest: &str, text: &str) -> Option<String> {
    let name = match manifest {
        "package.json" => {
            let json: serde_json::Value = serde_json::from_str(text).ok()?;
            let name = json["name"].as_str()?.to_owned();
            name.rsplit('/').next()?.to_owned()
        }
        "Cargo.toml" | "pyproject.toml" => in_toml(text, "name")?,
        "go.mod" => {
            let path = text.lines().find_map(|it| it.strip_prefix("module "))?.trim();
            let is_version = |it: &str| {
                it.strip_prefix('v').is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
            };
            path.rsplit('/').find(|it| !is_version(it))?.to_owned()
        }
        _ => return None,
    };
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.');
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

/// The text of a field that stands by itself at the beginning of a line, over several lines or not.
fn in_toml(text: &str, field: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if let Some((name, value)) = line.split_once('=')
            && name.trim() == field
        {
            let long = ["\"\"\"", "'''"].into_iter().find(|it| value.trim().starts_with(it));
            return match long {
                Some(quote) => {
                    let from = rest.find(quote)? + quote.len();
                    rest[from..].split(quote).next().map(|it| it.trim().to_owned())
                }
                None => value.split(['"', '\'']).nth(1).map(str::to_owned),
            };
        }
        if after.is_empty() {
            return None;
        }
        rest = after;
    }
}

/// What a file says about itself at its beginning, best first. Only a README says more than one thing.
pub fn descriptions_in(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |it| it.1).to_ascii_lowercase();
    let said = match ending.as_str() {
        "md" | "markdown" | "rst" => return of_readme(text),
        "rs" => of_rust(text),
        "py" => of_python(text),
        "go" => of_go(text),
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "java" | "c" | "h" | "cpp" | "cs" | "php" => {
            of_block(text)
        }
        _ => None,
    };
    said.into_iter().collect()
}

/// How many paragraphs of a README are looked at.
const PARAGRAPHS: usize = 3;

/// The first paragraphs of prose: no headings, badges, pictures, tables or markup.
fn of_readme(text: &str) -> Vec<String> {
    let is_prose = |it: &str| {
        let first = it.chars().next();
        first.is_some_and(|it| it.is_alphanumeric() || matches!(it, '*' | '_' | '`'))
            && !it.starts_with("* ")
            && outside_links(it) > 8
    };
    let underlines =
        |it: &str| it.len() > 2 && it.chars().all(|it| matches!(it, '=' | '-' | '~' | '*' | '#'));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut res = Vec::new();
    let (mut at, mut n_paragraphs, mut fenced) = (0, 0, false);
    while at < lines.len() && n_paragraphs < PARAGRAPHS {
        fenced ^= lines[at].starts_with("```");
        let heads = lines.get(at + 1).is_some_and(|it| underlines(it));
        if fenced || heads || underlines(lines[at]) || !is_prose(lines[at]) {
            at += 1;
            continue;
        }
        let rest: Vec<&str> = lines[at..].iter().copied().take_while(|it| !it.is_empty()).collect();
        at += rest.len();
        n_paragraphs += 1;
        res.extend(telling(&paragraph(rest.into_iter())));
    }
    res
}

/// The sentence of a paragraph in which something speaks of itself, else its first.
fn telling(paragraph: &str) -> Option<String> {
    let of_itself = SPEAKS_OF_ITSELF.iter().filter_map(|it| {
        let at = paragraph.find(&format!(". {it} "))?;
        Some(&paragraph[at + 2..])
    });
    of_itself
        .min_by_key(|it| usize::MAX - it.len())
        .and_then(sentence)
        .or_else(|| sentence(paragraph))
}

/// How many letters of a line are no part of a link.
fn outside_links(line: &str) -> usize {
    let mut depth = 0_i32;
    let mut res = 0;
    for it in line.chars() {
        match it {
            '[' | '(' | '<' => depth += 1,
            ']' | ')' | '>' => depth -= 1,
            _ if depth <= 0 && it.is_alphabetic() => res += 1,
            _ => {}
        }
    }
    res
}

/// The first `//!` near the top: attributes may come before it.
fn of_rust(text: &str) -> Option<String> {
    let said = text.lines().take(80).skip_while(|it| !it.starts_with("//!"));
    let said = said.map_while(|it| it.strip_prefix("//!")).map(str::trim);
    // A heading, or a definition of links, is no sentence.
    let said = said.skip_while(|it| it.is_empty() || it.starts_with('#') || it.starts_with("[`"));
    sentence(&paragraph(said))
}

fn of_python(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let code = text.lines().skip_while(|it| it.starts_with('#') || it.trim().is_empty());
    let rest = code.collect::<Vec<_>>().join("\n");
    let rest = rest.strip_prefix('r').unwrap_or(&rest);
    let quote = ["\"\"\"", "'''"].into_iter().find(|it| rest.starts_with(it))?;
    let inside = rest[3..].split(quote).next()?;
    sentence(&paragraph(inside.lines().skip_while(|it| it.trim().is_empty())))
}

fn of_go(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|it| it.starts_with("// Package "))?;
    let comment = lines[at..].iter().map_while(|it| it.strip_prefix("//"));
    let text = paragraph(comment);
    // `Package x provides …`: the name is known.
    let rest =
        text.strip_prefix("Package ").and_then(|it| it.split_once(' ')).map_or(&*text, |it| it.1);
    sentence(rest)
}

/// A block comment at the very top that is not about rights or tools.
fn of_block(text: &str) -> Option<String> {
    let mut rest = text.trim_start();
    while let Some(block) = rest.strip_prefix("/*") {
        let (inside, after) = block.split_once("*/")?;
        let lines = inside.lines().map(|it| it.trim().trim_start_matches('*').trim());
        let said = paragraph(lines.skip_while(|it| it.is_empty()));
        let lower = said.to_lowercase();
        let about_rights =
            ["copyright", "license", "licence", "eslint", "prettier", "@ts-", "spdx", "jshint"];
        if !said.starts_with('@') && !about_rights.iter().any(|it| lower.contains(it)) {
            return sentence(&said);
        }
        rest = after.trim_start();
    }
    None
}

fn paragraph<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines.map(str::trim).take_while(|it| !it.is_empty()).take(12).collect();
    lines.join(" ")
}

/// The first sentence, without markup; nothing when it says nothing.
fn sentence(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text.trim();
    // `[text](address)` is its text.
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        rest = after.find(')').map_or("", |it| &after[it + 1..]);
    }
    plain.push_str(rest);
    let plain = untagged(&plain);
    let plain: String = plain
        .chars()
        .map(|it| if it.is_whitespace() { ' ' } else { it })
        .filter(|it| !it.is_control() && !matches!(it, '*' | '[' | ']' | '<' | '>'))
        .collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = plain.match_indices(". ").map(|it| it.0).find(|at| {
        let word = plain[..*at].rsplit([' ', '(']).next().unwrap_or_default();
        !matches!(word, "e.g" | "i.e" | "vs" | "etc" | "Mr" | "St") && word.len() > 1
    });
    let first = end.map_or(plain.as_str(), |it| &plain[..it]);
    // What leads to a list says nothing without it.
    if first.ends_with(':') {
        return None;
    }
    let mut res = first.trim_end_matches('.').to_owned();
    if res.chars().count() > LONGEST {
        res = res.chars().take(LONGEST).collect();
        let at = res.rfind(' ').unwrap_or(res.len());
        res.truncate(at);
        res.push('…');
    }
    // A name with an underscore is that of something in the file.
    let first = res.split(' ').next().unwrap_or_default();
    let is_other = HOW_TO.iter().any(|it| res.starts_with(it)) || first.contains('_');
    (res.chars().filter(|it| it.is_alphabetic()).count() > 8 && !is_other).then_some(res)
}

/// Without tags, and `{@link a.b.C}` as `C`.
fn untagged(text: &str) -> String {
    let mut res = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['<', '{']) {
        res.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_tag = rest[1..].starts_with(|it: char| it.is_ascii_alphabetic() || it == '/');
        let end =
            if is_tag { rest.find('>') } else { rest.find('}').filter(|_| rest.starts_with("{@")) };
        let Some(end) = end else {
            res.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        if !is_tag {
            let meant = rest[..end].rsplit(' ').next().unwrap_or_default();
            res.push_str(meant.rsplit(['.', '#']).next().unwrap_or_default());
        }
        rest = &rest[end + 1..];
    }
    res + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_say_what_they_are_for() {
        for (path, text, said) in [
            (
                "lib.rs",
                "//! The only room that knows SQL.\n//!\n//! More.",
                "The only room that knows SQL",
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
            let found = descriptions_in(path, text);
            assert_eq!(found.first().map(String::as_str), Some(said), "{path}");
        }
        for (path, text) in [
            ("lib.rs", "use x;"),
            ("a.py", "import x"),
            ("README.md", "# Title\n"),
            ("README.md", "# Title\n\nTemplates that are supported include:\n\n- one\n"),
            ("a.ts", "/* Copyright X */ code"),
            ("__init__.py", "\"\"\"\nLANG_INFO is a dictionary of languages.\n\"\"\""),
        ] {
            assert!(descriptions_in(path, text).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_readme_has_more_than_one_paragraph_to_choose_from() {
        let text = "A fast site generator by friends.\n\n---\n\nThis is the repository for the documentation site.";
        assert_eq!(
            descriptions_in("README.md", text),
            [
                "A fast site generator by friends",
                "This is the repository for the documentation site"
            ]
        );
    }

    #[test]
    fn manifests_say_what_they_describe_is_called() {
        for (manifest, text, name) in [
            ("package.json", r#"{"name": "@vitejs/vite-monorepo"}"#, Some("vite-monorepo")),
            ("Cargo.toml", "[package]\nname = \"ripgrep\"\n", Some("ripgrep")),
            ("pyproject.toml", "[project]\nname = 'Flask'\n", Some("Flask")),
            ("go.mod", "module github.com/a/hugo/v2\n\ngo 1.25\n", Some("hugo")),
            ("Cargo.toml", "[workspace]\n", None),
        ] {
            assert_eq!(called(manifest, text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn manifests_say_it_in_a_field() {
        assert_eq!(
            described("package.json", r#"{"description": "Draws things. Well."}"#).as_deref(),
            Some("Draws things")
        );
        assert_eq!(
            described("Cargo.toml", "[package]\ndescription = \"An event loop\"\n").as_deref(),
            Some("An event loop")
        );
        assert_eq!(
            described(
                "Cargo.toml",
                "[package]\ndescription = \"\"\"\nGrep, but with\nan index.\n\"\"\"\n"
            )
            .as_deref(),
            Some("Grep, but with an index")
        );
        assert_eq!(described("Cargo.toml", "[package]\ndescription.workspace = true\n"), None);
        assert_eq!(described("package.json", "nonsense"), None);
    }
}
