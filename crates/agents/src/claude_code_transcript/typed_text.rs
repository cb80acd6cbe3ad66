//! Tells the words of a user from the texts that Claude Code writes in the user's name.
//!
//! The host puts notices, the output of commands and context of the editor into user records and hook
//! messages, marked by tags or by fixed beginnings:
//!
//! ```text
//! <command-name>/fix</command-name><command-args>the total</command-args>   typed: /fix the total
//! <ide_opened_file>…</ide_opened_file>why is it red?                         typed: why is it red?
//! <task-notification>…</task-notification>                                   not typed
//! ```

use std::borrow::Cow;

/// A text in a user record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UserText<'a> {
    /// Words that the user typed.
    Typed(Cow<'a, str>),
    /// A plan that the user accepted in an earlier session, which ended with it.
    AcceptedPlan(&'a str),
    /// The mark that the user stopped the agent.
    Interrupt,
    /// A text of the host.
    Notice,
}

const INTERRUPT_PREFIX: &str = "[Request interrupted";
/// Beginning of the prompt by which the host starts a session with an accepted plan.
const PLAN_PREFIX: &str = "Implement the following plan:";
/// Beginnings of texts that the host wrote as a whole.
const NOTICE_PREFIXES: &[&str] = &[
    "<agent-notification",
    "<bash-",
    "<channel",
    "<command-",
    "<cross-session",
    "<local-command",
    "<task-notification",
    "<teammate-message",
    "Caveat: The messages below",
    "Operation stopped by hook",
    "This session is being continued",
];
/// Tags of context that the host adds to what the user typed.
const CONTEXT_TAGS: &[&str] =
    &["ide_diagnostics", "ide_opened_file", "ide_selection", "system-reminder"];

/// Finds out who wrote a text of a user record or a hook message.
pub(crate) fn classify_user_text(text: &str) -> UserText<'_> {
    let text = strip_context(text);
    if text.starts_with(INTERRUPT_PREFIX) {
        return UserText::Interrupt;
    }
    if let Some(name) = tag_content(&text, "command-name") {
        return command_text(name, tag_content(&text, "command-args").unwrap_or_default());
    }
    // A line that begins with `#` in the input field: the user dictates a note.
    if let Some(note) = tag_content(&text, "user-memory-input") {
        return UserText::Typed(Cow::Owned(format!("# {}", note.trim())));
    }
    if text.trim().is_empty() || NOTICE_PREFIXES.iter().any(|it| text.starts_with(it)) {
        return UserText::Notice;
    }
    match text {
        Cow::Borrowed(text) => match text.strip_prefix(PLAN_PREFIX) {
            Some(plan) => UserText::AcceptedPlan(plan.trim()),
            None => UserText::Typed(Cow::Borrowed(text)),
        },
        Cow::Owned(text) => UserText::Typed(Cow::Owned(text)),
    }
}

/// A slash command as the user typed it. Without arguments it says nothing.
fn command_text<'a>(name: &str, args: &str) -> UserText<'a> {
    let (name, args) = (name.trim().trim_start_matches('/'), args.trim());
    if args.is_empty() {
        return UserText::Notice;
    }
    UserText::Typed(Cow::Owned(format!("/{name} {args}")))
}

/// The text without the context that the host added, and without blanks at both ends.
fn strip_context(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text.trim());
    for tag in CONTEXT_TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = text.find(&open) {
            // A block without an end was truncated, so that the rest of the text belongs to it.
            let end = text[start..].find(&close).map_or(text.len(), |it| start + it + close.len());
            text = Cow::Owned([&text[..start], &text[end..]].concat().trim().to_owned());
        }
    }
    text
}

/// The text between a tag and its end.
fn tag_content<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(&format!("<{tag}>"))?;
    behind.split_once(&format!("</{tag}>")).map(|(content, _)| content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Option<String> {
        match classify_user_text(text) {
            UserText::Typed(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    #[test]
    fn typed_text_is_found_beside_that_of_the_host() {
        let context = "<ide_selection>lines 1 to 2</ide_selection>\n";
        assert_eq!(typed(&format!("{context}why?\n")).as_deref(), Some("why?"));
        assert_eq!(typed(context), None);
        let reminder = "use tabs\n<system-reminder>be brief</system-reminder>";
        assert_eq!(typed(reminder).as_deref(), Some("use tabs"));
        assert_eq!(typed("a <div> is not closed").as_deref(), Some("a <div> is not closed"));
        let note = "<user-memory-input>use tabs</user-memory-input>";
        assert_eq!(typed(note).as_deref(), Some("# use tabs"));
    }

    #[test]
    fn a_slash_command_is_typed_with_its_arguments() {
        let command = "<command-message>remember</command-message>\n<command-name>/remember</command-name>\n<command-args>use tabs\nin Go</command-args>";
        assert_eq!(typed(command).as_deref(), Some("/remember use tabs\nin Go"));
        let clear = "<command-name>/clear</command-name>\n            <command-message>clear</command-message>\n            <command-args></command-args>";
        assert_eq!(typed(clear), None);
    }

    #[test]
    fn notices_of_the_host_are_not_typed() {
        for notice in [
            "<local-command-stdout>done</local-command-stdout>",
            "<bash-input>make</bash-input>",
            "<task-notification>\n<status>failed</status>\n</task-notification>\nRead the output",
            "<agent-notification>done</agent-notification>",
            "Operation stopped by hook: commit first",
            "This session is being continued from a previous conversation",
            "<system-reminder>be bri",
            " \n",
        ] {
            assert_eq!(classify_user_text(notice), UserText::Notice, "{notice}");
        }
        let interrupt = "[Request interrupted by user for tool use]";
        assert_eq!(classify_user_text(interrupt), UserText::Interrupt);
        let plan = "Implement the following plan:\n\n# Rounding\n";
        assert_eq!(classify_user_text(plan), UserText::AcceptedPlan("# Rounding"));
    }
}
