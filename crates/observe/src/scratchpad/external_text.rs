//! Recognises the calls and results that bring text from outside the project into a session, and taints the
//! session from there on. Called by `fold` for each call and each result.
//!
//! Example: the third event is a call of `curl https://a.example`. The third event and all later ones are
//! tainted (`tainted_after` is 2), through the channel `Shell`, with the command as source.

use model::{
    ContentChannel, ExternalContent, ProjectPath, Timestamp, ToolCall, ToolKind, ToolResult,
    is_vendored_path,
};

use super::{CallEffects, ExternalSource, LoggedCall, Scratchpad};
use crate::shell::{self, ShellEffect};

/// The longest stored name of an external source, in bytes.
const MAX_SOURCE_BYTES: usize = 120;

/// Records the first call that brings in text from outside the project.
pub(super) fn mark_external(
    pad: &mut Scratchpad,
    call: &ToolCall,
    effects: &[ShellEffect],
    at: Timestamp,
) {
    let fetch_channel = effects.iter().find_map(|it| match it {
        ShellEffect::Fetch(channel) => Some(*channel),
        _ => None,
    });
    // The table of tools says on what it depends; see `ExternalContent`.
    let is_external = match call.tool.kind().row().external {
        // The call shows nothing of what the subagent reads; `Scratchpad::add_subagents` taints the session
        // later, by the subagent's own record.
        ExternalContent::Never | ExternalContent::BySubagent => false,
        ExternalContent::Always => true,
        ExternalContent::UnlessTrusted => !pad.is_trusted_tool(&call.tool),
        ExternalContent::ByCommand => fetch_channel.is_some(),
        ExternalContent::ByPath => {
            // `vendored` covers files outside the project, whose paths are not kept.
            call.args.vendored || call.args.paths.iter().any(|it| is_vendored_path(it.as_str()))
        }
        ExternalContent::ByAddress => call.args.url.is_some(),
    };
    // What the command does says more than the tool: a shell can read a file of a dependency.
    let channel = fetch_channel.or(call.tool.kind().channel());
    if let Some(channel) = channel.filter(|_| is_external) {
        let path = call.args.paths.first().map(ProjectPath::as_str);
        let source = call.args.url.as_deref().or(call.args.command.as_deref()).or(path);
        let source = source.map_or_else(|| call.tool.to_string(), str::to_owned);
        set_external(pad, channel, &source, at);
    }
}

/// Taints the session from this event on, unless an earlier one did. From the call on, not from its
/// result: text that is fetched and quoted in one step is external already.
fn set_external(pad: &mut Scratchpad, channel: ContentChannel, source: &str, at: Timestamp) {
    if pad.external.is_none() {
        // `n_events` counts the current event already, and that event is to be tainted.
        let tainted_after = pad.n_events.saturating_sub(1);
        let source = source[..source.floor_char_boundary(MAX_SOURCE_BYTES)].to_owned();
        pad.external = Some(ExternalSource { tainted_after, at, channel, source });
    }
}

/// Taints the session if the result shows external text that the call did not announce: matches in files of
/// dependencies, or a script of the project that fetches.
pub(super) fn mark_external_result(
    pad: &mut Scratchpad,
    call: LoggedCall,
    result: &ToolResult,
    at: Timestamp,
) {
    if pad.external.is_some() {
        return;
    }
    let output = result.excerpt.as_str();
    let command = call.command.map(|it| pad.strings.text(it)).unwrap_or_default();
    // `path:line:text` of a search; a listed path alone is no text of the file.
    let matched_path = |it: &str| it.split_once(':').is_some_and(|it| is_vendored_path(it.0));
    let is_search = call.tool == ToolKind::Search || call.effects.has_any(CallEffects::RUNS_SEARCH);
    let channel = if is_search && output.lines().any(matched_path) {
        Some(ContentChannel::VendoredFile)
    } else if call.tool == ToolKind::Shell && shell::is_script_runner(command) {
        // `npm run docs` hides its command, but the runner prints it first: `> curl https://a.example`.
        shell::echoed_channel(output)
    } else {
        None
    };
    if let Some(channel) = channel {
        let source = if command.is_empty() { result.tool.to_string() } else { command.to_owned() };
        set_external(pad, channel, &source, at);
    }
}
