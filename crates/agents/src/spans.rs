//! Where the values of a JSON text stand, so that some can be added or taken out and every other
//! byte stays as its owner wrote it: comments and last commas too, where a host allows them.

use std::ops::Range;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) inside: Inside,
}

#[derive(Clone, Debug)]
pub(crate) enum Inside {
    /// Names as they are written between their quotes.
    Object(Vec<(String, Member)>),
    Array(Vec<Node>),
    Plain,
}

/// A member of an object, and where it stands with its name.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) span: Range<usize>,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        let Inside::Object(members) = &self.inside else { return None };
        members.iter().find(|it| it.0 == name).map(|it| &it.1)
    }
}

/// Reads a text that is known to be JSON, with or without comments.
pub(crate) fn spans(text: &str) -> Option<Node> {
    Scanner { bytes: bare(text).as_bytes(), at: 0 }.value()
}

/// The text with blanks in place of comments, and of commas that nothing follows: what is left is plain
/// JSON if it was JSON with comments, and every value stands where it stood.
pub(crate) fn strict(text: &str) -> String {
    let mut res = bare(text).into_bytes();
    let (mut in_string, mut before, mut comma, mut at) = (false, b'{', None, 0);
    while at < res.len() {
        let byte = res[at];
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => (in_string, comma) = (!in_string, None),
            _ if in_string || byte.is_ascii_whitespace() => {}
            b',' => comma = (!b"{[,:".contains(&before)).then_some(at),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    res[comma] = b' ';
                }
            }
            _ => comma = None,
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
        at += 1;
    }
    String::from_utf8(res).unwrap_or_default()
}

/// Whether a text holds nothing, as JSON has it: a form feed is something, and not JSON.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim_matches([' ', '\t', '\n', '\r']).is_empty()
}

/// The text with blanks in place of comments.
fn bare(text: &str) -> String {
    let mut res = text.as_bytes().to_vec();
    let mut in_string = false;
    let mut at = 0;
    while at < res.len() {
        match (res[at], res.get(at + 1)) {
            (b'\\', _) if in_string => at += 1,
            (b'"', _) => in_string = !in_string,
            (b'/', Some(b'/' | b'*')) if !in_string => {
                let ends = if res[at + 1] == b'/' { "\n" } else { "*/" };
                let found = text[at + 2..].find(ends).map(|it| at + 2 + it);
                let end = found.map_or(res.len(), |it| if ends == "*/" { it + 2 } else { it });
                for byte in res[at..end].iter_mut().filter(|it| !it.is_ascii_whitespace()) {
                    *byte = b' ';
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    String::from_utf8(res).unwrap_or_default()
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Option<Node> {
        self.skip_space();
        let from = self.at;
        let inside = match self.bytes.get(self.at)? {
            b'{' => self.object()?,
            b'[' => self.array()?,
            b'"' => {
                self.string()?;
                Inside::Plain
            }
            _ => {
                let ends = |it: &u8| b",]}".contains(it) || it.is_ascii_whitespace();
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                Inside::Plain
            }
        };
        Some(Node { span: from..self.at, inside })
    }

    fn object(&mut self) -> Option<Inside> {
        let mut members = Vec::new();
        self.at += 1;
        while self.next_is_item(b'}')? {
            let from = self.at;
            let name = self.string()?;
            self.skip_space();
            self.at += 1;
            let value = self.value()?;
            members.push((name, Member { span: from..self.at, value }));
        }
        Some(Inside::Object(members))
    }

    fn array(&mut self) -> Option<Inside> {
        let mut items = Vec::new();
        self.at += 1;
        while self.next_is_item(b']')? {
            items.push(self.value()?);
        }
        Some(Inside::Array(items))
    }

    /// Passes what stands between items; whether another one follows, or the end, which is passed too.
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

    fn string(&mut self) -> Option<String> {
        let from = self.at + 1;
        self.at = from;
        while *self.bytes.get(self.at)? != b'"' {
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

/// The text with `item` as the last one of the object or array that stands at `span`. A comment behind the
/// one before stays there, and what stood on one line still does.
pub(crate) fn with_item(text: &str, span: &Range<usize>, is_empty: bool, item: &str) -> String {
    let bare = bare(text);
    let end = span.end - 1;
    let content = text[..end].trim_end().len();
    let last = bare[..end].trim_end().len();
    let ends_in_comma = !is_empty && bare[..last].ends_with(',');
    let (comma, own) = (!is_empty && !ends_in_comma, ends_in_comma);
    if comma && !text[span.clone()].contains('\n') {
        let item: Vec<&str> = item.lines().map(str::trim).collect();
        let item = item.join(" ");
        return [&text[..last], ",", &text[last..content], " ", &item, &text[content..]].concat();
    }
    let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let depth = text[..span.start].rfind('\n').map_or("", |it| indent(&text[it + 1..]));
    let unit = unit(text);
    let inner = format!("{line}{depth}{unit}");
    let item: Vec<String> = item.lines().map(|it| reindented(it, unit)).collect();
    // The bracket stays where it stood: on a line of its own, or right behind the last item.
    let tail = if text[content..end].contains('\n') {
        text[content..end].to_owned()
    } else {
        format!("{line}{depth}")
    };
    [
        &text[..last],
        if comma { "," } else { "" },
        &text[last..content],
        &inner,
        &item.join(&inner),
        if own { "," } else { "" },
        &tail,
        &text[end..],
    ]
    .concat()
}

/// The text without what stands at `span`, and without the comma that belongs to it.
pub(crate) fn without(text: &str, span: &Range<usize>) -> String {
    let bare = bare(text);
    let (before, after) = (bare[..span.start].trim_end(), &bare[span.end..]);
    let kept = text[..span.start].trim_end().len();
    let blank = after.len() - after.trim_start().len();
    if after[blank..].starts_with(',') {
        let comma = span.end + blank;
        return [&text[..kept], &text[span.end..comma], &text[comma + 1..]].concat();
    }
    match before.strip_suffix(',') {
        Some(it) => [&text[..it.len()], &text[it.len() + 1..kept], &text[span.end..]].concat(),
        // Behind a comment the bracket needs its line.
        None if before.len() < kept => [&text[..kept], &text[span.end..]].concat(),
        None => [&text[..kept], text[span.end..].trim_start()].concat(),
    }
}

/// What a line begins with.
fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// By how much a text indents: as its first indented line does.
fn unit(text: &str) -> &str {
    let first = text.lines().find(|it| !it.trim().is_empty() && !indent(it).is_empty());
    first.map_or("  ", indent)
}

/// A line that was indented by twos.
fn reindented(line: &str, unit: &str) -> String {
    let own = indent(line).len();
    format!("{}{}", unit.repeat(own / 2), &line[own..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"a\": [1, {\"x\": \"}\\\"]\"}, true],\n  \"b\": {}\n}\n";

    #[test]
    fn values_are_found_where_they_stand() {
        let root = spans(TEXT).unwrap();
        assert_eq!(
            &TEXT[root.member("a").unwrap().value.span.clone()],
            "[1, {\"x\": \"}\\\"]\"}, true]"
        );
        assert_eq!(&TEXT[root.member("b").unwrap().span.clone()], "\"b\": {}");
        let Inside::Array(items) = &root.member("a").unwrap().value.inside else { panic!() };
        assert_eq!(items.len(), 3);
    }

    #[test]
    fn an_item_comes_in_and_goes_out_again() {
        let root = spans(TEXT).unwrap();
        let with = with_item(TEXT, &root.span, false, "\"c\": 1");
        assert_eq!(with, TEXT.replace("{}\n}", "{},\n  \"c\": 1\n}"));
        let member = spans(&with).unwrap().member("c").unwrap().span.clone();
        assert_eq!(without(&with, &member), TEXT);
        let first = spans(&with).unwrap().member("a").unwrap().span.clone();
        assert!(without(&with, &first).starts_with("{\n  \"b\""));
    }

    /// Settings as people write them.
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
    fn whatever_the_style_an_item_comes_in_and_goes_out_to_the_byte() {
        for text in STYLES {
            let root = spans(text).unwrap();
            let is_empty = matches!(&root.inside, Inside::Object(it) if it.is_empty());
            let with = with_item(text, &root.span, is_empty, "\"new\": {\n  \"x\": 1\n}");
            let value: serde_json::Value = serde_json::from_str(&strict(&with)).expect(&with);
            assert_eq!(value["new"]["x"], 1, "{with}");
            let member = spans(&with).unwrap().member("new").unwrap().span.clone();
            assert_eq!(&without(&with, &member), text);
            assert_eq!(with.contains("\r\n"), text.contains("\r\n"));
        }
    }

    #[test]
    fn what_is_no_json_does_not_become_it() {
        for text in ["{,}", "{\"a\": 1,,}", "{ /* \"a\": 1 }", "{\"a\" / 1}", "[1 // ]"] {
            assert!(serde_json::from_str::<serde_json::Value>(&strict(text)).is_err(), "{text}");
        }
    }
}
