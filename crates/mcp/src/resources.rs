//! Resources: a memory, a session or the module map by URI, for example `memory://memory/1a2b3c4d`. A
//! client reads them on request of its user or agent.
//!
//! All texts come from memories and files, which are not trusted. So they are *framed* (put into a block
//! that marks them as data) and *neutralised* (nothing in them can pass for the end of that block, and
//! text that reads like an instruction is withheld). The texts of a memory, a session or a finding are framed
//! here; `ModuleMap::to_notes` frames the module map.
//!
//! A *sighting* is the occurrence of a pattern in one session, for example an error and its fix; its
//! `signal` names the kind of pattern. Sightings are the evidence for learned memories. A *finding* is what
//! sightings show before it is a memory; it is read like a memory, by the id that its notes carry.

use engine::model_text::{
    NOTES_FOOTER, NOTES_HEADER, TextOrigin, neutralize_foreign_text, neutralize_text,
};
use engine::{Error, ExplainedSighting, Explanation, Finding, Project, SessionExplanation};
use model::SignalKind;
use rmcp::model::{Resource, ResourceTemplate};

/// Prefix of all resource URIs.
const URI_SCHEME: &str = "memory://";
const MODULE_MAP_URI: &str = "memory://module-map";
const TEXT_MIME_TYPE: &str = "text/plain";

/// Resources that need no id.
pub(crate) fn list_resources() -> Vec<Resource> {
    let module_map = Resource::new(MODULE_MAP_URI, "module-map")
        .with_description("The modules of the project and its tools")
        .with_mime_type(TEXT_MIME_TYPE);
    vec![module_map]
}

/// URI templates of the resources that need an id.
pub(crate) fn list_templates() -> Vec<ResourceTemplate> {
    let rows = [
        // A finding, too.
        ("memory", "memory://memory/{id}", "One memory in full, with its evidence"),
        ("session", "memory://session/{id}", "Observations of a session that was learned from"),
    ];
    let to_template = |(name, uri, description): (&str, &str, &str)| {
        ResourceTemplate::new(uri, name)
            .with_description(description)
            .with_mime_type(TEXT_MIME_TYPE)
    };
    rows.into_iter().map(to_template).collect()
}

/// Reads a resource; `None` if the URI is unknown: also for an id that is malformed, or that nothing has.
/// An ambiguous beginning of an id is an error that lists the ids.
pub(crate) async fn read_resource(project: &Project, uri: &str) -> Result<Option<String>, Error> {
    if uri == MODULE_MAP_URI {
        return match project.code_graph().module_map().await {
            Ok(map) => Ok(Some(map.to_notes())),
            // The resource is listed, so reading it must succeed: the text is then the message that
            // there is no map yet.
            Err(Error::Refused { what, hint: Some(hint) }) => Ok(Some(format!("{what}; {hint}"))),
            Err(Error::Refused { what, hint: None }) => Ok(Some(what)),
            Err(error) => Err(error),
        };
    }
    let path = uri.strip_prefix(URI_SCHEME);
    let Some((kind, id)) = path.and_then(|it| it.split_once('/')) else { return Ok(None) };
    // `explain` takes the id of a memory or of a session and returns what it found.
    let explanation = match project.session_history().explain(id).await {
        Ok(explanation) => explanation,
        Err(Error::NotFound { .. } | Error::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(match (kind, explanation) {
        ("memory", Explanation::Memory { memory, sightings, sessions }) => {
            let mut lines = vec![project.injector().format_note(&memory)];
            for file in &memory.files {
                lines.push(format!("file: {}", neutralize_foreign_text(file.as_str())));
            }
            lines.push(format!("status: {}", memory.status()));
            lines.push(format!("source: {}, confidence {}", memory.source, memory.confidence));
            for sighting in &sightings {
                let (signal, session) = (sighting.signal, sighting.session_id.short());
                lines.push(format!("evidence: {signal} in session #{session}"));
            }
            for contributing in &sessions {
                let touched: Vec<String> = contributing
                    .files
                    .iter()
                    .map(|it| neutralize_foreign_text(it.path.as_str()))
                    .collect();
                let (session, touched) = (contributing.session.id.short(), touched.join(", "));
                lines.push(format!("evidence: session #{session} touched {touched}"));
            }
            Some(frame_lines(&lines))
        }
        ("session", Explanation::Session(session)) => Some(frame_lines(&format_session(&session))),
        ("memory", Explanation::Finding(finding)) => Some(frame_lines(&format_finding(&finding))),
        // The id of a session under `memory`, that of a memory under `session`, or an unknown kind.
        (_, Explanation::Memory { .. } | Explanation::Session(_) | Explanation::Finding(_)) => None,
    })
}

fn format_session(explanation: &SessionExplanation) -> Vec<String> {
    let session = &explanation.session;
    let mut res = vec![format!("session #{}: {}", session.id.short(), session.outcome)];
    for file in &explanation.files {
        res.push(format!("touched: {}", neutralize_foreign_text(file.path.as_str())));
    }
    res.extend(explanation.sightings.iter().map(format_sighting));
    res
}

/// The fix of an error that is no memory yet; notes carry its id.
fn format_finding(finding: &Finding) -> Vec<String> {
    let state = if finding.is_dismissed { ", dismissed" } else { "" };
    let mut res =
        vec![format!("fix #{} of an error, seen once: not a memory yet{state}", finding.id)];
    res.extend(finding.sightings.iter().map(format_sighting));
    res
}

fn format_sighting(sighting: &ExplainedSighting) -> String {
    let text = sighting.evidence.quoted_text().unwrap_or_default();
    let origin = match sighting.signal {
        _ if sighting.tainted => TextOrigin::Tainted,
        // Most claims are candidates, which no agent is told of.
        SignalKind::Claim => TextOrigin::Candidate,
        _ => TextOrigin::Unconfirmed,
    };
    format!("seen: {} {}", sighting.signal, neutralize_text(&text, origin))
}

fn frame_lines(lines: &[String]) -> String {
    format!("{}\n{}\n{}", NOTES_HEADER, lines.join("\n"), NOTES_FOOTER)
}
