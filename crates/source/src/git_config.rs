//! Parses git's configuration format.
//!
//! It is read for the remote, the working tree and the `bare` flag of a repository. Includes are
//! not followed and no value is expanded, so a repository has no influence on the files that are
//! opened. A line that git would refuse is skipped. The parser consumes an iterator of characters;
//! every function leaves it after what it has read.

use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

use crate::read;

/// Largest configuration that is read.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// One `key = value` line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConfigEntry {
    /// Lowercase, as git compares it.
    pub(crate) section: String,
    /// In its own case, as git compares it.
    pub(crate) subsection: Option<String>,
    /// Lowercase.
    pub(crate) key: String,
    /// `None` for a key without `=`, which git reads as true.
    pub(crate) value: Option<String>,
}

/// The entries of the repository at `common`; none if the file cannot be read.
pub(crate) fn read_entries(common: &Path) -> Vec<ConfigEntry> {
    read::read_lossy_text(&common.join("config"), MAX_CONFIG_BYTES)
        .map(|it| parse_entries(&it))
        .unwrap_or_default()
}

/// The last entry of a key in a section without subsection; git uses the same one.
pub(crate) fn last_value<'a>(
    entries: &'a [ConfigEntry],
    section: &str,
    key: &str,
) -> Option<&'a ConfigEntry> {
    let found =
        |it: &&ConfigEntry| it.section == section && it.subsection.is_none() && it.key == key;
    entries.iter().rfind(found)
}

/// True for the values that git reads as true.
pub(crate) fn is_true(entry: &ConfigEntry) -> bool {
    let Some(value) = &entry.value else { return true };
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
}

/// All entries in file order. Malformed lines are skipped.
pub(crate) fn parse_entries(text: &str) -> Vec<ConfigEntry> {
    let mut acc = Vec::new();
    let mut header = None;
    let mut rest = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(&next) = rest.peek() {
        match next {
            it if it.is_whitespace() => _ = rest.next(),
            // A malformed header also ends the section before it.
            '[' => header = read_header(&mut rest),
            it if it.is_ascii_alphabetic() => {
                let variable = read_variable(&mut rest);
                if let (Some((section, subsection)), Some((key, value))) = (&header, variable) {
                    let (section, subsection) = (section.clone(), subsection.clone());
                    acc.push(ConfigEntry { section, subsection, key, value });
                }
            }
            // A comment, or a line that git would refuse.
            _ => skip_line(&mut rest),
        }
    }
    acc
}

/// The text that is not parsed yet.
type ConfigChars<'a> = Peekable<Chars<'a>>;

/// `[section]`, `[section "Sub"]` or the old `[section.sub]`.
fn read_header(rest: &mut ConfigChars) -> Option<(String, Option<String>)> {
    rest.next();
    let name = take_while(rest, |it| it.is_ascii_alphanumeric() || matches!(it, '-' | '.'));
    take_while(rest, |it| matches!(it, ' ' | '\t'));
    let quoted = match rest.peek() {
        Some('"') => Some(read_subsection(rest)?),
        _ => None,
    };
    if rest.next_if_eq(&']').is_none() || name.is_empty() {
        skip_line(rest);
        return None;
    }
    // In the old form `[section.sub]` the subsection is in lower case, too.
    let name = name.to_ascii_lowercase();
    match (quoted, name.split_once('.')) {
        (None, Some((section, sub))) => Some((section.to_owned(), Some(sub.to_owned()))),
        (quoted, _) => Some((name, quoted)),
    }
}

/// The quoted name of a subsection.
fn read_subsection(rest: &mut ConfigChars) -> Option<String> {
    rest.next();
    let mut acc = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(acc),
            '\n' => return None,
            '\\' => acc.push(rest.next()?),
            it => acc.push(it),
        }
    }
}

/// `key = value` or a bare key.
fn read_variable(rest: &mut ConfigChars) -> Option<(String, Option<String>)> {
    let key = take_while(rest, |it| it.is_ascii_alphanumeric() || it == '-').to_ascii_lowercase();
    take_while(rest, |it| matches!(it, ' ' | '\t' | '\r'));
    match rest.peek() {
        Some('=') => {
            rest.next();
            Some((key, Some(read_value(rest)?)))
        }
        None | Some('\n' | '#' | ';') => Some((key, None)),
        Some(_) => {
            skip_line(rest);
            None
        }
    }
}

/// A value up to the end of its line, with quotes, escapes and continuation lines resolved and
/// without comments and outer blanks.
fn read_value(rest: &mut ConfigChars) -> Option<String> {
    // Blanks are held back, because at the end of the value they do not count.
    let (mut acc, mut blanks, mut in_quotes) = (String::new(), String::new(), false);
    loop {
        // The next character that belongs to the value.
        let literal = match rest.next() {
            None | Some('\n') => return (!in_quotes).then_some(acc),
            Some('\r') if rest.peek().is_none_or(|it| *it == '\n') => continue,
            Some('"') => {
                in_quotes = !in_quotes;
                continue;
            }
            Some('#' | ';') if !in_quotes => {
                skip_line(rest);
                return Some(acc);
            }
            Some(it) if it.is_whitespace() && !in_quotes => {
                if !acc.is_empty() {
                    blanks.push(it);
                }
                continue;
            }
            Some('\\') => match read_escape(rest)? {
                Some(it) => it,
                // The value goes on in the next line.
                None => continue,
            },
            Some(it) => it,
        };
        acc.push_str(&blanks);
        blanks.clear();
        acc.push(literal);
    }
}

/// The character after a backslash. The inner `None` is a continuation line, the outer one an
/// escape that git refuses.
#[expect(
    clippy::option_option,
    reason = "the two `None`s are the two results that are no character"
)]
fn read_escape(rest: &mut ConfigChars) -> Option<Option<char>> {
    match rest.next()? {
        '\n' => Some(None),
        '\r' if rest.next_if_eq(&'\n').is_some() => Some(None),
        'n' => Some(Some('\n')),
        't' => Some(Some('\t')),
        'b' => Some(Some('\u{8}')),
        it @ ('"' | '\\') => Some(Some(it)),
        _ => {
            skip_line(rest);
            None
        }
    }
}

fn take_while(rest: &mut ConfigChars, wanted: impl Fn(char) -> bool) -> String {
    let mut acc = String::new();
    while let Some(it) = rest.next_if(|it| wanted(*it)) {
        acc.push(it);
    }
    acc
}

fn skip_line(rest: &mut ConfigChars) {
    for it in rest.by_ref() {
        if it == '\n' {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries in the notation `section/sub.key=value`, one per line.
    fn format_entries(text: &str) -> String {
        let to_line = |it: &ConfigEntry| {
            let sub = it.subsection.as_ref().map(|it| format!("/{it}")).unwrap_or_default();
            let value = it.value.as_ref().map(|it| format!("={it}")).unwrap_or_default();
            format!("{}{sub}.{}{value}", it.section, it.key)
        };
        parse_entries(text).iter().map(to_line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn text_is_parsed_like_git_does() {
        let cases = [
            ("[core]\n\tbare = false\n", "core.bare=false"),
            ("[CORE] Bare\n", "core.bare"),
            ("[remote \"Origin\"]\r\n\turl = a b \r\n", "remote/Origin.url=a b"),
            ("[remote \"o\"] url=x", "remote/o.url=x"),
            ("[remote.Origin]\nurl=x", "remote/origin.url=x"),
            ("[a \"q\\\"\\\\\"]\nk=v", "a/q\"\\.k=v"),
            ("[a]\nk = \" v # kept \" ; dropped", "a.k= v # kept "),
            ("[a]\nk = one \\\n two", "a.k=one  two"),
            ("[a]\nk = v#c\nl = w ;c", "a.k=v\na.l=w"),
            ("[a]\nk = \\t\\\"x", "a.k=\t\"x"),
            ("\u{feff}[a]\nk=v", "a.k=v"),
            ("; only a comment", ""),
            ("k = no section", ""),
            ("[broken\nk = v\n[a]\nl = w", "a.l=w"),
            ("[a \"open\nk = v\n[b]\nl = w", "b.l=w"),
            ("[a]\nk = \"open\n[b]\nl = w", "b.l=w"),
            ("[a]\nk = \\q bad escape\nl = w", "a.l=w"),
            ("[a]\n!! = v\nl = w", "a.l=w"),
            ("[", ""),
            ("[a]\nk = \\", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(format_entries(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_last_value_wins_and_a_bare_key_is_true() {
        let entries =
            parse_entries("[core]\nbare = false\n[core \"x\"]\nbare = no\n[core]\nbare\n");
        assert!(is_true(last_value(&entries, "core", "bare").unwrap()));
    }
}
