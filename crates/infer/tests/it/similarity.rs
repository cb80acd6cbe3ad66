//! The built-in model places a question closer to its answer than to unrelated texts.

use waylore_infer::BuiltInEmbedder;

/// A question, its answer in other words, and an unrelated text.
const ROWS: &[[&str; 3]] = &[
    [
        "how do I stop a test from hitting the network",
        "Unit tests must stub the HTTP client; real requests are refused in the pipeline.",
        "Invoices are numbered per calendar year and never reused.",
    ],
    [
        "login fails after an hour",
        "Access tokens expire after 60 minutes and the client does not renew them.",
        "Dates in the report are shown in the reader's own time zone.",
    ],
    [
        "why is the build slow",
        "Compilation takes eight minutes because the cache key contains the date.",
        "The colour of the button comes from the theme, not from the page.",
    ],
    [
        "function that checks whether an object can be looped over",
        "def is_iterable(x):\n    try:\n        iter(x)\n        return True\n    except TypeError:\n        return False",
        "def send_mail(to, body):\n    smtp.connect()\n    smtp.send(to, body)",
    ],
    [
        "two threads wait for each other forever",
        "Taking the cache lock inside the refresh callback leads to a deadlock.",
        "The installer asks for a folder and remembers the last one.",
    ],
];

#[test]
fn an_answer_is_closer_to_its_question_than_an_unrelated_text() {
    let embedder = BuiltInEmbedder::new();
    for [question, answer, other] in ROWS {
        let vectors = embedder.embed(&[question, answer, other]);
        let cosine = |i: usize| vectors[0].iter().zip(&vectors[i]).map(|(a, b)| a * b).sum::<f32>();
        assert!(cosine(1) > cosine(2), "{question}: {} against {}", cosine(1), cosine(2));
    }
}

#[test]
fn every_question_finds_its_answer_among_all_answers() {
    let embedder = BuiltInEmbedder::new();
    let questions = embedder.embed(&column(0));
    let answers = embedder.embed(&column(1));
    for (i, question) in questions.iter().enumerate() {
        let cosine = |it: &Vec<f32>| question.iter().zip(it).map(|(a, b)| a * b).sum::<f32>();
        let best =
            (0..answers.len()).max_by(|a, b| cosine(&answers[*a]).total_cmp(&cosine(&answers[*b])));
        assert_eq!(best, Some(i), "{}", ROWS[i][0]);
    }
}

fn column(i: usize) -> Vec<&'static str> {
    ROWS.iter().map(|it| it[i]).collect()
}
