//! Test support: a data folder in a temporary directory, a fake clock, and scripts that run in it.
//!
//! For tests only. A script has one command per line; a line that begins with `#` is a comment. Every
//! command that needs the engine opens the project again, one minute after the last, as separate
//! runs of the program would. Memories are called `m1`, `m2` … in the order in which the output
//! first names them. Options may appear anywhere after the command;
//! the remaining words are its text, in which `\n` is a line end and `{token}` a secret (see
//! [`fake_secret()`]).
//!
//! | command | |
//! |---|---|
//! | `teach [--user] [--type T] [--tag T] [--file P] [--module M] [--pin] [--new] [--redact] [--dry] [--key K] TEXT` | remembers |
//! | `edit ID [--type T] [--tag T] [--file P] [--module M] [--confidence N] [--redact] [TEXT]` | `--tag -` removes all |
//! | `pin ID` · `unpin ID` · `used ID` | `used` counts a use by an agent |
//! | `flag ID right · outdated [TEXT] · partly TEXT · incorrect TEXT · nothere [--module M] [--file P]` | corrects |
//! | `forget ID…` · `restore ID [VERSION]` · `undo [ID]` · `history ID` | `undo` without an id: the last change |
//! | `list [--all] [--user] [--status S] [--type T] [--tag T] [--file P] [--module M] [--limit N] [--offset N]` | newest first |
//! | `search [the same, --source S, --scope S, --branch B] [--without STAGE] WORDS` · `show ID` · `find ID` | `show` with all details · `find` in one line |
//! | `ask [like search] QUESTION` | generated text, if a text provider is set, then the evidence |
//! | `context [--file P] [--phase P] [--budget N] [--full] [--explain] [TASK]` · `file-context [the same] FILE…` | context for a session start · for files |
//! | `touch FILE… [--shown ID]` | notes for a step that accesses files |
//! | `export [--user]` · `import [--user] [--vouched] [--skip] [--redact] [--dry]` | writes the import file · reads it |
//! | `foreign [--tag T] [--module M] [--like ID] [--short HEX] [--rests-on ID] [--content WORD --into FIELD] [--inflated] [--candidate] TEXT` | adds a foreign record to the import file |
//! | `foreign --bad WHY` · `foreign --empty` | a record that cannot be parsed · an empty import file |
//! | `purge ID…` · `purge secret TEXT` · `purge secrets` · `purge project` · `purge everything` | with the proof |
//! | `maintain [--dry] [--compact]` · `backup` · `backups` · `restore-backup N [--user]` · `doctor [--fix]` | |
//! | `rules [--vouched]` | imports the project's rule files |
//! | `set KEY VALUE` · `unset KEY` · `settings` | |
//! | `active-days N` · `days N` | days with sessions · days without use |
//! | `project NAME` · `cd DIR` · `machine NAME` · `move FROM TO` · `copy FROM TO` | projects, folders; every machine has a data folder of its own |
//! | `write PATH [TEXT] [--times N]` · `delete PATH` · `newer PATH DAYS` · `index` · `follow` | files and the code index; `newer` moves the modification time into the future |
//! | `git BRANCH` · `commit` · `branch NAME` · `merge NAME` | history; `git` creates the repository |
//! | `damage ID` · `insert-unchecked [like foreign] [--user] [--plain] [--type T] [--file P] [--branch B] [--source S] [--scope S] [--for V] [--session N] [--requires ID] TEXT` | changes a stored text · stores a memory, both without the engine |
//! | `stray-file [--user] NAME` · `exists NAME` | creates a foreign file in the data folder · checks that it still exists |
//!
//! The output has one line per memory: its name, type, current confidence, text, and attributes that
//! differ from the defaults. Damage messages begin with `!`.

mod commands;
mod fake_secrets;
mod normalise;
mod output;
mod random;
mod random_script;
mod script_line;
mod world;

use std::fmt::Write as _;

pub use fake_secrets::{SECRET_NAMES, fake_secret};
pub use random::SplitMix64;
pub use random_script::RandomScript;
pub use world::{TestWorld, shared_models};

/// Runs a script in a new world and returns its output, each command before its own lines:
///
/// ```text
/// > teach retry limit is 3
/// m1 new: module_insight "retry limit is 3"
/// ```
///
/// A command without output is left out.
pub fn run_script_with_echo(script: &str) -> String {
    let mut world = TestWorld::new(1);
    let mut acc = String::new();
    for line in script.lines() {
        let output = world.run_line(line);
        if !output.is_empty() {
            let _ = write!(acc, "> {}\n{output}", line.trim());
        }
    }
    acc
}

/// Runs a script in a new world and returns its output.
pub fn run_script(script: &str) -> String {
    TestWorld::new(1).run_script(script)
}
