//! The search: keywords trigger finders, their claims are merged, and the rest of the text is
//! searched again.
//!
//! One automaton finds all keywords in one pass over the text. At each keyword a finder looks
//! closer: a regular expression of the rule tables (`rule`), or a parser for secrets without a
//! fixed shape (the other modules). A finder claims a span. Where claims overlap, the kind of the
//! highest rank names the result. `scan` and `redact` in `lib.rs` return the results:
//!
//! ```text
//! text      export DB_PASSWORD=x7Kq…
//! keyword   `password`, at which `assignment` looks closer
//! finding   { kind: "password", start: 19, end: … }     the value, not its name
//! ```

mod assignment;
mod assignment_parser;
mod discord;
mod jwt;
mod pem;
mod rule;
mod url;
mod value_check;

use crate::SecretFinding;
use crate::bytes::OPAQUE_BYTE;
use crate::keyword_index::{FinderKind, KEYWORD_INDEX};
use crate::{kind, redaction_mask};

/// A span that a finder considers a secret. Claims of several finders may overlap.
#[derive(Debug, Clone, Copy)]
struct SecretClaim {
    kind: &'static str,
    start: usize,
    end: usize,
}

/// Most passes over a text. A redaction can expose its neighbour, because a word border appears
/// where there was none. So the text is searched again with the findings made opaque. Texts that
/// need more than two passes are constructed, not real.
const MAX_PASSES: usize = 16;

/// The finders that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FinderScope {
    All,
    /// Only finders of formats that no other text has. A value that is secret because of the name
    /// before it (`password=…`) is not found.
    KnownFormats,
}

/// Finds all secrets of a scope, in order and without overlap.
pub(crate) fn find_secrets(text: &str, scope: FinderScope) -> Vec<SecretFinding> {
    // Finders see this copy, in which redactions and earlier findings are opaque.
    let mut bytes = redaction_mask::mask_redactions(text);
    let mut acc = Vec::new();
    for _ in 0..MAX_PASSES {
        let found = merge_claims(text, collect_claims(&bytes, scope));
        if found.is_empty() {
            break;
        }
        for finding in &found {
            bytes.to_mut()[finding.start..finding.end].fill(OPAQUE_BYTE);
        }
        acc.extend(found);
    }
    acc.sort_unstable_by_key(|it: &SecretFinding| it.start);
    acc
}

/// Runs every finder of the scope whose keyword occurs.
fn collect_claims(text: &[u8], scope: FinderScope) -> Vec<SecretClaim> {
    let mut acc = Vec::new();
    for hit in KEYWORD_INDEX.automaton.find_overlapping_iter(text) {
        let keyword = &KEYWORD_INDEX.keywords[hit.pattern().as_usize()];
        // The automaton ignores case for all keywords, because one is cheaper than two.
        if keyword.is_case_sensitive && &text[hit.range()] != keyword.text.as_bytes() {
            continue;
        }
        // Each finder pushes a claim to `acc` if it recognises a secret at the keyword.
        match keyword.finder {
            FinderKind::Rule(index) => rule::claim_rule(&mut acc, text, hit.start(), index),
            FinderKind::Pem => pem::claim_pem(&mut acc, text, hit.start()),
            FinderKind::EncodedPem => pem::claim_encoded(&mut acc, text, hit.start()),
            FinderKind::PuttyKey => pem::claim_putty(&mut acc, text, hit.start()),
            FinderKind::Jwt => jwt::claim_jwt(&mut acc, text, hit.start()),
            FinderKind::Url => url::claim_password(&mut acc, text, hit.start()),
            // The other finders judge a value by the name beside it, which this scope excludes.
            FinderKind::Word(_) | FinderKind::Service if scope == FinderScope::KnownFormats => {}
            FinderKind::Word(word) => assignment::claim_word(&mut acc, text, hit.range(), word),
            FinderKind::Service => assignment::claim_service(&mut acc, text, hit.range()),
        }
    }
    // A Discord token has no keyword, so its finder scans by itself.
    discord::claim_discord(&mut acc, text);
    acc
}

/// Joins overlapping claims to one secret, named by the kind of the highest rank.
fn merge_claims(text: &str, mut claims: Vec<SecretClaim>) -> Vec<SecretFinding> {
    claims.sort_unstable_by_key(|it| (it.start, kind::kind_rank(it.kind), it.end));
    let mut acc: Vec<SecretFinding> = Vec::with_capacity(claims.len());
    for claim in claims {
        // Finders work on bytes and may stop inside a character.
        let start = text.floor_char_boundary(claim.start);
        let end = text.ceil_char_boundary(claim.end);
        match acc.last_mut() {
            // Overlaps the claim before it.
            Some(last) if start < last.end => {
                last.end = last.end.max(end);
                if kind::kind_rank(claim.kind) < kind::kind_rank(last.kind) {
                    last.kind = claim.kind;
                }
            }
            _ => acc.push(SecretFinding { kind: claim.kind, start, end }),
        }
    }
    acc
}
