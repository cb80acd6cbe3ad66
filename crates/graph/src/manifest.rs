//! Manifests as facts: what a package is called and where its modules lie.
//!
//! A manifest has no definitions. What it says becomes exports and imports of a few agreed names, so
//! that it is stored, compared and looked up like every other file.

use serde_json::Value;

use crate::facts::{Export, Import, ImportKind};
use crate::sketch::Sketch;

/// Reads a manifest; one that cannot be read says nothing.
pub(crate) fn read(sketch: &mut Sketch<'_>, path: &str) {
    let text = String::from_utf8_lossy(sketch.source).into_owned();
    match path.rsplit('/').next().unwrap_or(path) {
        "package.json" => package(sketch, &text),
        "Cargo.toml" => cargo(sketch, &text),
        "go.mod" => go(sketch, &text),
        _ => config(sketch, &text),
    }
}

/// Adds `key → value`; the same key may come several times, best first.
fn say(sketch: &mut Sketch<'_>, key: &str, value: &str) {
    let (name, module) = (sketch.word(key), sketch.word(value));
    sketch.exports.push(Export::ModuleAs { name, module });
}

fn package(sketch: &mut Sketch<'_>, text: &str) {
    let Ok(json) = serde_json::from_str::<Value>(text) else { return };
    if let Some(name) = json["name"].as_str().filter(|it| !it.is_empty()) {
        sketch.space = Some(sketch.word(name));
    }
    for (key, value) in json["exports"].as_object().into_iter().flatten() {
        if key.starts_with('.') {
            targets(value, &mut |it| say(sketch, key, it));
        }
    }
    if json["exports"]["."].is_null() {
        targets(&json["exports"], &mut |it| say(sketch, ".", it));
    }
    for key in ["source", "types", "typings", "module", "main"] {
        if let Some(it) = json[key].as_str() {
            say(sketch, ".", it);
        }
    }
}

/// Every path of a conditional export, in order.
fn targets(value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(it) => found(it),
        Value::Array(items) => items.iter().for_each(|it| targets(it, found)),
        Value::Object(conditions) if !conditions.keys().any(|it| it.starts_with('.')) => {
            // Types lead to the source, if anything does.
            let (types, rest): (Vec<_>, Vec<_>) =
                conditions.iter().partition(|it| it.0 == "types" || it.0 == "source");
            types.iter().chain(&rest).for_each(|it| targets(it.1, found));
        }
        _ => {}
    }
}

/// A `tsconfig.json`, which is JSON with comments.
fn config(sketch: &mut Sketch<'_>, text: &str) {
    let Ok(json) = serde_json::from_str::<Value>(&plain_json(text)) else { return };
    let extends = &json["extends"];
    for it in extends
        .as_str()
        .into_iter()
        .chain(extends.as_array().into_iter().flatten().filter_map(Value::as_str))
    {
        let (module, star) = (sketch.word(it), sketch.word("*"));
        let kind = ImportKind::Effect;
        sketch.imports.push(Import {
            kind,
            module,
            item: star,
            local: star,
            within: None,
            public: false,
            line: 0,
        });
    }
    let options = &json["compilerOptions"];
    if let Some(it) = options["baseUrl"].as_str() {
        say(sketch, "baseUrl", it);
    }
    for (pattern, targets) in options["paths"].as_object().into_iter().flatten() {
        for it in targets.as_array().into_iter().flatten().filter_map(Value::as_str) {
            say(sketch, pattern, it);
        }
    }
}

/// JSON without comments and trailing commas.
fn plain_json(text: &str) -> String {
    let mut res = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(it) = chars.next() {
        match it {
            '"' => {
                res.push(it);
                while let Some(it) = chars.next() {
                    res.push(it);
                    match it {
                        '\\' => res.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|it| *it != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                let mut last = ' ';
                chars.next();
                for it in chars.by_ref() {
                    if last == '*' && it == '/' {
                        break;
                    }
                    last = it;
                }
            }
            '}' | ']' => {
                let kept = res.trim_end().len();
                if res[..kept].ends_with(',') {
                    res.truncate(kept - 1);
                }
                res.push(it);
            }
            _ => res.push(it),
        }
    }
    res
}

/// The names and paths of a `Cargo.toml`; a line is all that is ever needed.
fn cargo(sketch: &mut Sketch<'_>, text: &str) {
    let mut section = "";
    let mut renamed: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.split(']').next()) {
            section = name.trim_start_matches('[');
            renamed = section.rsplit_once("dependencies.").map(|it| it.1);
            continue;
        }
        let Some((key, value)) = line.split_once('=').map(|it| (it.0.trim(), it.1.trim())) else {
            continue;
        };
        let quoted = |it: &str| it.split('"').nth(1).map(str::to_owned);
        match (section, key) {
            ("package", "name") => {
                if let Some(name) = quoted(value) {
                    sketch.space = Some(sketch.word(&name.replace('-', "_")));
                }
            }
            ("lib", "name") => {
                if let Some(it) = quoted(value) {
                    say(sketch, "lib", &it);
                }
            }
            ("lib", "path") => {
                if let Some(it) = quoted(value) {
                    say(sketch, "path", &it);
                }
            }
            (_, "package") if renamed.is_some() => {
                if let (Some(from), Some(to)) = (renamed, quoted(value)) {
                    say(sketch, &from.replace('-', "_"), &to.replace('-', "_"));
                }
            }
            (section, key) if section.ends_with("dependencies") && value.contains("package") => {
                if let Some(to) = value.split("package").nth(1).and_then(quoted) {
                    say(sketch, &key.replace('-', "_"), &to.replace('-', "_"));
                }
            }
            _ => {}
        }
    }
}

fn go(sketch: &mut Sketch<'_>, text: &str) {
    for line in text.lines().map(str::trim) {
        if let Some(module) = line.strip_prefix("module ") {
            let module = module.split("//").next().unwrap_or(module).trim().trim_matches('"');
            sketch.space = Some(sketch.word(module));
        }
        let replaced = line.strip_prefix("replace ").unwrap_or(line);
        if let Some((from, to)) = replaced.split_once("=>")
            && let (Some(from), Some(to)) =
                (from.split_whitespace().next(), to.split_whitespace().next())
            && to.starts_with('.')
        {
            say(sketch, from, to);
        }
    }
}
