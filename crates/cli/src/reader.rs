//! The reader of a command's output: the user, or the model of an agent that runs the command in its shell.
//!
//! The output of a command in the shell of an agent reaches a model, so it passes the same boundary as notes and
//! answers, `engine::model_text`. For the same reason such a command cannot confirm anything: an agent would
//! vouch for text that it has read. A host marks the commands of its agents with a variable of the
//! environment. A terminal proves no user: some hosts run commands on one of their own. This guards against
//! mistakes and against instructions that an agent meets in text. It is no barrier for a program that reads the
//! files of its user.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::OnceLock;

use engine::{HOSTS, model_text};
use model::Memory;
use serve::wire::CommandReader;

use crate::environment::first_set_variable;
use crate::failure::usage_error;

/// Variables by which agents without a row in the table of hosts mark their commands.
const OTHER_AGENT_VARIABLES: &[&str] = &["CURSOR_AGENT", "AI_AGENT"];

/// The reason to refuse the words of sessions, and earlier versions of memories, to an agent.
pub(crate) const EVIDENCE_IS_UNFILTERED: &str = "evidence may hold text from outside";

/// The reason to refuse changes of memories to an agent: it may add and doubt, see `engine::agent`.
pub(crate) const CHANGES_ARE_THE_USERS: &str = "changes of memories are the user's";

thread_local! {
    /// The reader of the command that this thread of the daemon runs.
    static READER_OF_CALLER: RefCell<Option<CommandReader>> = const { RefCell::new(None) };
}

/// Names the reader for the commands that this thread runs from now on. The daemon gives each command a
/// thread of its own; its environment says nothing about the caller.
pub(crate) fn set_reader_of_thread(reader: CommandReader) {
    READER_OF_CALLER.set(Some(reader));
}

/// The reader of the output of this command.
pub(crate) fn current_reader() -> CommandReader {
    READER_OF_CALLER.with_borrow(|it| it.clone().unwrap_or_else(reader_of_process))
}

/// The reader by the environment of this process.
fn reader_of_process() -> CommandReader {
    static VARIABLE: OnceLock<Option<&str>> = OnceLock::new();
    let variable = *VARIABLE.get_or_init(|| {
        let of_hosts = HOSTS.iter().flat_map(|it| it.shell_variables);
        let mut names = of_hosts.chain(OTHER_AGENT_VARIABLES).copied();
        names.find(|it| first_set_variable(&[it]).is_some())
    });
    match variable {
        Some(variable) => CommandReader::Agent { variable: variable.to_owned() },
        None => CommandReader::User,
    }
}

/// True if an agent runs this command.
pub(crate) fn is_agent() -> bool {
    current_reader() != CommandReader::User
}

/// The memory as the reader may see it.
pub(crate) fn readable_memory(memory: &Memory) -> Cow<'_, Memory> {
    if is_agent() {
        Cow::Owned(model_text::neutralize_memory(memory))
    } else {
        Cow::Borrowed(memory)
    }
}

/// The text of a memory as the reader may see it.
pub(crate) fn readable_content(memory: &Memory) -> String {
    readable_memory(memory).content.clone()
}

/// The summary of a memory as the reader may see it.
pub(crate) fn readable_summary(memory: &Memory) -> String {
    readable_memory(memory).summary.clone()
}

/// A text without a memory, such as a dropped candidate, as the reader may see it.
pub(crate) fn readable_text(text: &str) -> String {
    if is_agent() { model_text::neutralize_foreign_text(text) } else { text.to_owned() }
}

/// The description of a module as the reader may see it.
pub(crate) fn readable_description(text: &str) -> String {
    if is_agent() { model_text::neutralize_description(text) } else { text.to_owned() }
}

/// Fails if an agent runs a command that is the user's.
pub(crate) fn refuse_agent(what: &str, hint: &str) -> anyhow::Result<()> {
    match current_reader() {
        CommandReader::Agent { variable } => {
            let message = format!("an agent runs this command (`{variable}` is set), and {what}");
            Err(usage_error(message, hint))
        }
        CommandReader::User => Ok(()),
    }
}
