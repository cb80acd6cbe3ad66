//! Facts of manifests: the name of a package and the paths of its modules.
//!
//! A manifest has no definitions. Its entries become exports and imports under names that the
//! resolvers of the languages read (`.`, `path`, `baseUrl`), so a manifest is stored, compared and
//! looked up like every other file. The package name becomes the `namespace` of the file.
//!
//! ```text
//! package.json    "name": "core", "main": "dist/index.js"    namespace core;  . → dist/index.js
//! tsconfig.json   "paths": { "@/*": ["src/*"] }              @/* → src/*
//! Cargo.toml      log = { package = "other-log" }            log → other_log
//! go.mod          module example.com/app                     namespace example.com/app
//! ```

use serde_json::Value;

use crate::facts::{ExportEntry, ImportEntry, ImportKind};
use crate::facts_builder::FactsBuilder;

/// Adds the facts of a manifest; one that cannot be parsed has none.
pub(crate) fn extract_manifest(builder: &mut FactsBuilder<'_>, path: &str) {
    let text = String::from_utf8_lossy(builder.source).into_owned();
    match path.rsplit('/').next().unwrap_or(path) {
        "package.json" => extract_package_json(builder, &text),
        "Cargo.toml" => extract_cargo_toml(builder, &text),
        "go.mod" => extract_go_mod(builder, &text),
        // `tsconfig.json` and `jsconfig.json`; `lang` passes no other manifests.
        _ => extract_tsconfig(builder, &text),
    }
}

/// Adds `key → value`. A key may be added several times; the first value is tried first.
fn add_mapping(builder: &mut FactsBuilder<'_>, key: &str, value: &str) {
    let (name, module) = (builder.intern(key), builder.intern(value));
    builder.exports.push(ExportEntry::ModuleAs { name, module });
}

/// The package name, and the files behind its `exports` and older entry fields.
fn extract_package_json(builder: &mut FactsBuilder<'_>, text: &str) {
    let Ok(json) = serde_json::from_str::<Value>(text) else { return };
    if let Some(name) = json["name"].as_str().filter(|it| !it.is_empty()) {
        builder.namespace = Some(builder.intern(name));
    }
    for (key, value) in json["exports"].as_object().into_iter().flatten() {
        if key.starts_with('.') {
            visit_export_targets(value, &mut |it| add_mapping(builder, key, it));
        }
    }
    // `exports` may be the target of `.` itself instead of a table of subpaths.
    if json["exports"]["."].is_null() {
        visit_export_targets(&json["exports"], &mut |it| add_mapping(builder, ".", it));
    }
    for key in ["source", "types", "typings", "module", "main"] {
        if let Some(path) = json[key].as_str() {
            add_mapping(builder, ".", path);
        }
    }
}

/// Calls `visit` with every path of a conditional export, in order. `serde_json` rejects texts that
/// nest more than 128 levels deep, which bounds the recursion.
fn visit_export_targets(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(path) => visit(path),
        Value::Array(items) => items.iter().for_each(|it| visit_export_targets(it, visit)),
        Value::Object(conditions) if !conditions.keys().any(|it| it.starts_with('.')) => {
            // Types are the likeliest to lead to a source file; the other conditions name build
            // output.
            let leads_to_source = |condition: &str| matches!(condition, "types" | "source");
            for (_, target) in conditions.iter().filter(|(it, _)| leads_to_source(it)) {
                visit_export_targets(target, visit);
            }
            for (_, target) in conditions.iter().filter(|(it, _)| !leads_to_source(it)) {
                visit_export_targets(target, visit);
            }
        }
        // A table of subpaths, which the caller visits one by one; `null` forbids a subpath.
        _ => {}
    }
}

/// Path mappings of a `tsconfig.json`, which is JSON with comments. `extends` becomes an import.
fn extract_tsconfig(builder: &mut FactsBuilder<'_>, text: &str) {
    let Ok(json) = serde_json::from_str::<Value>(&strip_json_comments(text)) else { return };
    // `extends` is one path or a list of them.
    let extends = &json["extends"];
    let in_list = extends.as_array().into_iter().flatten().filter_map(Value::as_str);
    for base in extends.as_str().into_iter().chain(in_list) {
        let (module, star) = (builder.intern(base), builder.intern("*"));
        builder.imports.push(ImportEntry {
            kind: ImportKind::Effect,
            module,
            imported_name: star,
            local_name: star,
            parent_module: None,
            is_public: false,
            line: 0,
        });
    }
    let options = &json["compilerOptions"];
    if let Some(path) = options["baseUrl"].as_str() {
        add_mapping(builder, "baseUrl", path);
    }
    for (pattern, targets) in options["paths"].as_object().into_iter().flatten() {
        for target in targets.as_array().into_iter().flatten().filter_map(Value::as_str) {
            add_mapping(builder, pattern, target);
        }
    }
}

/// Removes comments and trailing commas from JSON.
fn strip_json_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            // Strings are copied: `//` in an address is not a comment.
            '"' => {
                plain.push(char);
                while let Some(char) = chars.next() {
                    plain.push(char);
                    match char {
                        '\\' => plain.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            // A line comment; its line break stays.
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|it| *it != '\n').is_some() {},
            // A block comment.
            '/' if chars.peek() == Some(&'*') => {
                let mut previous = ' ';
                chars.next();
                for char in chars.by_ref() {
                    if previous == '*' && char == '/' {
                        break;
                    }
                    previous = char;
                }
            }
            // A comma before a closing bracket is not allowed in plain JSON.
            '}' | ']' => {
                let end = plain.trim_end().len();
                if plain[..end].ends_with(',') {
                    plain.truncate(end - 1);
                }
                plain.push(char);
            }
            _ => plain.push(char),
        }
    }
    plain
}

/// The name of a crate, the name and path of its library, and renamed dependencies. Each is on one
/// line in practice, so the file is read by line and not parsed as TOML. Hyphens become underscores,
/// as in code.
fn extract_cargo_toml(builder: &mut FactsBuilder<'_>, text: &str) {
    let to_crate_name = |package: &str| package.replace('-', "_");
    let mut section = "";
    // The name in a section such as `[dependencies.log]`.
    let mut section_dependency: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.split(']').next()) {
            // The head of a table of a list has two brackets: `[[bin]]`.
            section = name.trim_start_matches('[');
            section_dependency = section.rsplit_once("dependencies.").map(|it| it.1);
            continue;
        }
        // A comment, an empty line, or the continuation of a list.
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let first_quoted = |it: &str| it.split('"').nth(1).map(str::to_owned);
        match (section, key) {
            ("package", "name") => {
                if let Some(name) = first_quoted(value) {
                    builder.namespace = Some(builder.intern(&to_crate_name(&name)));
                }
            }
            ("lib", "name") => {
                if let Some(name) = first_quoted(value) {
                    add_mapping(builder, "lib", &name);
                }
            }
            ("lib", "path") => {
                if let Some(path) = first_quoted(value) {
                    add_mapping(builder, "path", &path);
                }
            }
            // `[dependencies.log]` with the line `package = "other-log"`.
            (_, "package") if section_dependency.is_some() => {
                if let (Some(alias), Some(package)) = (section_dependency, first_quoted(value)) {
                    add_mapping(builder, &to_crate_name(alias), &to_crate_name(&package));
                }
            }
            // `log = { package = "other-log", version = "1" }`
            (section, key) if section.ends_with("dependencies") && value.contains("package") => {
                if let Some(package) = value.split("package").nth(1).and_then(first_quoted) {
                    add_mapping(builder, &to_crate_name(key), &to_crate_name(&package));
                }
            }
            // Everything else does not affect names.
            _ => {}
        }
    }
}

/// The module path, and replacements by local folders.
fn extract_go_mod(builder: &mut FactsBuilder<'_>, text: &str) {
    for line in text.lines().map(str::trim) {
        if let Some(module) = line.strip_prefix("module ") {
            let module = module.split("//").next().unwrap_or(module).trim().trim_matches('"');
            builder.namespace = Some(builder.intern(module));
        }
        // The keyword is missing inside a `replace ( … )` block.
        let replacement = line.strip_prefix("replace ").unwrap_or(line);
        if let Some((module, target)) = replacement.split_once("=>")
            && let (Some(module), Some(target)) =
                (module.split_whitespace().next(), target.split_whitespace().next())
            // Other targets are modules outside the project.
            && target.starts_with('.')
        {
            add_mapping(builder, module, target);
        }
    }
}
