//! Parser of one script line: a command, its options, its words. The commands read their arguments
//! through the methods of [`ScriptLine`].
//!
//! `edit m1 --tag net --pin the cache` has the verb `edit`, the option `tag` with the value `net`,
//! the switch `pin`, and the words `m1`, `the`, `cache`.

use std::path::PathBuf;

use crate::fake_secrets::insert_secrets;

/// Options without a value; all others take the next word.
const SWITCH_OPTIONS: &[&str] = &[
    "user",
    "pin",
    "new",
    "redact",
    "dry",
    "all",
    "vouched",
    "skip",
    "fix",
    "empty",
    "compact",
    "inflated",
    "plain",
    "full",
    "explain",
    "candidate",
];

/// A parsed script line.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptLine {
    /// Name of the command.
    pub(crate) verb: String,
    /// Names without `--` and their values, which are empty for switches.
    options: Vec<(String, String)>,
    /// All other words, without the verb.
    pub(crate) words: Vec<String>,
}

impl ScriptLine {
    /// `None` for an empty line or a comment.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().map(insert_secrets);
        let verb = words.next().filter(|it| !it.starts_with('#'))?;
        let mut line = Self { verb, ..Self::default() };
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(switch) if SWITCH_OPTIONS.contains(&switch) => {
                    line.options.push((switch.to_owned(), String::new()));
                }
                Some(name) => {
                    line.options.push((name.to_owned(), words.next().unwrap_or_default()));
                }
                None => line.words.push(word),
            }
        }
        Some(line)
    }

    pub(crate) fn has_switch(&self, switch: &str) -> bool {
        self.options.iter().any(|it| it.0 == switch)
    }

    /// The first value of an option.
    pub(crate) fn option(&self, name: &str) -> Option<String> {
        self.options(name).into_iter().next()
    }

    /// All values of an option that may be repeated.
    pub(crate) fn options(&self, name: &str) -> Vec<String> {
        self.options.iter().filter(|it| it.0 == name).map(|it| it.1.clone()).collect()
    }

    pub(crate) fn path_options(&self, name: &str) -> Vec<PathBuf> {
        self.options(name).into_iter().map(PathBuf::from).collect()
    }

    pub(crate) fn number_option(&self, name: &str) -> Option<u32> {
        self.option(name).map(|it| it.parse().expect("the option takes a number"))
    }

    /// Values of a list option: `None` if absent (the list stays), empty for `-` (it is emptied).
    pub(crate) fn list_option(&self, name: &str) -> Option<Vec<String>> {
        let given = self.options(name);
        let is_given = !given.is_empty();
        is_given.then(|| given.into_iter().filter(|it| it != "-").collect())
    }

    /// The word at an index, empty if there are fewer.
    pub(crate) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// The words from `first` on as one text; `\n` stands for a line end.
    pub(crate) fn text_from(&self, first: usize) -> String {
        self.words.get(first..).unwrap_or_default().join(" ").replace("\\n", "\n")
    }
}
