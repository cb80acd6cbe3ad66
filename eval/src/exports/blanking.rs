//! Replaces comments and the contents of strings by spaces, so that a pattern sees code alone.
//!
//! A scan byte by byte that knows the quotes and comment marks of each language, and no grammar.
//! Lines stay as they are: a definition is identified by its line.

use ::graph::SourceLanguage;

/// A quotation or comment: its beginning, its end, and whether a backslash escapes the end.
struct QuotedForm {
    begin: &'static str,
    end: &'static str,
    has_escapes: bool,
    /// It ends at the end of the line at the latest.
    is_one_line: bool,
}

const fn form(
    begin: &'static str,
    end: &'static str,
    has_escapes: bool,
    is_one_line: bool,
) -> QuotedForm {
    QuotedForm { begin, end, has_escapes, is_one_line }
}

const LINE_COMMENT: QuotedForm = form("//", "\n", false, true);
const BLOCK_COMMENT: QuotedForm = form("/*", "*/", false, false);
const HASH_COMMENT: QuotedForm = form("#", "\n", false, true);
const DOUBLE_QUOTED: QuotedForm = form("\"", "\"", true, true);
const SINGLE_QUOTED: QuotedForm = form("'", "'", true, true);
const TEXT_BLOCK: QuotedForm = form("\"\"\"", "\"\"\"", true, false);
const LONG_DOUBLE_QUOTED: QuotedForm = form("\"", "\"", true, false);
const LONG_SINGLE_QUOTED: QuotedForm = form("'", "'", true, false);

/// The forms of a language; the first that fits is taken, so longer beginnings come first.
fn forms_of(lang: SourceLanguage) -> &'static [QuotedForm] {
    use SourceLanguage as Lang;
    match lang {
        Lang::TypeScript | Lang::Tsx | Lang::JavaScript => {
            const {
                &[
                    LINE_COMMENT,
                    BLOCK_COMMENT,
                    DOUBLE_QUOTED,
                    SINGLE_QUOTED,
                    form("`", "`", true, false),
                ]
            }
        }
        Lang::Python => {
            const {
                &[
                    HASH_COMMENT,
                    TEXT_BLOCK,
                    form("'''", "'''", true, false),
                    DOUBLE_QUOTED,
                    SINGLE_QUOTED,
                ]
            }
        }
        Lang::Rust => {
            const {
                &[
                    LINE_COMMENT,
                    BLOCK_COMMENT,
                    form("r###\"", "\"###", false, false),
                    form("r##\"", "\"##", false, false),
                    form("r#\"", "\"#", false, false),
                    form("r\"", "\"", false, false),
                    LONG_DOUBLE_QUOTED,
                ]
            }
        }
        Lang::Go => {
            const {
                &[
                    LINE_COMMENT,
                    BLOCK_COMMENT,
                    DOUBLE_QUOTED,
                    SINGLE_QUOTED,
                    form("`", "`", false, false),
                ]
            }
        }
        Lang::CSharp => {
            const {
                &[
                    LINE_COMMENT,
                    BLOCK_COMMENT,
                    TEXT_BLOCK,
                    form("@\"", "\"", false, false),
                    form("@$\"", "\"", false, false),
                    form("$@\"", "\"", false, false),
                    DOUBLE_QUOTED,
                    SINGLE_QUOTED,
                ]
            }
        }
        Lang::Cpp => {
            const {
                &[
                    LINE_COMMENT,
                    BLOCK_COMMENT,
                    form("R\"(", ")\"", false, false),
                    DOUBLE_QUOTED,
                    SINGLE_QUOTED,
                ]
            }
        }
        Lang::Ruby => {
            const {
                &[
                    form("\n=begin", "\n=end", false, false),
                    HASH_COMMENT,
                    LONG_DOUBLE_QUOTED,
                    LONG_SINGLE_QUOTED,
                ]
            }
        }
        Lang::Php => {
            // `#` also begins an attribute, so it is not taken for a comment.
            const { &[LINE_COMMENT, BLOCK_COMMENT, LONG_DOUBLE_QUOTED, LONG_SINGLE_QUOTED] }
        }
        Lang::Java => {
            const { &[LINE_COMMENT, BLOCK_COMMENT, TEXT_BLOCK, DOUBLE_QUOTED, SINGLE_QUOTED] }
        }
        Lang::C | Lang::Manifest => {
            const { &[LINE_COMMENT, BLOCK_COMMENT, DOUBLE_QUOTED, SINGLE_QUOTED] }
        }
    }
}

/// The text with comments and strings blanked; every line stays where it is.
pub(super) fn blank_comments_and_strings(lang: SourceLanguage, text: &str) -> String {
    let forms = forms_of(lang);
    let bytes = text.as_bytes();
    let mut blanked = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let heredoc_end = heredoc_end(lang, text, at);
        let quoted = forms.iter().find(|it| bytes[at..].starts_with(it.begin.as_bytes()));
        let end = match (heredoc_end, quoted) {
            (Some(end), _) => end,
            (None, Some(form)) => end_of_form(bytes, at, form),
            (None, None) if starts_regex(lang, bytes, at) => end_of_regex(bytes, at),
            (None, None) => {
                at += 1;
                continue;
            }
        };
        // Line breaks stay.
        blanked[at..end].iter_mut().filter(|it| **it != b'\n').for_each(|it| *it = b' ');
        at = end.max(at + 1);
    }
    if lang == SourceLanguage::Rust {
        blank_macro_templates(&mut blanked);
    }
    // Blanking replaces whole characters only: quotes and comment marks are ASCII.
    String::from_utf8_lossy(&blanked).into_owned()
}

/// Blanks the bodies of `macro_rules!`: their items are templates, which define nothing by
/// themselves.
fn blank_macro_templates(text: &mut [u8]) {
    const KEYWORD: &[u8] = b"macro_rules!";
    let starts: Vec<usize> =
        (0..text.len()).filter(|it| text[*it..].starts_with(KEYWORD)).collect();
    for start in starts {
        let mut depth = 0;
        for byte in &mut text[start..] {
            match *byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth -= 1,
                _ => {}
            }
            let is_closed = depth == 0 && matches!(*byte, b'}' | b')' | b']');
            if *byte != b'\n' {
                *byte = b' ';
            }
            if is_closed {
                break;
            }
        }
    }
}

fn end_of_form(bytes: &[u8], start: usize, form: &QuotedForm) -> usize {
    let end_mark = form.end.as_bytes();
    let mut at = start + form.begin.len();
    while at < bytes.len() {
        if form.has_escapes && bytes[at] == b'\\' {
            at += 2;
            continue;
        }
        if bytes[at..].starts_with(end_mark) {
            return at + end_mark.len();
        }
        if form.is_one_line && bytes[at] == b'\n' {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// The end of a heredoc of Ruby or PHP that begins at `start`: `<<~SQL … SQL`.
fn heredoc_end(lang: SourceLanguage, text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?.strip_prefix("<<")?;
    let rest = match lang {
        SourceLanguage::Ruby => rest.strip_prefix(['~', '-']).unwrap_or(rest),
        SourceLanguage::Php => rest.strip_prefix('<')?,
        _ => return None,
    };
    let label = rest.trim_start_matches(['"', '\'', ' ']);
    let label_len = label.find(|it: char| !it.is_ascii_alphanumeric() && it != '_')?;
    let label = &label[..label_len];
    // `a << b` is an operator; labels are in capitals.
    if label.is_empty() || !label.starts_with(|it: char| it.is_ascii_uppercase()) {
        return None;
    }
    let mut offset = start + text[start..].find('\n')? + 1;
    for line in text[offset..].split_inclusive('\n') {
        if line.trim().trim_end_matches([';', ',', ')']) == label {
            return Some(offset + line.len());
        }
        offset += line.len();
    }
    None
}

/// Returns whether a slash begins a regular expression rather than a division.
fn starts_regex(lang: SourceLanguage, bytes: &[u8], at: usize) -> bool {
    use SourceLanguage as Lang;
    let has_regex = matches!(lang, Lang::TypeScript | Lang::Tsx | Lang::JavaScript | Lang::Ruby);
    let before = bytes[..at].iter().rev().find(|it| !matches!(it, b' ' | b'\t'));
    has_regex && bytes[at] == b'/' && before.is_some_and(|it| b"(,=:[!&|?{};\n".contains(it))
}

fn end_of_regex(bytes: &[u8], start: usize) -> usize {
    let mut is_in_class = false;
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => is_in_class = true,
            b']' => is_in_class = false,
            b'/' if !is_in_class => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use ::graph::SourceLanguage;

    use super::blank_comments_and_strings;

    fn check(lang: SourceLanguage, text: &str, expected: &str) {
        assert_eq!(blank_comments_and_strings(lang, text), expected);
    }

    #[test]
    fn comments_strings_and_regular_expressions_are_blanked() {
        check(SourceLanguage::TypeScript, "a // b\nc", "a     \nc");
        check(
            SourceLanguage::TypeScript,
            "f('it\\'s', /[/'x]/, y / 2)",
            "f(       ,        , y / 2)",
        );
        check(SourceLanguage::Ruby, "x = <<~SQL\n  def a\nSQL\ny", "x =       \n       \n   \ny");
        check(
            SourceLanguage::Rust,
            "fn f<'a>(x: &'a str) { r#\"pub fn g\"# }",
            "fn f<'a>(x: &'a str) {               }",
        );
    }
}
