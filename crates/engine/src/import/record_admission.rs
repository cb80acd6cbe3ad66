//! Record admission: cleans every text of an imported record, checks its length and searches it for
//! secrets. `import` reports the records that fail.

use model::{MAX_CONTENT, MAX_LABEL, Memory, clean_label, clean_text};

use crate::Error;
use crate::editing::clean_reason;
use crate::memory_texts::memory_texts;
use crate::text_admission::{OnSecret, admit_labels, admit_text, refuse_secret};

/// Longest payload, in bytes of JSON. Payloads hold several texts, hence more than one content.
const MAX_PAYLOAD_BYTES: usize = MAX_CONTENT * 8;
/// Longest short text, such as a branch or a symbol, in characters.
const MAX_SHORT_TEXT_CHARS: usize = 4 * MAX_LABEL;

/// Admits every text of a record. `on_secret` applies to the content; a secret in any other text
/// refuses the record. The error is a message for the import report.
pub(crate) fn admit_record(mut memory: Memory, on_secret: OnSecret) -> Result<Memory, String> {
    let content = admit_text("content", &memory.content, MAX_CONTENT, on_secret);
    memory.content = content.map_err(describe_problem)?.text;
    memory.tags = admit_labels("tag", &memory.tags).map_err(describe_problem)?;
    memory.modules = admit_labels("module", &memory.modules).map_err(describe_problem)?;
    if let Some(reason) = &memory.states.deprecated_reason {
        memory.states.deprecated_reason = Some(clean_reason(reason));
    }
    for text in short_texts(&mut memory) {
        *text = clean_label(text, MAX_SHORT_TEXT_CHARS);
    }
    if let Some(payload) = &memory.payload {
        clean_text(&payload.to_json().to_string(), MAX_PAYLOAD_BYTES)
            .map_err(|it| it.to_string())?;
    }
    // Summary and citation are injected into agents, so they are derived here and never taken from
    // a file.
    memory.summary = promote::compose_summary(&memory.content, &memory.kind);
    memory.citation = promote::compose_citation(&memory.content);
    // Last, so that the derived texts and the payload are searched as well.
    for (part, text) in memory_texts(&memory) {
        refuse_secret(part, &text).map_err(describe_problem)?;
    }
    Ok(memory)
}

/// Formats an error for the import report. A secret is described by its kind and position only.
fn describe_problem(error: Error) -> String {
    let Error::Secret { places } = error else { return error.to_string() };
    let places: Vec<String> =
        places.iter().map(|it| format!("{} ({}, line {})", it.kind, it.part, it.line)).collect();
    format!("holds what looks like a secret: {}", places.join(", "))
}

/// Lists the short texts of a memory: commit, branch, anchors and work unit.
fn short_texts(memory: &mut Memory) -> Vec<&mut String> {
    let mut texts = Vec::new();
    texts.extend(memory.commit.as_mut());
    texts.extend(memory.branch.as_mut());
    for anchor in &mut memory.anchors {
        texts.push(&mut anchor.symbol);
        texts.push(&mut anchor.hash);
    }
    if let Some(unit) = &mut memory.work_unit {
        texts.push(&mut unit.methodology);
        texts.push(&mut unit.label);
        texts.extend(&mut unit.hierarchy);
    }
    texts
}
