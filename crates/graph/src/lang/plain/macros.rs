//! Macros that no grammar can know: words in capitals where C and C++ have none.
//!
//! `class API_EXPORT Server {`, `LIB_INLINE void run()` and `LIB_BEGIN_NAMESPACE` make a parser take
//! types for functions and lose what follows, `int n GUARDED_BY(mutex);` a field for a function. They are
//! read as white space; every place stays.

/// Words after which a macro may stand before a name.
const BEFORE_NAMES: &[&str] = &["class", "struct", "union", "enum"];

/// Words that begin a line whose last call is one.
#[rustfmt::skip]
const STATEMENTS: &[&str] =
    &["if", "while", "for", "else", "switch", "case", "return", "do", "try", "throw", "co_return", "default", "goto"];

/// The text to be parsed, if it is another than the one that was given.
pub(super) fn without(source: &[u8]) -> Option<Vec<u8>> {
    let mut res: Option<Vec<u8>> = None;
    let mut at = 0;
    // Whether a statement may begin here.
    let mut begins = true;
    while at < source.len() {
        let end =
            source[at..].iter().position(|it| *it == b'\n').map_or(source.len(), |it| at + it);
        let line = &source[at..end];
        let start = at + line.iter().position(|it| !it.is_ascii_whitespace()).unwrap_or(line.len());
        let text = source[start..end].trim_ascii_end();
        if let Some((from, to)) = found(text, begins, &source[end..]) {
            let to_blank = res.get_or_insert_with(|| source.to_vec());
            to_blank[start + from..start + to].fill(b' ');
        }
        if !text.is_empty() {
            let is_aside = text.starts_with(b"#") || text.starts_with(b"//");
            begins = is_aside
                || matches!(text.last(), Some(b';' | b'{' | b'}' | b':' | b'>' | b'/'))
                || is_macro(text);
        }
        at = end + 1;
    }
    res
}

/// What is a macro in a line, as a span.
fn found(line: &[u8], begins: bool, rest: &[u8]) -> Option<(usize, usize)> {
    let first = word(line, 0);
    let name = &line[..first];
    if BEFORE_NAMES.iter().any(|it| it.as_bytes() == name) {
        let from = first + spaces(&line[first..]);
        let to = from + word(line, from);
        let name = to + spaces(&line[to..]);
        let after = name + word(line, name);
        let rest = line[after..].trim_ascii_start();
        // `struct STAT_T value;` defines no type, `class MY_CLASS final` has its own name.
        let defines = rest.is_empty()
            || rest.starts_with(b"{")
            || rest.starts_with(b":")
            || rest.starts_with(b"final");
        let is_name = after > name && name > to && &line[name..after] != b"final";
        return (is_macro(&line[from..to]) && is_name && defines).then_some((from, to));
    }
    if !begins || !is_macro(name) {
        return at_the_end(line, name);
    }
    if first == line.len() {
        let next = rest.trim_ascii_start().first();
        return (!matches!(next, Some(b'}' | b')' | b',' | b'{' | b'=' | b'(') | None))
            .then_some((0, first));
    }
    // Before a type and a name, not before a name alone: then it is the type.
    let from = first + spaces(&line[first..]);
    let to = from + word(line, from);
    let after = line.get(to + spaces(&line[to..]))?;
    let is_type =
        to > from && (is_word_start(*after) || matches!(after, b':' | b'<' | b'*' | b'&'));
    (line.get(first) == Some(&b' ') && is_type).then_some((0, first))
}

/// `int n GUARDED_BY(mutex);`, `void run() LOCKS_REQUIRED(mutex) {`
fn at_the_end(line: &[u8], first: &[u8]) -> Option<(usize, usize)> {
    if first.is_empty() || STATEMENTS.iter().any(|it| it.as_bytes() == first) {
        return None;
    }
    let whole = line.trim_ascii_end();
    let end = whole.iter().rposition(|it| !matches!(it, b';' | b'{' | b' '))? + 1;
    if whole[end - 1] != b')' || whole.len() == end {
        return None;
    }
    let open = whole[..end].iter().rposition(|it| *it == b'(')?;
    let from =
        whole[..open].iter().rposition(|it| !(it.is_ascii_alphanumeric() || *it == b'_'))? + 1;
    let before = whole[..from].trim_ascii_end();
    let is_after = before
        .last()
        .is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b')' | b']'));
    let is_second = before.len() > first.len();
    (is_macro(&whole[from..open]) && is_after && is_second).then_some((from, end))
}

/// Capitals with a line under between them.
fn is_macro(name: &[u8]) -> bool {
    name.len() > 3
        && name.contains(&b'_')
        && name.iter().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_')
}

fn is_word_start(it: u8) -> bool {
    it.is_ascii_alphabetic() || it == b'_'
}

fn word(line: &[u8], from: usize) -> usize {
    line[from..].iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count()
}

fn spaces(line: &[u8]) -> usize {
    line.iter().take_while(|it| matches!(it, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::without;

    fn check(text: &str, expected: &str) {
        let res = without(text.as_bytes()).unwrap_or_else(|| text.as_bytes().to_vec());
        assert_eq!(String::from_utf8(res).unwrap(), expected);
    }

    #[test]
    fn words_in_capitals_that_are_no_types_are_not_read() {
        check("class API_EXPORT Server {", "class            Server {");
        check("LIB_INLINE void run() {}", "           void run() {}");
        check("LIB_INLINE log::log() {}", "           log::log() {}");
        check("int n GUARDED_BY(mutex);", "int n                  ;");
        check("void run() LOCKS_OUT(a) {", "void run()              {");
        check("x;\nLIB_BEGIN_SPACE\nnamespace a {", "x;\n               \nnamespace a {");
    }

    #[test]
    fn words_in_capitals_that_mean_something_stay() {
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
