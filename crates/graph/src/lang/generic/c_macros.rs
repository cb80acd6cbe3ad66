//! C and C++: blanks macros that no grammar can parse.
//!
//! The parser sees macros before they are expanded. `class API_EXPORT Server {`,
//! `LIB_INLINE void run()` and `LIB_BEGIN_NAMESPACE` make it take types for functions and lose the
//! code that follows; `int n GUARDED_BY(mutex);` makes it take a field for a function. Words in
//! capitals at such places are replaced by spaces before parsing, so that all positions stay:
//!
//! ```text
//! class API_EXPORT Server {     →    class            Server {
//! ```
//!
//! The text is read line by line, without a tokenizer: only the first words of a line and its end
//! decide. `extract` in `generic.rs` passes the result to the parser; the texts of nodes are read
//! from the original source.

use std::ops::Range;

/// Keywords that may be followed by a macro before the name of the type.
const TYPE_KEYWORDS: &[&str] = &["class", "struct", "union", "enum"];

/// Keywords that begin a statement, in which a trailing call is no macro of a declaration.
#[rustfmt::skip]
const STATEMENT_KEYWORDS: &[&str] =
    &["if", "while", "for", "else", "switch", "case", "return", "do", "try", "throw", "co_return", "default", "goto"];

/// The relation of a line to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineStart {
    /// The previous line was complete, so a declaration or statement may begin here.
    Declaration,
    /// The line continues the one before it.
    Continuation,
}

/// Returns the text with the macros described above blanked; `None` if it has none.
pub(super) fn blank_macros(source: &[u8]) -> Option<Vec<u8>> {
    let mut blanked: Option<Vec<u8>> = None;
    let mut line_offset = 0;
    let mut line_start = LineStart::Declaration;
    while line_offset < source.len() {
        let rest = &source[line_offset..];
        let line_len = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
        let line_end = line_offset + line_len;
        let indent = rest[..line_len].iter().position(|it| !it.is_ascii_whitespace());
        let code_start = line_offset + indent.unwrap_or(line_len);
        let line = source[code_start..line_end].trim_ascii_end();
        if let Some(found) = find_macro(line, line_start, &source[line_end..]) {
            let text = blanked.get_or_insert_with(|| source.to_vec());
            text[code_start + found.start..code_start + found.end].fill(b' ');
        }
        // An empty line changes nothing; a comment, a directive and a macro that stands alone
        // separate like a complete line.
        if !line.is_empty() {
            let is_aside = line.starts_with(b"#") || line.starts_with(b"//");
            // `>` ends `template <typename T>`, `/` ends a comment, `:` ends `public:`.
            let ends_unit = matches!(line.last(), Some(b';' | b'{' | b'}' | b':' | b'>' | b'/'));
            let is_complete = is_aside || ends_unit || is_macro_name(line);
            line_start = if is_complete { LineStart::Declaration } else { LineStart::Continuation };
        }
        line_offset = line_end + 1;
    }
    blanked
}

/// Finds the macro to blank in a line without its indentation. `rest` is the text after the line.
fn find_macro(line: &[u8], start: LineStart, rest: &[u8]) -> Option<Range<usize>> {
    let first_end = word_end(line, 0);
    let first = &line[..first_end];
    if TYPE_KEYWORDS.iter().any(|it| it.as_bytes() == first) {
        return find_macro_before_type_name(line, first_end);
    }
    // A word in capitals that continues an expression is a constant. Such a line, and one that
    // begins with another word, can only have a macro at its end.
    if start == LineStart::Continuation || !is_macro_name(first) {
        return find_trailing_macro(line, first);
    }
    if first_end == line.len() {
        // A macro alone on its line, unless it is the last item of a list or part of an expression.
        let next = rest.trim_ascii_start().first();
        let is_item = matches!(next, Some(b'}' | b')' | b',' | b'{' | b'=' | b'(') | None);
        return (!is_item).then_some(0..first_end);
    }
    // `MAX_SIZE(1)`, `MAX_SIZE;`
    if line[first_end] != b' ' {
        return None;
    }
    // `LIB_INLINE void run()`: a macro stands before a type and a name. In `MY_TYPE value` the word
    // stands before a name alone and is the type.
    let second_start = skip_spaces(line, first_end);
    let second_end = word_end(line, second_start);
    let has_second_word = second_end > second_start;
    let after_second = *line.get(skip_spaces(line, second_end))?;
    // A type is followed by a name or by a further part of the type: `log::`, `List<`, `Row *`.
    let follows_type =
        is_word_start(after_second) || matches!(after_second, b':' | b'<' | b'*' | b'&');
    (has_second_word && follows_type).then_some(0..first_end)
}

/// `class API_EXPORT Server {`
fn find_macro_before_type_name(line: &[u8], keyword_end: usize) -> Option<Range<usize>> {
    let macro_start = skip_spaces(line, keyword_end);
    let macro_end = word_end(line, macro_start);
    let name_start = skip_spaces(line, macro_end);
    let name_end = word_end(line, name_start);
    let rest = line[name_end..].trim_ascii_start();
    // `struct STAT_T value;` defines no type.
    let is_definition = rest.is_empty()
        || rest.starts_with(b"{")
        || rest.starts_with(b":")
        || rest.starts_with(b"final");
    // A second word, apart from the first. In `class MY_CLASS final` the first is the name.
    let name = &line[name_start..name_end];
    let has_name = !name.is_empty() && name_start > macro_end && name != b"final";
    let is_macro = is_macro_name(&line[macro_start..macro_end]);
    (is_macro && has_name && is_definition).then_some(macro_start..macro_end)
}

/// `int n GUARDED_BY(mutex);`, `void run() LOCKS_REQUIRED(mutex) {`
fn find_trailing_macro(line: &[u8], first: &[u8]) -> Option<Range<usize>> {
    if first.is_empty() || STATEMENT_KEYWORDS.iter().any(|it| it.as_bytes() == first) {
        return None;
    }
    // The macro ends in `)`, and the declaration in `;` or `{` behind it. If the line ends in the
    // macro itself (`void run() LOCKS_OUT(a)`), the next line may go on with anything: it is kept.
    let end = line.iter().rposition(|it| !matches!(it, b';' | b'{' | b' '))? + 1;
    let ends_in_macro = line.len() == end;
    if line[end - 1] != b')' || ends_in_macro {
        return None;
    }
    let open = line[..end].iter().rposition(|it| *it == b'(')?;
    let macro_start = line[..open].iter().rposition(|it| !is_word_byte(*it))? + 1;
    // The text before the macro: `int n`, `void run()`. In `Type value = CHECK_IT(y);` it ends in
    // `=`, so the call is a value.
    let declaration = line[..macro_start].trim_ascii_end();
    let ends_in_name =
        declaration.last().is_some_and(|it| is_word_byte(*it) || matches!(it, b')' | b']'));
    // With a type alone before it, the word is the name: `int CHECK_IT(y);` declares a function.
    // The text before it is then no longer than the first word of the line, `int`.
    let has_type_and_name = ends_in_name && declaration.len() > first.len();
    (is_macro_name(&line[macro_start..open]) && has_type_and_name).then_some(macro_start..end)
}

/// The length of the shortest name of a macro, in bytes. Shorter words in capitals are type
/// parameters and constants: `T_1`.
const MIN_MACRO_NAME_LEN: usize = 4;

/// Returns whether a word looks like a macro: capitals, digits and underscores, with at least one
/// underscore among them.
fn is_macro_name(name: &[u8]) -> bool {
    let is_in_capitals =
        name.iter().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_');
    name.len() >= MIN_MACRO_NAME_LEN && name.contains(&b'_') && is_in_capitals
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The end of the word that begins at `start`; `start` itself if there is none.
fn word_end(line: &[u8], start: usize) -> usize {
    start + line[start..].iter().take_while(|it| is_word_byte(**it)).count()
}

/// The position of the first byte from `start` on that is no space.
fn skip_spaces(line: &[u8], start: usize) -> usize {
    start + line[start..].iter().take_while(|it| matches!(it, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::blank_macros;

    /// Checks a text after blanking; one without macros stays as it is.
    fn check(text: &str, expected: &str) {
        let blanked = blank_macros(text.as_bytes()).unwrap_or_else(|| text.as_bytes().to_vec());
        assert_eq!(String::from_utf8(blanked).unwrap(), expected);
    }

    #[test]
    fn macros_around_declarations_are_blanked() {
        check("class API_EXPORT Server {", "class            Server {");
        check("LIB_INLINE void run() {}", "           void run() {}");
        check("LIB_INLINE log::log() {}", "           log::log() {}");
        check("int n GUARDED_BY(mutex);", "int n                  ;");
        check("void run() LOCKS_OUT(a) {", "void run()              {");
        check("x;\nLIB_BEGIN_SPACE\nnamespace a {", "x;\n               \nnamespace a {");
    }

    #[test]
    fn types_constants_and_calls_in_capitals_are_kept() {
        for text in [
            "struct STAT_T value;",
            "MY_TYPE value = 1;",
            "MY_TYPE make(int x) {",
            "enum A {\n  FIRST_ONE,\n  LAST_ONE\n};",
            "call(a,\n  MAX_SIZE\n);",
            "class MY_CLASS {",
            "class MY_CLASS final {",
            "struct STAT_T make() {",
            "MAX_SIZE * 2;",
            "if (x) CHECK_IT(y);",
            "return CHECK_IT(y);",
            "Type value = CHECK_IT(y);",
            "int CHECK_IT(y);",
        ] {
            check(text, text);
        }
    }
}
