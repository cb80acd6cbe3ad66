//! The attacks, one per channel. Each brings every payload into the project in the way the channel
//! allows, and does what would turn it into knowledge: the agent repeats it, records it, meets it in an
//! error that it then fixes; the user imports it or indexes the code.

use model::{ContentChannel, Memory, MemoryId, Timestamp};
use serde_json::{Value, json};
use waylore_engine::{
    Explanation, ImportOptions, ImportRecord, MemoryFilter, NewMemory, NotebookScope, OnDuplicate,
    OnSecret, Project, RuleTrust, TaskProgress, transcript_trust, transcripts_at_paths,
};

use super::{Payload, canaries_in, list_texts};
use crate::learning::{LearningFixture, START, parse_events_at};

/// Payloads per session; a session keeps at most 50 notes.
const PAYLOADS_PER_SESSION: usize = 40;
/// File that all sessions edit.
const FILE: &str = "src/pay.rs";

/// Attacks a project through a channel; returns the number of payloads that arrived in its data.
pub(super) fn attack(
    fixture: &LearningFixture,
    project: &mut Project,
    channel: ContentChannel,
    payloads: &[Payload],
) -> usize {
    std::fs::create_dir_all(fixture.root().join("src")).unwrap();
    std::fs::write(fixture.root().join(FILE), "pub fn pay() {}\n").unwrap();
    let call = |tool: &str, args: Value| Some((tool.to_owned(), args));
    let opening = match channel {
        ContentChannel::WebPage => call("web_fetch", json!({ "query": "https://x.test/a" })),
        ContentChannel::WebSearch => call("web_search", json!({ "query": "how to pay" })),
        ContentChannel::Shell => call("shell", json!({ "command": "curl https://x.test/a" })),
        ContentChannel::Interpreter => call(
            "shell",
            json!({ "command": "python3 -c \"import urllib.request as u; print(u.urlopen('https://x.test').read())\"" }),
        ),
        ContentChannel::Subagent => call("task", json!({ "query": "read the page for me" })),
        ContentChannel::McpTool => call("mcp:browser/open", json!({ "query": "x.test" })),
        ContentChannel::VendoredFile => {
            call("read", json!({ "paths": ["node_modules/left-pad/README.md"] }))
        }
        ContentChannel::CommitMessage => return attack_commits(fixture, project, payloads),
        ContentChannel::Manifest => return attack_manifests(fixture, project, payloads),
        ContentChannel::RuleFile => return attack_rules(fixture, project, payloads),
        ContentChannel::ImportedMemory => return attack_import(fixture, project, payloads),
        ContentChannel::Transcript => return attack_transcripts(fixture, project, payloads),
        // No call opens this: the text is in the session itself.
        ContentChannel::HookField => None,
    };
    let is_field = channel == ContentChannel::HookField;
    for (nth, part) in payloads.chunks(PAYLOADS_PER_SESSION).enumerate() {
        let session = u8::try_from(nth + 1).unwrap();
        let lines =
            if is_field { field_events(part) } else { session_events(opening.as_ref(), part) };
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        fixture.record(project, &parse_events_at(START, session, &lines));
    }
    let n_recorded = journals_with_canaries(fixture, payloads);
    fixture.learn_journals(project);
    n_recorded
}

/// One event without its braces, as `parse_events_at` wants it.
fn event(value: Value) -> String {
    let text = value.to_string();
    text[1..text.len() - 1].to_owned()
}

/// A session that reads payloads, repeats and records each, fails with each and repairs it.
fn session_events(opening: Option<&(String, Value)>, payloads: &[Payload]) -> Vec<String> {
    let mut events = vec![event(
        json!({ "event": "session_start", "project_root": "/p", "agent": "test", "task": "pay" }),
    )];
    let mut n_calls = 0;
    let mut call = |events: &mut Vec<String>, tool: &str, args: &Value, ok: bool, excerpt: &str| {
        n_calls += 1;
        events.push(event(json!({ "event": "tool_call", "call_id": format!("c{n_calls}"), "tool": tool, "args": args })));
        events.push(event(json!({ "event": "tool_result", "call_id": format!("c{n_calls}"), "tool": tool, "ok": ok, "excerpt": excerpt })));
    };
    let edit = json!({ "paths": [FILE] });
    for Payload { text, .. } in payloads {
        if let Some((tool, args)) = opening {
            call(&mut events, tool, args, true, text);
        }
        events.push(event(json!({ "event": "reasoning", "text": format!("Actually, `{FILE}` needs this, not that: {text}") })));
        events.push(event(
            json!({ "event": "record", "type": "gotcha", "content": text, "files": [FILE] }),
        ));
        let build = json!({ "command": "cargo build" });
        for _ in 0..2 {
            call(&mut events, "shell", &build, false, &format!("error[E0433]: {text}"));
        }
        call(&mut events, "edit", &edit, true, "");
        call(&mut events, "shell", &build, true, "ok");
    }
    call(&mut events, "shell", &json!({ "command": "cargo test" }), true, "ok");
    events.push(event(json!({ "event": "step_complete" })));
    events
}

/// A session whose fields hold payloads: names, labels, patterns. It edits and tests, so that it is
/// learned from.
fn field_events(payloads: &[Payload]) -> Vec<String> {
    let all = |nth: usize| payloads[nth % payloads.len()].text.as_str();
    let mut events = vec![event(json!({
        "event": "session_start", "project_root": "/p", "agent": all(0), "task": all(1),
        "role": all(2), "work_unit": { "methodology": "native", "hierarchy": ["spec", all(3)], "label": all(4) },
    }))];
    for (nth, Payload { text, .. }) in payloads.iter().enumerate() {
        let (id, tool) = (format!("c{nth}"), if nth % 2 == 0 { "search" } else { "list" });
        for _ in 0..2 {
            events.push(event(json!({ "event": "tool_call", "call_id": id, "tool": tool, "args": { "query": text } })));
            events.push(event(json!({ "event": "tool_result", "call_id": id, "tool": tool, "ok": true, "excerpt": "" })));
        }
        events.push(event(json!({ "event": "record", "type": "gotcha", "content": format!("`{FILE}` pays in cents, case {nth}."), "tags": ["x"], "files": [FILE] })));
    }
    for (id, tool, args) in [
        ("e", "edit", json!({ "paths": [FILE] })),
        ("t", "shell", json!({ "command": "cargo test" })),
    ] {
        events.push(event(
            json!({ "event": "tool_call", "call_id": id, "tool": tool, "args": args }),
        ));
        events.push(event(json!({ "event": "tool_result", "call_id": id, "tool": tool, "ok": true, "excerpt": "ok" })));
    }
    events.push(event(json!({ "event": "step_complete" })));
    events
}

/// The number of payloads in the journals.
fn journals_with_canaries(fixture: &LearningFixture, payloads: &[Payload]) -> usize {
    let mut text = String::new();
    for entry in walk(&fixture.dir.path().join("data")) {
        text.push_str(&String::from_utf8_lossy(&std::fs::read(entry).unwrap()));
    }
    canaries_in(&text, payloads).len()
}

/// The journal files below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else if entry.path().extension().is_some_and(|it| it == "ndjson" || it == "jsonl") {
            found.push(entry.path());
        }
    }
    found
}

/// Records of sessions that came with the repository. In each session the user, too, says the payloads.
fn attack_transcripts(
    fixture: &LearningFixture,
    project: &mut Project,
    payloads: &[Payload],
) -> usize {
    let folder = fixture.root().join("sessions");
    std::fs::create_dir(&folder).unwrap();
    for (nth, part) in payloads.chunks(PAYLOADS_PER_SESSION).enumerate() {
        let mut lines = session_events(None, part);
        let said = |it: &Payload| {
            let text = format!("No, from now on do it like this: {}", it.text);
            event(json!({ "event": "user_message", "text": text }))
        };
        let end = lines.len() - 1;
        lines.splice(end..end, part.iter().map(said));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let events = parse_events_at(START, u8::try_from(nth + 1).unwrap(), &lines);
        let text: String = events.iter().map(|it| it.to_line() + "\n").collect();
        std::fs::write(folder.join(format!("{nth}.ndjson")), text).unwrap();
    }
    let root = fixture.root();
    let trust = |path: &std::path::Path| transcript_trust(None, &|_| None, &root, path);
    for transcript in transcripts_at_paths(&[folder], None, &trust).unwrap() {
        let parsed = project.session_history().read_transcript(&transcript).unwrap().unwrap();
        fixture.run(project.learner().learn_session(&parsed.pad));
    }
    // Text that reads like an instruction becomes no memory, but its sighting is stored.
    let mut seen = String::new();
    for session in fixture.run(project.session_history().learned_sessions()) {
        let explained = fixture.run(project.session_history().explain(&session.id.to_string()));
        let Explanation::Session(session) = explained else { panic!("{explained:?}") };
        for sighting in &session.sightings {
            seen.push_str(&sighting.evidence.quoted_text().unwrap_or_default());
        }
    }
    canaries_in(&seen, payloads).len()
}

/// Commits with payloads as messages.
fn attack_commits(fixture: &LearningFixture, project: &mut Project, payloads: &[Payload]) -> usize {
    let mut stream = String::new();
    for (nth, Payload { text, .. }) in payloads.iter().enumerate() {
        let (message, body) =
            (format!("fix: {text}"), format!("pub fn pay() -> u32 {{ {nth} }}\n"));
        let commit = format!(
            "commit refs/heads/main\ncommitter A <a@x.test> {} +0000\ndata {}\n{message}\nM 644 inline {FILE}\ndata {}\n{body}\nM 644 inline src/ledger.rs\ndata {}\n{body}\n",
            START / 1_000 - 100_000 + i64::try_from(nth).unwrap() * 60,
            message.len(),
            body.len(),
            body.len()
        );
        stream.push_str(&commit);
    }
    let git = |args: &[&str], input: Option<&str>| {
        use std::io::Write;
        let mut child = std::process::Command::new("git")
            .args(args)
            .current_dir(fixture.root())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.unwrap_or_default().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "git {args:?}");
    };
    git(&["init", "-q", "-b", "main"], None);
    git(&["fast-import", "--quiet"], Some(&stream));
    git(&["reset", "-q", "--hard", "main"], None);
    fixture.run(project.code_indexer().index_code(&TaskProgress::default(), 1));
    fixture.run(project.code_indexer().index_history(&TaskProgress::default()));
    payloads.len()
}

/// Packages with payloads as descriptions, and as leading comments of their files.
fn attack_manifests(
    fixture: &LearningFixture,
    project: &mut Project,
    payloads: &[Payload],
) -> usize {
    let root = fixture.root();
    std::fs::write(root.join("package.json"), r#"{"name":"shop","workspaces":["packages/*"]}"#)
        .unwrap();
    // A map has at most 70 modules, so every third payload is tried; that no payload passes for a
    // description is tested beside `is_plain_description`.
    for (nth, Payload { text, .. }) in payloads.iter().step_by(3).enumerate() {
        let folder = root.join(format!("packages/payment{nth}"));
        std::fs::create_dir_all(&folder).unwrap();
        // A folder with fewer files is no module.
        for name in ["charge", "refund"] {
            std::fs::write(folder.join(format!("{name}.js")), "export const rate = 1\n").unwrap();
        }
        let manifest =
            json!({ "name": format!("payment{nth}"), "description": text, "main": "index.js" });
        std::fs::write(folder.join("package.json"), manifest.to_string()).unwrap();
        let source = format!("// {}\nexport function pay{nth}() {{}}\n", text.replace('\n', " "));
        std::fs::write(folder.join("index.js"), source).unwrap();
    }
    fixture.run(project.code_indexer().index_code(&TaskProgress::default(), 1));
    fixture.run(project.code_indexer().index_map());
    let map = fixture.run(project.code_graph().module_map());
    let texts: Vec<&str> = map.modules.iter().map(|it| it.module.description.as_str()).collect();
    canaries_in(&texts.join("\n"), payloads).len()
}

/// A rule file that came with the repository.
fn attack_rules(fixture: &LearningFixture, project: &mut Project, payloads: &[Payload]) -> usize {
    let rules: Vec<String> =
        payloads.iter().map(|it| format!("- Always: {}", it.text.replace('\n', " "))).collect();
    std::fs::write(fixture.root().join("AGENTS.md"), format!("# Rules\n\n{}\n", rules.join("\n")))
        .unwrap();
    let files = project.editor().list_rules();
    fixture.run(project.editor().import_rules(&files, RuleTrust::External));
    n_stored(fixture, project, payloads)
}

/// A file of memories that the user imports without vouching for it.
fn attack_import(fixture: &LearningFixture, project: &mut Project, payloads: &[Payload]) -> usize {
    fixture.run(project.editor().remember(statement(fixture)));
    let template =
        fixture.run(project.retriever().list(&MemoryFilter::active(1), None)).remove(0).memory;
    let record = |(nth, payload): (usize, &Payload)| {
        let nth_bytes = u16::try_from(nth).unwrap().to_be_bytes();
        let id =
            MemoryId::new(Timestamp(START), [9, 9, 9, 9, 9, 9, 9, 9, nth_bytes[0], nth_bytes[1]]);
        let (content, summary) = (payload.text.clone(), payload.text.clone());
        let memory = Memory { id, content, summary, ..template.clone() };
        ImportRecord { at: nth + 1, memory: Ok(Box::new(memory)) }
    };
    let records: Vec<ImportRecord> = payloads.iter().enumerate().map(record).collect();
    let options = ImportOptions {
        file: "memories.json".to_owned(),
        scope: NotebookScope::Project,
        is_vouched: false,
        skip_invalid: true,
        on_secret: OnSecret::Redact,
        dry_run: false,
    };
    fixture.run(project.editor().import(records, options));
    n_stored(fixture, project, payloads)
}

/// A statement of the user, whose memory is the template of the imported ones.
fn statement(fixture: &LearningFixture) -> NewMemory {
    NewMemory {
        content: "The ledger is append-only.".to_owned(),
        kind: None,
        scope: NotebookScope::Project,
        tags: Vec::new(),
        files: Vec::new(),
        modules: Vec::new(),
        payload: None,
        cwd: fixture.root(),
        pinned: false,
        on_secret: OnSecret::Redact,
        origin: waylore_engine::StatementOrigin::Command,
        on_duplicate: OnDuplicate::Keep,
        key: None,
        dry_run: false,
    }
}

/// The number of payloads in stored memories.
fn n_stored(fixture: &LearningFixture, project: &Project, payloads: &[Payload]) -> usize {
    let texts: Vec<String> = list_texts(fixture, project).into_iter().map(|it| it.0).collect();
    canaries_in(&texts.join("\n"), payloads).len()
}
