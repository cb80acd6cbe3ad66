//! A world in a temporary folder, a clock that is told the time, and scripts that live in it.
//!
//! For tests only. A script is one command a line; `#` begins a comment. Every command opens the
//! engine anew, one minute after the last, as a person at a prompt would. Memories are called
//! `m1`, `m2` … in the order they came to be; options may stand anywhere after the command, the words
//! left over are its text, in which `\n` is a line end and `{token}` a secret (see [`plant()`]).
//!
//! | command | |
//! |---|---|
//! | `teach [--user] [--type T] [--tag T] [--file P] [--module M] [--pin] [--new] [--redact] [--dry] [--key K] TEXT` | remembers |
//! | `edit ID [--type T] [--tag T] [--file P] [--module M] [--confidence N] [--redact] [TEXT]` | `--tag -` takes all away |
//! | `pin ID` · `unpin ID` · `used ID` | |
//! | `flag ID right · outdated [TEXT] · partly TEXT · incorrect TEXT · nothere [--module M] [--file P]` | corrects |
//! | `forget ID…` · `restore ID [VERSION]` · `undo [ID]` · `history ID` | |
//! | `list [--all] [--user] [--status S] [--type T] [--tag T] [--file P] [--module M] [--limit N] [--offset N]` | newest first |
//! | `search [the same, --source S, --scope S, --branch B] [--without STAGE] WORDS` · `show ID` · `find ID` | |
//! | `ask [like search] QUESTION` | prose, if anybody writes, then the evidence |
//! | `context [--file P] [--phase P] [--budget N] [--full] [--explain] [TASK]` · `about [the same] FILE…` | what an agent is told at the start · about files |
//! | `touch FILE… [--shown ID]` | what an agent is told at a step |
//! | `export [--user]` · `import [--user] [--vouched] [--skip] [--redact] [--dry]` | out to the parcel, in from it |
//! | `parcel [--tag T] [--module M] [--like ID] [--short HEX] [--rests-on ID] [--says WORD --hide FIELD] [--boast] TEXT` | a stranger puts something into the parcel |
//! | `parcel --bad WHY` · `parcel --empty` | a record that cannot be read · a new parcel |
//! | `purge ID…` · `purge secret TEXT` · `purge secrets` · `purge project` · `purge everything` | with the proof |
//! | `maintain [--dry]` · `backup` · `backups` · `restore-backup N [--user]` · `doctor [--fix]` | |
//! | `set KEY VALUE` · `unset KEY` · `settings` | |
//! | `live N` · `days N` | days with sessions in them · days away |
//! | `at PLACE` · `cd DIR` · `on MACHINE` · `move FROM TO` · `copy FROM TO` · `write PATH` · `git BRANCH` | the world itself |
//! | `write PATH [TEXT] [--times N]` · `delete PATH` · `aged PATH DAYS` · `index` · `follow` · `commit` · `branch NAME` · `merge NAME` | files and their history |
//! | `damage ID` · `smuggle [like parcel] [--user] [--plain] [--type T] [--file P] [--branch B] [--source S] [--scope S] [--for V] [--session N] [--requires ID] TEXT` | changes a text · keeps one, past the engine |
//! | `litter [--user] NAME` · `look NAME` | a stranger's file in the data folder · whether it is still there |
//!
//! Answers are one line a memory: its name, type, what it is worth now, its text, and whatever is not
//! as usual. Complaints about damage begin with `!`.

mod clean;
mod line;
mod plant;
mod print;
mod random;
mod verbs;
mod world;

mod story;

pub use plant::{PLANTS, plant};
pub use random::Random;
pub use story::Story;
pub use world::{World, models};

/// What a script says in a fresh world.
pub fn play(script: &str) -> String {
    World::new(1).play(script)
}
