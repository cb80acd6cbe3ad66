//! Distinguishes random strings from words, names, dates and versions.
//!
//! Entropy alone does not: a long name has as much of it as a short key. A value is split at its
//! punctuation, and a piece counts as noise if letters and digits alternate often or if its pairs
//! of letters are rare in words. The finders for assignments decide by this; tokens of a known
//! format only need the entropy.

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

/// Shannon entropy of the first [`MAX_JUDGED_BYTES`] bytes, in thousandths of a bit per byte.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "entropy per byte lies between 0 and 8 bits"
)]
pub(crate) fn shannon_entropy(text: &[u8]) -> u32 {
    let text = &text[..text.len().min(MAX_JUDGED_BYTES)];
    let mut counts = [0u16; 256];
    for it in text {
        counts[usize::from(*it)] += 1;
    }
    let len: f64 = counts.iter().map(|it| f64::from(*it)).sum();
    let shares = counts.iter().filter(|it| **it > 0).map(|it| f64::from(*it) / len);
    let bits: f64 = shares.map(|it| -it * it.log2()).sum();
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
    let n_noisy: usize =
        value.split(|it| is_separator(*it)).filter(|it| is_noisy(it)).map(<[u8]>::len).sum();
    // At least two fifths of the value must be noise.
    n_noisy >= MIN_NOISY_BYTES && n_noisy * 5 >= value.len() * 2
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
    let n_changes =
        piece.windows(2).filter(|it| it[0].is_ascii_digit() != it[1].is_ascii_digit()).count();
    // A name has a digit or two (`Uint8Array`); a random piece has digits throughout. The fewer
    // changes between letters and digits, the more digits and length are required.
    // Three changes or more: at least one digit in six bytes.
    (n_changes >= 3 && n_digits * 6 >= piece.len())
        // Two changes: at least one digit in three bytes, in eight bytes or more.
        || (n_changes == 2 && n_digits * 3 >= piece.len() && piece.len() >= 8)
        // One change: some of both, in twelve bytes or more.
        || (n_changes == 1 && piece.len() >= 12 && n_digits >= 3 && n_letters >= 3)
        || is_gibberish(piece)
}

/// True if at least three in ten pairs of adjacent letters are unusual in words. With fewer than
/// eight letters there is too little to judge.
pub(crate) fn is_gibberish(text: &[u8]) -> bool {
    let (mut n_pairs, mut n_rare) = (0, 0);
    for pair in text.windows(2) {
        if pair[0].is_ascii_alphabetic() && pair[1].is_ascii_alphabetic() {
            n_pairs += 1;
            n_rare += usize::from(!is_usual_pair(pair[0], pair[1]));
        }
    }
    n_pairs >= MIN_JUDGED_PAIRS && n_rare * 10 >= n_pairs * 3
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
    let mut punctuation: Vec<u8> = value.iter().copied().filter(u8::is_ascii_punctuation).collect();
    punctuation.sort_unstable();
    punctuation.dedup();
    // A sentence has punctuation, too, but more blanks than one in sixteen bytes.
    let n_blanks = value.iter().filter(|it| it.is_ascii_whitespace()).count();
    (32..=MAX_JUDGED_BYTES).contains(&value.len())
        && punctuation.len() >= 7
        && n_blanks * 16 <= value.len()
        && value.iter().filter(|it| it.is_ascii_digit()).count() >= 2
        && shannon_entropy(value) >= MIN_MIXED_ENTROPY
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
