//! What people say besides prompts is learned: in refusals, in answers and while the agent works. What they only
//! agreed to is not.

use model::MemoryStatus;
use waylore_engine::{NotebookScope, transcripts_at_paths};

use crate::learning::LearningFixture;

const SESSION: &str = "019a0000-0000-7000-8000-000000000078";

/// Learns a session of Claude Code with these records between the prompt and a passing test; returns the live
/// memories.
fn learn_records(records: &[&str]) -> Vec<String> {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let edit = r#""type":"assistant","message":{"content":[{"type":"tool_use","id":"e1","name":"Edit","input":{"file_path":"/p/src/total.ts","old_string":"a","new_string":"b"}}]}"#;
    let test = r#""type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"cargo test"}}]}"#;
    let result = |id: &str| {
        format!(
            r#""type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]}}"#
        )
    };
    let prompt = r#""type":"user","message":{"content":"round totals"}"#;
    let (edited, tested) = (result("e1"), result("c1"));
    let all = [&[prompt, edit, &edited], records, &[test, &tested]].concat();
    let lines: String = all
        .iter()
        .enumerate()
        .map(|(nth, fields)| {
            format!(
                "{{\"uuid\":\"u{nth}\",\"sessionId\":\"{SESSION}\",\"cwd\":\"/p\",\"timestamp\":\"2026-11-06T21:20:{nth:02}Z\",{fields}}}\n"
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let path = fixture.dir.path().join(format!("{SESSION}.jsonl"));
    std::fs::write(&path, lines).unwrap();
    for it in
        transcripts_at_paths(&[path], None, &|_| waylore_engine::TranscriptTrust::Own).unwrap()
    {
        let parsed = project.session_history().read_transcript(&it).unwrap().unwrap();
        fixture.run(project.learner().learn_session(&parsed.pad)).unwrap();
    }
    let (filter, retriever) = (crate::learning::learned_filter(100), project.retriever());
    let memories = fixture.run(retriever.list(&filter, Some(NotebookScope::Project)));
    let live = memories.into_iter().filter(|it| {
        let is_kept = matches!(it.memory.status(), MemoryStatus::Live | MemoryStatus::Candidate);
        is_kept && it.memory.kind.slug() == "preference"
    });
    live.map(|it| it.memory.content).collect()
}

#[test]
fn a_preference_is_learned_wherever_a_person_states_it() {
    let refused = r#""type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nplease always run `mise run fmt` before committing"}]}"#;
    let commit = r#""type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git commit"}}]}"#;
    let queued = [
        r#""type":"queue-operation","operation":"enqueue","content":"please always run `mise run fmt` before committing""#,
        r#""type":"queue-operation","operation":"remove""#,
    ];
    let asked = r#""type":"assistant","message":{"content":[{"type":"tool_use","id":"q1","name":"AskUserQuestion","input":{"questions":[{"question":"How?"}]}}]}"#;
    let answered = r#""type":"user","toolUseResult":{"answers":{"How?":"please always run `mise run fmt` before committing"}},"message":{"content":[{"type":"tool_result","tool_use_id":"q1","content":"answered"}]}"#;
    for records in [&[commit, refused][..], &queued, &[asked, answered]] {
        let live = learn_records(records);
        assert!(live.iter().any(|it| it.contains("mise run fmt")), "{records:?} {live:?}");
    }
}

#[test]
fn a_plan_and_a_notice_of_the_host_teach_no_preference() {
    let plan = r#""type":"user","message":{"content":"Implement the following plan:\nplease always run `mise run fmt` before committing"}"#;
    let notice = r#""type":"user","message":{"content":"<task-notification>please always run `mise run fmt` before committing</task-notification>"}"#;
    let withdrawn = [
        r#""type":"queue-operation","operation":"enqueue","content":"please always run `mise run fmt` before committing""#,
        r#""type":"queue-operation","operation":"popAll","content":"please always run `mise run fmt` before committing""#,
    ];
    for records in [&[plan][..], &[notice], &withdrawn] {
        assert_eq!(learn_records(records), Vec::<String>::new(), "{records:?}");
    }
}
