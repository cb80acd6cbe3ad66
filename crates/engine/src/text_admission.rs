//! Admission of text: cleans every text, checks its length and searches it for secrets before it is
//! stored.
//!
//! Text that a user typed is refused or redacted, as the user chose. Text that comes from a program
//! is always masked, because no user is present to correct it. The crate `secrets` finds the secrets.

use model::{MAX_CONTENT, MAX_LABEL, clean_label, clean_text};

use crate::{Error, SecretLocation};

/// Handling of a text that holds a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSecret {
    /// Nothing is stored; the error names the location of the secret.
    Refuse,
    /// The secret is replaced by `[REDACTED: kind]`.
    Redact,
}

/// A text that may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmittedText {
    pub text: String,
    pub n_redacted: usize,
}

/// Admits the main text of a memory.
pub(crate) fn admit_content(text: &str, on_secret: OnSecret) -> Result<AdmittedText, Error> {
    admit_text("content", text, MAX_CONTENT, on_secret)
}

/// Admits a text of at most `limit` bytes. `part` names it in errors.
pub(crate) fn admit_text(
    part: &'static str,
    text: &str,
    limit: usize,
    on_secret: OnSecret,
) -> Result<AdmittedText, Error> {
    let text = clean_text(text, limit)?;
    let findings = secrets::scan(&text);
    if findings.is_empty() {
        return Ok(AdmittedText { text, n_redacted: 0 });
    }
    match on_secret {
        OnSecret::Refuse => Err(Error::Secret { places: locate_secrets(part, &text, &findings) }),
        OnSecret::Redact => {
            let redacted = secrets::redact(&text);
            // The mask can be longer than the secret, and the limit holds for the stored text.
            let text = clean_text(&redacted.text, limit)?;
            Ok(AdmittedText { text, n_redacted: redacted.findings.len() })
        }
    }
}

/// Refuses a short text that holds a secret. Short texts are stored verbatim, so there is no mask.
pub(crate) fn refuse_secret(part: &'static str, text: &str) -> Result<(), Error> {
    let findings = secrets::scan(text);
    if findings.is_empty() {
        return Ok(());
    }
    Err(Error::Secret { places: locate_secrets(part, text, &findings) })
}

/// Converts a short text that is not refused (a branch, a project's name, a reason) to one line of at
/// most `limit` characters, with its secrets masked.
pub(crate) fn mask_label(text: &str, limit: usize) -> String {
    clean_label(&secrets::redact(text).text, limit)
}

/// Masks the secrets in a text that no user typed. Unlike [`mask_label`], keeps its lines and
/// length.
pub(crate) fn mask_secrets_in_text(text: &mut String) {
    if !secrets::scan(text).is_empty() {
        *text = secrets::redact(text).text;
    }
}

/// Normalises labels (tags, module names) and drops duplicates. A secret in one is refused.
pub(crate) fn admit_labels(part: &'static str, given: &[String]) -> Result<Vec<String>, Error> {
    let mut labels: Vec<String> = Vec::new();
    for label in given {
        let label = clean_label(label, MAX_LABEL);
        // Cleaning removes control characters, so a label can become empty only now.
        if label.is_empty() {
            return Err(Error::Refused { what: format!("a {part} is empty"), hint: None });
        }
        refuse_secret(part, &label)?;
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Ok(labels)
}

fn locate_secrets(
    part: &'static str,
    text: &str,
    findings: &[secrets::SecretFinding],
) -> Vec<SecretLocation> {
    let location = |it: secrets::FindingPosition| SecretLocation {
        part,
        line: it.line,
        column: it.column,
        kind: it.kind,
        hint: it.hint,
    };
    secrets::locate_findings(text, findings).into_iter().map(location).collect()
}
