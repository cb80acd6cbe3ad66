//! Reads git's configuration format from text.
//!
//! Includes are not followed and no value is expanded: a repository decides nothing about which files we open.

use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

use crate::read;

/// A repository with more configuration than this is not worth understanding.
const LIMIT: u64 = 1024 * 1024;

/// One `key = value` line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Lowercase, as git compares it.
    pub(crate) section: String,
    /// In its own case, as git compares it.
    pub(crate) subsection: Option<String>,
    /// Lowercase.
    pub(crate) key: String,
    /// None for a key without `=`, which git reads as true.
    pub(crate) value: Option<String>,
}

/// The entries of the repository at `common`; a file that cannot be read has none.
pub(crate) fn of_repository(common: &Path) -> Vec<Entry> {
    read::text(&common.join("config"), LIMIT).map(|it| entries(&it)).unwrap_or_default()
}

/// The last value of a key in a section without subsection, as git resolves repeats.
pub(crate) fn last<'a>(entries: &'a [Entry], section: &str, key: &str) -> Option<&'a Entry> {
    let found = |it: &&Entry| it.section == section && it.subsection.is_none() && it.key == key;
    entries.iter().rfind(found)
}

/// Git's reading of a boolean.
pub(crate) fn is_true(entry: &Entry) -> bool {
    let Some(value) = &entry.value else { return true };
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
}

/// Every entry in file order; a line that is no configuration is passed over.
pub(crate) fn entries(text: &str) -> Vec<Entry> {
    let mut acc = Vec::new();
    let mut header = None;
    let mut rest = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(&next) = rest.peek() {
        match next {
            it if it.is_whitespace() => _ = rest.next(),
            '[' => header = read_header(&mut rest),
            it if it.is_ascii_alphabetic() => {
                let variable = read_variable(&mut rest);
                if let (Some((section, subsection)), Some((key, value))) = (&header, variable) {
                    let (section, subsection) = (section.clone(), subsection.clone());
                    acc.push(Entry { section, subsection, key, value });
                }
            }
            _ => skip_line(&mut rest),
        }
    }
    acc
}

type Rest<'a> = Peekable<Chars<'a>>;

/// `[section]`, `[section "Sub"]` or the old `[section.sub]`.
fn read_header(rest: &mut Rest) -> Option<(String, Option<String>)> {
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
    let name = name.to_ascii_lowercase();
    match (quoted, name.split_once('.')) {
        (None, Some((section, sub))) => Some((section.to_owned(), Some(sub.to_owned()))),
        (quoted, _) => Some((name, quoted)),
    }
}

fn read_subsection(rest: &mut Rest) -> Option<String> {
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

fn read_variable(rest: &mut Rest) -> Option<(String, Option<String>)> {
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

/// A value up to the end of its line: quotes, escapes and continued lines undone, outer blanks and comments removed.
fn read_value(rest: &mut Rest) -> Option<String> {
    let (mut acc, mut blanks, mut quoted) = (String::new(), String::new(), false);
    loop {
        let literal = match rest.next() {
            None | Some('\n') => return (!quoted).then_some(acc),
            Some('\r') if rest.peek().is_none_or(|it| *it == '\n') => continue,
            Some('"') => {
                quoted = !quoted;
                continue;
            }
            Some('#' | ';') if !quoted => {
                skip_line(rest);
                return Some(acc);
            }
            Some(it) if it.is_whitespace() && !quoted => {
                if !acc.is_empty() {
                    blanks.push(it);
                }
                continue;
            }
            Some('\\') => match escaped(rest)? {
                Some(it) => it,
                None => continue,
            },
            Some(it) => it,
        };
        acc.push_str(&blanks);
        blanks.clear();
        acc.push(literal);
    }
}

/// The character after a backslash; the inner None is a continued line, the outer one an escape git refuses.
#[expect(
    clippy::option_option,
    reason = "the two Nones are the two things that are not a character"
)]
fn escaped(rest: &mut Rest) -> Option<Option<char>> {
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

fn take_while(rest: &mut Rest, wanted: impl Fn(char) -> bool) -> String {
    let mut acc = String::new();
    while let Some(it) = rest.next_if(|it| wanted(*it)) {
        acc.push(it);
    }
    acc
}

fn skip_line(rest: &mut Rest) {
    for it in rest.by_ref() {
        if it == '\n' {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries in the notation `section/sub.key=value`, one a line.
    fn shown(text: &str) -> String {
        let line = |it: &Entry| {
            let sub = it.subsection.as_ref().map(|it| format!("/{it}")).unwrap_or_default();
            let value = it.value.as_ref().map(|it| format!("={it}")).unwrap_or_default();
            format!("{}{sub}.{}{value}", it.section, it.key)
        };
        entries(text).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn text_is_read_as_git_reads_it() {
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
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_last_value_wins_and_a_bare_key_is_true() {
        let entries = entries("[core]\nbare = false\n[core \"x\"]\nbare = no\n[core]\nbare\n");
        assert!(is_true(last(&entries, "core", "bare").unwrap()));
    }
}
