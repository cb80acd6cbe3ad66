//! The commands of scripts, by name. The header of the crate explains what each does. Only this
//! module and its files call the engine.

mod change;
mod environment;
mod inspect;
mod maintenance;
mod recall;
mod transfer;

pub(crate) use environment::all_files;

use engine::Error;

use crate::TestWorld;
use crate::script_line::ScriptLine;

/// A command that opens the project, calls the engine and appends lines to the output.
type ScriptCommand = fn(&mut TestWorld, &ScriptLine, &mut Vec<String>) -> Result<(), Error>;

#[rustfmt::skip]
const PROJECT_COMMANDS: &[(&str, ScriptCommand)] = &[
    ("teach", change::teach), ("edit", change::edit), ("pin", change::pin), ("unpin", change::pin),
    ("used", change::used), ("flag", change::flag), ("forget", change::forget),
    ("restore", change::restore), ("undo", change::undo),
    ("list", inspect::list), ("show", inspect::show), ("find", inspect::find),
    ("search", recall::search), ("ask", recall::ask), ("context", recall::context),
    ("file-context", recall::file_context), ("touch", recall::touch),
    ("history", inspect::history), ("settings", inspect::settings), ("doctor", inspect::doctor),
    ("export", transfer::export), ("import", transfer::import), ("purge", transfer::purge),
    ("rules", transfer::rules),
    ("maintain", maintenance::maintain), ("backup", maintenance::backup), ("backups", maintenance::backups),
    ("restore-backup", maintenance::restore_backup), ("set", maintenance::set), ("unset", maintenance::set),
    ("index", maintenance::index), ("follow", maintenance::follow), ("project", environment::project), ("active-days", environment::active_days), ("damage", environment::damage),
    ("insert-unchecked", transfer::insert_unchecked), ("stray-file", environment::create_stray_file), ("exists", environment::file_exists),
];

/// A command that changes only files, clock and folders.
type WorldCommand = fn(&mut TestWorld, &ScriptLine);

#[rustfmt::skip]
const WORLD_COMMANDS: &[(&str, WorldCommand)] = &[
    ("days", environment::days), ("cd", environment::cd), ("machine", environment::machine), ("move", environment::rename),
    ("write", environment::write), ("foreign", transfer::add_foreign_record), ("copy", environment::copy), ("git", environment::git),
    ("commit", environment::commit), ("branch", environment::branch), ("merge", environment::merge),
    ("delete", environment::delete), ("newer", environment::newer),
];

/// Runs one script line. An unknown command is a mistake in the test, so it panics.
pub(crate) fn run(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    if let Some((_, run_command)) = WORLD_COMMANDS.iter().find(|it| it.0 == line.verb) {
        run_command(world, line);
        return Ok(());
    }
    let command = PROJECT_COMMANDS.iter().find(|it| it.0 == line.verb);
    let (_, run_command) =
        command.unwrap_or_else(|| panic!("unknown script command `{}`", line.verb));
    run_command(world, line, acc)
}
