//! What is embedded of a memory: what it is about and what it says, whole and, where a person wrote
//! several sentences, sentence by sentence.

use model::{Grain, Memory, ProjectPath, Source};

/// A text up to this length stays whole: the built-in model reads about as much in one go.
const WHOLE: usize = 1_500;
/// A longer one is cut into parts of at most this length.
const PART: usize = 1_200;
/// What two neighbouring parts share, so that no sentence is cut from its context.
const OVERLAP: usize = 200;
/// Sentences are joined until they are this long, in a short text and in a long one.
const SENTENCE: (usize, usize) = (30, 60);
const SHORT: usize = 300;
/// A sentence is cut there.
const LONGEST: usize = 300;
/// The longest name of a speaker, `Ada: `.
const NAME: usize = 30;

/// The texts that are embedded of a memory, each with what it is.
pub(crate) fn texts(memory: &Memory) -> Vec<(Grain, String)> {
    let about = about(memory);
    let grain = if is_code(&memory.content) { Grain::Code } else { Grain::Part };
    let parts = split(&memory.content).into_iter();
    let mut res: Vec<(Grain, String)> = parts.map(|it| (grain, format!("{about}{it}"))).collect();
    if grain == Grain::Part && memory.source == Source::UserTaught {
        res.extend(sentences(&memory.content).into_iter().map(|it| (Grain::Sentence, it)));
    }
    res
}

/// `Files: … | Module: …`, or nothing when nothing is known about where it belongs.
fn about(memory: &Memory) -> String {
    let files: Vec<&str> = memory.files.iter().map(ProjectPath::as_str).collect();
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

/// Whether a text is code rather than prose about it: signs of code on most lines.
fn is_code(text: &str) -> bool {
    const WORDS: &[&str] = &[
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
    let (mut n_lines, mut n_code) = (0, 0);
    for line in lines {
        let ends = line.ends_with([';', '{', '}', ')', ':', ',']) || line.contains(" = ");
        n_lines += 1;
        n_code += usize::from(WORDS.iter().any(|it| line.starts_with(it)) || ends);
    }
    let signs = text.bytes().filter(|it| b"(){}[];=_<>".contains(it)).count();
    n_lines >= 2 && n_code * 2 >= n_lines && signs * 40 >= text.len()
}

/// The sentences of a text, short ones joined; none when it is only one.
fn sentences(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(WHOLE)];
    let (name, said) = speaker(text);
    let least = if text.len() < SHORT { SENTENCE.0 } else { SENTENCE.1 };
    let (mut res, mut from) = (Vec::new(), 0);
    for (at, sign) in said.char_indices() {
        let end = at + sign.len_utf8();
        let ends =
            sign == '\n' || (".!?".contains(sign) && said[end..].starts_with(char::is_whitespace));
        if ends && said[from..end].trim().len() >= least {
            res.push(said[from..end].trim());
            from = end;
        }
    }
    res.extend(Some(said[from..].trim()).filter(|it| !it.is_empty()));
    if res.len() < 2 {
        return Vec::new();
    }
    res.iter().map(|it| format!("{name}{}", &it[..it.floor_char_boundary(LONGEST)])).collect()
}

/// The `Name: ` a text begins with, and the rest.
fn speaker(text: &str) -> (&str, &str) {
    match text.find(": ") {
        Some(at) if at <= NAME && !text[..at].contains(['\n', '.', ',']) => text.split_at(at + 2),
        _ => ("", text),
    }
}

/// Cuts a long text at the ends of lines, sentences or words, whichever is near.
fn split(text: &str) -> Vec<&str> {
    if text.len() <= WHOLE {
        return vec![text];
    }
    let mut res = Vec::new();
    let mut from = 0;
    while text.len() - from > PART {
        let piece = &text[from..text.floor_char_boundary(from + PART)];
        let half = piece.floor_char_boundary(PART / 2);
        let cut = ["\n", ". ", " "]
            .iter()
            .find_map(|it| piece[half..].rfind(it).map(|at| half + at + it.len()))
            .unwrap_or(piece.len());
        res.push(&text[from..from + cut]);
        let next = text.floor_char_boundary(from + cut - OVERLAP);
        from = text[next..from + cut].find(' ').map_or(from + cut, |at| next + at + 1);
    }
    res.push(&text[from..]);
    res
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

    #[test]
    fn several_sentences_are_embedded_each_with_who_said_it() {
        let text =
            "Ada: I moved the cache to redis last week. It was slow before, v1.2 especially! Yes.";
        assert_eq!(
            sentences(text),
            [
                "Ada: I moved the cache to redis last week.",
                "Ada: It was slow before, v1.2 especially!",
                "Ada: Yes.",
            ]
        );
        assert!(sentences("Only one sentence here.").is_empty());
        assert!(sentences("").is_empty());
        assert!(sentences(&"é".repeat(900)).is_empty());
    }

    #[test]
    fn code_is_told_from_prose_about_it() {
        assert!(is_code("def f(a):\n    \"\"\"Adds.\"\"\"\n    return a + 1\n"));
        assert!(is_code("fn main() {\n    let x = f(1);\n}\n"));
        for prose in [
            "verifyJwt() expects seconds, not milliseconds.",
            "Run the tests first.\nThen push.\nNever the other way round.",
            "The steps:\n- one\n- two",
            "",
        ] {
            assert!(!is_code(prose), "{prose}");
        }
    }
}
