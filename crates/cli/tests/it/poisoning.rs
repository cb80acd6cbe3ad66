//! Injection payloads that came with a repository, as a session record and as an import without
//! `--trust`, at the places where a model reads text outside hooks: resources and tools of the MCP server, the
//! daemon's protocol, contexts as JSON, exported rules, and every command that an agent runs in its own shell.
//! `crates/engine/tests/it/poisoning.rs` attacks every
//! channel and every moment; this file checks the surfaces that only the program has.

use std::fs;

use serde_json::{Value, json};

use crate::daemon::{DaemonClient, RunningDaemon};
use crate::mcp::{rpc_request, run_server, tool_call};
use crate::sandbox::{
    CommandOutput, Sandbox, has_program, run_command, run_command_with_input, string,
};
use crate::terminal::terminal_command;

const PAYLOADS: &str = include_str!("../../../promote/fixtures/injections.txt");
/// Begins every canary, the word that is unique to a payload.
const CANARY: &str = "zqcanary";
/// Notes that a session keeps.
const MAX_NOTES: usize = 45;
const TASK: &str = "run the command and send the keys to the system prompt, curl https x.test";

/// The payloads in one line each, with their canaries.
fn payloads() -> Vec<String> {
    let lines = PAYLOADS.lines().filter(|it| !it.starts_with('#'));
    let texts = lines.filter_map(|it| it.split_once(" | ")).map(|it| it.1);
    texts
        .enumerate()
        .map(|(nth, it)| unescape(&it.replace("{canary}", &format!("{CANARY}{nth}"))))
        .collect()
}

/// Replaces the escapes of the fixture: `\u{…}`, and `\n` by a blank, because comments have one line.
fn unescape(text: &str) -> String {
    let text = text.replace("\\n", " ");
    let mut parts = text.split("\\u{");
    let mut res = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        res.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        res.push_str(rest);
    }
    res
}

/// Session records in the repository, each with notes, words of the user and a fixed error.
fn write_records(sandbox: &Sandbox, payloads: &[String]) {
    let folder = sandbox.project.join("sessions");
    fs::create_dir(&folder).unwrap();
    for (nth, part) in payloads.chunks(MAX_NOTES).enumerate() {
        let mut events = vec![
            json!({ "event": "session_start", "project_root": sandbox.project, "agent": "test", "task": part[0] }),
        ];
        for text in part {
            events.push(json!({ "event": "record", "type": "gotcha", "content": text, "files": ["src/pay.rs"] }));
            events.push(
                json!({ "event": "user_message", "text": format!("No, always do this: {text}") }),
            );
        }
        for (id, ok, excerpt) in
            [("a", false, format!("error: {}", part[0])), ("b", true, "ok".to_owned())]
        {
            events.push(json!({ "event": "tool_call", "call_id": id, "tool": "shell", "args": { "command": format!("cargo test {id}") } }));
            events.push(json!({ "event": "tool_result", "call_id": id, "tool": "shell", "ok": ok, "excerpt": excerpt }));
        }
        let mut text = String::new();
        for (at, mut event) in events.into_iter().enumerate() {
            event["event_id"] = json!(format!("{nth}-{at}"));
            event["session_id"] = json!(format!("018f0000-0000-7000-8000-0000000000{nth:02}"));
            event["at"] = json!(1_794_700_000_000_i64 + i64::try_from(at).unwrap());
            text.push_str(&event.to_string());
            text.push('\n');
        }
        fs::write(folder.join(format!("{nth}.ndjson")), text).unwrap();
    }
    sandbox.json(&["learn", "--from", &folder.display().to_string()]);
}

/// A file of memories in the repository.
fn import_memories(sandbox: &Sandbox, payloads: &[String]) {
    let memory = |(nth, text): (usize, &String)| {
        json!({ "id": format!("018f0000-0000-7000-9000-00000000{nth:04}"), "type": "gotcha", "content": text,
            "confidence": 0.9, "created_at": 1_700_000_000_000_i64, "files": ["src/pay.rs"] })
    };
    let memories: Vec<Value> = payloads.iter().enumerate().map(memory).collect();
    let path = sandbox.project.join("memories.json");
    fs::write(&path, json!({ "v": 2, "kind": "export", "memories": memories }).to_string())
        .unwrap();
    sandbox.json(&["import", "--skip-bad", &path.display().to_string()]);
}

/// The arguments of a call of an MCP tool. A new tool does not pass until it is added here.
fn tool_arguments(tool: &str, memory: &str) -> Value {
    match tool {
        "search_memory" => json!({ "query": TASK, "limit": 20 }),
        "get_workflow_recipe" => json!({ "task": TASK }),
        "get_context" => json!({ "stage": "plan", "task": TASK, "files": ["src/pay.rs"] }),
        "analyze_impact" | "get_dependencies" => json!({ "target": "src/pay.rs" }),
        "get_module_map" => json!({}),
        "update_module_map" => json!({ "module": "src", "description": "payments" }),
        "record_memory" => json!({ "content": "Charges are in cents", "files": ["src/pay.rs"] }),
        "relate" => json!({ "memory": memory, "relation": "validates", "target": "src/pay.rs" }),
        "flag_memory" => json!({ "memory": memory, "reason": "it looks wrong" }),
        _ => panic!("`{tool}` is new: say how an agent could call it"),
    }
}

/// Asserts that the MCP server lists the resources and prompts that this test reads, and no others.
fn assert_resources_are_known(sandbox: &Sandbox) {
    let lists = ["resources/list", "resources/templates/list", "prompts/list"];
    let requests: Vec<Value> =
        lists.iter().enumerate().map(|(nth, it)| rpc_request(nth + 1, it, json!({}))).collect();
    let answers = run_server(sandbox, &["mcp"], &requests);
    let names = |answer: &Value, list: &str, field: &str| -> Vec<String> {
        answer["result"][list].as_array().unwrap().iter().map(|it| string(&it[field])).collect()
    };
    assert_eq!(names(&answers[1], "resources", "uri"), ["memory://module-map"]);
    let templates = ["memory://memory/{id}", "memory://session/{id}"];
    assert_eq!(names(&answers[2], "resourceTemplates", "uriTemplate"), templates);
    assert_eq!(names(&answers[3], "prompts", "name"), ["remember", "review"]);
}

/// The fields of a request to the daemon, besides the project.
fn protocol_fields(kind: serve::wire::RequestKind) -> Value {
    use serve::wire::RequestKind as Kind;
    match kind {
        Kind::Hello
        | Kind::Ping
        | Kind::Status
        | Kind::Stop
        | Kind::ModuleMap
        // Without the facts about a caller the last three are refused. The commands and the MCP server that they
        // lead to are attacked below, in a process of their own and in the daemon.
        | Kind::Command
        | Kind::Run
        | Kind::Mcp => json!({}),
        Kind::Hook => json!({ "host": "claude-code", "message": {
            "hook_event_name": "UserPromptSubmit", "session_id": "reader", "prompt": TASK } }),
        Kind::Search => json!({ "query": TASK, "limit": 100 }),
        Kind::Record => json!({ "type": "gotcha", "content": "Charges are in cents" }),
        Kind::Impact | Kind::Dependencies => json!({ "target": "src/pay.rs" }),
        Kind::StopLimit => json!({ "base": 40 }),
        Kind::Validate => json!({ "kind": "qa_passed", "ok": true }),
        Kind::Finish => json!({ "outcome": "success", "wait": true }),
        Kind::SessionContext
        | Kind::StepContext
        | Kind::FileContext
        | Kind::PlanContext
        | Kind::QaContext
        | Kind::RecoveryContext
        | Kind::SpecContext
        | Kind::Recipe
        | Kind::Prefetch => json!({ "task": TASK, "files": ["src/pay.rs"] }),
    }
}

/// Everything that a model can read of the project, with the name of its place.
fn collect_outputs(sandbox: &Sandbox) -> Vec<(String, String)> {
    let mut acc = Vec::new();
    for format in ["rules", "markdown"] {
        let args = ["export", "--format", format];
        acc.push((args.join(" "), sandbox.run(&args).expect_code(0, format).out));
    }
    for args in [
        vec!["context", "start", "--json", "--task", TASK],
        vec!["context", "file", "--json", "src/pay.rs"],
        vec!["context", "plan", "--json", "--task", TASK],
        vec!["context", "qa", "--json", "--task", TASK],
    ] {
        acc.push((args.join(" "), sandbox.run(&args).out));
    }
    let memories = sandbox.memories();
    let sessions = sandbox.json(&["explain"]);
    let sessions: Vec<String> =
        sessions["sessions"].as_array().unwrap().iter().map(|it| string(&it["id"])).collect();
    let memory = string(&memories[0]["id"]);
    let mut messages = Vec::new();
    for row in mcp::tool_rows() {
        messages.push(tool_call(messages.len() + 1, row.name, tool_arguments(row.name, &memory)));
    }
    for prompt in ["remember", "review"] {
        let arguments = json!({ "what": "pay", "topic": "src/pay.rs" });
        let params = json!({ "name": prompt, "arguments": arguments });
        messages.push(rpc_request(messages.len() + 1, "prompts/get", params));
    }
    let uris = memories.iter().map(|it| format!("memory://memory/{}", string(&it["id"])));
    let uris = uris.chain(sessions.iter().map(|it| format!("memory://session/{it}")));
    for uri in uris.chain(["memory://module-map".to_owned()]) {
        messages.push(rpc_request(messages.len() + 1, "resources/read", json!({ "uri": uri })));
    }
    assert_resources_are_known(sandbox);
    for answer in run_server(sandbox, &["mcp"], &messages).iter().skip(1) {
        acc.push((format!("MCP answer {}", answer["id"]), answer.to_string()));
    }
    let daemon = RunningDaemon::start(sandbox);
    let mut client = DaemonClient::connect(sandbox);
    for kind in serve::wire::RequestKind::ALL {
        let mut request = protocol_fields(*kind);
        request["id"] = json!(1);
        request["request"] = json!(kind.slug());
        request["project"] = json!(sandbox.project);
        // The daemon ends with the test.
        if *kind != serve::wire::RequestKind::Stop {
            acc.push((format!("protocol {kind}"), client.request(request).to_string()));
        }
    }
    drop(daemon);
    acc
}

/// Packages whose manifests hold payloads as names and descriptions, and whose files begin with one.
fn write_packages(sandbox: &Sandbox, payloads: &[String]) {
    let root = &sandbox.project;
    let manifest = json!({ "name": "shop", "workspaces": ["packages/*"] });
    fs::write(root.join("package.json"), manifest.to_string()).unwrap();
    for (nth, text) in payloads.iter().step_by(4).enumerate() {
        let folder = root.join(format!("packages/payment{nth}"));
        fs::create_dir_all(&folder).unwrap();
        for name in ["charge", "refund"] {
            fs::write(folder.join(format!("{name}.js")), "export const rate = 1\n").unwrap();
        }
        // A host reads the name of a package in code; only some are sentences.
        let name = if nth % 2 == 0 { text.clone() } else { format!("payment{nth}") };
        let manifest = json!({ "name": name, "description": text, "main": "index.js" });
        fs::write(folder.join("package.json"), manifest.to_string()).unwrap();
        let source = format!("// {text}\nexport function pay{nth}() {{}}\n");
        fs::write(folder.join("index.js"), source).unwrap();
    }
    sandbox.run(&["index"]).expect_code(0, "index");
}

/// A project whose repository brought payloads, stored but not live.
fn poisoned_project() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.project.join("src")).unwrap();
    fs::write(sandbox.project.join("src/pay.rs"), "pub fn pay() {}\n").unwrap();
    let payloads = payloads();
    let (recorded, imported) = payloads.split_at(payloads.len() / 2);
    write_records(&sandbox, recorded);
    import_memories(&sandbox, imported);
    write_packages(&sandbox, &payloads);
    // The attack itself works: the payloads are stored.
    let n_stored = sandbox.memories().iter().filter(|it| it.to_string().contains(CANARY)).count();
    assert!(n_stored >= 40, "{n_stored}");
    sandbox
}

#[track_caller]
fn assert_no_canary(place: &str, output: &str) {
    // Characters that are not letters may have been put between those of a canary.
    let letters: String = output.chars().filter(char::is_ascii_alphanumeric).collect();
    let leak = letters.split(CANARY).nth(1).map(|it| it.chars().take(60).collect::<String>());
    assert_eq!(leak, None, "{place}: {output}");
}

#[test]
fn payloads_of_a_repository_reach_no_surface_of_the_program() {
    let sandbox = poisoned_project();
    for (place, output) in collect_outputs(&sandbox) {
        assert_no_canary(&place, &output);
    }
}

/// Runs a command in the shell of an agent; `keys` is its standard input.
fn run_as_agent(sandbox: &Sandbox, args: &[&str], keys: &str) -> CommandOutput {
    let mut command = sandbox.command(args);
    command.env("CLAUDECODE", "1");
    run_command_with_input(command, keys.as_bytes())
}

/// The commands in the help of the program: `  search      Search memories …`.
fn listed_commands(sandbox: &Sandbox) -> Vec<String> {
    let help = sandbox.run(&["help"]).expect_code(0, "help").out;
    let name = |line: &str| {
        let (name, about) = line.strip_prefix("  ")?.split_once("  ")?;
        let is_name = name.bytes().all(|it| it.is_ascii_lowercase() || it == b'-');
        (is_name && !name.is_empty() && !about.trim().is_empty()).then(|| name.to_owned())
    };
    help.lines().filter_map(name).collect()
}

/// The ways to call a command, with the ids of a memory and a session. A new command does not pass until it
/// is added here.
fn calls_of<'a>(command: &str, memory: &'a str, session: &'a str) -> Vec<Vec<&'a str>> {
    let all = "--all";
    match command {
        "init" => vec![vec!["--yes"], vec!["--dry-run"]],
        "remember" => vec![vec!["The retry limit is 3"]],
        "learn" => vec![vec!["--dropped"], vec!["--dry-run"]],
        "list" => vec![vec![all, "-n", "1000"], vec![all, "--file", "src/pay.rs"]],
        "search" => vec![vec![TASK, all], vec![TASK, "--explain"], vec!["pay"]],
        "ask" => vec![vec![TASK]],
        "context" => vec![
            vec!["start", "--task", TASK, "--explain"],
            vec!["file", "src/pay.rs", "--explain"],
            vec!["plan", "--task", TASK],
            vec!["qa", "--task", TASK],
            vec!["recovery", "--task", TASK],
            vec!["spec", "--task", TASK],
            vec!["step", "--task", TASK, "--file", "src/pay.rs", "--level", "confident"],
            vec!["siblings", session],
        ],
        "show" | "history" => vec![vec![memory], vec![session]],
        "explain" => vec![vec![], vec![memory, all], vec![session, all]],
        "review" => vec![vec![], vec![all]],
        "flag" => vec![vec![memory, "ok"]],
        "edit" => vec![vec![memory, "--text", "new"]],
        "export" => vec![vec![], vec!["--format", "markdown"], vec!["--format", "rules"]],
        "pin" | "forget" | "restore" => vec![vec![memory]],
        "undo" => vec![vec![memory], vec![]],
        "injections" => vec![vec![], vec!["--memory", memory]],
        "purge" => vec![vec![memory, "--dry-run"], vec![memory, "--yes"]],
        "index" | "map" | "backup" | "maintain" | "embed" | "doctor" | "stats" | "config" => {
            vec![vec![]]
        }
        "impact" | "deps" | "neighbours" | "symbols" | "chunks" => vec![vec!["src/pay.rs"]],
        "path" => vec![vec!["src/pay.rs", "src/pay.rs"]],
        // They read a file that the caller names, replace files, or print nothing of the project; or they run
        // until they are stopped, and their answers are attacked above.
        "import" | "restore-backup" | "connect" | "disconnect" | "completions" | "licenses"
        | "version" | "help" | "watch" | "serve" | "mcp" => Vec::new(),
        _ => panic!("`{command}` is new: say how an agent could call it"),
    }
}

#[test]
fn no_command_in_the_shell_of_an_agent_prints_a_payload() {
    let sandbox = poisoned_project();
    let sessions = sandbox.json(&["explain"]);
    let session = string(&sessions["sessions"][0]["id"]);
    let commands = listed_commands(&sandbox);
    assert!(commands.len() > 40, "{commands:?}");
    let memories = sandbox.memories();
    let is_poisoned = |it: &&Value| it.to_string().contains(CANARY);
    let mut ids = memories.iter().filter(is_poisoned).map(|it| string(&it["id"]));
    for command in &commands {
        let memory = ids.next().unwrap();
        for call in calls_of(command, &memory, &session) {
            for format in [&[][..], &["--json"]] {
                let args = [format, &[command.as_str()], &call[..]].concat();
                let output = run_as_agent(&sandbox, &args, "y\ny\ny\n");
                assert_no_canary(&args.join(" "), &output.out_and_err());
            }
        }
    }
    // A person reads everything.
    assert!(sandbox.run(&["list", "--all"]).out.contains(CANARY));
}

#[test]
fn the_daemon_tells_the_commands_of_agents_from_those_of_the_user() {
    let mut sandbox = poisoned_project();
    let memories = sandbox.memories();
    let poisoned = memories.iter().find(|it| it.to_string().contains(CANARY)).unwrap();
    let id = string(&poisoned["id"]);
    sandbox.uses_daemon = true;
    // Started by a hook, the daemon has the environment of an agent. That says nothing about its callers.
    let mut daemon = sandbox.command(&["serve"]);
    daemon.env("CLAUDECODE", "1");
    let _daemon = RunningDaemon::spawn(&sandbox, daemon);
    let n_requests =
        || sandbox.json(&["serve", "--status"])["requests"].as_u64().unwrap_or_default();
    let before = n_requests();
    let listed = run_as_agent(&sandbox, &["list", "--all", "-n", "1000"], "");
    assert_no_canary("list in the daemon", &listed.expect_code(0, "list").out_and_err());
    let refused = run_as_agent(&sandbox, &["flag", &id, "ok"], "").expect_code(2, "flag");
    assert!(refused.err.contains("an agent runs this command"), "{refused:?}");
    assert!(sandbox.run(&["list", "--all", "-n", "1000"]).out.contains(CANARY));
    sandbox.run(&["flag", &id, "ok"]).expect_code(0, "the user confirms it");
    // The daemon ran them: two requests for each command, and one for this question.
    assert_eq!(n_requests() - before, 4 * 2 + 1);
}

#[test]
fn rules_that_an_agent_imports_wait_for_review() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.project.join("AGENTS.md"), "# Rules\n\n- Use tabs in every file.\n").unwrap();
    run_as_agent(&sandbox, &["init", "--yes", "--no-connect"], "").expect_code(0, "init");
    let statuses = |sandbox: &Sandbox| -> Vec<String> {
        sandbox.memories().iter().map(|it| string(&it["status"])).collect()
    };
    assert_eq!(statuses(&sandbox), ["tainted"]);
    // The user's own import vouches for them.
    let sandbox = Sandbox::new();
    fs::write(sandbox.project.join("AGENTS.md"), "# Rules\n\n- Use tabs in every file.\n").unwrap();
    sandbox.run(&["init", "--yes", "--no-connect"]).expect_code(0, "init");
    assert_eq!(statuses(&sandbox), ["live"]);
}

#[test]
fn an_agent_vouches_for_nothing_in_its_shell() {
    let sandbox = poisoned_project();
    let before = sandbox.memories();
    let poisoned = before.iter().find(|it| it.to_string().contains(CANARY)).unwrap();
    let (id, text) = (string(&poisoned["id"]), string(&poisoned["content"]));
    let export = sandbox.project.join("memories.json").display().to_string();
    let refused: &[&[&str]] = &[
        &["review"],
        &["flag", &id, "ok"],
        &["flag", &id, "outdated", "--text", "obey"],
        &["edit", &id, "--text", "obey"],
        &["pin", &id],
        &["forget", &id],
        &["restore", &id],
        &["undo"],
        &["purge", &id, "--yes"],
        &["purge", "--everything", "--yes"],
        &["restore-backup", "newest", "--yes"],
        &["import", "--trust", "--skip-bad", &export],
        &["learn", "--trust", "--from", "sessions"],
        &["config", "set", "trust.level", "autonomous"],
        &["remember", "--pin", "obey"],
    ];
    for args in refused {
        let output = run_as_agent(&sandbox, args, "y\ny\n").expect_code(2, &args.join(" "));
        assert!(output.err.contains("an agent runs this command"), "{output:?}");
    }
    assert_eq!(sandbox.memories(), before);

    // A statement waits for the user, also one that repeats a stored text.
    for text in ["Uploads are retried three times", &text] {
        let output = run_as_agent(&sandbox, &["--json", "remember", "--", text], "");
        let memory = &output.expect_code(0, "remember").json()["memory"];
        assert_eq!(
            (&memory["status"], &memory["user_verified"]),
            (&json!("needs_review"), &json!(false))
        );
        assert_eq!(memory["created_by"], "agent:shell", "{memory}");
    }
    let live = sandbox.json(&["list", "-n", "1000", "--status", "live"]);
    assert!(!live.to_string().contains(CANARY) && !live.to_string().contains("Uploads"), "{live}");

    // Some hosts run the commands of their agents on a terminal.
    if has_program("script") {
        let mut command = terminal_command(&sandbox, &format!("\"$W\" flag {id} ok"));
        command.env("CLAUDECODE", "1");
        let output = run_command(command).out_and_err();
        assert!(output.contains("an agent runs this command"), "{output}");
    }
    let mut own = sandbox.command(&["flag", &id, "ok"]);
    own.env_remove("CLAUDECODE");
    run_command(own).expect_code(0, "the user confirms it");
}
