//! Discord bot tokens: three parts of known lengths, and no keyword that would be rare enough.

use super::Claim;
use crate::bytes::{ends_token, is_base64url, run, run_back, starts_token};
use crate::random::entropy;

/// Two dots seven bytes apart are rare; everything else is checked behind them.
pub(super) fn claim(acc: &mut Vec<Claim>, text: &[u8]) {
    let n = text.len().saturating_sub(7);
    for dot in (0..n).filter(|it| text[*it] == b'.' && text[it + 7] == b'.') {
        let start = run_back(text, dot, 27, is_base64url);
        let end = run(text, dot + 8, 39, is_base64url);
        // The first part is the bot's number in Base64, which begins with one of three letters.
        if (24..=26).contains(&(dot - start))
            && matches!(text[start], b'M' | b'N' | b'O')
            && text[dot + 1..dot + 7].iter().all(|it| is_base64url(*it))
            && (27..=38).contains(&(end - dot - 8))
            && starts_token(text, start)
            && ends_token(text, end)
            && entropy(&text[start..end]) >= 3500
        {
            acc.push(Claim { kind: "discord-token", start, end });
        }
    }
}
