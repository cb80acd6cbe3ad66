//! The one door for text: cleaned, measured, and searched for secrets before anything is kept.

use model::{MAX_CONTENT, MAX_LABEL, clean_label, clean_text};

use crate::{Error, SecretPlace};

/// What happens to a text that holds a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSecret {
    /// Nothing is saved; the person is shown where it stands.
    Refuse,
    /// It is replaced by `[REDACTED: kind]`.
    Redact,
}

/// A text that may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    pub text: String,
    pub redacted: usize,
}

pub(crate) fn content(text: &str, on_secret: OnSecret) -> Result<Admitted, Error> {
    text_of("content", text, MAX_CONTENT, on_secret)
}

pub(crate) fn text_of(
    part: &'static str,
    text: &str,
    limit: usize,
    on_secret: OnSecret,
) -> Result<Admitted, Error> {
    let text = clean_text(text, limit)?;
    let findings = secrets::scan(&text);
    if findings.is_empty() {
        return Ok(Admitted { text, redacted: 0 });
    }
    match on_secret {
        OnSecret::Refuse => Err(Error::Secret { places: places(part, &text, &findings) }),
        OnSecret::Redact => {
            let redacted = secrets::redact(&text);
            // The mask may be longer than the secret; the limit holds for what is kept.
            let text = clean_text(&redacted.text, limit)?;
            Ok(Admitted { text, redacted: redacted.findings.len() })
        }
    }
}

/// A short text that is kept as it is: a secret in it is always refused.
pub(crate) fn label(part: &'static str, text: &str) -> Result<(), Error> {
    let findings = secrets::scan(text);
    if findings.is_empty() {
        return Ok(());
    }
    Err(Error::Secret { places: places(part, text, &findings) })
}

/// A short text nobody is there to correct — a branch, a project's name, a reason — as it is kept: one
/// line, its secrets masked.
pub(crate) fn masked(text: &str, limit: usize) -> String {
    clean_label(&secrets::redact(text).text, limit)
}

/// Labels — tags, module names — in one form, each once; a secret in one is always refused.
pub(crate) fn labels(part: &'static str, given: &[String]) -> Result<Vec<String>, Error> {
    let mut res: Vec<String> = Vec::new();
    for label in given {
        let label = clean_label(label, MAX_LABEL);
        if label.is_empty() {
            return Err(Error::Refused { what: format!("a {part} is empty"), hint: None });
        }
        self::label(part, &label)?;
        if !res.contains(&label) {
            res.push(label);
        }
    }
    Ok(res)
}

fn places(part: &'static str, text: &str, findings: &[secrets::Finding]) -> Vec<SecretPlace> {
    let place = |it: secrets::Place| SecretPlace {
        part,
        line: it.line,
        column: it.column,
        kind: it.kind,
        hint: it.hint,
    };
    secrets::places(text, findings).into_iter().map(place).collect()
}
