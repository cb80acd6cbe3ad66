//! Positions of secrets for messages to the user, without the secrets themselves.

use crate::SecretFinding;

/// A finding as messages show it: line and column from 1 (in characters), and a hint that reveals
/// at most four characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingPosition {
    pub line: usize,
    pub column: usize,
    pub kind: &'static str,
    pub hint: String,
}

/// Shortest secret whose first characters are shown: four of eight would be half of it.
const MIN_HINTED_CHARS: usize = 16;
/// Characters of a long secret that the hint shows.
const HINT_CHARS: usize = 4;

/// Positions of findings that `scan` returned for this text.
pub fn locate_findings(text: &str, findings: &[SecretFinding]) -> Vec<FindingPosition> {
    let mut acc = Vec::with_capacity(findings.len());
    let (mut line, mut line_start, mut counted_end) = (1, 0, 0);
    // Findings are sorted, so the lines are counted in one pass.
    for finding in findings {
        for (offset, _) in text[counted_end..finding.start].match_indices('\n') {
            line += 1;
            line_start = counted_end + offset + 1;
        }
        counted_end = finding.start;
        let column = text[line_start..finding.start].chars().count() + 1;
        let hint = secret_hint(&text[finding.start..finding.end]);
        acc.push(FindingPosition { line, column, kind: finding.kind, hint });
    }
    acc
}

fn secret_hint(secret: &str) -> String {
    let n_characters = secret.chars().count();
    let n_shown = if n_characters >= MIN_HINTED_CHARS { HINT_CHARS } else { 0 };
    let shown: String = secret.chars().take(n_shown).collect();
    format!("{shown}…({n_characters} characters)")
}
