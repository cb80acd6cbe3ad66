//! One record at the door: each of its texts is cleaned, measured and searched for secrets.

use model::{MAX_CONTENT, MAX_LABEL, Memory, clean_label, clean_text};

use crate::Error;
use crate::admit::{self, OnSecret};

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
    for (part, text) in small_texts(&mut res) {
        admit::label(part, text).map_err(said)?;
        *text = clean_label(text, 4 * MAX_LABEL);
    }
    for path in &res.files {
        admit::label("file", path.as_str()).map_err(said)?;
    }
    admit::label("author", &res.created_by.to_string()).map_err(said)?;
    if let Some(payload) = &res.payload {
        let text = clean_text(&payload.to_json().to_string(), MAX_CONTENT * 8)
            .map_err(|it| it.to_string())?;
        if !secrets::scan(&text).is_empty() {
            return Err("its payload holds what looks like a secret".to_owned());
        }
    }
    // The injected forms are always derived here, never taken from a file.
    res.summary = promote::summary(&res.content, &res.kind);
    res.citation = promote::citation(&res.content);
    Ok(res)
}

/// The texts of a memory that nobody reads as text, but that are kept all the same.
fn small_texts(memory: &mut Memory) -> Vec<(&'static str, &mut String)> {
    let mut res = Vec::new();
    res.extend(memory.commit.as_mut().map(|it| ("commit", it)));
    res.extend(memory.branch.as_mut().map(|it| ("branch", it)));
    for anchor in &mut memory.anchors {
        res.push(("anchor", &mut anchor.symbol));
        res.push(("anchor", &mut anchor.hash));
    }
    if let Some(unit) = &mut memory.work_unit {
        res.push(("work unit", &mut unit.methodology));
        res.push(("work unit", &mut unit.label));
        res.extend(unit.hierarchy.iter_mut().map(|it| ("work unit", it)));
    }
    res
}
