//! One record at the door: each of its texts is cleaned, measured and searched for secrets.

use model::{MAX_CONTENT, MAX_LABEL, Memory, clean_label, clean_text};

use crate::Error;
use crate::admit::{self, OnSecret};
use crate::texts::texts;

/// Passes every text of a record through the door.
pub(crate) fn admitted(memory: Memory, on_secret: OnSecret) -> Result<Memory, String> {
    let said = |it: Error| match it {
        Error::Secret { places } => {
            let at: Vec<String> = places
                .iter()
                .map(|it| format!("{} ({}, line {})", it.kind, it.part, it.line))
                .collect();
            format!("holds what looks like a secret: {}", at.join(", "))
        }
        other => other.to_string(),
    };
    let mut res = memory;
    res.content =
        admit::text_of("content", &res.content, MAX_CONTENT, on_secret).map_err(said)?.text;
    res.tags = admit::labels("tag", &res.tags).map_err(said)?;
    res.modules = admit::labels("module", &res.modules).map_err(said)?;
    if let Some(reason) = &res.states.deprecated_reason {
        res.states.deprecated_reason = Some(crate::change::reason(reason));
    }
    for text in small_texts(&mut res) {
        *text = clean_label(text, 4 * MAX_LABEL);
    }
    if let Some(payload) = &res.payload {
        clean_text(&payload.to_json().to_string(), MAX_CONTENT * 8).map_err(|it| it.to_string())?;
    }
    // The injected forms are always derived here, never taken from a file.
    res.summary = promote::summary(&res.content, &res.kind);
    res.citation = promote::citation(&res.content);
    for (part, text) in texts(&res) {
        admit::label(part, &text).map_err(said)?;
    }
    Ok(res)
}

/// The texts of a memory that nobody reads as text, but that are kept all the same.
fn small_texts(memory: &mut Memory) -> Vec<&mut String> {
    let mut res = Vec::new();
    res.extend(memory.commit.as_mut());
    res.extend(memory.branch.as_mut());
    for anchor in &mut memory.anchors {
        res.push(&mut anchor.symbol);
        res.push(&mut anchor.hash);
    }
    if let Some(unit) = &mut memory.work_unit {
        res.push(&mut unit.methodology);
        res.push(&mut unit.label);
        res.extend(&mut unit.hierarchy);
    }
    res
}
