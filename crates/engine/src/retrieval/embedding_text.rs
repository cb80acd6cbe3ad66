//! The texts that are embedded for a memory.
//!
//! Each gets one vector: the content with a header about its files and modules, in overlapping parts
//! if it is long; and, for a text that a user wrote, every sentence by itself. The [`Grain`] of a text
//! tells these apart, and source code from prose. `embedding` sends the texts to the model.
//!
//! ```text
//! memory: "The cache is in redis, not in memory. Flush it before a deploy." about src/cache.rs
//! texts:  Part      Files: src/cache.rs | Type: gotcha⏎The cache is … before a deploy.
//!         Sentence  The cache is in redis, not in memory.
//!         Sentence  Flush it before a deploy.
//! ```

use model::{Grain, Memory, MemorySource, ProjectPath};

/// Bytes up to which a text is embedded whole: about what the built-in model reads at once.
const MAX_WHOLE_BYTES: usize = 1_500;
/// Bytes of a part of a longer text.
const MAX_PART_BYTES: usize = 1_200;
/// Bytes that two neighbouring parts share, so that no sentence loses its context.
const PART_OVERLAP_BYTES: usize = 200;
/// A sentence of fewer bytes is joined with the next one: alone it means too little.
const MIN_SENTENCE_BYTES: usize = 60;
/// The same in a short text.
const MIN_SENTENCE_BYTES_IN_SHORT_TEXT: usize = 30;
/// Bytes below which a text is short.
const SHORT_TEXT_BYTES: usize = 300;
/// Bytes of a sentence that are embedded; the rest is cut off.
const MAX_SENTENCE_BYTES: usize = 300;
/// Bytes of the longest speaker name, as in `Ada: `.
const MAX_SPEAKER_BYTES: usize = 30;
/// Source code has at least one sign of [`CODE_SIGNS`] in this many bytes.
const MAX_BYTES_PER_CODE_SIGN: usize = 40;
/// Characters that are frequent in source code and rare in prose.
const CODE_SIGNS: &[u8] = b"(){}[];=_<>";

/// The texts to embed for a memory.
pub(super) fn embedding_texts(memory: &Memory) -> Vec<(Grain, String)> {
    let header = header(memory);
    let grain = if is_source_code(&memory.content) { Grain::Code } else { Grain::Part };
    let parts = split_parts(&memory.content).into_iter();
    let mut texts: Vec<(Grain, String)> =
        parts.map(|it| (grain, format!("{header}{it}"))).collect();
    // A user may put several facts into one text, and each should be found by itself.
    if grain == Grain::Part && memory.source == MemorySource::UserTaught {
        let sentences = split_embedded_sentences(&memory.content).into_iter();
        texts.extend(sentences.map(|it| (Grain::Sentence, it)));
    }
    texts
}

/// `Files: … | Module: … | Type: …`; empty for a memory without files and modules.
fn header(memory: &Memory) -> String {
    let files: Vec<&str> = memory.files.iter().map(ProjectPath::as_str).collect();
    let mut fields = Vec::new();
    if !files.is_empty() {
        fields.push(format!("Files: {}", files.join(", ")));
    }
    if !memory.modules.is_empty() {
        fields.push(format!("Module: {}", memory.modules.join(", ")));
    }
    if fields.is_empty() {
        return String::new();
    }
    fields.push(format!("Type: {}", memory.kind.slug()));
    format!("{}\n", fields.join(" | "))
}

/// True for source code, false for prose about code: most lines look like code, and there is enough
/// punctuation.
fn is_source_code(text: &str) -> bool {
    const LINE_STARTS: &[&str] = &[
        "def ",
        "class ",
        "fn ",
        "pub ",
        "func ",
        "function ",
        "return ",
        "import ",
        "const ",
        "let ",
        "var ",
        "if (",
        "for (",
        "#include",
        "public ",
        "private ",
        "static ",
        "async ",
    ];
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
    let (mut n_lines, mut n_code_lines) = (0, 0);
    for line in lines {
        let starts_like_code = LINE_STARTS.iter().any(|it| line.starts_with(it));
        let ends_like_code = line.ends_with([';', '{', '}', ')', ':', ',']);
        let is_code_line = starts_like_code || ends_like_code || line.contains(" = ");
        n_lines += 1;
        n_code_lines += usize::from(is_code_line);
    }
    let n_signs = text.bytes().filter(|it| CODE_SIGNS.contains(it)).count();

    // A list with colons has lines that end like code, but few signs.
    let has_enough_signs = n_signs * MAX_BYTES_PER_CODE_SIGN >= text.len();
    n_lines >= 2 && n_code_lines * 2 >= n_lines && has_enough_signs
}

/// The sentences of a text, each with the speaker; short ones are joined. None if there is only one.
fn split_embedded_sentences(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(MAX_WHOLE_BYTES)];
    let (speaker, speech) = split_speaker(text);
    let is_short = text.len() < SHORT_TEXT_BYTES;
    let min_bytes = if is_short { MIN_SENTENCE_BYTES_IN_SHORT_TEXT } else { MIN_SENTENCE_BYTES };
    let (mut sentences, mut start) = (Vec::new(), 0);
    for (at, sign) in speech.char_indices() {
        let end = at + sign.len_utf8();
        // A point inside a word, as in `v1.2`, ends nothing.
        let is_end = sign == '\n'
            || (".!?".contains(sign) && speech[end..].starts_with(char::is_whitespace));
        if is_end && speech[start..end].trim().len() >= min_bytes {
            sentences.push(speech[start..end].trim());
            start = end;
        }
    }
    let rest = speech[start..].trim();
    if !rest.is_empty() {
        sentences.push(rest);
    }
    // A single sentence is embedded as a part already.
    if sentences.len() < 2 {
        return Vec::new();
    }
    let cut = |it: &str| it.floor_char_boundary(MAX_SENTENCE_BYTES);
    sentences.iter().map(|it| format!("{speaker}{}", &it[..cut(it)])).collect()
}

/// Splits off the `Name: ` that a text begins with.
fn split_speaker(text: &str) -> (&str, &str) {
    let is_name = |at: usize| at <= MAX_SPEAKER_BYTES && !text[..at].contains(['\n', '.', ',']);
    match text.find(": ") {
        Some(at) if is_name(at) => text.split_at(at + 2),
        _ => ("", text),
    }
}

/// Cuts a long text into overlapping parts, at the end of a line, a sentence or a word.
fn split_parts(text: &str) -> Vec<&str> {
    if text.len() <= MAX_WHOLE_BYTES {
        return vec![text];
    }
    let mut parts = Vec::new();
    let mut start = 0;
    while text.len() - start > MAX_PART_BYTES {
        let piece = &text[start..text.floor_char_boundary(start + MAX_PART_BYTES)];
        // The best cut in the second half; a line end counts more than a later word end.
        let half = piece.floor_char_boundary(MAX_PART_BYTES / 2);
        let mut cut = piece.len();
        for separator in ["\n", ". ", " "] {
            if let Some(at) = piece[half..].rfind(separator) {
                cut = half + at + separator.len();
                break;
            }
        }
        parts.push(&text[start..start + cut]);
        // The next part begins inside this one, at a word; text without blanks has no overlap.
        let end = start + cut;
        let overlap = text.floor_char_boundary(end - PART_OVERLAP_BYTES);
        start = match text[overlap..end].find(' ') {
            Some(blank) => overlap + blank + 1,
            None => end,
        };
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_one_part() {
        assert_eq!(split_parts("the cache lives in redis"), ["the cache lives in redis"]);
        assert_eq!(split_parts(""), [""]);
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
            let parts = split_parts(&text);
            assert!(parts.len() > 1);
            assert!(parts.iter().all(|it| it.len() <= MAX_PART_BYTES && !it.is_empty()));
            // Parts overlap, but leave no gap.
            let mut covered = 0;
            for part in parts {
                // The position of the part in the text.
                let at = part.as_ptr() as usize - text.as_ptr() as usize;
                assert!(at <= covered, "no byte is left out");
                covered = at + part.len();
            }
            assert_eq!(covered, text.len());
        }
    }

    #[test]
    fn each_sentence_is_embedded_with_its_speaker() {
        let text =
            "Ada: I moved the cache to redis last week. It was slow before, v1.2 especially! Yes.";
        assert_eq!(
            split_embedded_sentences(text),
            [
                "Ada: I moved the cache to redis last week.",
                "Ada: It was slow before, v1.2 especially!",
                "Ada: Yes.",
            ]
        );
        assert!(split_embedded_sentences("Only one sentence here.").is_empty());
        assert!(split_embedded_sentences("").is_empty());
        assert!(split_embedded_sentences(&"é".repeat(900)).is_empty());
    }

    #[test]
    fn code_is_not_prose_about_code() {
        assert!(is_source_code("def f(a):\n    \"\"\"Adds.\"\"\"\n    return a + 1\n"));
        assert!(is_source_code("fn main() {\n    let x = f(1);\n}\n"));
        for prose in [
            "verifyJwt() expects seconds, not milliseconds.",
            "Run the tests first.\nThen push.\nNever the other way round.",
            "The steps:\n- one\n- two",
            "",
        ] {
            assert!(!is_source_code(prose), "{prose}");
        }
    }
}
