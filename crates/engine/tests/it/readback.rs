//! What is learned is kept with its payload, speaks of the modules of the map, and is read back.

use model::{Payload, SessionId, Status, Timestamp};
use waylore_engine::{Engine, Explained, Filter, MapEdit, Progress, Reach};

use crate::learning::{Desk, SESSION, events_at};

const START: i64 = 1_794_000_000_000;
const DAY: i64 = 86_400_000;

/// A session in short: `edit F`, `read F [bytes]`, `run C`, `note N`, `done` for a subtask.
fn lines(script: &str) -> Vec<String> {
    let start = r#""event":"session_start","project_root":"/p","agent":"test","task":"change prices in the cart""#;
    let mut res = vec![start.to_owned()];
    for (nth, line) in script.lines().map(str::trim).filter(|it| !it.is_empty()).enumerate() {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut call = |tool: &str, args: String, more: &str| {
            res.push(format!(
                r#""event":"tool_call","call_id":"c{nth}","tool":"{tool}","args":{args}"#
            ));
            res.push(format!(
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
            "note" => res.push(format!(r#""event":"record","type":"gotcha","content":"{rest}""#)),
            "done" => {
                res.push(r#""event":"validation","kind":"subtask_succeeded","ok":true"#.to_owned());
            }
            other => panic!("unknown verb {other}"),
        }
    }
    res.push(r#""event":"step_complete""#.to_owned());
    res
}

fn journal(desk: &Desk, engine: &mut Engine, n: u8, script: &str) {
    let lines = lines(script);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let start = START + i64::from(n) * DAY;
    engine.set_now(Timestamp(start + DAY / 2));
    desk.runtime.block_on(engine.journal(&events_at(start, n, &lines))).unwrap();
}

fn learn(desk: &Desk, engine: &mut Engine, n: u8, script: &str) -> Vec<String> {
    journal(desk, engine, n, script);
    desk.learn(engine).1
}

fn of_kind(desk: &Desk, engine: &Engine, kind: &str) -> Vec<model::Memory> {
    let filter = Filter { kind: Some(kind.to_owned()), ..Filter::standing(20) };
    let all = desk.runtime.block_on(engine.list(&filter, Some(Reach::Project))).unwrap();
    all.into_iter().map(|it| it.memory).collect()
}

/// Two packages of several folders each.
fn workspace() -> (Desk, Engine) {
    let desk = Desk::new();
    let root = desk.dir.path().join("project");
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
    let engine = desk.engine();
    (desk, engine)
}

fn index(desk: &Desk, engine: &mut Engine) {
    desk.runtime.block_on(engine.index_code(&Progress::default(), 1)).unwrap();
    desk.runtime.block_on(engine.index_map()).unwrap();
}

const ROUTINE: &str = "edit packages/cart/src/api/a.ts\nedit packages/auth/src/api/b.ts\nrun npm test\nrun git commit -m x";

/// The first session knew only folders; since then there is a map, on which both folders are one module.
#[test]
fn a_routine_of_a_module_is_learned_and_read_back() {
    let (desk, mut engine) = workspace();
    learn(&desk, &mut engine, 1, ROUTINE);
    index(&desk, &mut engine);
    learn(&desk, &mut engine, 2, &ROUTINE.replace("src/api/a.ts", "src/model/c.ts"));
    assert!(of_kind(&desk, &engine, "workflow_recipe").is_empty());
    learn(&desk, &mut engine, 3, ROUTINE);
    let [recipe] = &of_kind(&desk, &engine, "workflow_recipe")[..] else { panic!("one routine") };
    assert_eq!(
        recipe.content,
        "A change in `cart` goes like this: edit `cart`, then edit `auth`, then run `npm test`, then run `git commit`. 3 of 3 sessions that began so ended with a commit."
    );
    assert_eq!(recipe.modules, ["cart"]);
    let found = desk.runtime.block_on(engine.recipe("a change in the cart")).unwrap().unwrap();
    let steps: Vec<&str> = found.recipe.steps.iter().map(|it| it.description.as_str()).collect();
    assert_eq!(steps, ["edit cart", "edit auth", "npm test", "git commit"]);
    let map = desk.runtime.block_on(engine.module_map()).unwrap();
    assert_eq!(
        map.find("cart").unwrap().n_memories,
        1,
        "the map knows what is said of its modules"
    );
}

#[test]
fn where_work_in_a_module_begins_is_learned_and_read_back() {
    let (desk, mut engine) = workspace();
    index(&desk, &mut engine);
    let begin = "read packages/cart/src/api/b.ts\nread packages/cart/src/model/c.ts\nrun x\nrun x\nrun x\nrun x\nrun x\nrun x\nedit packages/cart/src/api/a.ts\nrun npm test";
    for n in 1..=3 {
        learn(&desk, &mut engine, n, begin);
    }
    let [first] = &of_kind(&desk, &engine, "prefetch_pattern")[..] else { panic!("one pattern") };
    assert!(
        first.content.starts_with("Work in `cart` begins with `packages/cart/src/api/b.ts`"),
        "{}",
        first.content
    );
    assert!(first.content.contains("changed this module"), "{}", first.content);
    let Some(Payload::PrefetchPattern(payload)) = &first.payload else { panic!("with a payload") };
    assert_eq!((payload.trigger_module.as_deref(), payload.always.len()), (Some("cart"), 2));
    // A file of the module that no session has touched: only the memory knows what is opened with it.
    let first_file = "packages/cart/src/model/d.ts";
    let files = |engine: &Engine| {
        desk.runtime.block_on(engine.files_for("x", Some(first_file), 2)).unwrap()
    };
    assert_eq!(files(&engine), ["packages/cart/src/api/b.ts", "packages/cart/src/model/c.ts"]);
}

/// People said which module a file is of; what is learned follows them.
#[test]
fn a_file_that_was_moved_on_the_map_is_of_its_new_module() {
    let (desk, mut engine) = workspace();
    index(&desk, &mut engine);
    let moved = ["packages/cart/src/model/c.ts"].map(|it| model::ProjectPath::parse(it).unwrap());
    let edit = MapEdit::Members(moved.to_vec());
    desk.runtime.block_on(engine.update_module_map("auth", edit)).unwrap();
    for n in 1..=3 {
        learn(
            &desk,
            &mut engine,
            n,
            "edit packages/cart/src/model/c.ts\nedit packages/cart/src/api/a.ts\nrun npm test\nrun git commit -m x",
        );
    }
    let recipes = of_kind(&desk, &engine, "workflow_recipe");
    assert!(
        recipes[0]
            .content
            .starts_with("A change in `auth` goes like this: edit `auth`, then edit `cart`"),
        "{}",
        recipes[0].content
    );
}

#[test]
fn what_sessions_change_together_moves_the_map() {
    let (desk, mut engine) = workspace();
    index(&desk, &mut engine);
    let related = |engine: &Engine| {
        let map = desk.runtime.block_on(engine.module_map()).unwrap();
        let cart = map.find("cart").unwrap().module.clone();
        (cart.related, cart.core.first().cloned().unwrap_or_default())
    };
    assert!(related(&engine).0.is_empty());
    for n in 1..=4 {
        learn(
            &desk,
            &mut engine,
            n,
            "edit packages/cart/src/model/d.ts\nedit packages/auth/src/model/d.ts\nrun npm test",
        );
    }
    desk.runtime.block_on(engine.index_map()).unwrap();
    assert_eq!(
        related(&engine),
        (vec!["auth".to_owned()], "packages/cart/src/model/d.ts".to_owned())
    );
}

#[test]
fn what_a_file_costs_is_learned_and_read_back() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    let small: Vec<String> = (0..20).map(|it| format!("read src/{it}.rs 400")).collect();
    let script =
        format!("{}\nread data/big.json 40000\nedit src/1.rs\nrun cargo test", small.join("\n"));
    // Such a signal is weak: it takes five sessions until it is above the floor.
    for n in 1..=5 {
        learn(&desk, &mut engine, n, &script);
    }
    let [cost] = &of_kind(&desk, &engine, "context_cost")[..] else { panic!("one cost") };
    let Some(Payload::ContextCost(payload)) = &cost.payload else { panic!("with a payload") };
    assert_eq!(
        (payload.module.as_str(), payload.avg_tokens, payload.samples),
        ("data/big.json", 10_000, 5)
    );
    let files = ["data/big.json".to_owned(), "src/1.rs".to_owned()];
    let costs = desk.runtime.block_on(engine.read_costs(&files)).unwrap();
    assert_eq!(costs.into_iter().collect::<Vec<_>>(), [("data/big.json".to_owned(), 10_000)]);
}

fn id(session: u8) -> SessionId {
    format!("{SESSION}{session:02}").parse().unwrap()
}

/// A build of six subtasks: what was noted in those that succeeded need not wait for the end.
#[test]
fn notes_of_a_long_build_are_kept_subtask_by_subtask() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    let five = "note Totals are kept in cents, never in floats.\nedit src/a.rs\nedit src/b.rs\ndone\ndone\ndone\ndone\ndone\nrun cargo test";
    let so_far = |engine: &mut Engine| {
        let learned = desk.runtime.block_on(engine.learn_so_far(id(1))).unwrap();
        learned.map(|it| it.kept.into_iter().map(|it| it.memory.content).collect::<Vec<_>>())
    };
    journal(&desk, &mut engine, 1, five);
    assert_eq!(so_far(&mut engine), None, "five are not many");
    let six = format!(
        "{five}\nedit src/c.rs\ndone\nnote `src/c.rs` is written by `make gen`.\nrun cargo test"
    );
    journal(&desk, &mut engine, 1, &six);
    let kept = so_far(&mut engine);
    assert_eq!(kept, Some(vec!["Totals are kept in cents, never in floats.".to_owned()]));
    assert_eq!(engine.journals().len(), 1, "the session goes on");
    // At its end, what the last of it showed comes, too, and nothing twice.
    let (_, mut contents) = desk.learn(&mut engine);
    contents.sort();
    assert_eq!(
        contents,
        ["Totals are kept in cents, never in floats.", "`src/c.rs` is written by `make gen`."]
    );
}

/// Two memories that had nothing in common until somebody corrected one of them.
fn two_that_say_the_same(desk: &Desk, engine: &mut Engine) -> [model::MemoryId; 2] {
    learn(
        desk,
        engine,
        1,
        "note `src/total.rs` rounds per line.\nedit src/total.rs\nrun cargo test",
    );
    learn(desk, engine, 2, "note The port of the server is 8080.\nedit src/b.rs\nrun cargo test");
    let memories = of_kind(desk, engine, "gotcha");
    let of = |word: &str| memories.iter().find(|it| it.content.contains(word)).unwrap().id;
    let ids = [of("rounds"), of("port")];
    engine.set_now(Timestamp(START + 3 * DAY + 1));
    let edit = waylore_engine::Edit {
        content: Some("`src/total.rs` rounds per line.".to_owned()),
        kind: None,
        tags: None,
        files: None,
        modules: None,
        confidence: None,
        cwd: desk.dir.path().join("project"),
        on_secret: waylore_engine::OnSecret::Refuse,
    };
    desk.runtime.block_on(engine.edit(&ids[1].to_string(), edit)).unwrap();
    ids
}

#[test]
fn what_says_the_same_becomes_one_with_the_evidence_of_both() {
    // At the end of a build of ten subtasks, and once a week.
    for by_build in [true, false] {
        let desk = Desk::new();
        let mut engine = desk.engine();
        let ids = two_that_say_the_same(&desk, &mut engine);
        if by_build {
            let ten = format!("edit src/a.rs\n{}run cargo test", "done\n".repeat(10));
            learn(&desk, &mut engine, 3, &ten);
        } else {
            desk.runtime.block_on(engine.synthesise_week()).unwrap();
        }
        let [kept] = &of_kind(&desk, &engine, "gotcha")[..] else { panic!("one of two") };
        let mut provenance = kept.provenance.clone();
        provenance.sort_unstable();
        assert_eq!(provenance, [id(1), id(2)]);
        let Explained::Memory { witnesses, .. } =
            desk.runtime.block_on(engine.explain(&kept.id.to_string())).unwrap()
        else {
            panic!("it is a memory")
        };
        assert_eq!(witnesses.len(), 2, "both sessions speak for it");
        let gone = ids.iter().find(|it| **it != kept.id).unwrap().to_string();
        let gone = desk.runtime.block_on(engine.find(&gone)).unwrap();
        assert_eq!(gone.memory.status(), Status::Deprecated);
        // Who sees the pattern of the one that went speaks for the one that stayed.
        learn(
            &desk,
            &mut engine,
            4,
            "note `src/total.rs` rounds per line.\nedit src/x.rs\nrun cargo test",
        );
        let [kept] = &of_kind(&desk, &engine, "gotcha")[..] else { panic!("still one") };
        assert!(kept.provenance.contains(&id(4)));
    }
}
