//! What a module says about itself: the first sentence of its manifest, its README or its entry file.

/// The longest description, in characters.
const LONGEST: usize = 180;

/// What begins so says how to do something, not what something is.
const HOW_TO: &[&str] = &[
    "First",
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

/// The description in a manifest, by its name.
pub fn described(manifest: &str, text: &str) -> Option<String> {
    let value = match manifest {
        "package.json" => {
            let json: serde_json::Value = serde_json::from_str(text).ok()?;
            json["description"].as_str()?.to_owned()
        }
        "Cargo.toml" | "pyproject.toml" => {
            let line = text
                .lines()
                .find(|it| it.split_once('=').is_some_and(|it| it.0.trim() == "description"))?;
            line.split('"').nth(1)?.to_owned()
        }
        "pom.xml" => {
            let from = text.find("<description>")? + "<description>".len();
            text[from..].split("</description>").next()?.to_owned()
        }
        _ => return None,
    };
    sentence(&value)
}

/// What a file says about itself at its beginning.
pub fn description_in(path: &str, text: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |it| it.1).to_ascii_lowercase();
    match ending.as_str() {
        "md" | "markdown" | "rst" => of_readme(text),
        "rs" => of_rust(text),
        "py" => of_python(text),
        "go" => of_go(text),
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "java" | "c" | "h" | "cpp" | "cs" | "php" => {
            of_block(text)
        }
        _ => None,
    }
}

/// The first paragraph of prose: no headings, badges, pictures, tables or markup.
fn of_readme(text: &str) -> Option<String> {
    let is_prose = |it: &str| {
        it.chars().next().is_some_and(|it| it.is_alphanumeric() || matches!(it, '*' | '_' | '`'))
            && !it.starts_with("* ")
            && !it.contains("](http") | it.contains(". ")
    };
    let underlines =
        |it: &str| it.len() > 2 && it.chars().all(|it| matches!(it, '=' | '-' | '~' | '*' | '#'));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut at = 0;
    let mut fenced = false;
    while at < lines.len() {
        fenced ^= lines[at].starts_with("```");
        let heads = lines.get(at + 1).is_some_and(|it| underlines(it));
        if !fenced
            && !heads
            && is_prose(lines[at])
            && !underlines(lines[at])
            && lines[at].contains(' ')
        {
            let rest = lines[at..].iter().copied().take_while(|it| !it.is_empty());
            return sentence(&paragraph(rest));
        }
        at += 1;
    }
    None
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
    let plain: String = plain
        .chars()
        .filter(|it| !it.is_control() && !matches!(it, '*' | '[' | ']' | '<' | '>'))
        .collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = plain.match_indices(". ").map(|it| it.0).find(|at| {
        let word = plain[..*at].rsplit([' ', '(']).next().unwrap_or_default();
        !matches!(word, "e.g" | "i.e" | "vs" | "etc" | "Mr" | "St") && word.len() > 1
    });
    let mut res =
        end.map_or(plain.as_str(), |it| &plain[..it]).trim_end_matches(['.', ':']).to_owned();
    if res.chars().count() > LONGEST {
        res = res.chars().take(LONGEST).collect();
        let at = res.rfind(' ').unwrap_or(res.len());
        res.truncate(at);
        res.push('…');
    }
    let tells_to_do = HOW_TO.iter().any(|it| res.starts_with(it));
    (res.chars().filter(|it| it.is_alphabetic()).count() > 8 && !tells_to_do).then_some(res)
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
        ] {
            assert_eq!(description_in(path, text).as_deref(), Some(said), "{path}");
        }
        for (path, text) in [
            ("lib.rs", "use x;"),
            ("a.py", "import x"),
            ("README.md", "# Title\n"),
            ("a.ts", "/* Copyright X */ code"),
        ] {
            assert_eq!(description_in(path, text), None, "{path}");
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
        assert_eq!(described("Cargo.toml", "[package]\ndescription.workspace = true\n"), None);
        assert_eq!(described("package.json", "nonsense"), None);
    }
}
