//! Injection at hook events: the events, the confidence it needs, and the check of references.

use agents::{HookEvent, HookMessage};
use model::{MemoryStatus, TrialGroup, TrustLevel};
use waylore_engine::{
    Injection, InjectionPolicy, MemoryFilter, NewMemory, NotebookScope, OnDuplicate, OnSecret,
    Project, ProjectPolicy, RejectionReason, SilenceReason,
};

use crate::learning::{LearningFixture, parse_events_at};

const START: i64 = 1_794_000_000_000;

fn message(fixture: &LearningFixture, session: &str, event: HookEvent) -> HookMessage {
    let root = fixture.dir.path().join("project").display().to_string();
    let mut message = HookMessage::from_program(session.to_owned(), root, event);
    message.host = Some("claude-code");
    message
}

fn touched(path: &str) -> HookEvent {
    HookEvent::FilesTouched { paths: vec![path.to_owned()] }
}

/// A project with a gotcha about `a.rs`, anchored to its function.
fn project_with_gotcha(fixture: &LearningFixture) -> Project {
    let root = fixture.dir.path().join("project");
    std::fs::write(root.join("a.rs"), "fn verify() {}\nfn other() {}\n").unwrap();
    let mut project = fixture.open_project();
    let teaching = NewMemory {
        content: "verify() wants seconds".to_owned(),
        kind: Some("gotcha".to_owned()),
        scope: NotebookScope::Project,
        tags: Vec::new(),
        files: vec!["a.rs:verify".into()],
        modules: Vec::new(),
        cwd: root,
        pinned: false,
        on_secret: OnSecret::Refuse,
        on_duplicate: OnDuplicate::Keep,
        key: None,
        dry_run: false,
    };
    fixture.runtime.block_on(project.editor().remember(teaching)).unwrap();
    project
}

/// Injects as the daemon does: a prompt is searched by meaning, so new memories are embedded first.
fn inject(
    fixture: &LearningFixture,
    project: &Project,
    session: &str,
    event: HookEvent,
) -> Injection {
    let message = message(fixture, session, event);
    fixture.runtime.block_on(async {
        if project.injector().has_search_text(&message) {
            project.embedding_indexer().embed_before_search().await;
        }
        project.injector().inject(&message).await.unwrap()
    })
}

fn only(fixture: &LearningFixture, project: &Project) -> model::Memory {
    let filter = MemoryFilter::active(10);
    let mut all = fixture.runtime.block_on(project.retriever().list(&filter, None)).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0).memory
}

#[test]
fn a_preview_equals_the_injection() {
    let fixture = LearningFixture::new();
    let project = project_with_gotcha(&fixture);
    for event in [
        touched("a.rs"),
        HookEvent::SessionStart { compacted: false },
        HookEvent::Prompt { text: "verify() wants milliseconds, or does it?".to_owned() },
        HookEvent::Prompt { text: "go on".to_owned() },
        HookEvent::SessionEnd,
    ] {
        let message = message(&fixture, &format!("{event:?}"), event);
        let level = project.policy.injection.level;
        let preview =
            fixture.runtime.block_on(project.injector().preview(&message, level)).unwrap();
        let again = fixture.runtime.block_on(project.injector().preview(&message, level)).unwrap();
        let injection = fixture.runtime.block_on(project.injector().inject(&message)).unwrap();
        assert_eq!(
            (&preview.text, preview.silence),
            (&injection.text, injection.silence),
            "{message:?}"
        );
        assert_eq!(preview.text, again.text, "a preview records nothing");
        assert_eq!(preview.text.is_empty(), preview.silence.is_some());
    }
}

fn set_level(project: &mut Project, level: TrustLevel) {
    let injection = InjectionPolicy { level, ..project.policy.injection };
    project.set_policy(ProjectPolicy { injection, ..project.policy });
}

#[test]
fn the_trust_level_limits_events_and_confidence() {
    let fixture = LearningFixture::new();
    let mut project = project_with_gotcha(&fixture);
    set_level(&mut project, TrustLevel::Cautious);
    let injection = inject(&fixture, &project, "s1", touched("a.rs"));
    assert_eq!(
        injection.silence,
        Some(SilenceReason::TrustLevelTooLow),
        "only at the start of a session"
    );
    set_level(&mut project, TrustLevel::Standard);
    let mut unsure = only(&fixture, &project);
    let sure = inject(&fixture, &project, "s2", touched("a.rs"));
    assert!(sure.text.contains("wants seconds"), "{}", unsure.confidence);
    let edit = waylore_engine::MemoryEdit {
        content: None,
        kind: None,
        tags: None,
        files: None,
        modules: None,
        confidence: Some(model::PerMille::new(600)),
        cwd: fixture.dir.path().join("project"),
        on_secret: OnSecret::Refuse,
    };
    let id = unsure.id.to_string();
    fixture.runtime.block_on(project.editor().edit(&id, edit)).unwrap();
    unsure = only(&fixture, &project);
    let injection = inject(&fixture, &project, "s3", touched("a.rs"));
    assert_eq!(injection.silence, Some(SilenceReason::NoRelevantMemory), "{}", unsure.confidence);
    assert_eq!(injection.warnings.unwrap().excluded[0].1, RejectionReason::BelowTrustLevel);
    set_level(&mut project, TrustLevel::Confident);
    assert_ne!(inject(&fixture, &project, "s4", touched("a.rs")).text, "");
}

#[test]
fn notes_lost_in_a_compaction_are_injected_once_more() {
    let fixture = LearningFixture::new();
    let project = project_with_gotcha(&fixture);
    let shows =
        |event: HookEvent| inject(&fixture, &project, "s1", event).text.contains("wants seconds");
    let start = |compacted| HookEvent::SessionStart { compacted };
    assert!(!shows(start(false)), "it is about a file");
    assert!(shows(touched("a.rs")));
    assert!(!shows(start(false)), "a resumed session still has it");
    assert!(!shows(touched("a.rs")));
    assert!(shows(start(true)), "the conversation was compacted");
    assert!(!shows(touched("a.rs")), "it is in the conversation again");
    assert!(!shows(start(true)) && !shows(touched("a.rs")), "twice is enough");
    let other = message(&fixture, "s2", start(true));
    let injection =
        fixture.runtime.block_on(project.injector().inject(&other)).unwrap().into_text();
    assert!(injection.is_none_or(|it| !it.contains("wants seconds")), "it was never shown");
}

#[test]
fn a_memory_with_missing_symbols_is_withheld_and_flagged() {
    let fixture = LearningFixture::new();
    let mut project = project_with_gotcha(&fixture);
    let file = fixture.dir.path().join("project/a.rs");
    std::fs::write(&file, "fn other() {}\n").unwrap();
    let injection = inject(&fixture, &project, "s1", touched("a.rs"));
    assert_eq!(
        (injection.text.as_str(), injection.silence),
        ("", Some(SilenceReason::NoRelevantMemory))
    );
    let withheld = injection.withheld();
    assert_eq!(withheld, [(only(&fixture, &project).id, RejectionReason::SymbolsMissing)]);
    assert_eq!(
        fixture.runtime.block_on(project.editor().flag_missing_references(&withheld)).unwrap(),
        1
    );
    assert_eq!(only(&fixture, &project).status(), MemoryStatus::NeedsReview);
    assert_eq!(
        fixture.runtime.block_on(project.editor().flag_missing_references(&withheld)).unwrap(),
        0,
        "once"
    );
}

#[test]
fn a_trial_injects_less_into_some_sessions_and_records_the_groups() {
    let fixture = LearningFixture::new();
    let mut project = project_with_gotcha(&fixture);
    let project_id = project.project_state().id().unwrap().to_string();
    let in_group = |group: TrialGroup| {
        let names = (0..10_000).map(|it| format!("session {it}"));
        names.into_iter().find(|it| TrialGroup::assign_group(it, &project_id) == group).unwrap()
    };
    let control = in_group(TrialGroup::Control);
    assert_ne!(
        inject(&fixture, &project, &control, touched("a.rs")).text,
        "",
        "no trial is running"
    );
    project.set_policy(ProjectPolicy {
        injection: InjectionPolicy { on_trial: true, ..project.policy.injection },
        ..project.policy
    });
    let start =
        || HookEvent::Prompt { text: "does verify() want milliseconds or seconds".to_owned() };
    for (group, expected) in [
        (TrialGroup::Control, [false, false]),
        (TrialGroup::Passive, [true, false]),
        (TrialGroup::Full, [true, true]),
    ] {
        let session = in_group(group);
        let shown = [start(), touched("a.rs")].map(|it| {
            project.injector().mark_conversation_lost(&session).unwrap();
            inject(&fixture, &project, &session, it).text.contains("seconds")
        });
        assert_eq!(shown, expected, "{group}");
    }
    let start = format!(
        r#""event":"session_start","project_root":"/p","agent":"test","host_session":"{control}""#
    );
    let work = [start.as_str(), r#""event":"user_message","text":"do it""#];
    fixture
        .runtime
        .block_on(project.session_journal().record_events(&parse_events_at(START, 7, &work)))
        .unwrap();
    fixture.learn_journals(&mut project);
    let trial = fixture.runtime.block_on(project.maintenance().trial()).unwrap().unwrap();
    assert_eq!(
        trial.sessions,
        [(TrialGroup::Control, 1), (TrialGroup::Passive, 0), (TrialGroup::Full, 0)]
    );
}
