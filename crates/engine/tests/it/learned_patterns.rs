//! Patterns of several sessions: statistics (steps of a change, first files, costs of files) are counted,
//! answer queries and make no memory; notes of a session are learned and merged.
//!
//! The *module map* lists the modules that were detected in the indexed code; before it exists, folders
//! count as modules.

use model::{DAY_MS, MemoryStatus, SessionId, Timestamp};
use waylore_engine::{Explanation, MapEdit, MemoryFilter, NotebookScope, Project, TaskProgress};

use crate::learning::{LearningFixture, SESSION_ID_PREFIX, START, parse_events_at};

/// Converts a script to events. Its commands, one per line:
///
/// ```text
/// edit FILE           the agent edits a file
/// read FILE [BYTES]   it reads a file, of 100 bytes unless given
/// run COMMAND         it runs a command, which succeeds
/// note TEXT           it records a note
/// done                a subtask succeeded
/// ```
fn event_lines(script: &str) -> Vec<String> {
    let start = r#""event":"session_start","project_root":"/p","agent":"test","task":"change prices in the cart""#;
    let mut events = vec![start.to_owned()];
    for (nth, line) in script.lines().map(str::trim).filter(|it| !it.is_empty()).enumerate() {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut call = |tool: &str, args: String, more: &str| {
            events.push(format!(
                r#""event":"tool_call","call_id":"c{nth}","tool":"{tool}","args":{args}"#
            ));
            events.push(format!(
                r#""event":"tool_result","call_id":"c{nth}","tool":"{tool}","ok":true,"excerpt":"ok"{more}"#
            ));
        };
        match verb {
            "edit" => call("edit", format!(r#"{{"paths":["{rest}"]}}"#), ""),
            "read" => {
                let (file, size) = rest.split_once(' ').unwrap_or((rest, "100"));
                call("read", format!(r#"{{"paths":["{file}"]}}"#), &format!(r#","size":{size}"#));
            }
            "run" => call("shell", format!(r#"{{"command":"{rest}"}}"#), ""),
            "note" => {
                events.push(format!(r#""event":"record","type":"gotcha","content":"{rest}""#));
            }
            "done" => {
                events.push(
                    r#""event":"validation","kind":"subtask_succeeded","ok":true"#.to_owned(),
                );
            }
            other => panic!("unknown verb {other}"),
        }
    }
    events.push(r#""event":"step_complete""#.to_owned());
    events
}

/// Journals a session. Each session is one day after the one before; `now` becomes half a day
/// later.
fn record_session(fixture: &LearningFixture, project: &mut Project, session: u8, script: &str) {
    let lines = event_lines(script);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let start = START + i64::from(session) * DAY_MS;
    project.set_now(Timestamp(start + DAY_MS / 2));
    fixture.record(project, &parse_events_at(start, session, &lines));
}

/// Journals and learns a session. Returns the texts of all active memories afterwards.
fn learn_script(
    fixture: &LearningFixture,
    project: &mut Project,
    session: u8,
    script: &str,
) -> Vec<String> {
    record_session(fixture, project, session, script);
    fixture.learn_journals(project).texts
}

/// The active memories of a type.
fn memories_of_kind(
    fixture: &LearningFixture,
    project: &Project,
    kind: &str,
) -> Vec<model::Memory> {
    let filter = MemoryFilter { kind: Some(kind.to_owned()), ..MemoryFilter::active(20) };
    let all = fixture.run(project.retriever().list(&filter, Some(NotebookScope::Project)));
    all.into_iter().map(|it| it.memory).collect()
}

/// A project with the packages `auth` and `cart`, each with the folders `api` and `model`. The
/// module map makes one module of each package.
fn workspace() -> (LearningFixture, Project) {
    let fixture = LearningFixture::new();
    let root = fixture.root();
    for name in ["auth", "cart"] {
        for file in ["api/a", "api/b", "model/c", "model/d"] {
            let path = root.join(format!("packages/{name}/src/{file}.ts"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "export const x = 1\n").unwrap();
        }
        std::fs::write(
            root.join(format!("packages/{name}/package.json")),
            format!(r#"{{ "name": "{name}" }}"#),
        )
        .unwrap();
    }
    let project = fixture.open_project();
    (fixture, project)
}

/// Indexes the code and detects the modules.
fn index_project(fixture: &LearningFixture, project: &mut Project) {
    fixture.run(project.code_indexer().index_code(&TaskProgress::default(), 1));
    fixture.run(project.code_indexer().index_map());
}

/// Edits in two modules, a test and a commit.
const ROUTINE_SCRIPT: &str = "
    edit packages/cart/src/api/a.ts
    edit packages/auth/src/api/b.ts
    run npm test
    run git commit -m x
";

/// The patterns of a learned session with the reason why each was not stored.
fn dropped_patterns(fixture: &LearningFixture, project: &Project, session: u8) -> Vec<String> {
    let id = session_id(session).to_string();
    let Explanation::Session(explained) = fixture.run(project.session_history().explain(&id))
    else {
        panic!("it is a session")
    };
    let mut acc = Vec::new();
    for it in explained.sightings {
        let dropped = it.dropped.map(|(reason, detail)| format!("{reason}: {detail}"));
        acc.push(format!("{} {}: {}", it.signal, it.key, dropped.unwrap_or_default()));
    }
    acc
}

#[test]
fn behaviour_is_counted_and_makes_no_memory() {
    let (fixture, mut project) = workspace();
    index_project(&fixture, &mut project);
    for session in 1..=6 {
        let texts = learn_script(&fixture, &mut project, session, ROUTINE_SCRIPT);
        assert_eq!(texts, Vec::<String>::new());
    }
    let patterns = dropped_patterns(&fixture, &project, 6);
    for pattern in [
        "co_access packages/auth/src/api/b.ts|packages/cart/src/api/a.ts",
        "sequence finish a change",
        "sequence change cart",
    ] {
        let expected = format!("{pattern}: statistic: told at its moment, not stored");
        assert!(patterns.contains(&expected), "{patterns:?}");
    }
}

#[test]
fn the_first_files_of_a_module_are_predicted() {
    let (fixture, mut project) = workspace();

    // Two reads, a pause of six steps, then the edit: the reads are how the work began.
    let pause = "run x\n".repeat(6);
    let script = format!(
        "
            read packages/cart/src/api/b.ts
            read packages/cart/src/model/c.ts
            {pause}
            edit packages/cart/src/api/a.ts
            run npm test
        "
    );
    // No session touches this file, so the prediction can only come from the first files of its module.
    let first_file = "packages/cart/src/model/d.ts";
    let files = |project: &Project| {
        fixture.run(project.session_history().rank_task_files("x", Some(first_file), 2))
    };
    // The first session is learned before a module map exists, so its pattern names folders.
    learn_script(&fixture, &mut project, 1, &script);
    index_project(&fixture, &mut project);
    learn_script(&fixture, &mut project, 2, &script);
    let predicted = ["packages/cart/src/api/b.ts", "packages/cart/src/model/c.ts"];
    assert_ne!(files(&project), predicted, "two sessions are too few");
    learn_script(&fixture, &mut project, 3, &script);
    assert_eq!(files(&project), predicted);
    assert!(memories_of_kind(&fixture, &project, "prefetch_pattern").is_empty());
}

#[test]
fn learning_uses_the_module_that_a_user_assigned_a_file_to() {
    let (fixture, mut project) = workspace();
    index_project(&fixture, &mut project);

    // The user moves a file of the package `cart` to the module `auth`.
    let moved = ["packages/cart/src/model/c.ts"].map(|it| model::ProjectPath::parse(it).unwrap());
    let edit = MapEdit::Members(moved.to_vec());
    fixture.run(project.code_indexer().update_module_map("auth", edit));
    learn_script(
        &fixture,
        &mut project,
        1,
        "
            edit packages/cart/src/model/c.ts
            edit packages/cart/src/api/a.ts
            run npm test
            run git commit -m x
        ",
    );
    let patterns = dropped_patterns(&fixture, &project, 1);
    assert!(patterns.iter().any(|it| it.starts_with("sequence change auth:")), "{patterns:?}");
}

#[test]
fn files_edited_together_relate_their_modules_on_the_map() {
    let (fixture, mut project) = workspace();
    index_project(&fixture, &mut project);

    // The modules that change together with `cart`, and its first core file.
    let related = |project: &Project| {
        let map = fixture.run(project.code_graph().module_map());
        let cart = map.find_module("cart").unwrap().module.clone();
        (cart.co_changing, cart.core_files.first().cloned().unwrap_or_default())
    };
    assert!(related(&project).0.is_empty());
    for session in 1..=4 {
        learn_script(
            &fixture,
            &mut project,
            session,
            "edit packages/cart/src/model/d.ts\nedit packages/auth/src/model/d.ts\nrun npm test",
        );
    }
    fixture.run(project.code_indexer().index_map());
    assert_eq!(
        related(&project),
        (vec!["auth".to_owned()], "packages/cart/src/model/d.ts".to_owned())
    );
}

#[test]
fn the_read_cost_of_a_large_file_is_counted_and_returned() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let small: Vec<String> = (0..20).map(|it| format!("read src/{it}.rs 400")).collect();
    let script =
        format!("{}\nread data/big.json 40000\nedit src/1.rs\nrun cargo test", small.join("\n"));

    for session in 1..=3 {
        learn_script(&fixture, &mut project, session, &script);
    }
    assert!(memories_of_kind(&fixture, &project, "context_cost").is_empty());
    let files = ["data/big.json".to_owned(), "src/1.rs".to_owned()];
    let costs = fixture.run(project.session_history().read_costs(&files));
    assert_eq!(costs.into_iter().collect::<Vec<_>>(), [("data/big.json".to_owned(), 10_000)]);
}

fn session_id(session: u8) -> SessionId {
    format!("{SESSION_ID_PREFIX}{session:02}").parse().unwrap()
}

/// With more than five subtasks, the notes of finished subtasks need not wait for the end of the
/// session.
#[test]
fn notes_of_a_long_build_are_learned_subtask_by_subtask() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let five = "
        note Totals are kept in cents, never in floats.
        edit src/a.rs
        edit src/b.rs
        done
        done
        done
        done
        done
        run cargo test
    ";

    // The texts learned from the running session; `None` if nothing is learned yet.
    let learn_so_far = |project: &mut Project| {
        let learned = fixture.run(project.learner().learn_finished_subtasks(session_id(1)));
        learned.map(|it| it.memories.into_iter().map(|it| it.memory.content).collect::<Vec<_>>())
    };
    record_session(&fixture, &mut project, 1, five);
    assert_eq!(learn_so_far(&mut project), None, "five subtasks are too few");

    // The sixth subtask succeeds, and another note follows, which is not in a finished subtask. The
    // first lines are journalled again; an event with a known id counts once.
    let six = format!(
        "
            {five}
            edit src/c.rs
            done
            note `src/c.rs` is written by `make gen`.
            run cargo test
        "
    );
    record_session(&fixture, &mut project, 1, &six);
    let learned = learn_so_far(&mut project);
    assert_eq!(learned, Some(vec!["Totals are kept in cents, never in floats.".to_owned()]));
    assert_eq!(
        project.session_history().journal_transcripts().len(),
        1,
        "the session is still running"
    );

    // At its end the last note is learned too, and no note twice.
    let mut contents = fixture.learn_journals(&mut project).texts;
    contents.sort();
    assert_eq!(
        contents,
        ["Totals are kept in cents, never in floats.", "`src/c.rs` is written by `make gen`."]
    );
}

/// Learns two different memories, then lets the user edit one so that both state the same.
fn learn_two_duplicates(fixture: &LearningFixture, project: &mut Project) -> [model::MemoryId; 2] {
    learn_script(
        fixture,
        project,
        1,
        "note `src/total.rs` rounds per line.\nedit src/total.rs\nrun cargo test",
    );
    learn_script(
        fixture,
        project,
        2,
        "note The port of the server is 8080.\nedit src/b.rs\nrun cargo test",
    );
    let memories = memories_of_kind(fixture, project, "gotcha");
    let id_of = |word: &str| memories.iter().find(|it| it.content.contains(word)).unwrap().id;
    let ids = [id_of("rounds"), id_of("port")];
    project.set_now(Timestamp(START + 3 * DAY_MS + 1));
    let edit = waylore_engine::MemoryEdit {
        content: Some("`src/total.rs` rounds per line.".to_owned()),
        kind: None,
        tags: None,
        files: None,
        modules: None,
        confidence: None,
        cwd: fixture.root(),
        on_secret: waylore_engine::OnSecret::Refuse,
    };
    fixture.run(project.editor().edit(&ids[1].to_string(), edit));
    ids
}

#[test]
fn duplicates_are_merged_with_the_evidence_of_both() {
    // Duplicates are searched for at the end of a build of ten subtasks, and once a week.
    for after_long_build in [true, false] {
        let fixture = LearningFixture::new();
        let mut project = fixture.open_project();
        let ids = learn_two_duplicates(&fixture, &mut project);
        if after_long_build {
            let ten_subtasks = format!("edit src/a.rs\n{}run cargo test", "done\n".repeat(10));
            learn_script(&fixture, &mut project, 3, &ten_subtasks);
        } else {
            fixture.run(project.learner().consolidate_week());
        }

        // One of the two survives, with the sessions of both.
        let [survivor] = &memories_of_kind(&fixture, &project, "gotcha")[..] else {
            panic!("one of two survives")
        };
        let mut provenance = survivor.provenance.clone();
        provenance.sort_unstable();
        assert_eq!(provenance, [session_id(1), session_id(2)]);

        // Both sessions are evidence for the survivor, and the other memory is deprecated.
        let Explanation::Memory { sightings, .. } =
            fixture.run(project.session_history().explain(&survivor.id.to_string()))
        else {
            panic!("it is a memory")
        };
        assert_eq!(sightings.len(), 2, "both sessions are evidence for it");
        let duplicate = ids.iter().find(|it| **it != survivor.id).unwrap().to_string();
        let duplicate = fixture.run(project.retriever().find_by_id(&duplicate));
        assert_eq!(duplicate.memory.status(), MemoryStatus::Deprecated);

        // A later note with the text of the duplicate supports the survivor.
        learn_script(
            &fixture,
            &mut project,
            4,
            "note `src/total.rs` rounds per line.\nedit src/x.rs\nrun cargo test",
        );
        let [survivor] = &memories_of_kind(&fixture, &project, "gotcha")[..] else {
            panic!("still one")
        };
        assert!(survivor.provenance.contains(&session_id(4)));
    }
}
