//! Where secrets are, told without printing them.

use crate::Finding;

/// A finding for people: one-based line and column (in characters), and a hint that shows at most
/// four characters of the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
    pub kind: &'static str,
    pub hint: String,
}

/// A secret shorter than this shows no character: four of eight would be half of it.
const SHOWN_FROM: usize = 16;
const SHOWN: usize = 4;

/// The places of findings that `scan` returned for this text.
pub fn places(text: &str, findings: &[Finding]) -> Vec<Place> {
    let mut acc = Vec::with_capacity(findings.len());
    let (mut line, mut line_start, mut seen) = (1, 0, 0);
    for it in findings {
        for (i, _) in text[seen..it.start].match_indices('\n') {
            line += 1;
            line_start = seen + i + 1;
        }
        seen = it.start;
        let column = text[line_start..it.start].chars().count() + 1;
        acc.push(Place { line, column, kind: it.kind, hint: hint(&text[it.start..it.end]) });
    }
    acc
}

fn hint(secret: &str) -> String {
    let n_characters = secret.chars().count();
    let n_shown = if n_characters >= SHOWN_FROM { SHOWN } else { 0 };
    let shown: String = secret.chars().take(n_shown).collect();
    format!("{shown}…({n_characters} characters)")
}
