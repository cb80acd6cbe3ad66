//! C and C++: resolves conditional directives that cut through a block.
//!
//! The grammar understands `#if` around whole declarations and statements. If a branch opens a
//! brace that it does not close, the parser loses the end of the function and what follows:
//!
//! ```text
//! #ifdef FAST                     (blank)
//!   if (fast(x)) {                  if (fast(x)) {
//! #else                      →    (blank)
//!   if (slow(x)) {                (blank)
//! #endif                          (blank)
//! ```
//!
//! Of such a group the first branch is kept, all else is replaced by spaces, so that all positions
//! stay. Only a text with a syntax error is repaired, and the result is used only if it has fewer
//! errors.

use std::ops::Range;

/// A group of branches that is still open.
struct ConditionalGroup {
    /// The lines of its directives so far.
    directives: Vec<Range<usize>>,
    /// Opening less closing braces of the current branch.
    balance: i32,
    /// The balance of the first branch, which stands for the group.
    first_balance: Option<i32>,
    /// A branch leaves braces open, or closes more than it opens.
    is_unbalanced: bool,
}

/// Returns the text without the groups described above; `None` if it has none.
pub(super) fn blank_unbalanced_branches(source: &[u8]) -> Option<Vec<u8>> {
    let mut blanked: Option<Vec<u8>> = None;
    let mut groups: Vec<ConditionalGroup> = Vec::new();
    let mut line_start = 0;
    for line in source.split_inclusive(|it| *it == b'\n') {
        let line_range = line_start..line_start + line.len();
        line_start = line_range.end;
        // The word after `#`, with what follows it.
        let directive = line.trim_ascii_start().strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
        match directive {
            // `#if`, `#ifdef`, `#ifndef`
            Some(it) if it.starts_with(b"if") => groups.push(ConditionalGroup {
                directives: vec![line_range],
                balance: 0,
                first_balance: None,
                is_unbalanced: false,
            }),
            // `#else`, `#elif`
            Some(it) if it.starts_with(b"el") => {
                if let Some(group) = groups.last_mut() {
                    group.end_branch(line_range);
                }
            }
            Some(it) if it.starts_with(b"endif") => {
                let Some(mut group) = groups.pop() else { continue };
                group.end_branch(line_range);
                // For the group around it, this one counts as its first branch.
                if let Some(outer) = groups.last_mut() {
                    outer.balance += group.first_balance.unwrap_or_default();
                }
                if group.is_unbalanced {
                    blank_group(blanked.get_or_insert_with(|| source.to_vec()), &group);
                }
            }
            // Braces inside other directives, such as macros, are no blocks.
            Some(_) => {}
            None => {
                if let Some(group) = groups.last_mut() {
                    group.balance += brace_balance(line);
                }
            }
        }
    }
    blanked
}

impl ConditionalGroup {
    /// Ends the current branch at a directive, which may begin the next one.
    fn end_branch(&mut self, directive: Range<usize>) {
        self.is_unbalanced |= self.balance != 0;
        self.first_balance.get_or_insert(self.balance);
        self.balance = 0;
        self.directives.push(directive);
    }
}

/// Blanks the directives and all branches but the first; line breaks stay.
fn blank_group(text: &mut [u8], group: &ConditionalGroup) {
    let [first, rest @ ..] = group.directives.as_slice() else { return };
    let (Some(second), Some(last)) = (rest.first(), rest.last()) else { return };
    for range in [first.clone(), second.start..last.end] {
        text[range].iter_mut().filter(|it| **it != b'\n').for_each(|it| *it = b' ');
    }
}

/// Opening less closing braces of a line, without those in quotes and after `//`.
fn brace_balance(line: &[u8]) -> i32 {
    let mut balance = 0;
    let mut quote = None;
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            // In quotes: a backslash escapes the next byte.
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            // Outside of quotes.
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'/') if bytes.peek() == Some(&b'/') => return balance,
            (None, b'{') => balance += 1,
            (None, b'}') => balance -= 1,
            (None, _) => {}
        }
    }
    balance
}

#[cfg(test)]
mod tests {
    use super::blank_unbalanced_branches;

    #[test]
    fn only_branches_that_cut_through_a_block_are_blanked() {
        let text = b"#ifdef A\nif (x) {\n#else\nif (y) {\n#endif\n}\n";
        let blanked = blank_unbalanced_branches(text).unwrap();
        let expected = b"        \nif (x) {\n     \n        \n      \n}\n";
        assert_eq!(blanked, expected);
        assert_eq!(blank_unbalanced_branches(b"#if A\nint f() { return '{'; }\n#endif\n"), None);
    }
}
