//! Resources: a memory, a session or the module map by URI, as framed notes.

use engine::{Error, Explanation, Project, SessionExplanation, frame};
use rmcp::model::{Resource, ResourceTemplate};

/// Prefix of all resource URIs.
const URI_SCHEME: &str = "memory://";
const MODULE_MAP_URI: &str = "memory://module-map";
const TEXT_MIME_TYPE: &str = "text/plain";

/// Resources that need no id.
pub(crate) fn list_resources() -> Vec<Resource> {
    let about = "The modules of the project and its tools";
    let map = Resource::new(MODULE_MAP_URI, "module-map")
        .with_description(about)
        .with_mime_type(TEXT_MIME_TYPE);
    vec![map]
}

pub(crate) fn list_templates() -> Vec<ResourceTemplate> {
    let rows = [
        ("memory", "memory://memory/{id}", "One memory in full, with its evidence"),
        ("session", "memory://session/{id}", "Observations of a session that was learned from"),
    ];
    let template = |(name, address, about): (&str, &str, &str)| {
        ResourceTemplate::new(address, name).with_description(about).with_mime_type(TEXT_MIME_TYPE)
    };
    rows.into_iter().map(template).collect()
}

/// Reads a resource; `None` if the URI is unknown.
pub(crate) async fn read_resource(
    engine: &Project,
    address: &str,
) -> Result<Option<String>, Error> {
    if address == MODULE_MAP_URI {
        return match engine.code_graph().module_map().await {
            Ok(map) => Ok(Some(map.to_notes())),
            // The resource is listed, so reading it must succeed: the text says that there is no map yet.
            Err(Error::Refused { what, hint }) => {
                Ok(Some(hint.map_or_else(|| what.clone(), |it| format!("{what}; {it}"))))
            }
            Err(error) => Err(error),
        };
    }
    let Some((kind, id)) = address.strip_prefix(URI_SCHEME).and_then(|it| it.split_once('/'))
    else {
        return Ok(None);
    };
    let explained = match engine.session_history().explain(id).await {
        Ok(explained) => explained,
        Err(Error::NotFound { .. } | Error::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(match (kind, explained) {
        ("memory", Explanation::Memory { memory, sightings: witnesses, sessions }) => {
            let mut lines = vec![engine.injector().format_note(&memory)];
            lines.extend(
                memory
                    .files
                    .iter()
                    .map(|it| format!("file: {}", frame::neutralize_text(it.as_str()))),
            );
            lines.push(format!("status: {}", memory.status()));
            lines.push(format!("source: {}, confidence {}", memory.source, memory.confidence));
            lines.extend(witnesses.iter().map(|it| {
                let (signal, session) = (it.signal, it.session_id.short());
                format!("evidence: {signal} in session #{session}")
            }));
            lines.extend(sessions.iter().map(|it| {
                let touched = it.files.iter().map(|it| frame::neutralize_text(it.path.as_str()));
                let touched: Vec<String> = touched.collect();
                format!(
                    "evidence: session #{} touched {}",
                    it.session.id.short(),
                    touched.join(", ")
                )
            }));
            Some(frame_lines(&lines))
        }
        ("session", Explanation::Session(explanation)) => {
            Some(frame_lines(&format_session(&explanation)))
        }
        _ => None,
    })
}

fn format_session(explanation: &SessionExplanation) -> Vec<String> {
    let it = &explanation.session;
    let mut res = vec![format!("session #{}: {}", it.id.short(), it.outcome)];
    res.extend(
        explanation
            .files
            .iter()
            .map(|it| format!("touched: {}", frame::neutralize_text(it.path.as_str()))),
    );
    for it in &explanation.sightings {
        let text = it.evidence.quoted_text().unwrap_or_default();
        res.push(format!("seen: {} {}", it.signal, frame::neutralize_text(&text)));
    }
    res
}

fn frame_lines(lines: &[String]) -> String {
    format!("{}\n{}\n{}", frame::NOTES_HEADER, lines.join("\n"), frame::NOTES_FOOTER)
}
