//! Edits of a JSON text that keep every other byte as its author wrote it, including comments and
//! trailing commas where a host allows them.
//!
//! [`scan_json`] finds the positions (spans) of all values; [`insert_item`] and [`remove_span`] cut
//! and join the text at those positions. Comments are found by overwriting them with blanks in a copy
//! of the text, which keeps all positions. The settings of hosts are edited with this. Inserting the
//! item `"b": 2`, and removing it again:
//!
//! ```text
//! {                        {
//!   "a": 1 // one    ⇄       "a": 1, // one
//! }                          "b": 2
//!                          }
//! ```

use std::ops::Range;

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct JsonNode {
    pub(crate) span: Range<usize>,
    pub(crate) content: JsonContent,
}

/// The children of a value.
#[derive(Clone, Debug)]
pub(crate) enum JsonContent {
    /// Members by name. A name is the source text between its quotes, escapes included.
    Object(Vec<(String, JsonMember)>),
    Array(Vec<JsonNode>),
    Scalar,
}

/// A member of an object; the span includes its name.
#[derive(Clone, Debug)]
pub(crate) struct JsonMember {
    pub(crate) span: Range<usize>,
    pub(crate) value: JsonNode,
}

impl JsonNode {
    /// The member of this name, if the node is an object that has one.
    pub(crate) fn member(&self, name: &str) -> Option<&JsonMember> {
        let JsonContent::Object(members) = &self.content else { return None };
        members.iter().find(|(it, _)| it == name).map(|(_, member)| member)
    }

    /// True for an object or array without items.
    fn is_empty_container(&self) -> bool {
        match &self.content {
            JsonContent::Object(members) => members.is_empty(),
            JsonContent::Array(items) => items.is_empty(),
            JsonContent::Scalar => false,
        }
    }
}

/// Scans a text that is known to be valid JSON, with or without comments.
pub(crate) fn scan_json(text: &str) -> Option<JsonNode> {
    JsonScanner { bytes: blank_comments(text).as_bytes(), position: 0 }.scan_value()
}

/// The text with comments and trailing commas overwritten by blanks. JSON with comments becomes
/// strict JSON by that, and every value keeps its position.
pub(crate) fn to_strict_json(text: &str) -> String {
    let mut bytes = blank_comments(text).into_bytes();
    let mut in_string = false;
    // The last byte that was no blank.
    let mut previous = b'{';
    // Position of a comma that only blanks have followed so far.
    let mut open_comma = None;
    let mut position = 0;
    while position < bytes.len() {
        let byte = bytes[position];
        match byte {
            // Skips the escaped character, which may be a quote.
            b'\\' if in_string => position += 1,
            b'"' => {
                in_string = !in_string;
                open_comma = None;
            }
            _ if in_string || byte.is_ascii_whitespace() => {}
            // A comma after nothing, as in `{,}`, is no trailing comma and must stay an error.
            b',' => {
                let follows_value = !b"{[,:".contains(&previous);
                open_comma = follows_value.then_some(position);
            }
            b']' | b'}' => {
                if let Some(comma) = open_comma.take() {
                    bytes[comma] = b' ';
                }
            }
            _ => open_comma = None,
        }
        if !byte.is_ascii_whitespace() {
            previous = byte;
        }
        position += 1;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// True if a text holds only the four blanks that JSON allows; a form feed is not one of them.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim_matches([' ', '\t', '\n', '\r']).is_empty()
}

/// The text with comments overwritten by blanks. Line ends stay, so positions and lines do too.
fn blank_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut in_string = false;
    let mut position = 0;
    while position < bytes.len() {
        match (bytes[position], bytes.get(position + 1)) {
            // Skips the escaped character, which may be a quote.
            (b'\\', _) if in_string => position += 1,
            (b'"', _) => in_string = !in_string,
            (b'/', Some(b'/' | b'*')) if !in_string => {
                let end = comment_end(text, position);
                for byte in &mut bytes[position..end] {
                    if !byte.is_ascii_whitespace() {
                        *byte = b' ';
                    }
                }
                position = end;
                continue;
            }
            // Any other byte, inside a string or outside.
            _ => {}
        }
        position += 1;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// End of the comment that begins at `start`; an unclosed one ends with the text.
fn comment_end(text: &str, start: usize) -> usize {
    let body = start + 2;
    let is_line_comment = text[start..].starts_with("//");
    // The line end stays outside of a line comment; `*/` belongs to a block comment.
    let length = if is_line_comment {
        text[body..].find('\n')
    } else {
        text[body..].find("*/").map(|it| it + 2)
    };
    length.map_or(text.len(), |it| body + it)
}

/// Recursive descent over JSON that was validated before; it only finds where values begin and end.
struct JsonScanner<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl JsonScanner<'_> {
    fn scan_value(&mut self) -> Option<JsonNode> {
        self.skip_space();
        let start = self.position;
        let content = match self.bytes.get(self.position)? {
            b'{' => self.scan_object()?,
            b'[' => self.scan_array()?,
            b'"' => {
                self.scan_string()?;
                JsonContent::Scalar
            }
            // A number or literal lasts until the next delimiter.
            _ => {
                let is_delimiter = |it: &u8| b",]}".contains(it) || it.is_ascii_whitespace();
                let rest = &self.bytes[self.position..];
                self.position += rest.iter().position(is_delimiter).unwrap_or(rest.len());
                JsonContent::Scalar
            }
        };
        Some(JsonNode { span: start..self.position, content })
    }

    fn scan_object(&mut self) -> Option<JsonContent> {
        let mut members = Vec::new();
        self.position += 1;
        while self.next_is_item(b'}')? {
            let start = self.position;
            let name = self.scan_string()?;
            // Skips the colon.
            self.skip_space();
            self.position += 1;
            let value = self.scan_value()?;
            members.push((name, JsonMember { span: start..self.position, value }));
        }
        Some(JsonContent::Object(members))
    }

    fn scan_array(&mut self) -> Option<JsonContent> {
        let mut items = Vec::new();
        self.position += 1;
        while self.next_is_item(b']')? {
            items.push(self.scan_value()?);
        }
        Some(JsonContent::Array(items))
    }

    /// Skips to the next item and returns whether there is one; skips the closing bracket if not.
    fn next_is_item(&mut self, end: u8) -> Option<bool> {
        loop {
            self.skip_space();
            let byte = *self.bytes.get(self.position)?;
            if byte != b',' && byte != end {
                return Some(true);
            }
            self.position += 1;
            if byte == end {
                return Some(false);
            }
        }
    }

    /// Skips a string and returns the text between its quotes.
    fn scan_string(&mut self) -> Option<String> {
        let start = self.position + 1;
        self.position = start;
        while *self.bytes.get(self.position)? != b'"' {
            // An escaped character may be a quote.
            self.position += if self.bytes[self.position] == b'\\' { 2 } else { 1 };
        }
        self.position += 1;
        String::from_utf8(self.bytes[start..self.position - 1].to_vec()).ok()
    }

    fn skip_space(&mut self) {
        while self.bytes.get(self.position).is_some_and(u8::is_ascii_whitespace) {
            self.position += 1;
        }
    }
}

/// The text with `item` appended to an object or array. A comment after the previous item stays
/// with it, and a container on one line stays on one line. `item` is indented by two spaces per
/// level.
pub(crate) fn insert_item(text: &str, container: &JsonNode, item: &str) -> String {
    let span = &container.span;
    let is_empty = container.is_empty_container();
    let without_comments = blank_comments(text);
    // The positions at which the text is cut: after the last item, after the comments behind it, and
    // before the closing bracket.
    let bracket = span.end - 1;
    let item_end = without_comments[..bracket].trim_end().len();
    let content_end = text[..bracket].trim_end().len();
    let has_trailing_comma = !is_empty && without_comments[..item_end].ends_with(',');
    let needs_comma = !is_empty && !has_trailing_comma;

    // A container on one line.
    if needs_comma && !text[span.clone()].contains('\n') {
        let item: Vec<&str> = item.lines().map(str::trim).collect();
        let item = item.join(" ");
        let comments = &text[item_end..content_end];
        return [&text[..item_end], ",", comments, " ", &item, &text[content_end..]].concat();
    }

    // The new item gets lines of its own, one level deeper than the line of the container.
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let outer_indent =
        text[..span.start].rfind('\n').map_or("", |it| leading_indent(&text[it + 1..]));
    let unit = indent_unit(text);
    let separator = format!("{line_end}{outer_indent}{unit}");
    let item: Vec<String> = item.lines().map(|it| reindent(it, unit)).collect();
    // The closing bracket keeps its line; after a container without line ends it gets one of its
    // own.
    let before_bracket = if text[content_end..bracket].contains('\n') {
        text[content_end..bracket].to_owned()
    } else {
        format!("{line_end}{outer_indent}")
    };
    [
        &text[..item_end],
        if needs_comma { "," } else { "" },
        &text[item_end..content_end],
        &separator,
        &item.join(&separator),
        if has_trailing_comma { "," } else { "" },
        &before_bracket,
        &text[bracket..],
    ]
    .concat()
}

/// The text without the value or member at `span` and without the comma that belongs to it.
pub(crate) fn remove_span(text: &str, span: &Range<usize>) -> String {
    let without_comments = blank_comments(text);
    let before = without_comments[..span.start].trim_end();
    let after = &without_comments[span.end..];
    // End of the text that stays before the span, comments included.
    let kept_end = text[..span.start].trim_end().len();

    // An item before others takes its own comma along.
    let n_blanks = after.len() - after.trim_start().len();
    if after[n_blanks..].starts_with(',') {
        let comma = span.end + n_blanks;
        return [&text[..kept_end], &text[span.end..comma], &text[comma + 1..]].concat();
    }
    // The last item takes the comma of the item before it along.
    if let Some(until_comma) = before.strip_suffix(',') {
        let comma = until_comma.len();
        return [&text[..comma], &text[comma + 1..kept_end], &text[span.end..]].concat();
    }
    // The only item. After a line comment the closing bracket needs its own line.
    let follows_comment = before.len() < kept_end;
    let rest = &text[span.end..];
    [&text[..kept_end], if follows_comment { rest } else { rest.trim_start() }].concat()
}

/// Blanks at the beginning of a line.
fn leading_indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Indentation per level: that of the first indented line.
fn indent_unit(text: &str) -> &str {
    let indented = text.lines().find(|it| !it.trim().is_empty() && !leading_indent(it).is_empty());
    indented.map_or("  ", leading_indent)
}

/// Replaces the two spaces per level of a line by `unit`.
fn reindent(line: &str, unit: &str) -> String {
    let n_spaces = leading_indent(line).len();
    format!("{}{}", unit.repeat(n_spaces / 2), &line[n_spaces..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"a\": [1, {\"x\": \"}\\\"]\"}, true],\n  \"b\": {}\n}\n";

    #[test]
    fn values_are_found_at_their_positions() {
        let root = scan_json(TEXT).unwrap();
        assert_eq!(
            &TEXT[root.member("a").unwrap().value.span.clone()],
            "[1, {\"x\": \"}\\\"]\"}, true]"
        );
        assert_eq!(&TEXT[root.member("b").unwrap().span.clone()], "\"b\": {}");
        let JsonContent::Array(items) = &root.member("a").unwrap().value.content else { panic!() };
        assert_eq!(items.len(), 3);
    }

    #[test]
    fn an_inserted_item_can_be_removed() {
        let root = scan_json(TEXT).unwrap();
        let with = insert_item(TEXT, &root, "\"c\": 1");
        assert_eq!(with, TEXT.replace("{}\n}", "{},\n  \"c\": 1\n}"));
        let member = scan_json(&with).unwrap().member("c").unwrap().span.clone();
        assert_eq!(remove_span(&with, &member), TEXT);
        let first = scan_json(&with).unwrap().member("a").unwrap().span.clone();
        assert!(remove_span(&with, &first).starts_with("{\n  \"b\""));
    }

    /// Settings in the layouts that people use.
    const STYLES: &[&str] = &[
        "{\n  \"a\": 1\n}\n",
        "{\n    \"a\": 1, // one\n    /* two, */\n}\n",
        "{\r\n\t\"a\": [\r\n\t\t1,\r\n\t],\r\n}\r\n",
        "// \"x\": {\n{\n  \"u\": \"http://x/*,*/\", // }\n  \"a\": {}\n}",
        "{\n  // nothing yet\n}\n",
        "{}",
        "{ \"a\": 1 }",
        "{\"a\":[1,2]}",
        "{\n  \"é\": \"\\\\\", /* \"é\" */ \"a\": 1 // ,\n}\n",
    ];

    #[test]
    fn inserting_and_removing_keeps_every_byte_in_any_layout() {
        for text in STYLES {
            let root = scan_json(text).unwrap();
            let with = insert_item(text, &root, "\"new\": {\n  \"x\": 1\n}");
            let value: serde_json::Value =
                serde_json::from_str(&to_strict_json(&with)).expect(&with);
            assert_eq!(value["new"]["x"], 1, "{with}");
            let member = scan_json(&with).unwrap().member("new").unwrap().span.clone();
            assert_eq!(&remove_span(&with, &member), text);
            assert_eq!(with.contains("\r\n"), text.contains("\r\n"));
        }
    }

    #[test]
    fn invalid_json_stays_invalid() {
        for text in ["{,}", "{\"a\": 1,,}", "{ /* \"a\": 1 }", "{\"a\" / 1}", "[1 // ]"] {
            assert!(
                serde_json::from_str::<serde_json::Value>(&to_strict_json(text)).is_err(),
                "{text}"
            );
        }
    }
}
