//! The patch format some hosts edit with: only which files it touches.

const BEGIN: &str = "*** Begin Patch";
const FILES: &[&str] =
    &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

pub(crate) fn is_patch(text: &str) -> bool {
    text.trim_start().starts_with(BEGIN)
}

/// The patch inside a shell command that applies one.
pub(crate) fn in_command(command: &str) -> Option<&str> {
    if !command.trim_start().starts_with("apply_patch") {
        return None;
    }
    command.find(BEGIN).map(|at| &command[at..])
}

pub(crate) fn files(patch: &str) -> Vec<String> {
    let named = |line: &str| {
        FILES.iter().find_map(|it| line.strip_prefix(it)).map(|it| it.trim().to_owned())
    };
    patch.lines().filter_map(named).collect()
}
