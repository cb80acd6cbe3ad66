//! The commands of scripts. Only this module calls the engine.

mod carry;
mod change;
mod look;
mod recall;
mod stage;
mod upkeep;

use engine::Error;

use crate::TestWorld;
use crate::script_line::ScriptLine;

/// A command that calls the engine and appends output lines.
type ScriptCommand = fn(&mut TestWorld, &ScriptLine, &mut Vec<String>) -> Result<(), Error>;

#[rustfmt::skip]
const PROJECT_COMMANDS: &[(&str, ScriptCommand)] = &[
    ("teach", change::teach), ("edit", change::edit), ("pin", change::pin), ("unpin", change::pin),
    ("used", change::used), ("flag", change::flag), ("forget", change::forget),
    ("restore", change::restore), ("undo", change::undo),
    ("list", look::list), ("show", look::show), ("find", look::find),
    ("search", recall::search), ("ask", recall::ask), ("context", recall::context),
    ("about", recall::about), ("touch", recall::touch),
    ("history", look::history), ("settings", look::settings), ("doctor", look::doctor),
    ("export", carry::export), ("import", carry::import), ("purge", carry::purge),
    ("rules", carry::rules),
    ("maintain", upkeep::maintain), ("backup", upkeep::backup), ("backups", upkeep::backups),
    ("restore-backup", upkeep::restore_backup), ("set", upkeep::set), ("unset", upkeep::set),
    ("index", upkeep::index), ("follow", upkeep::follow), ("at", stage::at), ("live", stage::live), ("damage", stage::damage),
    ("smuggle", carry::smuggle), ("litter", stage::litter), ("look", stage::look),
];

/// A command that changes only files, clock and folders.
type WorldCommand = fn(&mut TestWorld, &ScriptLine);

#[rustfmt::skip]
const WORLD_COMMANDS: &[(&str, WorldCommand)] = &[
    ("days", stage::days), ("cd", stage::cd), ("on", stage::on), ("move", stage::rename),
    ("write", stage::write), ("parcel", carry::parcel), ("copy", stage::copy), ("git", stage::git),
    ("commit", stage::commit), ("branch", stage::branch), ("merge", stage::merge),
    ("delete", stage::delete), ("aged", stage::aged),
];

pub(crate) fn run(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    if let Some((_, scene)) = WORLD_COMMANDS.iter().find(|it| it.0 == line.verb) {
        scene(world, line);
        return Ok(());
    }
    let verb = PROJECT_COMMANDS.iter().find(|it| it.0 == line.verb);
    let (_, verb) = verb.unwrap_or_else(|| panic!("unknown script command `{}`", line.verb));
    verb(world, line, acc)
}
