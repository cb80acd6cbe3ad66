//! Names of a claim that exist in the project, or no longer do.

use observe::code_words;

use crate::Claim;
use crate::feature::ClaimFeature;

/// The shortest part of a name that is looked up, in bytes.
const MIN_PART_BYTES: usize = 3;

/// Sets the features about the names of a claim. A name is known if all of its parts are words of the
/// project, and for a path if its last part is.
pub fn mark_known_names(claim: &mut Claim, is_word: impl Fn(&str) -> bool) {
    let names = code_words(&claim.text);
    if names.is_empty() {
        return;
    }
    let n_known = names.iter().filter(|it| is_known(it, &is_word)).count();
    claim.features.insert_if(ClaimFeature::NamesKnown, n_known == names.len());
    claim.features.insert_if(ClaimFeature::NamesGone, n_known * 2 < names.len());
}

fn is_known(name: &str, is_word: &impl Fn(&str) -> bool) -> bool {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    let parts = last.split(|it: char| !(it.is_alphanumeric() || it == '_'));
    parts
        .filter(|it| it.len() >= MIN_PART_BYTES && !it.bytes().all(|it| it.is_ascii_digit()))
        .all(is_word)
}
