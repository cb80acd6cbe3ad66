//! The walk: keywords wake finders, claims are merged, and the rest is looked at once more.

mod assign;
mod discord;
mod judge;
mod jwt;
mod link;
mod pem;
mod rule;
mod url;

use crate::Finding;
use crate::bytes::OPAQUE;
use crate::keyword::{Finder, INDEX};
use crate::{kind, mask};

/// What a finder takes for a secret. Claims of several finders may overlap.
#[derive(Debug, Clone, Copy)]
struct Claim {
    kind: &'static str,
    start: usize,
    end: usize,
}

/// A redaction can free its neighbour (a border that was none appears), so the text is looked at
/// again with what was found made opaque. Texts that need more than two looks are made, not met.
const LOOKS: usize = 16;

pub(crate) fn find(text: &str) -> Vec<Finding> {
    let mut bytes = mask::mask(text);
    let mut acc = Vec::new();
    for _ in 0..LOOKS {
        let found = merge(text, claims(&bytes));
        if found.is_empty() {
            break;
        }
        for it in &found {
            bytes.to_mut()[it.start..it.end].fill(OPAQUE);
        }
        acc.extend(found);
    }
    acc.sort_unstable_by_key(|it: &Finding| it.start);
    acc
}

fn claims(text: &[u8]) -> Vec<Claim> {
    let mut acc = Vec::new();
    for hit in INDEX.automaton.find_overlapping_iter(text) {
        let keyword = &INDEX.keywords[hit.pattern().as_usize()];
        if keyword.exact && &text[hit.range()] != keyword.text.as_bytes() {
            continue;
        }
        match keyword.finder {
            Finder::Rule(i) => rule::claim(&mut acc, text, hit.start(), i),
            Finder::Pem => pem::claim(&mut acc, text, hit.start()),
            Finder::EncodedPem => pem::claim_encoded(&mut acc, text, hit.start()),
            Finder::PuttyKey => pem::claim_putty(&mut acc, text, hit.start()),
            Finder::Jwt => jwt::claim(&mut acc, text, hit.start()),
            Finder::Url => url::claim(&mut acc, text, hit.start()),
            Finder::Word(word) => assign::claim(&mut acc, text, hit.range(), word),
            Finder::Service => assign::claim_service(&mut acc, text, hit.range()),
        }
    }
    discord::claim(&mut acc, text);
    acc
}

/// Joins claims that overlap: together they are one secret, named by the kind of highest rank.
fn merge(text: &str, mut claims: Vec<Claim>) -> Vec<Finding> {
    claims.sort_unstable_by_key(|it| (it.start, kind::rank(it.kind), it.end));
    let mut acc: Vec<Finding> = Vec::with_capacity(claims.len());
    for claim in claims {
        let start = text.floor_char_boundary(claim.start);
        let end = text.ceil_char_boundary(claim.end);
        match acc.last_mut() {
            Some(last) if start < last.end => {
                last.end = last.end.max(end);
                if kind::rank(claim.kind) < kind::rank(last.kind) {
                    last.kind = claim.kind;
                }
            }
            _ => acc.push(Finding { kind: claim.kind, start, end }),
        }
    }
    acc
}
