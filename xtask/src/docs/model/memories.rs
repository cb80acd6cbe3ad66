//! The sections about memories: types, sources, scopes, visibility, status, relations. Each function
//! appends headings and tables to `acc`, from a closed enum of the `model` crate (`ALL` lists its values)
//! and the texts below.

use model::{
    MemoryKind, MemoryScope, MemorySource, MemoryStatus, Payload, RelationKind, Visibility,
};

use super::payloads;
use crate::docs::markdown::{code, codes, json, section, subsection, table};

pub(super) fn render(acc: &mut String) {
    render_types(acc);
    render_sources(acc);
    render_labels(acc);
    render_relations(acc);
}

fn render_types(acc: &mut String) {
    section(
        acc,
        "Memory types",
        "What a memory is about. The label heads the line an agent sees. Unused for one half-life, a memory's \
         confidence counts half; for three, it is forgotten. A methodology may add types of its own, called \
         `custom:<plugin>.<name>`; any other word is an error.",
    );
    let row = |it: &MemoryKind| {
        let days = it.row().half_life_days;
        let half_life = days.map_or_else(|| "never decays".to_owned(), |it| format!("{it} days"));
        let fields = payloads::example(*it).map(|it| field_names(&it));
        let fields = fields.unwrap_or_else(|| "–".to_owned());
        [code(it), it.row().label.to_owned(), it.row().holds.to_owned(), half_life, fields]
    };
    table(acc, ["type", "label", "holds", "half-life", "payload"], MemoryKind::ALL.iter().map(row));
    subsection(
        acc,
        "Payloads",
        "Some types carry data beside their text. It is checked when it is written: a field that is \
         unknown, malformed, or missing where it is needed is refused. Fractions are thousandths.",
    );
    for kind in MemoryKind::ALL {
        if let Some(payload) = payloads::example(*kind) {
            acc.extend(["\n`", kind.slug(), "`\n"]);
            json(acc, &payload.to_json().to_string());
        }
    }
}

fn field_names(payload: &Payload) -> String {
    match payload {
        Payload::WorkState(_) => "any JSON object".to_owned(),
        other => codes(other.to_json().as_object().into_iter().flat_map(|it| it.keys())),
    }
}

fn render_sources(acc: &mut String) {
    section(acc, "Sources", "Origin of a memory, and its factor in the score.");
    let row = |it: &MemorySource| {
        let trust = format!("× {:.2}", f64::from(it.trust()) / 1000.0);
        [code(it), trust, source(*it).to_owned()]
    };
    table(acc, ["source", "trust", "means"], MemorySource::ALL.iter().map(row));
}

fn render_labels(acc: &mut String) {
    section(acc, "Scope", "Part of the project that a memory is about.");
    let rows = MemoryScope::ALL.iter().map(|it| [code(it), scope(*it).to_owned()]);
    table(acc, ["scope", "means"], rows);
    section(acc, "Visibility", "Readers of a memory, once there is more than one user.");
    let rows = Visibility::ALL.iter().map(|it| [code(it), visibility(*it).to_owned()]);
    table(acc, ["visibility", "means"], rows);
    section(
        acc,
        "Status",
        "State of a memory. If several apply, the first in this order is shown.",
    );
    let rows = MemoryStatus::ALL.iter().map(|it| [code(it), status(*it).to_owned()]);
    table(acc, ["status", "means"], rows);
}

fn render_relations(acc: &mut String) {
    section(acc, "Relations", "Relation of a memory to another memory or a file.");
    let rows = RelationKind::ALL.iter().map(|it| [code(it), relation(*it).to_owned()]);
    table(acc, ["relation", "means"], rows);
}

const fn source(source: MemorySource) -> &'static str {
    match source {
        MemorySource::UserTaught => "stated by a person",
        MemorySource::AgentExplicit => "recorded by an agent",
        MemorySource::QaAuto => "found by a failed check; not written yet",
        MemorySource::ToolAuto => "reported by a tool; not written yet",
        MemorySource::CommitAuto => "found in the history of the repository; not written yet",
        MemorySource::ObserverInferred => "inferred from the actions of agents",
    }
}

const fn scope(scope: MemoryScope) -> &'static str {
    match scope {
        MemoryScope::Global => "the whole project",
        MemoryScope::Module => "the modules it names",
        MemoryScope::WorkUnit => "one unit of work",
        MemoryScope::Session => "one session",
    }
}

const fn visibility(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Personal => "only its owner",
        Visibility::Project => "all contributors of the project",
        Visibility::Team => "the team, in all its projects",
        Visibility::Organization => "all members of the organization",
    }
}

const fn status(status: MemoryStatus) -> &'static str {
    match status {
        MemoryStatus::Deleted => "forgotten; can be restored for 30 days",
        MemoryStatus::Deprecated => "marked as wrong or outdated; stored for the record",
        MemoryStatus::Stale => {
            "the code it cites has changed or no longer exists; not shown to agents"
        }
        MemoryStatus::Tainted => {
            "based on external text; not shown to agents until a person approves it"
        }
        MemoryStatus::Candidate => {
            "a claim that is not sure: never told to an agent; a person, a second session or a model confirms it, \
             or it is dropped after 60 days"
        }
        MemoryStatus::NeedsReview => "not injected until it was confirmed or has proven useful",
        MemoryStatus::Live => "active",
    }
}

const fn relation(relation: RelationKind) -> &'static str {
    match relation {
        RelationKind::RequiredWith => "both are needed together",
        RelationKind::ConflictsWith => "both cannot be true",
        RelationKind::Validates => "this one confirms the other",
        RelationKind::Supersedes => "this one replaces the other, which is no longer shown",
        RelationKind::DerivedFrom => "this one is derived from the other, which stays valid",
    }
}
