//! Where the values of a JSON text stand, so that some can be added or taken out and every other
//! byte stays as its owner wrote it.

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

/// Reads a text that is known to be JSON.
pub(crate) fn spans(text: &str) -> Option<Node> {
    Scanner { bytes: text.as_bytes(), at: 0 }.value()
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

/// The text with `item` as the last one of the object or array that stands at `span`.
pub(crate) fn with_item(text: &str, span: &Range<usize>, is_empty: bool, item: &str) -> String {
    let end = span.end - 1;
    let content = text[..end].trim_end().len();
    // The bracket stays where it stood: on a line of its own, or right behind the last item.
    let depth = text[..span.start].rfind('\n').map_or(0, |it| indent(&text[it + 1..]));
    let inner = " ".repeat(depth + 2);
    let item = item.replace('\n', &format!("\n{inner}"));
    let comma = if is_empty { "" } else { "," };
    let tail = if text[content..end].contains('\n') {
        text[content..end].to_owned()
    } else {
        format!("\n{}", " ".repeat(depth))
    };
    format!("{}{comma}\n{inner}{item}{tail}{}", &text[..content], &text[end..])
}

/// The text without what stands at `span`, and without the comma that belongs to it.
pub(crate) fn without(text: &str, span: &Range<usize>) -> String {
    let (before, after) = (text[..span.start].trim_end(), &text[span.end..]);
    if let Some(before) = before.strip_suffix(',') {
        return format!("{before}{after}");
    }
    match after.trim_start().strip_prefix(',') {
        Some(after) => format!("{}{}", &text[..span.start], after.trim_start()),
        None => format!("{before}{}", after.trim_start()),
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
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
}
