//! C and C++: blanks macros that no grammar can parse.
//!
//! `class API_EXPORT Server {`, `LIB_INLINE void run()` and `LIB_BEGIN_NAMESPACE` make the parser
//! take types for functions and lose the code that follows; `int n GUARDED_BY(mutex);` makes it
//! take a field for a function. Words in capitals at such places are replaced by spaces before
//! parsing, so that all positions stay.

/// Keywords that may be followed by a macro before the name of the type.
const TYPE_KEYWORDS: &[&str] = &["class", "struct", "union", "enum"];

/// Keywords that begin a statement, in which a trailing call is no macro of a declaration.
#[rustfmt::skip]
const STATEMENT_KEYWORDS: &[&str] =
    &["if", "while", "for", "else", "switch", "case", "return", "do", "try", "throw", "co_return", "default", "goto"];

/// Syntax that a line may begin with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineStart {
    /// The previous line was complete.
    Declaration,
    /// The line continues the one before it.
    Continuation,
}

/// Returns the text without such macros; `None` if it has none.
pub(super) fn blank_macros(source: &[u8]) -> Option<Vec<u8>> {
    let mut blanked: Option<Vec<u8>> = None;
    let mut line_start = 0;
    let mut start_kind = LineStart::Declaration;
    while line_start < source.len() {
        let rest = &source[line_start..];
        let line_len = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
        let line_end = line_start + line_len;
        let indent = rest[..line_len].iter().position(|it| !it.is_ascii_whitespace());
        let start = line_start + indent.unwrap_or(line_len);
        let line = source[start..line_end].trim_ascii_end();
        if let Some((from, to)) = find_macro(line, start_kind, &source[line_end..]) {
            let text = blanked.get_or_insert_with(|| source.to_vec());
            text[start + from..start + to].fill(b' ');
        }
        // An empty line changes nothing; a comment or directive separates like a full line.
        if !line.is_empty() {
            let is_aside = line.starts_with(b"#") || line.starts_with(b"//");
            let is_complete = is_aside
                || matches!(line.last(), Some(b';' | b'{' | b'}' | b':' | b'>' | b'/'))
                || is_macro_name(line);
            start_kind = if is_complete { LineStart::Declaration } else { LineStart::Continuation };
        }
        line_start = line_end + 1;
    }
    blanked
}

/// Finds the macro to blank in a line, as a span. `rest` is the text after the line.
fn find_macro(line: &[u8], start: LineStart, rest: &[u8]) -> Option<(usize, usize)> {
    let first_len = word_len(line, 0);
    let first = &line[..first_len];
    if TYPE_KEYWORDS.iter().any(|it| it.as_bytes() == first) {
        return find_macro_before_type_name(line, first_len);
    }
    if start == LineStart::Continuation || !is_macro_name(first) {
        return find_trailing_macro(line, first);
    }
    if first_len == line.len() {
        // A macro alone on its line, unless it is the last item of a list or part of an expression.
        let next = rest.trim_ascii_start().first();
        let is_item = matches!(next, Some(b'}' | b')' | b',' | b'{' | b'=' | b'(') | None);
        return (!is_item).then_some((0, first_len));
    }
    // Before a type and a name; before a name alone it would be the type.
    let from = first_len + space_len(&line[first_len..]);
    let to = from + word_len(line, from);
    let after = line.get(to + space_len(&line[to..]))?;
    let is_type =
        to > from && (is_word_start(*after) || matches!(after, b':' | b'<' | b'*' | b'&'));
    (line.get(first_len) == Some(&b' ') && is_type).then_some((0, first_len))
}

/// `class API_EXPORT Server {`
fn find_macro_before_type_name(line: &[u8], keyword_len: usize) -> Option<(usize, usize)> {
    let from = keyword_len + space_len(&line[keyword_len..]);
    let to = from + word_len(line, from);
    let name_start = to + space_len(&line[to..]);
    let name_end = name_start + word_len(line, name_start);
    let rest = line[name_end..].trim_ascii_start();
    // `struct STAT_T value;` defines no type, and in `class MY_CLASS final` the word is the name.
    let is_definition = rest.is_empty()
        || rest.starts_with(b"{")
        || rest.starts_with(b":")
        || rest.starts_with(b"final");
    let has_name =
        name_end > name_start && name_start > to && &line[name_start..name_end] != b"final";
    (is_macro_name(&line[from..to]) && has_name && is_definition).then_some((from, to))
}

/// `int n GUARDED_BY(mutex);`, `void run() LOCKS_REQUIRED(mutex) {`
fn find_trailing_macro(line: &[u8], first: &[u8]) -> Option<(usize, usize)> {
    if first.is_empty() || STATEMENT_KEYWORDS.iter().any(|it| it.as_bytes() == first) {
        return None;
    }
    let line = line.trim_ascii_end();
    let end = line.iter().rposition(|it| !matches!(it, b';' | b'{' | b' '))? + 1;
    // The call must end the declaration, and something must follow it.
    if line[end - 1] != b')' || line.len() == end {
        return None;
    }
    let open = line[..end].iter().rposition(|it| *it == b'(')?;
    let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
    let from = line[..open].iter().rposition(|it| !is_word(it))? + 1;
    let before = line[..from].trim_ascii_end();
    let follows_name = before
        .last()
        .is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b')' | b']'));
    // `int CHECK_IT(y);` declares a function of that name.
    let is_third_word = before.len() > first.len();
    (is_macro_name(&line[from..open]) && follows_name && is_third_word).then_some((from, end))
}

/// Returns whether a word looks like a macro: capitals and digits with an underscore between them.
fn is_macro_name(name: &[u8]) -> bool {
    name.len() > 3
        && name.contains(&b'_')
        && name.iter().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_')
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn word_len(line: &[u8], from: usize) -> usize {
    line[from..].iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count()
}

fn space_len(line: &[u8]) -> usize {
    line.iter().take_while(|it| matches!(it, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::blank_macros;

    fn check(text: &str, expected: &str) {
        let blanked = blank_macros(text.as_bytes()).unwrap_or_else(|| text.as_bytes().to_vec());
        assert_eq!(String::from_utf8(blanked).unwrap(), expected);
    }

    #[test]
    fn macros_at_places_without_an_expression_are_blanked() {
        check("class API_EXPORT Server {", "class            Server {");
        check("LIB_INLINE void run() {}", "           void run() {}");
        check("LIB_INLINE log::log() {}", "           log::log() {}");
        check("int n GUARDED_BY(mutex);", "int n                  ;");
        check("void run() LOCKS_OUT(a) {", "void run()              {");
        check("x;\nLIB_BEGIN_SPACE\nnamespace a {", "x;\n               \nnamespace a {");
    }

    #[test]
    fn types_constants_and_calls_in_capitals_stay() {
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
