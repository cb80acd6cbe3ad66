//! Parser of one script line: a command, its options, its words.

use std::path::PathBuf;

use crate::fake_secrets::insert_secrets;

/// Options without a value; all others take the next word.
const SWITCH_OPTIONS: &[&str] = &[
    "user", "pin", "new", "redact", "dry", "all", "vouched", "skip", "fix", "empty", "compact",
    "boast", "plain", "full", "explain",
];

#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptLine {
    pub(crate) verb: String,
    options: Vec<(String, String)>,
    pub(crate) words: Vec<String>,
}

impl ScriptLine {
    /// `None` for an empty line or a comment.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().map(insert_secrets);
        let verb = words.next().filter(|it| !it.starts_with('#'))?;
        let mut res = Self { verb, ..Self::default() };
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(switch) if SWITCH_OPTIONS.contains(&switch) => {
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

    pub(crate) fn has_switch(&self, switch: &str) -> bool {
        self.options.iter().any(|it| it.0 == switch)
    }

    pub(crate) fn option(&self, name: &str) -> Option<String> {
        self.options(name).into_iter().next()
    }

    pub(crate) fn options(&self, name: &str) -> Vec<String> {
        self.options.iter().filter(|it| it.0 == name).map(|it| it.1.clone()).collect()
    }

    pub(crate) fn path_options(&self, name: &str) -> Vec<PathBuf> {
        self.options(name).into_iter().map(PathBuf::from).collect()
    }

    pub(crate) fn number_option(&self, name: &str) -> Option<u32> {
        self.option(name).map(|it| it.parse().expect("the option takes a number"))
    }

    /// Values of a list option: `None` if absent, empty for `-`.
    pub(crate) fn list_option(&self, name: &str) -> Option<Vec<String>> {
        let given = self.options(name);
        let named = !given.is_empty();
        named.then(|| given.into_iter().filter(|it| it != "-").collect())
    }

    pub(crate) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    /// The words from `at` on.
    pub(crate) fn text_from(&self, at: usize) -> String {
        self.words.get(at..).unwrap_or_default().join(" ").replace("\\n", "\n")
    }
}
