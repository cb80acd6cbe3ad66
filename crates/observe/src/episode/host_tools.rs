//! Failure episodes of the host's own tools: an edit was not applied, and succeeded after the file was read.
//!
//! Only edits are followed. A read or a search that finds nothing is answered by what is found next, and what
//! it teaches is the path (see `error_retry`).

use model::ToolKind;

use super::{EndingKind, EpisodeEnding, FailureEpisode};
use crate::error_line::ToolFamily;
use crate::scratchpad::{ErrorOccurrence, LoggedCall, Scratchpad};
use crate::strings::StringId;

/// Calls after the failure of an edit within which the same file must be edited.
const MAX_EDIT_CALLS: usize = 8;

/// The episode of an edit that was not applied; `None` for other errors.
pub(super) fn find_episode<'a>(
    pad: &Scratchpad,
    error: &'a ErrorOccurrence,
    call: &LoggedCall,
) -> Option<FailureEpisode<'a>> {
    let is_edit = matches!(call.tool, ToolKind::Edit | ToolKind::Write);
    if !is_edit || error.family != ToolFamily::HostTool {
        return None;
    }
    let file = pad.touches_of_call(call).first()?.file;
    let ending = find_ending(pad, error.call, file);
    let command = call.tool.slug().to_owned();
    Some(FailureEpisode { error, command, preceding: Vec::new(), ending })
}

/// The next edit of the file, if the file was read before it.
fn find_ending(pad: &Scratchpad, failed: u32, file: StringId) -> Option<EpisodeEnding> {
    let first = failed as usize + 1;
    let later = pad.calls.iter().enumerate().skip(first).take(MAX_EDIT_CALLS);
    let mut was_read = false;
    for (number, call) in later.filter(|(_, it)| it.has_succeeded()) {
        let touches = pad.touches_of_call(call).iter().filter(|it| it.file == file);
        for touch in touches {
            if !touch.is_write {
                was_read = true;
            } else if was_read {
                return Some(EpisodeEnding {
                    kind: EndingKind::MissingStep,
                    call: u32::try_from(number).ok()?,
                    command: call.tool.slug().to_owned(),
                    steps: vec![ToolKind::Read.slug().to_owned()],
                    edited_files: Vec::new(),
                    names: Vec::new(),
                    remedy: None,
                });
            } else {
                return None;
            }
        }
    }
    None
}
