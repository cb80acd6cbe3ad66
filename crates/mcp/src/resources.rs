//! Resources: a memory or a session by its address, as framed notes.

use engine::{Engine, Error, Explained, Told, frame};
use rmcp::model::{Resource, ResourceTemplate};

/// How an address of ours begins.
const SCHEME: &str = "memory://";
const MAP: &str = "memory://module-map";
const TEXT: &str = "text/plain";

/// What there is to read without knowing an id.
pub(crate) fn list() -> Vec<Resource> {
    let about = "The modules of the project and its tools";
    let map = Resource::new(MAP, "module-map").with_description(about).with_mime_type(TEXT);
    vec![map]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let rows = [
        ("memory", "memory://memory/{id}", "One memory, whole, with where it comes from"),
        ("session", "memory://session/{id}", "What was seen in a session that was learned from"),
    ];
    let template = |(name, address, about): (&str, &str, &str)| {
        ResourceTemplate::new(address, name).with_description(about).with_mime_type(TEXT)
    };
    rows.into_iter().map(template).collect()
}

/// Reads a resource; `None` when the address names nothing of ours.
pub(crate) async fn read(engine: &Engine, address: &str) -> Result<Option<String>, Error> {
    if address == MAP {
        return match engine.module_map().await {
            Ok(map) => Ok(Some(map.told())),
            // It is listed, so it can be read: what it says is that there is nothing yet.
            Err(Error::Refused { what, hint }) => {
                Ok(Some(hint.map_or_else(|| what.clone(), |it| format!("{what}; {it}"))))
            }
            Err(error) => Err(error),
        };
    }
    let Some((kind, id)) = address.strip_prefix(SCHEME).and_then(|it| it.split_once('/')) else {
        return Ok(None);
    };
    let explained = match engine.explain(id).await {
        Ok(explained) => explained,
        Err(Error::NotFound { .. } | Error::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(match (kind, explained) {
        ("memory", Explained::Memory { memory, witnesses, sessions }) => {
            let mut lines = vec![engine.framed_note(&memory)];
            lines.extend(
                memory.files.iter().map(|it| format!("file: {}", frame::neutral(it.as_str()))),
            );
            lines.push(format!("status: {}", memory.status()));
            lines.push(format!("source: {}, confidence {}", memory.source, memory.confidence));
            lines.extend(witnesses.iter().map(|it| {
                let (signal, session) = (it.sighting.signal, it.sighting.session.short());
                format!("evidence: {signal} in session #{session}")
            }));
            lines.extend(sessions.iter().map(|it| {
                let touched = it.files.iter().map(|it| frame::neutral(it.path.as_str()));
                let touched: Vec<String> = touched.collect();
                format!(
                    "evidence: session #{} touched {}",
                    it.session.id.short(),
                    touched.join(", ")
                )
            }));
            Some(framed(&lines))
        }
        ("session", Explained::Session(told)) => Some(framed(&session(&told))),
        _ => None,
    })
}

fn session(told: &Told) -> Vec<String> {
    let it = &told.session;
    let mut res = vec![format!("session #{}: {}", it.id.short(), it.outcome)];
    res.extend(
        told.files.iter().map(|it| format!("touched: {}", frame::neutral(it.path.as_str()))),
    );
    for it in &told.sightings {
        let text = it.evidence.text.as_deref().unwrap_or_default();
        res.push(format!("seen: {} {}", it.sighting.signal, frame::neutral(text)));
    }
    res
}

fn framed(lines: &[String]) -> String {
    format!("{}\n{}\n{}", frame::HEAD, lines.join("\n"), frame::FOOT)
}
