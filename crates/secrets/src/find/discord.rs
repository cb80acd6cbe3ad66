//! Discord bot tokens: three parts of known lengths, without a keyword that would be rare enough.

use super::SecretClaim;
use crate::bytes::{ends_token, is_base64url, run_end, run_start, starts_token};
use crate::random::shannon_entropy;

/// Claims tokens around two dots seven bytes apart. These are rare, so all other tests come after
/// them.
pub(super) fn claim_discord(acc: &mut Vec<SecretClaim>, text: &[u8]) {
    let n = text.len().saturating_sub(7);
    for dot in (0..n).filter(|it| text[*it] == b'.' && text[it + 7] == b'.') {
        let start = run_start(text, dot, 27, is_base64url);
        let end = run_end(text, dot + 8, 39, is_base64url);
        // The first part is the bot's id in Base64: digits, whose encoding begins with one of these
        // letters.
        if (24..=26).contains(&(dot - start))
            && matches!(text[start], b'M' | b'N' | b'O')
            && text[dot + 1..dot + 7].iter().all(|it| is_base64url(*it))
            && (27..=38).contains(&(end - dot - 8))
            && starts_token(text, start)
            && ends_token(text, end)
            && shannon_entropy(&text[start..end]) >= 3500
        {
            acc.push(SecretClaim { kind: "discord-token", start, end });
        }
    }
}
