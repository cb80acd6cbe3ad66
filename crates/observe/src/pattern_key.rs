//! Pattern keys: the text that identifies a pattern across sessions.
//!
//! A signal is a kind of pattern, such as `co_access`: two files were edited together. A sighting is one
//! pattern seen in one session. Its detector builds the key with the constructor of the signal:
//! `PatternKey::co_access("b.rs", "a.rs")` has the text `a.rs|b.rs`. Sightings with equal keys from several
//! sessions together become one memory. The text is stored, so its form never changes. It is built and
//! taken apart only in this file.

use model::{ProjectPath, SessionId, SignalKind};

use crate::evidence::ClaimSource;

/// The longest key text, in bytes.
const MAX_KEY_BYTES: usize = 400;

const MISSING_FILE_PREFIX: &str = "missing ";
const MODULE_CHANGE_PREFIX: &str = "change ";
/// "Taken back" means reverted; databases contain these words.
const REVERTED_SESSION_PREFIX: &str = "taken back ";
/// The key of the routine that finishes a change in any module.
pub(crate) const FINISHED_CHANGE: &str = "finish a change";

/// Identifies a pattern across sessions: this pair of files, this error, this query.
///
/// A signal and a text, not one enum variant per form: the text is truncated when it is built and
/// masked before it is stored, and a stored key must compare equal to a fresh one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatternKey {
    signal: SignalKind,
    text: String,
}

/// A key taken apart. A module is a part of the project, by default a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternParts<'a> {
    /// A whole module (`file_access`, `step_overrun`).
    Module(&'a str),
    /// The order of tests and implementation in a module (`test_order`).
    ModuleTests { module: &'a str, timing: &'a str },
    /// The steps of a change that begins in a module (`sequence`).
    ModuleChange(&'a str),
    /// The steps that finish any change (`sequence`).
    FinishedChange,
    /// Two files, in ascending order (`co_access`).
    FilePair(&'a str, &'a str),
    /// A path at which a file was looked for in vain (`error_retry`).
    MissingFile(&'a str),
    /// A session whose edits were reverted later (`dead_end`).
    RevertedSession(&'a str),
    /// A claim of a source, given the fingerprint of its words (`claim`).
    Claim { source: ClaimSource, fingerprint: &'a str },
    /// A fingerprint, query, command or path that is only compared as a whole.
    Whole(&'a str),
}

/// Order of tests and implementation in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestTiming {
    /// A test was written or run before the implementation was edited.
    First,
    After,
}

impl TestTiming {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::After => "after",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::First, Self::After].into_iter().find(|it| it.as_str() == text)
    }
}

impl PatternKey {
    fn new(signal: SignalKind, text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.truncate(text.floor_char_boundary(MAX_KEY_BYTES));
        Self { signal, text }
    }

    /// The key of a stored row. The text is taken as it is: it was truncated when it was built.
    pub fn from_stored(signal: SignalKind, text: impl Into<String>) -> Self {
        Self { signal, text: text.into() }
    }

    pub fn file_access(module: &str) -> Self {
        Self::new(SignalKind::FileAccess, module)
    }

    /// The order of the arguments does not matter.
    pub(crate) fn co_access(a: &str, b: &str) -> Self {
        let text = if a < b { format!("{a}|{b}") } else { format!("{b}|{a}") };
        Self::new(SignalKind::CoAccess, text)
    }

    /// An error, given its fingerprint.
    pub fn error(fingerprint: &str) -> Self {
        Self::new(SignalKind::ErrorRetry, fingerprint)
    }

    pub(crate) fn missing_file(path: &ProjectPath) -> Self {
        Self::new(SignalKind::ErrorRetry, format!("{MISSING_FILE_PREFIX}{path}"))
    }

    pub(crate) fn backtrack(file: &ProjectPath) -> Self {
        Self::new(SignalKind::Backtrack, file.as_str())
    }

    pub(crate) fn read_abandon(read: &ProjectPath, edited: &ProjectPath) -> Self {
        Self::new(SignalKind::ReadAbandon, format!("{read}→{edited}"))
    }

    pub(crate) fn repeated_grep(query: &str) -> Self {
        Self::new(SignalKind::RepeatedGrep, query.to_lowercase())
    }

    pub fn finished_change() -> Self {
        Self::new(SignalKind::Sequence, FINISHED_CHANGE)
    }

    pub(crate) fn module_change(module: &str) -> Self {
        Self::new(SignalKind::Sequence, format!("{MODULE_CHANGE_PREFIX}{module}"))
    }

    pub(crate) fn time_anomaly(command: &str) -> Self {
        Self::new(SignalKind::TimeAnomaly, command)
    }

    pub(crate) fn self_correction(fact: &str) -> Self {
        Self::new(SignalKind::SelfCorrection, model::fingerprint_text(&fact.to_lowercase()))
    }

    pub(crate) fn external_reference(query: &str) -> Self {
        Self::new(SignalKind::ExternalReference, query.to_lowercase())
    }

    pub(crate) fn glob_ignore(pattern: &str) -> Self {
        Self::new(SignalKind::GlobIgnore, pattern)
    }

    pub(crate) fn import_chase(from: &ProjectPath, to: &ProjectPath) -> Self {
        Self::new(SignalKind::ImportChase, format!("{from}→{to}"))
    }

    pub(crate) fn test_order(module: &str, timing: TestTiming) -> Self {
        Self::new(SignalKind::TestOrder, format!("{module} {}", timing.as_str()))
    }

    pub(crate) fn config_touch(file: &ProjectPath, config: &ProjectPath) -> Self {
        Self::new(SignalKind::ConfigTouch, format!("{file}→{config}"))
    }

    pub fn step_overrun(module: &str) -> Self {
        Self::new(SignalKind::StepOverrun, module)
    }

    pub(crate) fn parallel_conflict(file: &ProjectPath) -> Self {
        Self::new(SignalKind::ParallelConflict, file.as_str())
    }

    pub fn context_token_spike(file: &ProjectPath) -> Self {
        Self::new(SignalKind::ContextTokenSpike, file.as_str())
    }

    pub(crate) fn dead_end(sentence: &str) -> Self {
        Self::new(SignalKind::DeadEnd, model::fingerprint_text(&sentence.to_lowercase()))
    }

    pub(crate) fn reverted_session(session: SessionId) -> Self {
        Self::new(SignalKind::DeadEnd, format!("{REVERTED_SESSION_PREFIX}{session}"))
    }

    pub(crate) fn causal_statement(from: &str, to: &str) -> Self {
        Self::new(SignalKind::CausalStatement, format!("{from}→{to}"))
    }

    pub(crate) fn user_correction(sentence: &str) -> Self {
        Self::new(SignalKind::UserCorrection, model::fingerprint_text(&sentence.to_lowercase()))
    }

    /// Unlike for sentences, case counts: a note is recorded word for word.
    pub(crate) fn recorded(content: &str) -> Self {
        Self::new(SignalKind::Recorded, model::fingerprint_text(content))
    }

    /// A claim, given the fingerprint of its normalised words.
    pub fn claim(source: ClaimSource, fingerprint: &str) -> Self {
        Self::new(SignalKind::Claim, format!("{source} {fingerprint}"))
    }

    pub const fn signal(&self) -> SignalKind {
        self.signal
    }

    /// The text as it is stored.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The signal and the text, as the store takes them.
    pub fn into_stored(self) -> (SignalKind, String) {
        (self.signal, self.text)
    }

    /// Takes the text apart. A text that does not have the form of its signal is a whole.
    pub fn parts(&self) -> PatternParts<'_> {
        let text = self.text.as_str();
        let parsed = match self.signal {
            SignalKind::FileAccess | SignalKind::StepOverrun => Some(PatternParts::Module(text)),
            // A module name can contain blanks, the timing cannot.
            SignalKind::TestOrder => text
                .rsplit_once(' ')
                .map(|(module, timing)| PatternParts::ModuleTests { module, timing }),
            SignalKind::Sequence if text == FINISHED_CHANGE => Some(PatternParts::FinishedChange),
            SignalKind::Sequence => {
                text.strip_prefix(MODULE_CHANGE_PREFIX).map(PatternParts::ModuleChange)
            }
            SignalKind::CoAccess => text.split_once('|').map(|(a, b)| PatternParts::FilePair(a, b)),
            SignalKind::ErrorRetry => {
                text.strip_prefix(MISSING_FILE_PREFIX).map(PatternParts::MissingFile)
            }
            SignalKind::DeadEnd => {
                text.strip_prefix(REVERTED_SESSION_PREFIX).map(PatternParts::RevertedSession)
            }
            SignalKind::Claim => text.split_once(' ').and_then(|(source, fingerprint)| {
                let source = ClaimSource::from_slug(source)?;
                Some(PatternParts::Claim { source, fingerprint })
            }),
            // The other signals have keys that are only compared as a whole.
            _ => None,
        };
        parsed.unwrap_or(PatternParts::Whole(text))
    }

    /// The module that the key names, if it names one.
    pub fn module(&self) -> Option<&str> {
        match self.parts() {
            PatternParts::Module(module)
            | PatternParts::ModuleTests { module, .. }
            | PatternParts::ModuleChange(module) => Some(module),
            // Patterns of single files, commands and sentences, and the one of any module.
            _ => None,
        }
    }

    /// The key of the same pattern in another module; `None` if this key names no module.
    pub(crate) fn with_module(&self, module: &str) -> Option<Self> {
        let text = match self.parts() {
            PatternParts::Module(_) => module.to_owned(),
            PatternParts::ModuleTests { timing, .. } => format!("{module} {timing}"),
            PatternParts::ModuleChange(_) => format!("{MODULE_CHANGE_PREFIX}{module}"),
            // The key names no module.
            _ => return None,
        };
        Some(Self::new(self.signal, text))
    }

    /// Applies `change` to the text, for instance to mask a secret.
    pub(crate) fn map_text(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Timestamp;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::parse(text).unwrap()
    }

    /// Every form of key, with the text that databases hold.
    fn all_forms() -> Vec<(PatternKey, &'static str)> {
        let (a, b) = (path("src/a.rs"), path("src/b.rs"));
        vec![
            (PatternKey::file_access("src"), "src"),
            (PatternKey::co_access("src/b.rs", "src/a.rs"), "src/a.rs|src/b.rs"),
            (PatternKey::error("d8fff5f3b283d0f8"), "d8fff5f3b283d0f8"),
            (PatternKey::missing_file(&a), "missing src/a.rs"),
            (PatternKey::backtrack(&a), "src/a.rs"),
            (PatternKey::read_abandon(&a, &b), "src/a.rs→src/b.rs"),
            (PatternKey::repeated_grep("fn computeTotal"), "fn computetotal"),
            (PatternKey::finished_change(), "finish a change"),
            (PatternKey::module_change("api"), "change api"),
            (PatternKey::time_anomaly("make e2e"), "make e2e"),
            (
                PatternKey::self_correction(
                    "Rounding in `total.ts` happens per line, never on the sum.",
                ),
                "7bf05bbaea576780",
            ),
            (PatternKey::external_reference("Token Scope"), "token scope"),
            (PatternKey::glob_ignore("**/*.rs"), "**/*.rs"),
            (PatternKey::import_chase(&a, &b), "src/a.rs→src/b.rs"),
            (PatternKey::test_order("src", TestTiming::First), "src first"),
            (PatternKey::config_touch(&a, &path("Cargo.toml")), "src/a.rs→Cargo.toml"),
            (PatternKey::step_overrun("src"), "src"),
            (PatternKey::parallel_conflict(&a), "src/a.rs"),
            (PatternKey::context_token_spike(&a), "src/a.rs"),
            (
                PatternKey::dead_end(
                    "This approach won't work because the vendor folder is generated.",
                ),
                "b92d4bb74028f605",
            ),
            (
                PatternKey::reverted_session(SessionId::new(Timestamp(5), [1; 10])),
                "taken back 00000000-0005-7101-8101-010101010101",
            ),
            (PatternKey::causal_statement("schema.sql", "row.rs"), "schema.sql→row.rs"),
            (
                PatternKey::user_correction("please always run `mise run fmt` before committing"),
                "e8b2b8e8e5495ab3",
            ),
            (PatternKey::recorded("Totals round per line."), "2f85016ecccfb5e5"),
            (PatternKey::claim(ClaimSource::Person, "2f85016ecccfb5e5"), "person 2f85016ecccfb5e5"),
        ]
    }

    #[test]
    fn every_key_has_the_text_that_is_stored() {
        for (key, stored) in all_forms() {
            assert_eq!(key.as_str(), stored, "{}", key.signal());
            assert_eq!(PatternKey::from_stored(key.signal(), stored), key);
        }
        let signals: std::collections::BTreeSet<SignalKind> =
            all_forms().iter().map(|it| it.0.signal()).collect();
        assert_eq!(signals.len(), SignalKind::ALL.len(), "every signal has a form");
    }

    #[test]
    fn keys_with_a_form_are_taken_apart() {
        let parts =
            |signal, text: &str| format!("{:?}", PatternKey::from_stored(signal, text).parts());
        assert_eq!(parts(SignalKind::CoAccess, "a.rs|b.rs"), r#"FilePair("a.rs", "b.rs")"#);
        assert_eq!(parts(SignalKind::ErrorRetry, "missing a.rs"), r#"MissingFile("a.rs")"#);
        assert_eq!(parts(SignalKind::ErrorRetry, "d8ff"), r#"Whole("d8ff")"#);
        assert_eq!(parts(SignalKind::Sequence, "change api"), r#"ModuleChange("api")"#);
        assert_eq!(parts(SignalKind::DeadEnd, "taken back x"), r#"RevertedSession("x")"#);
        assert_eq!(
            parts(SignalKind::TestOrder, "my api first"),
            r#"ModuleTests { module: "my api", timing: "first" }"#
        );
        assert_eq!(parts(SignalKind::TestOrder, "masked"), r#"Whole("masked")"#);
    }

    #[test]
    fn a_long_key_is_cut_between_characters() {
        let key = PatternKey::repeated_grep(&"é".repeat(300));
        assert_eq!(key.as_str().len(), MAX_KEY_BYTES);
        let key = PatternKey::repeated_grep(&format!("x{}", "é".repeat(300)));
        assert_eq!(key.as_str().len(), MAX_KEY_BYTES - 1);
    }
}
