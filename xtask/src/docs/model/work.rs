//! The sections about work: phases, methodologies, sessions, validation, trust. Each function appends
//! headings and tables to `acc`, from a table of the `model` crate.

use model::{
    DEFERRED_DAYS, InjectionTier, METHODOLOGIES, MemoryKind, Methodology, Phase,
    SESSION_TYPE_RULES, SessionOutcome, SessionType, TrustAdvance, TrustLevel, TrustRequirements,
    ValidationBasis, ValidationKind,
};

use crate::docs::markdown::{code, codes, section, subsection, table};

pub(super) fn render(acc: &mut String) {
    section(
        acc,
        "Phases",
        "Kind of the current work. The phase of a request decides which memories rank first; hooks rank as for \
         `implement`. An unknown word means `explore`.",
    );
    let rows = Phase::ALL.iter().map(|it| [code(it), it.description().to_owned()]);
    table(acc, ["phase", "means"], rows);
    render_methodologies(acc);
    render_sessions(acc);
    render_validation(acc);
    render_trust(acc);
}

fn render_methodologies(acc: &mut String) {
    section(
        acc,
        "Methodologies",
        "Ways of working. Each has words of its own for the phases, names for its units of work, and \
         handovers between agent roles. These tables are not used yet; only custom memory types are.",
    );
    for methodology in METHODOLOGIES {
        let title = format!("{} (`{}`)", methodology.name, methodology.slug);
        let levels = codes(methodology.levels);
        let example = methodology.work_unit(&["042", "3"]).map(|it| it.label).unwrap_or_default();
        let lead = format!("Units of work: {levels}, outermost first, shown as \"{example}\".");
        subsection(acc, &title, &lead);
        table(acc, ["phase", "its words"], phase_words(methodology));
        if !methodology.handovers.is_empty() {
            let rows = methodology.handovers.iter();
            let rows = rows.map(|it| [code(it.from), code(it.to), travels(it.carries)]);
            table(acc, ["from", "to", "memories passed on"], rows);
        }
    }
}

/// One row per phase for which the methodology has words.
fn phase_words(methodology: &Methodology) -> Vec<[String; 2]> {
    let mut rows = Vec::new();
    for phase in Phase::ALL {
        let own = methodology.words.iter().filter(|(_, word_phase)| word_phase == phase);
        let words = codes(own.map(|(word, _)| word));
        if !words.is_empty() {
            rows.push([code(phase), words]);
        }
    }
    rows
}

fn travels(kinds: &[MemoryKind]) -> String {
    if kinds == MemoryKind::ALL { "all types".to_owned() } else { codes(kinds) }
}

fn render_sessions(acc: &mut String) {
    section(acc, "Session types", "Purpose of a session. It decides what may be learned from it.");
    let rows = SessionType::ALL.iter().map(|it| [code(it), it.description().to_owned()]);
    table(acc, ["type", "means"], rows);
    acc.push_str("\nIf the host does not name the type, the first matching sign decides:\n");
    let rows =
        SESSION_TYPE_RULES.iter().map(|it| [it.description.to_owned(), code(it.session_type)]);
    let rest = ["anything else".to_owned(), code(SessionType::Terminal)];
    table(acc, ["sign", "type"], rows.chain([rest]));
    section(acc, "Outcomes", "Result of a session.");
    let rows = SessionOutcome::ALL.iter().map(|it| [code(it), it.description().to_owned()]);
    table(acc, ["outcome", "means"], rows);
}

fn render_validation(acc: &mut String) {
    section(
        acc,
        "Validation",
        &format!(
            "What was learned is kept only if the work holds. What an unvalidated session learned waits \
             {DEFERRED_DAYS} days."
        ),
    );
    let rows = ValidationBasis::ALL.iter().map(|it| [code(it), it.description().to_owned()]);
    table(acc, ["basis", "the work is valid because"], rows);
    acc.push_str("\nA host can report:\n");
    let rows = ValidationKind::ALL.iter().map(|it| [code(it), it.description().to_owned()]);
    table(acc, ["validation", "means"], rows);
}

fn render_trust(acc: &mut String) {
    section(
        acc,
        "Trust levels",
        "Limits for injected notes in a project. The proven fix of the error that just occurred is shown at any level. \
         A project begins at `standard`, and `trust.level` sets its level; the columns about sessions, reviews and the \
         next level are not applied yet.",
    );
    let row = |it: &TrustLevel| {
        let row = it.row();
        let from = row.from_session.map_or_else(|| "–".to_owned(), |it| format!("session {it}"));
        let review = row.review.description().to_owned();
        let above = format!("above {}", row.confidence_above);
        let level = format!("{} {}", row.number, code(it));
        [level, from, above, review, codes(row.proactive), advance(row.advance)]
    };
    table(
        acc,
        ["level", "from", "confidence", "review at session end", "injects at", "next level"],
        TrustLevel::ALL.iter().map(row),
    );
    acc.push_str("\nHook events at which notes may be injected:\n");
    let rows = InjectionTier::ALL.iter().map(|it| [code(it), it.description().to_owned()]);
    table(acc, ["tier", "when"], rows);
}

fn advance(advance: TrustAdvance) -> String {
    match advance {
        TrustAdvance::Earned(needs) => trust_needs(needs),
        TrustAdvance::OptIn => "only by the user's choice".to_owned(),
        TrustAdvance::Top => "–".to_owned(),
    }
}

fn trust_needs(needs: TrustRequirements) -> String {
    let percent = |it: model::PerMille| format!("{} %", it.get() / 10);
    let mut parts = vec![format!("{} sessions", needs.sessions)];
    if needs.confirmed > model::PerMille::ZERO {
        parts.push(format!("at least {} confirmed", percent(needs.confirmed)));
    }
    if needs.corrected_below < model::PerMille::ONE {
        parts.push(format!("less than {} corrected", percent(needs.corrected_below)));
    }
    match needs.corrections {
        0 => {}
        1 => parts.push("at least one correction made".to_owned()),
        n => parts.push(format!("at least {n} corrections made")),
    }
    parts.join(", ")
}
