//! The part of `deny.toml` that this tool implements.
//!
//! The format is cargo-deny's. A rule that one tool applies and the other ignores is worse than none, so
//! an unknown key is a problem.
//!
//! The keys are of two kinds: lists, whose entries become a [`Policy`], and keys with one supported
//! value, which must be there. For example
//!
//! ```text
//! [licenses]
//! allow = ["MIT"]              a list
//! [bans]
//! wildcards = "deny"           the only supported value
//! skip = []                    unknown: reported as "`bans.skip` is not followed"
//! ```

use anyhow::Context;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// The rules that vary: the entries of the lists.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) licences: Vec<String>,
    pub(super) banned: Vec<Banned>,
    pub(super) registries: Vec<String>,
    /// Messages about keys and values that this tool does not implement.
    pub(super) unknown: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Banned {
    pub(super) name: String,
    pub(super) reason: String,
}

/// Table and key of the lists, read below.
const LIST_KEYS: &[(&str, &str)] =
    &[("licenses", "allow"), ("bans", "deny"), ("sources", "allow-registry")];

/// Table, key and the only supported value. Each is required, because the default of cargo-deny may
/// differ.
const FIXED_KEYS: &[(&str, &str, &str)] = &[
    ("graph", "all-features", "true"),
    ("bans", "wildcards", "deny"),
    ("bans", "allow-wildcard-paths", "true"),
    ("bans", "multiple-versions", "warn"),
    ("sources", "unknown-registry", "deny"),
    ("sources", "unknown-git", "deny"),
];

/// A table that needs a database, which is not in the repository; left to cargo-deny.
const UNCHECKED_TABLE: &str = "advisories";

pub(super) fn read(text: &str) -> anyhow::Result<Policy> {
    let document: DocumentMut = text.parse().context("deny.toml")?;
    let list = |table: &str, key: &str| {
        let array = document.get(table).and_then(|it| it.get(key)).and_then(Item::as_array);
        array.map(|it| it.iter().collect::<Vec<_>>()).unwrap_or_default()
    };
    let banned = list("bans", "deny");
    Ok(Policy {
        licences: list("licenses", "allow").into_iter().filter_map(text_of).collect(),
        banned: banned.into_iter().filter_map(read_banned).collect(),
        registries: list("sources", "allow-registry").into_iter().filter_map(text_of).collect(),
        unknown: find_unknown(&document),
    })
}

fn read_banned(value: &Value) -> Option<Banned> {
    let table = value.as_inline_table()?;
    let part = |key: &str| table.get(key).and_then(text_of);
    Some(Banned { name: part("crate")?, reason: part("reason")? })
}

fn find_unknown(document: &DocumentMut) -> Vec<String> {
    let mut acc = Vec::new();
    for (table, item) in document.iter().filter(|(table, _)| *table != UNCHECKED_TABLE) {
        let keys = item.as_table_like().into_iter().flat_map(TableLike::iter);
        for (key, value) in keys {
            let is_list = LIST_KEYS.contains(&(table, key));
            let is_fixed = FIXED_KEYS
                .iter()
                .any(|(fixed_table, fixed_key, _)| (*fixed_table, *fixed_key) == (table, key));
            if !is_list && !is_fixed {
                acc.push(format!("`{table}.{key}` is not followed"));
            }
            for entry in value.as_array().into_iter().flatten() {
                if !is_supported_entry(table, entry) {
                    let entry = entry.to_string();
                    acc.push(format!("`{}` in `{table}` is not followed", entry.trim()));
                }
            }
        }
    }
    for (table, key, wanted) in FIXED_KEYS {
        let value = document.get(table).and_then(|it| it.get(key)).and_then(Item::as_value);
        if value.and_then(text_of).as_deref() != Some(wanted) {
            acc.push(format!("`{table}.{key}` is not `{wanted}`"));
        }
    }
    acc
}

/// A ban has a crate and a reason and nothing else; the other lists are of texts.
fn is_supported_entry(table: &str, entry: &Value) -> bool {
    if table == "bans" {
        let n_keys = entry.as_inline_table().map(toml_edit::InlineTable::len);
        read_banned(entry).is_some() && n_keys == Some(2)
    } else {
        entry.is_str()
    }
}

/// A text or a boolean, as text.
fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_bool().map(|it| it.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn unsupported_keys_are_reported() {
        let text = r#"
            licenses = { allow = ["MIT", 3], exceptions = [] }
            [graph]
            all-features = true
            [bans]
            wildcards = "allow"
            allow-wildcard-paths = true
            multiple-versions = "warn"
            deny = [{ crate = "a", reason = "b" }, { crate = "c" }, { crate = "d", reason = "e", wrappers = [] }]
            [sources]
            unknown-registry = "deny"
            [advisories]
            ignore = []
        "#;
        let policy = read(text).unwrap();
        expect![[r#"
            `3` in `licenses` is not followed
            `licenses.exceptions` is not followed
            `{ crate = "c" }` in `bans` is not followed
            `{ crate = "d", reason = "e", wrappers = [] }` in `bans` is not followed
            `bans.wildcards` is not `deny`
            `sources.unknown-git` is not `deny`"#]]
        .assert_eq(&policy.unknown.join("\n"));
        assert_eq!(policy.licences, ["MIT"]);
    }

    #[test]
    fn the_rules_of_this_workspace_are_followed() {
        let policy = read(include_str!("../../../deny.toml")).unwrap();
        assert_eq!(policy.unknown, [""; 0]);
        assert!(!policy.licences.is_empty() && !policy.banned.is_empty());
    }
}
