//! Positions of the values in a JSON text, so that one can be added or removed while every other
//! byte stays as its author wrote it, including comments and trailing commas where a host allows
//! them.

use std::ops::Range;

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct JsonNode {
    pub(crate) span: Range<usize>,
    pub(crate) content: JsonContent,
}

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
        members.iter().find(|it| it.0 == name).map(|it| &it.1)
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
    JsonScanner { bytes: blank_comments(text).as_bytes(), at: 0 }.scan_value()
}

/// The text with comments and trailing commas overwritten by blanks. JSON with comments becomes
/// strict JSON by that, and every value keeps its position.
pub(crate) fn to_strict_json(text: &str) -> String {
    let mut bytes = blank_comments(text).into_bytes();
    // `comma` is the position of a comma that only blanks have followed so far.
    let (mut in_string, mut before, mut comma, mut at) = (false, b'{', None, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => (in_string, comma) = (!in_string, None),
            _ if in_string || byte.is_ascii_whitespace() => {}
            // A comma after nothing, as in `{,}`, is no trailing comma and must stay an error.
            b',' => comma = (!b"{[,:".contains(&before)).then_some(at),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            _ => comma = None,
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
        at += 1;
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
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            // Skips the escaped character, which may be a quote.
            (b'\\', _) if in_string => at += 1,
            (b'"', _) => in_string = !in_string,
            (b'/', Some(b'/' | b'*')) if !in_string => {
                let ends = if bytes[at + 1] == b'/' { "\n" } else { "*/" };
                let found = text[at + 2..].find(ends).map(|it| at + 2 + it);
                let end = found.map_or(bytes.len(), |it| if ends == "*/" { it + 2 } else { it });
                for byte in bytes[at..end].iter_mut().filter(|it| !it.is_ascii_whitespace()) {
                    *byte = b' ';
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Recursive descent over JSON that was validated before; it only finds where values begin and end.
struct JsonScanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl JsonScanner<'_> {
    fn scan_value(&mut self) -> Option<JsonNode> {
        self.skip_space();
        let from = self.at;
        let inside = match self.bytes.get(self.at)? {
            b'{' => self.scan_object()?,
            b'[' => self.scan_array()?,
            b'"' => {
                self.scan_string()?;
                JsonContent::Scalar
            }
            _ => {
                let ends = |it: &u8| b",]}".contains(it) || it.is_ascii_whitespace();
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                JsonContent::Scalar
            }
        };
        Some(JsonNode { span: from..self.at, content: inside })
    }

    fn scan_object(&mut self) -> Option<JsonContent> {
        let mut members = Vec::new();
        self.at += 1;
        while self.next_is_item(b'}')? {
            let from = self.at;
            let name = self.scan_string()?;
            // Skips the colon.
            self.skip_space();
            self.at += 1;
            let value = self.scan_value()?;
            members.push((name, JsonMember { span: from..self.at, value }));
        }
        Some(JsonContent::Object(members))
    }

    fn scan_array(&mut self) -> Option<JsonContent> {
        let mut items = Vec::new();
        self.at += 1;
        while self.next_is_item(b']')? {
            items.push(self.scan_value()?);
        }
        Some(JsonContent::Array(items))
    }

    /// Skips to the next item and returns whether there is one; skips the closing bracket if not.
    fn next_is_item(&mut self, end: u8) -> Option<bool> {
        loop {
            self.skip_space();
            let byte = *self.bytes.get(self.at)?;
            if byte != b',' && byte != end {
                return Some(true);
            }
            self.at += 1;
            if byte == end {
                return Some(false);
            }
        }
    }

    fn scan_string(&mut self) -> Option<String> {
        let from = self.at + 1;
        self.at = from;
        while *self.bytes.get(self.at)? != b'"' {
            // An escaped character may be a quote.
            self.at += if self.bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        String::from_utf8(self.bytes[from..self.at - 1].to_vec()).ok()
    }

    fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
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
    let end = span.end - 1;
    // `content` is the end of everything inside, `last` that of the last item, without comments
    // after it.
    let content = text[..end].trim_end().len();
    let last = without_comments[..end].trim_end().len();
    let has_trailing_comma = !is_empty && without_comments[..last].ends_with(',');
    let needs_comma = !is_empty && !has_trailing_comma;
    if needs_comma && !text[span.clone()].contains('\n') {
        let item: Vec<&str> = item.lines().map(str::trim).collect();
        let item = item.join(" ");
        return [&text[..last], ",", &text[last..content], " ", &item, &text[content..]].concat();
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let outer_indent =
        text[..span.start].rfind('\n').map_or("", |it| leading_indent(&text[it + 1..]));
    let unit = indent_unit(text);
    let separator = format!("{line_end}{outer_indent}{unit}");
    let item: Vec<String> = item.lines().map(|it| reindent(it, unit)).collect();
    // The closing bracket keeps its line; after a container without line ends it gets one of its
    // own.
    let tail = if text[content..end].contains('\n') {
        text[content..end].to_owned()
    } else {
        format!("{line_end}{outer_indent}")
    };
    [
        &text[..last],
        if needs_comma { "," } else { "" },
        &text[last..content],
        &separator,
        &item.join(&separator),
        if has_trailing_comma { "," } else { "" },
        &tail,
        &text[end..],
    ]
    .concat()
}

/// The text without the value or member at `span` and without the comma that belongs to it.
pub(crate) fn remove_span(text: &str, span: &Range<usize>) -> String {
    let without_comments = blank_comments(text);
    let before = without_comments[..span.start].trim_end();
    let after = &without_comments[span.end..];
    // End of what stays before the span, comments included.
    let kept = text[..span.start].trim_end().len();
    let blank = after.len() - after.trim_start().len();
    if after[blank..].starts_with(',') {
        let comma = span.end + blank;
        return [&text[..kept], &text[span.end..comma], &text[comma + 1..]].concat();
    }
    // The last item takes the comma of the item before it along.
    match before.strip_suffix(',') {
        Some(it) => [&text[..it.len()], &text[it.len() + 1..kept], &text[span.end..]].concat(),
        // After a line comment the closing bracket needs its own line.
        None if before.len() < kept => [&text[..kept], &text[span.end..]].concat(),
        None => [&text[..kept], text[span.end..].trim_start()].concat(),
    }
}

/// Blanks at the beginning of a line.
fn leading_indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Indentation per level: that of the first indented line.
fn indent_unit(text: &str) -> &str {
    let first = text.lines().find(|it| !it.trim().is_empty() && !leading_indent(it).is_empty());
    first.map_or("  ", leading_indent)
}

/// Replaces the two spaces per level of a line by `unit`.
fn reindent(line: &str, unit: &str) -> String {
    let own = leading_indent(line).len();
    format!("{}{}", unit.repeat(own / 2), &line[own..])
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
