//! Separates what a person typed from what the message carries besides: code, logs, quotations, texts of the
//! host and of tools.
//!
//! A message becomes paragraphs of sentences. Example: "remember: use pnpm\n```\nnpm ERR! code 1\n```" → one
//! paragraph with one sentence. Text that cannot be the person's own (a plan, a summary of the host, a pasted
//! review) becomes nothing.

use crate::sentences::split_sentences;

/// The longest text that counts as typed, in bytes and in lines, after code and logs are taken out. A longer
/// one is pasted: reviews, specifications, plans.
const MAX_TYPED_BYTES: usize = 1_200;
const MAX_TYPED_LINES: usize = 14;
/// The longest sentence that counts as typed, in bytes. `person` applies it, after the message was taken apart.
pub(super) const MAX_TYPED_SENTENCE_BYTES: usize = 400;
/// The longest text after `/remember` that is kept, in bytes.
const MAX_COMMAND_BYTES: usize = 2_000;
/// List items from which on a message is probably a specification of a task. Its items are then marked
/// ([`TypedSentence::is_item`]), not dropped.
const MIN_LIST_LINES: usize = 3;
/// Share of letters and blanks below which a line is code or output, in percent.
const MIN_PROSE_PERCENT: usize = 70;

/// Beginnings of texts that a host or a tool wrote in the place of the person.
const HOST_TEXT_PREFIXES: &[&str] = &[
    "This session is being continued",
    "Caveat: The messages below",
    "[Request interrupted",
    "Implement the following plan",
    "Base directory for this skill",
    "Operation stopped by hook",
    "Stop hook feedback",
];

/// The command by which a person asks to remember something.
const REMEMBER_COMMAND: &str = "remember";

/// A message of a person, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedMessage<'a> {
    /// The text after `/remember`.
    Command(&'a str),
    /// The typed sentences, paragraph by paragraph.
    Prose(Vec<Vec<TypedSentence<'a>>>),
}

/// A sentence that a person typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypedSentence<'a> {
    pub(super) text: &'a str,
    /// Its line, from the first character of the sentence to the end of the line.
    pub(super) line: &'a str,
    /// It is an item of a list of at least [`MIN_LIST_LINES`]. Such an item is rather a part of one task than a
    /// lasting wish, so `weights` lowers its score.
    pub(super) is_item: bool,
}

/// Takes a message apart.
pub(super) fn read_typed<'a>(message: &'a str) -> TypedMessage<'a> {
    let message = message.trim();
    if let Some(text) = remember_command(message).or_else(|| dictated_note(message)) {
        return TypedMessage::Command(text);
    }
    let is_host_text = HOST_TEXT_PREFIXES.iter().any(|it| message.starts_with(it));
    // Another command of the host: its text is a template.
    let is_command = message.starts_with('/') && !message.starts_with("//");
    if is_host_text || is_command {
        return TypedMessage::Prose(Vec::new());
    }
    let paragraphs = typed_paragraphs(message);
    let lines: Vec<&str> = paragraphs.iter().flatten().copied().collect();
    let n_bytes: usize = lines.iter().map(|it| it.len()).sum();
    if n_bytes > MAX_TYPED_BYTES || lines.len() > MAX_TYPED_LINES {
        return TypedMessage::Prose(Vec::new());
    }
    let is_list = lines.iter().filter(|it| is_list_item(it)).count() >= MIN_LIST_LINES;
    let mut acc = Vec::new();
    for paragraph in &paragraphs {
        let split = |it: &&'a str| split_line(it, is_list && is_list_item(it));
        let sentences: Vec<TypedSentence<'a>> = paragraph.iter().flat_map(split).collect();
        if !sentences.is_empty() {
            acc.push(sentences);
        }
    }
    TypedMessage::Prose(acc)
}

/// The text after `/remember`, typed as such or wrapped by the host: `<command-name>/remember</command-name>`
/// with the text in `<command-args>`. A command of an extension has a prefix: `/memory:remember`.
fn remember_command(message: &str) -> Option<&str> {
    let is_remember = |name: &str| name.rsplit(':').next() == Some(REMEMBER_COMMAND);
    let text = if let Some(name) = tag_content(message, "command-name") {
        let is_wrapped = message.starts_with('<') && is_remember(name.trim_start_matches('/'));
        tag_content(message, "command-args").filter(|_| is_wrapped)?
    } else {
        let command = message.strip_prefix('/')?;
        let (name, text) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        is_remember(name).then_some(text)?
    };
    let text = text.trim();
    let text = &text[..text.floor_char_boundary(MAX_COMMAND_BYTES)];
    (!text.is_empty()).then_some(text)
}

/// A message of one line that begins with `# `: in some hosts the user dictates a note that way.
fn dictated_note(message: &str) -> Option<&str> {
    let note = message.strip_prefix("# ").filter(|it| !it.contains('\n'))?.trim();
    (note.split_whitespace().count() > 1)
        .then_some(&note[..note.floor_char_boundary(MAX_COMMAND_BYTES)])
}

fn tag_content<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let start = text.find(&format!("<{tag}>"))? + tag.len() + 2;
    let end = text[start..].find(&format!("</{tag}>"))?;
    Some(&text[start..start + end])
}

/// The lines of prose, by paragraph. Fenced code, blocks in tags, quotations and output are left out.
fn typed_paragraphs(message: &str) -> Vec<Vec<&str>> {
    let mut acc: Vec<Vec<&str>> = vec![Vec::new()];
    let mut in_fence = false;
    let mut open_tag: Option<&str> = None;
    let mut previous_was_output = false;
    for line in message.lines() {
        let trimmed = line.trim();
        // Fences come first and count within tags too, so that one that opens there also closes.
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_fence = !in_fence;
            continue;
        }
        if let Some(tag) = open_tag {
            if trimmed.ends_with(&format!("</{tag}>")) {
                open_tag = None;
            }
            continue;
        }
        // After the check for the end of a tag, before that for its beginning: a tag in code opens nothing.
        if in_fence {
            continue;
        }
        if let Some(tag) = opened_tag(trimmed) {
            open_tag = (!trimmed.contains(&format!("</{tag}>"))).then_some(tag);
            continue;
        }
        if trimmed.is_empty() {
            acc.push(Vec::new());
            previous_was_output = false;
            continue;
        }
        // Indented lines after output belong to it.
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        previous_was_output = is_output(trimmed) || (is_indented && previous_was_output);
        if !previous_was_output && let Some(paragraph) = acc.last_mut() {
            paragraph.push(trimmed);
        }
    }
    acc.retain(|it| !it.is_empty());
    acc
}

/// The name of a tag that a line opens: `<system-reminder>`.
fn opened_tag(line: &str) -> Option<&str> {
    let inside = line.strip_prefix('<')?;
    let end = inside.find(|it: char| !it.is_ascii_alphanumeric() && it != '-' && it != '_')?;
    let is_tag = end > 0 && inside.starts_with(|it: char| it.is_ascii_alphabetic());
    is_tag.then_some(&inside[..end])
}

/// Beginnings of lines that are code, a log, a diff, a quotation or a heading.
#[rustfmt::skip]
const OUTPUT_PREFIXES: &[&str] = &[
    ">", "$ ", "❯", "%", "+++", "---", "@@", "at ", "File \"", "Traceback", "error:", "Error:",
    "error[", "warning:", "npm ERR", "FAIL", "PASS", "✓", "✗", "⎿", "│", "|", "{", "}", "[", "//",
    "/*", "+ ", "+\t", "# ", "## ", "### ", "=== ", "•", "import ", "from '", "const ", "let ",
    "func ", "fn ", "def ", "class ", "return ", "INFO", "WARN", "ERROR", "DEBUG", "***", "⏺",
    "❌", "Error ", "Exit code",
];

/// Returns whether a line is code, a log, a diff, a quotation or a heading instead of prose.
fn is_output(line: &str) -> bool {
    let is_marked = OUTPUT_PREFIXES.iter().any(|it| line.starts_with(it));
    let is_stamped = line.len() > 10 && line.bytes().take(4).all(|it| it.is_ascii_digit());
    let n_chars = line.chars().count();
    let is_prose_char = |it: char| it.is_alphabetic() || it.is_whitespace() || it == '`';
    let n_prose = line.chars().filter(|it| is_prose_char(*it)).count();
    // A flow: "A -> B -> C".
    let is_flow = line.matches("->").count() > 1;
    is_marked
        || is_stamped
        || is_flow
        || n_prose * 100 < n_chars * MIN_PROSE_PERCENT
        || line.ends_with('{')
}

fn is_list_item(line: &str) -> bool {
    let numbered = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_numbered = numbered.len() < line.len() && numbered.starts_with(['.', ')']);
    is_numbered || line.starts_with("- ") || line.starts_with("* ")
}

fn split_line(line: &str, is_item: bool) -> Vec<TypedSentence<'_>> {
    let mut acc = Vec::new();
    for sentence in split_sentences(line) {
        // Full stops of scripts without blanks end a sentence without one.
        let parts = sentence.split_inclusive(['。', '！', '？']);
        for part in parts.map(str::trim).filter(|it| !it.is_empty()) {
            // `part` is a slice of `line`, so the distance of the pointers is its position in the line.
            let start = part.as_ptr() as usize - line.as_ptr() as usize;
            acc.push(TypedSentence { text: part, line: line[start..].trim(), is_item });
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(message: &str) -> Vec<&str> {
        match read_typed(message) {
            TypedMessage::Command(text) => vec![text],
            TypedMessage::Prose(paragraphs) => {
                paragraphs.concat().iter().map(|it| it.text).collect()
            }
        }
    }

    #[test]
    fn code_output_and_quotations_are_not_the_persons_words() {
        assert_eq!(
            sentences(
                "use tabs\n```\nnever mind\n```\n> always run it\n    at main (a.js:1)\nerror: never"
            ),
            ["use tabs"]
        );
        assert_eq!(sentences("<doc>\nalways obey\n</doc>\nfix it"), ["fix it"]);
        assert!(sentences("/deploy always").is_empty());
        assert!(
            sentences("This session is being continued from a previous one. Always x.").is_empty()
        );
        assert!(sentences(&"We always write tests. ".repeat(80)).is_empty());
        assert_eq!(sentences("まず。常に使う。"), ["まず。", "常に使う。"]);
    }

    #[test]
    fn the_remember_command_is_read_in_every_form() {
        assert_eq!(read_typed("/remember use pnpm"), TypedMessage::Command("use pnpm"));
        assert_eq!(read_typed("/memory:remember\nuse pnpm"), TypedMessage::Command("use pnpm"));
        let wrapped = "<command-message>remember</command-message>\n<command-name>/remember</command-name>\n<command-args>use pnpm</command-args>";
        assert_eq!(read_typed(wrapped), TypedMessage::Command("use pnpm"));
        assert_eq!(read_typed("/remember"), TypedMessage::Prose(Vec::new()));
        assert_eq!(read_typed("/rememberance x"), TypedMessage::Prose(Vec::new()));
    }
}
