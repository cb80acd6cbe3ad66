//! Distinguishes random strings from words, names, dates and versions.
//!
//! Entropy alone does not: a long name has as much of it as a short key. A value is split at its
//! punctuation, and a piece counts as noise if letters and digits alternate often or if its pairs
//! of letters are rare in words. The finders for assignments decide by this; tokens of a known
//! format only need the entropy.
//!
//! ```text
//! 4f1c9e2ab77d0e35          random   letters and digits alternate twelve times
//! vzihlaquknriqlht          random   pairs such as `vz`, `zi`, `hl` are rare in words
//! claude-3-opus-20240229    a name   no piece between the hyphens is noise
//! ```
//!
//! The thresholds are heuristics; the tests of this file and of `tests/it` hold the names and the
//! keys that they must tell apart.

/// Longest part of a value that is judged; more would change no result and cost time.
const MAX_JUDGED_BYTES: usize = 256;
/// Least entropy of a random value, in thousandths of a bit per byte. Repeated patterns have less.
const MIN_RANDOM_ENTROPY: u32 = 2_200;
/// Least entropy of a value with many different punctuation characters.
const MIN_MIXED_ENTROPY: u32 = 4_500;
/// Least number of noisy bytes in a random value.
const MIN_NOISY_BYTES: usize = 8;
/// Shortest run of digits that counts as noise. Shorter ones are times, ids and phone numbers.
const MIN_NOISY_DIGITS: usize = 24;
/// Fewest pairs of letters by which a text can be judged.
const MIN_JUDGED_PAIRS: usize = 7;
/// Least share of noisy bytes in a random value, in percent. The rest may be a prefix such as
/// `prod-eu-`.
const MIN_NOISY_PERCENT: usize = 40;
/// Least share of pairs that are rare in words, in percent. Random letters have about 60, words 2.
const MIN_RARE_PAIR_PERCENT: usize = 30;

/// Lengths of a value with many different punctuation characters, as some generators make keys.
const MIXED_BYTES: std::ops::RangeInclusive<usize> = 32..=MAX_JUDGED_BYTES;
/// Least different punctuation characters of such a value. Code and URLs have fewer.
const MIN_PUNCTUATION_KINDS: usize = 7;
/// Least digits of such a value.
const MIN_MIXED_DIGITS: usize = 2;
/// Bytes per blank, at least. A sentence has punctuation, too, but more blanks.
const MIN_BYTES_PER_BLANK: usize = 16;

/// Shannon entropy of the first [`MAX_JUDGED_BYTES`] bytes, in thousandths of a bit per byte.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "entropy per byte lies between 0 and 8 bits"
)]
pub(crate) fn shannon_entropy(text: &[u8]) -> u32 {
    let text = &text[..text.len().min(MAX_JUDGED_BYTES)];
    let mut counts = [0u16; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let len: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    // The sum of -p · log2(p), where p is the share of a byte in the text.
    let mut bits = 0.0;
    for count in counts.iter().filter(|count| **count > 0) {
        let share = f64::from(*count) / len;
        bits += -share * share.log2();
    }
    (bits * 1000.0).round() as u32
}

/// True if a value of at least `min_bytes` bytes is generated rather than written.
///
/// The value is split at its punctuation and every piece is judged alone, so
/// `claude-3-opus-20240229` stays a name although it mixes letters and digits.
pub(crate) fn is_random(value: &[u8], min_bytes: usize) -> bool {
    let value = &value[..value.len().min(MAX_JUDGED_BYTES)];
    if value.len() < min_bytes
        || !value.iter().all(|it| is_token_byte(*it))
        || shannon_entropy(value) < MIN_RANDOM_ENTROPY
    {
        return false;
    }
    if is_uuid(value) {
        return true;
    }
    let mut n_noisy_bytes = 0;
    for piece in value.split(|it| is_separator(*it)) {
        if is_noisy(piece) {
            n_noisy_bytes += piece.len();
        }
    }
    n_noisy_bytes >= MIN_NOISY_BYTES && n_noisy_bytes * 100 >= value.len() * MIN_NOISY_PERCENT
}

const fn is_token_byte(it: u8) -> bool {
    it.is_ascii_alphanumeric() || is_separator(it)
}

const fn is_separator(it: u8) -> bool {
    matches!(it, b'-' | b'_' | b'.' | b':' | b'/' | b'+' | b'=' | b'~' | b'%' | b'!' | b'$')
}

/// True for a piece in which letters and digits alternate often, or whose letters form no word.
fn is_noisy(piece: &[u8]) -> bool {
    let n_digits = piece.iter().filter(|it| it.is_ascii_digit()).count();
    let n_letters = piece.len() - n_digits;
    if n_letters == 0 {
        return n_digits >= MIN_NOISY_DIGITS;
    }
    // Places where a letter follows a digit or a digit a letter: two in `Uint8Array`.
    let is_change = |pair: &&[u8]| pair[0].is_ascii_digit() != pair[1].is_ascii_digit();
    let n_changes = piece.windows(2).filter(is_change).count();
    // A name has a digit or two; a random piece has digits throughout. The fewer changes between
    // letters and digits, the more digits and length are required.
    let is_alternating = match n_changes {
        0 => false,
        // Some of both, in twelve bytes or more.
        1 => piece.len() >= 12 && n_digits >= 3 && n_letters >= 3,
        // At least one digit in three bytes, in eight bytes or more.
        2 => piece.len() >= 8 && n_digits * 3 >= piece.len(),
        // At least one digit in six bytes.
        _ => n_digits * 6 >= piece.len(),
    };
    is_alternating || is_gibberish(piece)
}

/// True if many pairs of adjacent letters are unusual in words. With fewer than eight letters there
/// is too little to judge.
pub(crate) fn is_gibberish(text: &[u8]) -> bool {
    let (mut n_pairs, mut n_rare) = (0, 0);
    for pair in text.windows(2) {
        if pair[0].is_ascii_alphabetic() && pair[1].is_ascii_alphabetic() {
            n_pairs += 1;
            n_rare += usize::from(!is_usual_pair(pair[0], pair[1]));
        }
    }
    n_pairs >= MIN_JUDGED_PAIRS && n_rare * 100 >= n_pairs * MIN_RARE_PAIR_PERCENT
}

fn is_usual_pair(first: u8, second: u8) -> bool {
    let row = usize::from(first.to_ascii_lowercase() - b'a');
    USUAL_FOLLOWERS[row].as_bytes().contains(&second.to_ascii_lowercase())
}

/// Letters that usually follow each letter of the alphabet: the pairs that make up at least one in
/// two thousand of the pairs in the distinct words of English prose and source code. Of random
/// letters about six pairs in ten are missing here, of words about one in fifty.
#[rustfmt::skip]
const USUAL_FOLLOWERS: [&str; 26] = [
    /* a */ "bcdgiklmnprstuvy", /* b */ "aeilorsu",         /* c */ "acehiklorstuy",
    /* d */ "adeilorsu",        /* e */ "acdefgilmnpqrstvwx", /* f */ "aefiloru",
    /* g */ "aeghinorsu",       /* h */ "aeiort",           /* i */ "abcdefglmnoprstvxz",
    /* j */ "eaou",             /* k */ "eis",              /* l */ "adeilostuy",
    /* m */ "abeimopsu",        /* n */ "acdefgiklnopstuv", /* o */ "abcdfgiklmnoprstuvw",
    /* p */ "aehiloprstuy",     /* q */ "u",                /* r */ "acdefgiklmnorstuvy",
    /* s */ "acehiklopstuy",    /* t */ "acdefhilmoprstuy", /* u */ "abcdegilmnprst",
    /* v */ "aeio",             /* w */ "aehinors",         /* x */ "ceipt",
    /* y */ "einpst",           /* z */ "e",
];

/// True if a value mixes letters, digits and many different punctuation characters, as some
/// generators make keys.
pub(crate) fn is_mixed_characters(value: &[u8]) -> bool {
    if !MIXED_BYTES.contains(&value.len()) {
        return false;
    }
    let mut punctuation: Vec<u8> = value.iter().copied().filter(u8::is_ascii_punctuation).collect();
    punctuation.sort_unstable();
    punctuation.dedup();
    let n_digits = value.iter().filter(|it| it.is_ascii_digit()).count();
    let has_all_classes =
        punctuation.len() >= MIN_PUNCTUATION_KINDS && n_digits >= MIN_MIXED_DIGITS;
    let n_blanks = value.iter().filter(|it| it.is_ascii_whitespace()).count();
    let is_sentence = n_blanks * MIN_BYTES_PER_BLANK > value.len();
    has_all_classes && !is_sentence && shannon_entropy(value) >= MIN_MIXED_ENTROPY
}

/// True for `8-4-4-4-12` hexadecimal digits.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(position, it)| match position {
            // Between the groups.
            8 | 13 | 18 | 23 => *it == b'-',
            _ => it.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::{is_gibberish, is_random};

    #[test]
    fn generated_values_are_random_and_names_are_not() {
        for it in [
            "aJHKLnSlGddwPR5g7jkWdT",
            "4f1c9e2ab77d0e35",
            "zpczok4kqgnw5prpfy3e",
            "q9k2vHJZ4BTG6A8l2mNK",
        ] {
            assert!(is_random(it.as_bytes(), 12), "{it}");
        }
        for it in [
            "claude-3-opus-20240229",
            "getAccessTokenFromHeader",
            "2026-01-15T10:22:33",
            "src/lib/sha256.rs",
            "v1.22.333-beta.4",
            "i18next-http-backend",
        ] {
            assert!(!is_random(it.as_bytes(), 12), "{it}");
        }
    }

    #[test]
    fn words_are_not_gibberish() {
        for it in ["authentication", "XMLHttpRequest", "idempotencyKey", "kubernetes"] {
            assert!(!is_gibberish(it.as_bytes()), "{it}");
        }
        assert!(is_gibberish(b"vzihlaquknriqlht"));
    }
}
