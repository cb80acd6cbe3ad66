//! Injection at hook events: which events inject notes, the confidence that a trust level requires,
//! notes that were shown already, missing references, and the A/B trial.
//!
//! A *hook event* is what a host such as Claude Code reports while an agent works. In most tests the
//! project has a gotcha about the function `verify` in `a.rs`:
//!
//! ```text
//! FilesTouched { a.rs }   the first time in a session   a note: verify() wants seconds
//! FilesTouched { a.rs }   the second time               nothing, the note was shown
//! ```

use std::path::Path;

use agents::{HookEvent, HookMessage};
use model::{MemoryStatus, Phase, TrialGroup, TrustLevel};
use waylore_engine::{
    ContextRequest, Injection, InjectionPolicy, MemoryEdit, MemoryFilter, NewMemory, NotebookScope,
    OmissionReason, OnDuplicate, OnSecret, Project, ProjectPolicy, RejectionReason, SilenceReason,
    TaskProgress, TranscriptTrust, transcripts_at_paths,
};

use crate::learning::{LearningFixture, START, parse_events_at};

/// The message of a hook of Claude Code.
fn message(fixture: &LearningFixture, session: &str, event: HookEvent) -> HookMessage {
    let root = fixture.root().display().to_string();
    let mut message = HookMessage::from_program(session.to_owned(), root, event);
    message.host = Some("claude-code");
    message
}

/// The event of an agent that reads or edits a file.
fn touched(path: &str) -> HookEvent {
    HookEvent::FilesTouched { paths: vec![path.to_owned()] }
}

/// A statement of a type that the user makes on the command line.
fn statement(fixture: &LearningFixture, kind: &str, content: &str) -> NewMemory {
    NewMemory {
        content: content.to_owned(),
        kind: Some(kind.to_owned()),
        scope: NotebookScope::Project,
        tags: Vec::new(),
        files: Vec::new(),
        modules: Vec::new(),
        payload: None,
        cwd: fixture.root(),
        pinned: false,
        on_secret: OnSecret::Refuse,
        origin: waylore_engine::StatementOrigin::Command,
        on_duplicate: OnDuplicate::Keep,
        key: None,
        dry_run: false,
    }
}

/// A project with a gotcha about `a.rs`, anchored to its function.
fn project_with_gotcha(fixture: &LearningFixture) -> Project {
    std::fs::write(fixture.root().join("a.rs"), "fn verify() {}\nfn other() {}\n").unwrap();
    let mut project = fixture.open_project();
    let gotcha = statement(fixture, "gotcha", "verify() wants seconds");
    let gotcha = NewMemory { files: vec!["a.rs:verify".into()], ..gotcha };
    fixture.run(project.editor().remember(gotcha));
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
            project.embedding_indexer().embed_new_memories().await;
        }
        project.injector().inject(&message).await.unwrap()
    })
}

/// Learns a fix as the only memory: the two sessions of the database met the same error (`git show --no-stat`)
/// and fixed it in the same way (`git show --stat`).
fn learn_fix(fixture: &LearningFixture, project: &mut Project) {
    let database = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode.db");
    for transcript in transcripts_at_paths(&[database], None, &|_| TranscriptTrust::Own).unwrap() {
        let parsed = project.session_history().read_transcript(&transcript).unwrap().unwrap();
        fixture.run(project.learner().learn_session(&parsed.pad)).unwrap();
    }
}

/// The end of a command that met the error of `learn_fix`.
fn failed_git_show() -> HookEvent {
    HookEvent::CommandEnded {
        command: "git show --no-stat HEAD".to_owned(),
        output: "fatal: unrecognized argument: --no-stat".to_owned(),
    }
}

/// The only active memory.
fn only_memory(fixture: &LearningFixture, project: &Project) -> model::Memory {
    let filter = MemoryFilter::active(10);
    let mut all = fixture.run(project.retriever().list(&filter, None));
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
        let preview = fixture.run(project.injector().preview(&message, level));
        let again = fixture.run(project.injector().preview(&message, level));
        let injection = fixture.run(project.injector().inject(&message));
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

    // Cautious: nothing is injected for files.
    set_level(&mut project, TrustLevel::Cautious);
    let injection = inject(&fixture, &project, "s1", touched("a.rs"));
    assert_eq!(
        injection.silence,
        Some(SilenceReason::TrustLevelTooLow),
        "only at the start of a session"
    );

    // Standard: a confident memory is injected, one of confidence 0.6 is not.
    set_level(&mut project, TrustLevel::Standard);
    let injection = inject(&fixture, &project, "s2", touched("a.rs"));
    assert!(injection.text.contains("wants seconds"), "{}", injection.text);
    let edit = MemoryEdit {
        content: None,
        kind: None,
        tags: None,
        files: None,
        modules: None,
        confidence: Some(model::PerMille::new(600)),
        cwd: fixture.root(),
        on_secret: OnSecret::Refuse,
    };
    let id = only_memory(&fixture, &project).id.to_string();
    fixture.run(project.editor().edit(&id, edit));
    let injection = inject(&fixture, &project, "s3", touched("a.rs"));
    assert_eq!(injection.silence, Some(SilenceReason::NoRelevantMemory));
    assert_eq!(injection.warnings.unwrap().excluded[0].1, RejectionReason::BelowTrustLevel);

    // Confident: the same memory is injected.
    set_level(&mut project, TrustLevel::Confident);
    assert_ne!(inject(&fixture, &project, "s4", touched("a.rs")).text, "");
}

#[test]
fn notes_lost_in_a_compaction_are_injected_once_more_after_each() {
    let fixture = LearningFixture::new();
    let project = project_with_gotcha(&fixture);
    let shows =
        |event: HookEvent| inject(&fixture, &project, "s1", event).text.contains("wants seconds");
    let start = |compacted| HookEvent::SessionStart { compacted };

    // The note is shown once, when its file is touched.
    assert!(!shows(start(false)), "the note is about a file, not for the start");
    assert!(shows(touched("a.rs")));
    assert!(!shows(start(false)), "a resumed session still has the note");
    assert!(!shows(touched("a.rs")));

    // After each compaction it is shown once more.
    for nth in 1..=3 {
        assert!(shows(start(true)), "compaction {nth}");
        assert!(!shows(touched("a.rs")), "the note is in the conversation again");
    }

    // Another session that was compacted without having seen the note.
    let other = message(&fixture, "s2", start(true));
    let injection = fixture.run(project.injector().inject(&other)).into_text();
    assert!(injection.is_none_or(|it| !it.contains("wants seconds")), "{other:?}");
}

#[test]
fn a_memory_with_missing_symbols_is_withheld_and_flagged() {
    let fixture = LearningFixture::new();
    let mut project = project_with_gotcha(&fixture);

    // The function that the memory is anchored to is removed.
    std::fs::write(fixture.root().join("a.rs"), "fn other() {}\n").unwrap();
    let injection = inject(&fixture, &project, "s1", touched("a.rs"));
    assert_eq!(
        (injection.text.as_str(), injection.silence),
        ("", Some(SilenceReason::NoRelevantMemory))
    );

    // The note is withheld, and flagging it for review works once.
    let withheld = injection.withheld();
    assert_eq!(withheld, [(only_memory(&fixture, &project).id, RejectionReason::SymbolsMissing)]);
    assert_eq!(fixture.run(project.editor().flag_missing_references(&withheld)), 1);
    assert_eq!(only_memory(&fixture, &project).status(), MemoryStatus::NeedsReview);
    assert_eq!(
        fixture.run(project.editor().flag_missing_references(&withheld)),
        0,
        "it is flagged already"
    );
}

#[test]
fn a_learned_fix_waits_for_its_error_and_a_stated_one_is_told_at_the_start() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    learn_fix(&fixture, &mut project);
    let start = || HookEvent::SessionStart { compacted: false };

    // Most sessions do not meet the error; the one that does gets the fix.
    let injection = inject(&fixture, &project, "s1", start());
    assert_eq!(injection.text, "");
    let reasons: Vec<OmissionReason> =
        injection.context.unwrap().omitted.iter().map(|it| it.1).collect();
    assert_eq!(reasons, [OmissionReason::Excluded(RejectionReason::WaitsForError)]);
    let injection = inject(&fixture, &project, "s1", failed_git_show());
    assert!(injection.text.contains("Use `git show --stat"), "{:?}", injection.silence);

    // No output is recognised as an error that a person described.
    let stated = statement(&fixture, "error_pattern", "a 409 means that the charge was captured");
    fixture.run(project.editor().remember(stated));
    let injection = inject(&fixture, &project, "s2", start());
    assert!(injection.text.contains("409") && !injection.text.contains("git show"));
}

/// The host reports the end of a command without its exit code, so the known error is found in the
/// output. If its fix is withheld, the warnings about the command's files are selected next; the
/// result must still report the withheld fix.
#[test]
fn a_withheld_fix_of_an_ended_command_is_flagged() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();

    learn_fix(&fixture, &mut project);

    // The user ties the fix to a file.
    let file = fixture.root().join("a.rs");
    std::fs::write(&file, "fn verify() {}\n").unwrap();
    let fix = only_memory(&fixture, &project).id;
    let edit = MemoryEdit {
        content: None,
        kind: None,
        tags: None,
        files: Some(vec!["a.rs".into()]),
        modules: None,
        confidence: None,
        cwd: fixture.root(),
        on_secret: OnSecret::Refuse,
    };
    fixture.run(project.editor().edit(&fix.to_string(), edit));

    // Another session runs the command with the same error.
    // While the file exists, the fix is injected.
    let injection = inject(&fixture, &project, "s1", failed_git_show());
    assert!(injection.text.contains("Use `git show --stat"), "{:?}", injection.silence);

    // Without it, the fix is withheld and reported for review, at every trust level.
    std::fs::remove_file(file).unwrap();
    for level in [TrustLevel::Cautious, TrustLevel::Standard] {
        set_level(&mut project, level);
        let injection = inject(&fixture, &project, &format!("s2 {level}"), failed_git_show());
        assert_eq!(injection.text, "");
        assert_eq!(injection.withheld(), [(fix, RejectionReason::FilesMissing)], "{level}");
    }
}

#[test]
fn a_trial_injects_less_into_some_sessions_and_records_the_groups() {
    let fixture = LearningFixture::new();
    let mut project = project_with_gotcha(&fixture);
    let project_id = project.project_state().id().unwrap().to_string();

    // A session name that the trial assigns to the group.
    let session_in = |group: TrialGroup| {
        let names = (0..10_000).map(|it| format!("session {it}"));
        names.into_iter().find(|it| TrialGroup::assign_group(it, &project_id) == group).unwrap()
    };
    let control = session_in(TrialGroup::Control);
    assert_ne!(
        inject(&fixture, &project, &control, touched("a.rs")).text,
        "",
        "no trial is running"
    );
    project.set_policy(ProjectPolicy {
        injection: InjectionPolicy { on_trial: true, ..project.policy.injection },
        ..project.policy
    });

    // Control sessions get nothing, passive ones only at the first prompt, full ones always.
    let prompt =
        || HookEvent::Prompt { text: "does verify() want milliseconds or seconds".to_owned() };
    for (group, expected) in [
        (TrialGroup::Control, [false, false]),
        (TrialGroup::Passive, [true, false]),
        (TrialGroup::Full, [true, true]),
    ] {
        let session = session_in(group);
        let shown = [prompt(), touched("a.rs")].map(|event| {
            // Otherwise the note would be skipped as shown already.
            project.injector().mark_conversation_lost(&session).unwrap();
            inject(&fixture, &project, &session, event).text.contains("seconds")
        });
        assert_eq!(shown, expected, "{group}");
    }

    // Learning a session of the control group counts it for its group. The other two sessions were
    // not learned.
    let start = format!(
        r#""event":"session_start","project_root":"/p","agent":"test","host_session":"{control}""#
    );
    let lines = [start.as_str(), r#""event":"user_message","text":"do it""#];
    let session_number = 7; // Any; only the name of the host's session decides the group.
    fixture.record(&mut project, &parse_events_at(START, session_number, &lines));
    fixture.learn_journals(&mut project);
    let trial = fixture.run(project.maintenance().trial()).unwrap();
    assert_eq!(
        trial.sessions,
        [(TrialGroup::Control, 1), (TrialGroup::Passive, 0), (TrialGroup::Full, 0)]
    );
}

#[test]
fn a_control_session_of_a_trial_is_not_recorded_as_shown_the_map() {
    let fixture = LearningFixture::new();
    let mut project = project_with_gotcha(&fixture);
    // A project with known commands, which are part of a start context.
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n";
    std::fs::write(fixture.root().join("Cargo.toml"), manifest).unwrap();
    fixture.run(project.code_indexer().index_code(&TaskProgress::default(), 1));
    fixture.run(project.code_indexer().index_map());
    project.set_policy(ProjectPolicy {
        injection: InjectionPolicy { on_trial: true, ..project.policy.injection },
        ..project.policy
    });

    let project_id = project.project_state().id().unwrap().to_string();
    for (group, is_shown) in [(TrialGroup::Full, true), (TrialGroup::Control, false)] {
        let names = (0..10_000).map(|it| format!("session {it}"));
        let session = names
            .into_iter()
            .find(|it| TrialGroup::assign_group(it, &project_id) == group)
            .unwrap();
        let request = ContextRequest::new(Phase::Implement);
        let context = fixture.run(project.injector().inject_start_context(&session, request));
        assert_eq!(context.text.contains("commands:"), is_shown, "{group}: {}", context.text);
        assert_eq!(!context.shown_entries.is_empty(), is_shown, "{group}");
    }
}
