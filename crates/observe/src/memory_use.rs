//! Detects the use of memories: a session cited a memory, or acted on one that it was shown. The engine
//! counts these uses.
//!
//! The input is the scratchpad, the log of one session. Examples: the agent writes "as #0badcafe says" → it
//! cited the memory whose id ends so; it was shown "run `mise run fmt` before a commit" and runs that within
//! ten calls → it followed the memory.

use model::{Memory, Payload, Timestamp};

use crate::scratchpad::{LoggedCall, LoggedTouch};
use crate::sentences::code_words;
use crate::{Scratchpad, shell};

/// Calls after a memory was shown within which it must be followed.
const FOLLOW_WINDOW_CALLS: usize = 10;
/// Files of a prefetch pattern that must be opened.
const MIN_PREFETCHED_FILES: usize = 2;
/// A memory is cited by the last eight characters of its id.
const SHORT_ID_CHARS: usize = 8;

/// The short ids that a text cites, such as `0badcafe` of `#0badcafe`. A longer number
/// after the `#` is no citation.
pub(crate) fn cited_short_ids(text: &str) -> impl Iterator<Item = &str> {
    text.split('#').skip(1).filter_map(|rest| {
        // `None` if the text is shorter, or if the id would end inside a character.
        let id = rest.get(..SHORT_ID_CHARS)?;
        let is_whole = !rest[SHORT_ID_CHARS..].starts_with(|it: char| it.is_ascii_alphanumeric());
        let is_hex = |it: u8| it.is_ascii_digit() || matches!(it, b'a'..=b'f');
        (is_whole && id.bytes().all(is_hex)).then_some(id)
    })
}

/// Returns whether the session cited a memory, however it was shown.
pub fn is_cited(pad: &Scratchpad, memory: &Memory) -> bool {
    pad.cited_ids.contains(&memory.id.short())
}

/// Returns whether the session followed a memory that it was shown at `shown_at`. Opening a file proves
/// nothing, except for a memory that says which files to open. The actions of each type:
///
/// | type | followed if |
/// |---|---|
/// | dead end | what it used instead was run; or what was tried was not tried again |
/// | error pattern | the command of the fix was run, or else a file of it edited; and the error did not return |
/// | causal dependency | one of the two files was edited that had not been edited before |
/// | prefetch pattern | two of its files, or its only one, were opened for the first time |
/// | any other | its command or a variant was run; without a command, one of its files was edited |
///
/// Actions count within the next ten calls and only if they succeeded. What must not happen (a second try,
/// the error) is looked for in the whole rest of the session, failed calls included. A citation counts for
/// every type, see [`is_cited`].
pub fn was_followed(pad: &Scratchpad, memory: &Memory, shown_at: Timestamp) -> bool {
    // Nothing was done after it was shown.
    let first_call = pad.calls.iter().position(|it| it.at > shown_at);
    let Some(first_call) = first_call else { return false };
    let actions = LaterActions { pad, first_call };
    match &memory.payload {
        Some(Payload::DeadEnd(it)) => {
            let instead = commands_in(it.used_instead.as_deref().unwrap_or_default());
            actions.ran_any(&instead).is_some() || actions.avoided(&commands_in(&it.tried))
        }
        Some(Payload::ErrorPattern(it)) => {
            let commands = commands_in(it.resolution.as_deref().unwrap_or_default());
            let fixed_at = if commands.is_empty() {
                actions.edited(|path| names_file(memory, path))
            } else {
                actions.ran_any(&commands)
            };
            fixed_at.is_some_and(|call| !actions.has_error_after(&it.fingerprint, call))
        }
        Some(Payload::CausalDependency(it)) => {
            let ends = [it.from.as_str(), it.to.as_str()];
            let is_end = |path: &str| ends.iter().any(|end| is_in_place(path, end));
            actions.edited(|path| is_end(path) && !actions.was_edited_before(path)).is_some()
        }
        Some(Payload::PrefetchPattern(it)) => {
            let named = it.always.iter().chain(&it.often);
            let n_named = named.clone().count();
            let n_opened = named.filter(|it| actions.was_first_opened(it.as_str())).count();
            n_opened > 0 && n_opened >= n_named.min(MIN_PREFETCHED_FILES)
        }
        _ => {
            let commands = commands_in(&memory.content);
            if commands.is_empty() {
                actions.edited(|path| names_file(memory, path)).is_some()
            } else {
                actions.ran_any(&commands).is_some()
            }
        }
    }
}

/// The calls of a session after a memory was shown.
#[derive(Clone, Copy)]
struct LaterActions<'a> {
    pad: &'a Scratchpad,
    /// Number of the first call after it was shown.
    first_call: usize,
}

impl<'a> LaterActions<'a> {
    /// The next few calls that succeeded, with their numbers. One that failed was tried, but did not help.
    fn soon(self) -> impl Iterator<Item = (usize, &'a LoggedCall)> {
        let calls = self.pad.calls.iter().enumerate().skip(self.first_call);
        calls.take(FOLLOW_WINDOW_CALLS).filter(|(_, it)| it.has_succeeded())
    }

    /// The call that soon ran one of the commands or a variant of it.
    fn ran_any(self, commands: &[&str]) -> Option<usize> {
        self.soon().find(|(_, it)| self.is_command(it, commands)).map(|it| it.0)
    }

    /// True if the commands are known and no later call of the whole session tried one of them.
    fn avoided(self, commands: &[&str]) -> bool {
        let mut later = self.pad.calls.iter().skip(self.first_call);
        !commands.is_empty() && !later.any(|it| self.is_command(it, commands))
    }

    fn is_command(self, call: &LoggedCall, commands: &[&str]) -> bool {
        let Some(run) = call.command.map(|it| self.pad.strings.text(it)) else { return false };
        let is_variant = |it: &str| shell::essential_command(it) == shell::essential_command(run);
        commands.iter().any(|it| run.contains(it) || is_variant(it))
    }

    /// The call that soon edited a file for which `is_meant` is true.
    fn edited(self, is_meant: impl Fn(&str) -> bool) -> Option<usize> {
        let edits = |call: &LoggedCall| {
            let mut touches = self.pad.touches_of_call(call).iter();
            touches.any(|it| it.is_write && is_meant(self.pad.strings.text(it.file)))
        };
        self.soon().find(|(_, it)| edits(it)).map(|it| it.0)
    }

    fn was_edited_before(self, path: &str) -> bool {
        self.touches_before().any(|it| it.is_write && self.pad.strings.text(it.file) == path)
    }

    /// True if the file was soon opened and not touched before.
    fn was_first_opened(self, path: &str) -> bool {
        let is_file = |it: &LoggedTouch| self.pad.strings.text(it.file) == path;
        !self.touches_before().any(is_file)
            && self.soon().any(|(_, call)| self.pad.touches_of_call(call).iter().any(is_file))
    }

    /// The touches before the memory was shown. They are stored in the order of their calls.
    fn touches_before(self) -> impl Iterator<Item = &'a LoggedTouch> {
        self.pad.touches.iter().take_while(move |it| (it.call as usize) < self.first_call)
    }

    fn has_error_after(self, fingerprint: &str, call: usize) -> bool {
        let mut errors = self.pad.errors.iter();
        errors.any(|it| it.fingerprint == fingerprint && it.call as usize > call)
    }
}

fn names_file(memory: &Memory, path: &str) -> bool {
    memory.files.iter().any(|it| it.as_str() == path)
}

/// True if a path is the place or a file below it: the ends of a dependency are files or modules.
fn is_in_place(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The commands in a text.
fn commands_in(text: &str) -> Vec<&str> {
    // Code with a blank in it is a command; without one it is a name.
    code_words(text).into_iter().filter(|it| it.trim().contains(' ')).collect()
}

#[cfg(test)]
mod tests {
    use model::{
        Actor, CausalDependency, DeadEnd, ErrorPattern, HybridTimestamp, MemoryFlags, MemoryId,
        MemoryScope, MemorySource, MemoryType, PerMille, PrefetchPattern, ProjectPath, SoftStates,
        UsageCounters, Visibility,
    };

    use super::*;
    use crate::test_script;

    /// A memory about `src/a.rs`.
    fn memory(content: &str, payload: Option<Payload>) -> Memory {
        Memory {
            id: MemoryId::new(Timestamp(1), [1; 10]),
            project: None,
            kind: MemoryType::from_slug("gotcha").unwrap(),
            source: MemorySource::UserTaught,
            scope: MemoryScope::Global,
            visibility: Visibility::Personal,
            content: content.to_owned(),
            summary: content.to_owned(),
            citation: String::new(),
            confidence: PerMille::new(900),
            tags: Vec::new(),
            files: vec![path("src/a.rs")],
            modules: Vec::new(),
            anchors: Vec::new(),
            work_unit: None,
            session: None,
            provenance: Vec::new(),
            commit: None,
            branch: None,
            relations: Vec::new(),
            half_life_days: None,
            flags: MemoryFlags::default(),
            states: SoftStates::default(),
            payload,
            created_by: Actor::User,
            created_at: Timestamp(1),
            updated_at: Timestamp(1),
            version: 1,
            hlc: HybridTimestamp::default(),
            counters: UsageCounters::default(),
        }
    }

    fn path(text: &str) -> ProjectPath {
        ProjectPath::parse(text).unwrap()
    }

    #[test]
    fn only_whole_ids_are_citations() {
        let ids = |text| cited_short_ids(text).collect::<Vec<_>>();
        assert_eq!(ids("as #0badcafe says, and [#12345678]."), ["0badcafe", "12345678"]);
        assert!(ids("#0badcafe1 #BADCAFE0 #123 issue #12 # 12345678 #日本語日本語").is_empty());
    }

    /// Returns whether a session follows a memory that it was shown after the first call.
    fn is_followed(memory: &Memory, script: &str) -> bool {
        let pad = test_script::pad_from_script(script);
        was_followed(&pad, memory, pad.calls[0].at)
    }

    #[test]
    fn opening_a_file_follows_nothing() {
        let gotcha = memory("`verify` wants seconds.", None);
        assert!(!is_followed(&gotcha, "read b.rs\nread src/a.rs\n"));
        assert!(is_followed(&gotcha, "read b.rs\nedit src/a.rs\n"));
    }

    #[test]
    fn a_command_is_followed_by_running_it_or_a_variant() {
        let command = memory("Run `cargo test -p store` before a commit.", None);
        assert!(is_followed(&command, "read b.rs\nrun cargo test -p store\n"));
        assert!(is_followed(&command, "read b.rs\nrun cd x && cargo test -p store 2>&1 | tail\n"));
        assert!(!is_followed(&command, "read b.rs\nrun cargo test -p engine\n"));
        assert!(!is_followed(&command, "read b.rs\nedit src/a.rs\n"), "the command did not run");
        assert!(!is_followed(&command, "read b.rs\nfail cargo test -p store: error: no\n"));
    }

    #[test]
    fn a_fix_is_followed_if_the_error_does_not_return() {
        let mistake = "fail git show --no-stat HEAD: fatal: unrecognized argument: --no-stat\n";
        let pad = test_script::pad_from_script(mistake);
        let fix = memory(
            "",
            Some(Payload::ErrorPattern(ErrorPattern {
                fingerprint: pad.errors[0].fingerprint.clone(),
                tool: "shell".to_owned(),
                message: "unrecognized argument".to_owned(),
                resolution: Some("use `git show --stat HEAD`".to_owned()),
            })),
        );
        let fixed = format!("{mistake}run git show --stat HEAD\n");
        assert!(is_followed(&fix, &fixed));
        assert!(!is_followed(&fix, &format!("{fixed}{mistake}")), "it came back");
        assert!(!is_followed(&fix, &format!("{mistake}edit src/a.rs\n")));
    }

    #[test]
    fn a_dead_end_is_followed_by_not_trying_it() {
        let dead_end = memory(
            "",
            Some(Payload::DeadEnd(DeadEnd {
                tried: "`npm link ../ui`".to_owned(),
                why_failed: "two copies of react".to_owned(),
                used_instead: None,
                task_context: None,
            })),
        );
        assert!(is_followed(&dead_end, "read b.rs\nrun npm test\n"));
        assert!(!is_followed(&dead_end, "read b.rs\nfail npm link ../ui: error: no\n"));
    }

    #[test]
    fn a_dependency_is_followed_by_editing_the_other_file() {
        let dependency = memory(
            "",
            Some(Payload::CausalDependency(CausalDependency {
                from: "src/a.rs".to_owned(),
                to: "src/b.rs".to_owned(),
                sessions: Vec::new(),
                lift: PerMille::new(900),
                directed: true,
            })),
        );
        assert!(is_followed(&dependency, "edit src/a.rs\nedit src/b.rs\n"));
        assert!(!is_followed(&dependency, "edit src/a.rs\nedit src/a.rs\nread src/b.rs\n"));
    }

    #[test]
    fn a_prefetch_is_followed_by_opening_its_files() {
        let files = ["src/a.rs", "src/b.rs", "src/c.rs"].map(path).to_vec();
        let prefetch = PrefetchPattern {
            always: files,
            often: Vec::new(),
            trigger_module: None,
            session_count: 5,
        };
        let prefetch = memory("", Some(Payload::PrefetchPattern(prefetch)));
        assert!(is_followed(&prefetch, "read x.rs\nread src/a.rs\nread src/c.rs\n"));
        assert!(!is_followed(&prefetch, "read src/a.rs\nread src/a.rs\nread src/c.rs\n"));
    }
}
