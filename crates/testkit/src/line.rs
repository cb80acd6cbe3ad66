//! One line of a script: a command, its options, its words.

use std::path::PathBuf;

use crate::plant::sow;

/// Options that stand alone; all others take the next word.
const SWITCHES: &[&str] = &[
    "user", "pin", "new", "redact", "dry", "all", "vouched", "skip", "fix", "empty", "compact",
    "boast", "plain", "full", "explain",
];

#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) verb: String,
    options: Vec<(String, String)>,
    pub(crate) words: Vec<String>,
}

impl Line {
    /// `None` for an empty line or a comment.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().map(sow);
        let verb = words.next().filter(|it| !it.starts_with('#'))?;
        let mut res = Self { verb, ..Self::default() };
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(switch) if SWITCHES.contains(&switch) => {
                    res.options.push((switch.to_owned(), String::new()));
                }
                Some(name) => {
                    res.options.push((name.to_owned(), words.next().unwrap_or_default()));
                }
                None => res.words.push(word),
            }
        }
        Some(res)
    }

    pub(crate) fn has(&self, switch: &str) -> bool {
        self.options.iter().any(|it| it.0 == switch)
    }

    pub(crate) fn one(&self, name: &str) -> Option<String> {
        self.all(name).into_iter().next()
    }

    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        self.options.iter().filter(|it| it.0 == name).map(|it| it.1.clone()).collect()
    }

    pub(crate) fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.all(name).into_iter().map(PathBuf::from).collect()
    }

    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.one(name).map(|it| it.parse().expect("the option takes a number"))
    }

    /// A list to set: `None` when not named, empty for `-`.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<String>> {
        let given = self.all(name);
        let named = !given.is_empty();
        named.then(|| given.into_iter().filter(|it| it != "-").collect())
    }

    pub(crate) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    /// The words from `at` on.
    pub(crate) fn text(&self, at: usize) -> String {
        self.words.get(at..).unwrap_or_default().join(" ").replace("\\n", "\n")
    }
}
