//! What is embedded of a memory: what it is about, then what it says.

use model::Memory;

/// A part is about as long as the built-in model reads in one go; few memories are longer.
const PART: usize = 1_500;
/// What two neighbouring parts share, so that no sentence is cut from its context.
const OVERLAP: usize = 200;

/// The texts that are embedded of a memory, one for each part of its content.
pub(crate) fn parts(memory: &Memory) -> Vec<String> {
    let about = about(memory);
    split(&memory.content).into_iter().map(|it| format!("{about}{it}")).collect()
}

/// `Files: … | Module: …`, or nothing when nothing is known about where it belongs.
fn about(memory: &Memory) -> String {
    let files: Vec<&str> = memory.files.iter().map(|it| it.as_str()).collect();
    let mut known = Vec::new();
    if !files.is_empty() {
        known.push(format!("Files: {}", files.join(", ")));
    }
    if !memory.modules.is_empty() {
        known.push(format!("Module: {}", memory.modules.join(", ")));
    }
    if known.is_empty() {
        return String::new();
    }
    known.push(format!("Type: {}", memory.kind.slug()));
    format!("{}\n", known.join(" | "))
}

/// Cuts a long text at the ends of lines, sentences or words, whichever is near.
fn split(text: &str) -> Vec<&str> {
    let mut res = Vec::new();
    let mut from = 0;
    while text.len() - from > PART {
        let limit = floor(text, from + PART);
        let piece = &text[from..limit];
        let half = floor(piece, PART / 2);
        let cut = ["\n", ". ", " "]
            .iter()
            .find_map(|it| piece[half..].rfind(it).map(|at| half + at + it.len()))
            .unwrap_or(piece.len());
        res.push(&text[from..from + cut]);
        let next = floor(text, from + cut - OVERLAP);
        let next = text[next..from + cut].find(' ').map_or(from + cut, |at| next + at + 1);
        from = next;
    }
    res.push(&text[from..]);
    res
}

/// The nearest place at or before `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_one_part() {
        assert_eq!(split("the cache lives in redis"), ["the cache lives in redis"]);
        assert_eq!(split(""), [""]);
    }

    #[test]
    fn a_long_text_is_covered_whole_and_cut_between_words() {
        let texts = [
            "a sentence about nothing. ".repeat(150),
            "line\n".repeat(700),
            "x".repeat(5_000),
            "éü ".repeat(2_000),
        ];
        for text in texts {
            let parts = split(&text);
            assert!(parts.len() > 1);
            assert!(parts.iter().all(|it| it.len() <= PART && !it.is_empty()));
            let mut covered = 0;
            for part in parts {
                let at = part.as_ptr() as usize - text.as_ptr() as usize;
                assert!(at <= covered, "nothing is left out");
                covered = at + part.len();
            }
            assert_eq!(covered, text.len());
        }
    }
}
