//! Fits lines to the width of a terminal: wraps at blanks, or cuts with `…`. Used by `output` for everything that
//! people read; output into a file or a pipe is never changed.
//!
//! The escape sequences of styles have no width. A text in backticks is a command or a name: it moves to the next
//! line as a whole, so that it can be copied.

/// Narrowest terminal that is believed; a smaller number means that the size is not known.
const MIN_COLUMNS: usize = 20;

/// Columns of the terminal behind standard output; `None` if it is not a terminal.
pub(crate) fn stdout_columns() -> Option<usize> {
    columns(&console::Term::stdout())
}

/// Columns of the terminal behind standard error.
pub(crate) fn stderr_columns() -> Option<usize> {
    columns(&console::Term::stderr())
}

fn columns(terminal: &console::Term) -> Option<usize> {
    if !terminal.is_term() {
        return None;
    }
    let (_rows, columns) = terminal.size_checked()?;
    Some(usize::from(columns)).filter(|it| *it >= MIN_COLUMNS)
}

/// Wraps every line of a text; `hang` blanks begin the continued lines.
pub(crate) fn wrap_text(text: &str, columns: usize, hang: usize) -> String {
    // On a narrow terminal the text needs at least half of the width.
    let hang = hang.min(columns / 2);
    let lines: Vec<String> = text.split('\n').map(|it| wrap_line(it, columns, hang)).collect();
    lines.join("\n")
}

fn wrap_line(line: &str, columns: usize, hang: usize) -> String {
    let mut res = String::new();
    let mut used = 0;
    for (blanks, word) in words(line, columns.saturating_sub(hang)) {
        let width = visible_width(word);
        let is_first = used == 0;
        if !is_first && used + blanks.len() + width > columns {
            res.push('\n');
            res.push_str(&" ".repeat(hang));
            used = hang;
        } else {
            res.push_str(blanks);
            used += blanks.len();
        }
        res.push_str(word);
        used += width;
    }
    res
}

/// The words of a line, each with the blanks before it. Blanks within backticks do not separate words, unless
/// the quoted text is longer than a line.
fn words(line: &str, max_width: usize) -> Vec<(&str, &str)> {
    let mut res = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let word_start = rest.find(|it| it != ' ').unwrap_or(rest.len());
        let (blanks, from_word) = rest.split_at(word_start);
        let word_end = end_of_word(from_word, max_width);
        let (word, after) = from_word.split_at(word_end);
        res.push((blanks, word));
        rest = after;
    }
    res
}

fn end_of_word(text: &str, max_width: usize) -> usize {
    let plain_end = text.find(' ').unwrap_or(text.len());
    let Some(opening) = text[..plain_end].find('`') else {
        return plain_end;
    };
    let Some(closing) = text[opening + 1..].find('`').map(|it| opening + 1 + it) else {
        return plain_end;
    };
    let end = text[closing..].find(' ').map_or(text.len(), |it| closing + it);
    if visible_width(&text[..end]) <= max_width { end.max(plain_end) } else { plain_end }
}

/// Cuts a line to the width, with `…` at its end. Styles stay complete.
pub(crate) fn cut_line(line: &str, columns: usize) -> String {
    if visible_width(line) <= columns {
        return line.to_owned();
    }
    let mut res = String::new();
    let mut used = 0;
    for piece in pieces(line) {
        match piece {
            Piece::Style(sequence) => res.push_str(sequence),
            // Room for the ellipsis.
            Piece::Char(it) if used + char_width(it) < columns => {
                used += char_width(it);
                res.push(it);
            }
            // Everything after the cut is dropped, except styles, which must be closed.
            Piece::Char(_) => {
                if used < columns {
                    res.push('…');
                }
                used = columns;
            }
        }
    }
    res
}

/// Columns that a text takes on a terminal.
pub(crate) fn visible_width(text: &str) -> usize {
    let width = |it: Piece<'_>| match it {
        Piece::Style(_) => 0,
        Piece::Char(it) => char_width(it),
    };
    pieces(text).map(width).sum()
}

enum Piece<'a> {
    /// An escape sequence of a style, `ESC [ … m`.
    Style(&'a str),
    Char(char),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let style_end = if rest.starts_with("\u{1b}[") { rest.find('m') } else { None };
        if let Some(end) = style_end {
            let (sequence, after) = rest.split_at(end + 1);
            rest = after;
            return Some(Piece::Style(sequence));
        }
        rest = &rest[first.len_utf8()..];
        Some(Piece::Char(first))
    })
}

/// Columns of a character: two for East Asian wide characters and emoji, none for joiners and combining marks.
/// A simplification of Unicode's table (UAX #11); an error costs a ragged edge.
const fn char_width(it: char) -> usize {
    match it as u32 {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_wrapped_with_a_hanging_indent() {
        assert_eq!(
            wrap_text("#12  one two three four", 12, 5),
            "#12  one two\n     three\n     four"
        );
        assert_eq!(wrap_text("short", 12, 5), "short");
        assert_eq!(wrap_text("  indented", 40, 4), "  indented");
    }

    #[test]
    fn a_command_in_backticks_moves_as_a_whole() {
        let text = "say it with `waylore undo x` now";
        assert_eq!(wrap_text(text, 20, 2), "say it with\n  `waylore undo x`\n  now");
        // One that is longer than a line cannot.
        assert_eq!(wrap_text("a `b c d e f g h i j`", 12, 0), "a `b c d e f\ng h i j`");
    }

    #[test]
    fn a_cut_line_fits_and_closes_its_styles() {
        assert_eq!(cut_line("abcdef", 6), "abcdef");
        assert_eq!(cut_line("abcdefg", 6), "abcde…");
        assert_eq!(cut_line("\u{1b}[1mabcdefg\u{1b}[0m", 6), "\u{1b}[1mabcde…\u{1b}[0m");
        assert_eq!(visible_width(&cut_line("日本語日本語", 6)), 5);
    }

    #[test]
    fn styles_have_no_width() {
        assert_eq!(visible_width("\u{1b}[33mab\u{1b}[0m"), 2);
        assert_eq!(wrap_text("\u{1b}[33mab\u{1b}[0m cd", 5, 0), "\u{1b}[33mab\u{1b}[0m cd");
    }
}
