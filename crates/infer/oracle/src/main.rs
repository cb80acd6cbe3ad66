//! Writes the fixture of the tokenizer test: tokenises the samples with the reference implementation,
//! the `tokenizers` crate, and stores a hash of the tokens per 200 samples.
//!
//! Run it in this folder after a change to the samples: `cargo run --release`. It reads the weights
//! file on its own and shares only the samples with the crate.

#[path = "../../src/tokenizer/letters.rs"]
mod letters;
#[path = "../../src/tokenizer/samples.rs"]
mod samples;

use std::collections::HashMap;
use std::error::Error;
use std::fs;

use ahash::AHashMap;
use tokenizers::Tokenizer;
use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

const PACK: &str = "../model/granite-embedding-30m-english.int8.pack";
const FIXTURE: &str = "../fixtures/tokens.txt";
/// Tokens that the model reads between start and end token.
const MAX_KEPT_TOKENS: usize = 510;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let tokenizer = tokenizer(&fs::read(PACK)?)?;
    let mut acc =
        String::from("# line = 200 samples; made by crates/infer/oracle with tokenizers 0.23.2\n");
    for line in 0..samples::N_SAMPLES / samples::SAMPLES_PER_LINE {
        let mut hash = 0;
        for seed in line * samples::SAMPLES_PER_LINE..(line + 1) * samples::SAMPLES_PER_LINE {
            let encoding = tokenizer.encode(samples::make_sample(seed), false)?;
            hash = samples::hash_tokens(hash, encoding.get_ids().iter().copied().take(MAX_KEPT_TOKENS));
        }
        acc.push_str(&format!("{hash:016x}\n"));
    }
    fs::write(FIXTURE, acc)?;
    Ok(())
}

/// The reference tokenizer with the vocabulary of the weights file.
fn tokenizer(pack: &[u8]) -> Result<Tokenizer, Box<dyn Error + Send + Sync>> {
    let header = 16 + usize::try_from(u64::from_le_bytes(pack[8..16].try_into()?))?;
    let short =
        |i: usize| u32::from(u16::from_le_bytes([pack[header + 2 * i], pack[header + 2 * i + 1]]));
    let letters = byte_letters();
    let mut names: HashMap<u32, String> =
        (0..256).map(|it| (short(it), letters[it].to_string())).collect();
    let mut merges = Vec::new();
    // After the 256 byte tokens, three ids per merge rule: left, right and merged token.
    for rule in 0..50_000 {
        let start = 256 + 3 * rule;
        let (left, right) = (names[&short(start)].clone(), names[&short(start + 1)].clone());
        names.insert(short(start + 2), format!("{left}{right}"));
        merges.push((left, right));
    }
    let vocabulary: AHashMap<String, u32> =
        names.into_iter().map(|(id, name)| (name, id)).collect();
    let model = BPE::builder().vocab_and_merges(vocabulary, merges).build()?;
    let mut res = Tokenizer::new(model);
    res.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
    Ok(res)
}

/// Byte-level tokens are written with a printable letter for every byte.
fn byte_letters() -> Vec<char> {
    let printable = |it: &u32| matches!(it, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut next = 0x100..;
    let letter = |it: u32| if printable(&it) { it } else { next.next().unwrap_or_default() };
    (0..256).map(letter).filter_map(char::from_u32).collect()
}
