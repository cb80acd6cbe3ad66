//! The built-in model gives a text the same vector alone, in a batch, from many threads and after a
//! release.

use std::num::NonZero;
use std::thread;

use waylore_infer::{BuiltInEmbedder, DIMS};

/// Texts of mixed lengths, from empty to longer than the model reads.
fn texts() -> Vec<String> {
    let words = ["retry", "the", "upload", "of", "session", "tokens", "never", "before", "lock"];
    let text = |i: usize| {
        let n_words = [3, 40, 0, 150, 12, 1, 600, 25][i % 8];
        (0..n_words).map(|it| words[(i + it * it) % words.len()]).collect::<Vec<_>>().join(" ")
    };
    (0..24).map(text).collect()
}

fn embed(embedder: &BuiltInEmbedder, texts: &[String]) -> Vec<Vec<f32>> {
    embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_batch_gives_the_same_vectors_as_single_texts() {
    let texts = texts();
    for threads in [1, 3, 100] {
        let embedder = BuiltInEmbedder::with_threads(NonZero::new(threads).unwrap());
        let together = embed(&embedder, &texts);
        assert_eq!(together.len(), texts.len());
        for (vector, text) in together.iter().zip(&texts) {
            assert_eq!(*vector, embedder.embed_one(text));
        }
    }
}

#[test]
fn eight_threads_share_one_model() {
    let texts = texts();
    let embedder = BuiltInEmbedder::new();
    let expected = embed(&BuiltInEmbedder::new(), &texts);
    thread::scope(|scope| {
        for i in 0..8 {
            let (embedder, texts, expected) = (embedder.clone(), &texts, &expected);
            scope.spawn(move || {
                let start = i * 3;
                assert_eq!(embed(&embedder, &texts[start..start + 3]), expected[start..start + 3]);
                // Threads that are encoding keep the model they began with.
                embedder.release();
                assert_eq!(embed(&embedder, &texts[..3]), expected[..3]);
            });
        }
    });
}

#[test]
fn the_model_is_loaded_on_first_use_and_released_on_request() {
    let embedder = BuiltInEmbedder::new();
    assert!(!embedder.is_loaded());
    assert!(embedder.embed(&[]).is_empty());
    assert!(!embedder.is_loaded(), "an empty batch loads no model");

    let before = embedder.embed_one("the retry limit");
    assert!(embedder.clone().is_loaded());

    // Releasing twice does no harm, and the next text loads the model again.
    embedder.release();
    embedder.release();
    assert!(!embedder.is_loaded());
    assert_eq!(embedder.embed_one("the retry limit"), before);

    embedder.release();
    embedder.load_now();
    assert!(embedder.is_loaded());
}

#[test]
fn any_text_has_a_vector() {
    let megabyte = |it: &str| it.repeat((1 << 20) / it.len());
    let texts = [
        megabyte("x"),
        megabyte(" "),
        megabyte("🙂"),
        megabyte("lorem ipsum "),
        megabyte("\u{301}"),
        megabyte("\0"),
        "\u{202e}אבג\u{202c}".to_owned(),
    ];
    for vector in embed(&BuiltInEmbedder::new(), &texts) {
        assert_eq!(vector.len(), DIMS);
        assert!(vector.iter().all(|it| it.is_finite()));
    }
}

#[test]
fn text_beyond_the_token_limit_is_not_read() {
    let embedder = BuiltInEmbedder::new();
    // 510 tokens, which together with start and end token are the limit.
    let longest = " word".repeat(510);
    assert_eq!(embedder.embed_one(&longest), embedder.embed_one(&(longest.clone() + " and more")));
    assert_ne!(embedder.embed_one(&longest), embedder.embed_one(&longest[..longest.len() - 5]));
}
