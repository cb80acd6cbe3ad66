//! Recurring errors: one session meets an error and resolves it, the next one meets it again and is told what
//! ended it. Errors, commands and names that only look alike are answered with silence.
//!
//! Each case is a session as a list of steps, the failure of a second session, and a part of the answer:
//!
//! ```text
//! first session     npm test fails: DATABASE_URL is not set;  DATABASE_URL=sqlite::memory: npm test succeeds
//! second session    npm test fails: DATABASE_URL is not set   → told: DATABASE_URL=sqlite::memory: npm test
//!                   npm test fails: REDIS_URL is not set      → silence
//! ```

use std::cell::Cell;

use agents::{HookEvent, HookMessage};
use model::DAY_MS;
use serde_json::{Value, json};
use waylore_engine::{Project, SilenceReason};

use crate::learning::{LearningFixture, START, parse_events_at};

/// A step of a session.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// A command that fails with an output.
    Fail(&'static str, &'static str),
    /// A command that succeeds.
    Run(&'static str),
    /// A command that exits with success and prints an output.
    Print(&'static str, &'static str),
    /// An edit of a file, and the identifiers in it.
    Edit(&'static str, &'static [&'static str]),
    /// A message of the person.
    User(&'static str),
    /// A text of the agent.
    Say(&'static str),
}

use Step::{Edit, Fail, Print, Run, Say, User};

/// An error of two sessions.
struct RecurringError {
    name: &'static str,
    first_session: &'static [Step],
    /// The command and the output of the second session.
    second_failure: (&'static str, &'static str),
    /// A part of the answer.
    answer: &'static str,
    /// Outputs of the same command that name something else.
    other_outputs: &'static [&'static str],
}

#[rustfmt::skip]
const CASES: &[RecurringError] = &[
    RecurringError {
        name: "environment prefix",
        first_session: &[
            Fail("npm test", "> shop@1.0.0 test\n> vitest run\n\nError: DATABASE_URL is not set\n    at connect (src/db.ts:4:11)"),
            Run("DATABASE_URL=sqlite::memory: npm test"),
        ],
        second_failure: ("npm test", "> shop@1.0.0 test\n> vitest run\n\nError: DATABASE_URL is not set\n    at connect (src/db.ts:9:11)"),
        answer: "DATABASE_URL=sqlite::memory: npm test",
        other_outputs: &["Error: REDIS_URL is not set\n    at connect (src/db.ts:4:11)", "Error: Cannot find package 'zod' imported from src/a.ts"],
    },
    RecurringError {
        name: "another program",
        first_session: &[
            Fail("pytest -q", "bash: pytest: command not found"),
            Run("ls"),
            Run("python -m pytest -q"),
        ],
        second_failure: ("pytest -q tests", "bash: pytest: command not found"),
        answer: "`python -m pytest -q` instead of `pytest -q`",
        other_outputs: &["ERROR: file or directory not found: tests", "E   ModuleNotFoundError: No module named 'shop'"],
    },
    RecurringError {
        name: "another package manager",
        first_session: &[
            Fail("npm install", "npm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type \"workspace:\": workspace:*"),
            Run("cat package.json"),
            Run("pnpm install"),
        ],
        second_failure: ("npm install", "npm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type \"workspace:\": workspace:*"),
        answer: "Use `pnpm install` instead of `npm install`",
        other_outputs: &["npm error code ENOTFOUND\nnpm error network request to https://registry.npmjs.org/zod failed"],
    },
    RecurringError {
        name: "import edit",
        first_session: &[
            Fail("npx vitest run", " FAIL  src/cart.test.ts > adds\nReferenceError: vi is not defined\n ❯ src/cart.test.ts:3:1"),
            Edit("src/cart.test.ts", &["vi", "describe", "vitest"]),
            Run("npx vitest run"),
        ],
        second_failure: ("npx vitest run", " FAIL  src/order.test.ts > sums\nReferenceError: vi is not defined\n ❯ src/order.test.ts:7:1"),
        answer: "fixed in `src/cart.test.ts` (`vi`)",
        other_outputs: &[" FAIL  src/order.test.ts > sums\nReferenceError: structuredCloned is not defined\n ❯ src/order.test.ts:7:1"],
    },
    RecurringError {
        name: "build first",
        first_session: &[
            Fail("node --test test/cli.test.js", "node:internal/modules/cjs/loader:1215\n  throw err;\n  ^\n\nError: Cannot find module '../dist/index.js'\nRequire stack:\n- /home/user/shop/test/cli.test.js"),
            Run("git status --short"),
            Run("npm run build"),
            Run("node --test test/cli.test.js"),
        ],
        second_failure: ("node --test test/cli.test.js", "node:internal/modules/cjs/loader:1215\n  throw err;\n  ^\n\nError: Cannot find module '../dist/index.js'\nRequire stack:\n- /home/dev/shop/test/cli.test.js"),
        answer: "run `npm run build` first",
        other_outputs: &["Error: Cannot find module 'left-pad'\nRequire stack:\n- /home/dev/shop/test/cli.test.js"],
    },
    RecurringError {
        name: "push -u",
        first_session: &[
            Fail("git push", "fatal: The current branch feature/cart has no upstream branch.\nTo push the current branch and set the remote as upstream, use\n\n    git push --set-upstream origin feature/cart\n"),
            Run("git push -u origin HEAD"),
        ],
        second_failure: ("git push", "fatal: The current branch fix/total has no upstream branch.\nTo push the current branch and set the remote as upstream, use\n\n    git push --set-upstream origin fix/total\n"),
        answer: "Use `git push -u origin HEAD` instead of `git push`",
        other_outputs: &[" ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.com:a/shop'", "fatal: not a git repository (or any of the parent directories): .git"],
    },
    RecurringError {
        name: "interpreter version",
        first_session: &[
            Fail("python tools/report.py", "  File \"tools/report.py\", line 12\n    match kind:\n          ^\nSyntaxError: invalid syntax"),
            Run("which python3.12"),
            Run("python3.12 tools/report.py"),
        ],
        second_failure: ("python tools/report.py", "  File \"tools/report.py\", line 14\n    match kind:\n          ^\nSyntaxError: invalid syntax"),
        answer: "python3.12 tools/report.py",
        other_outputs: &["Traceback (most recent call last):\n  File \"tools/report.py\", line 3, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'"],
    },
    RecurringError {
        name: "wrong folder",
        first_session: &[
            Fail("npm run dev:check", "npm error code ENOENT\nnpm error syscall open\nnpm error path /home/user/shop/package.json\nnpm error errno -2\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/home/user/shop/package.json'"),
            Run("ls"),
            Run("cd web && npm run dev:check"),
        ],
        second_failure: ("npm run dev:check", "npm error code ENOENT\nnpm error syscall open\nnpm error path /home/dev/shop/package.json\nnpm error errno -2\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/home/dev/shop/package.json'"),
        answer: "cd web && npm run dev:check",
        other_outputs: &["npm error Missing script: \"dev:check\""],
    },
    RecurringError {
        name: "missing flag",
        first_session: &[
            Fail("cargo test --test wire", "error: target `wire` in package `shop` requires the features: `net`\nConsider enabling them by passing, e.g., `--features=\"net\"`"),
            Run("cargo test --test wire --features net"),
        ],
        second_failure: ("cargo test --test wire", "error: target `wire` in package `shop` requires the features: `net`\nConsider enabling them by passing, e.g., `--features=\"net\"`"),
        answer: "cargo test --test wire --features net",
        other_outputs: &["error: no test target named `wire` in default-run packages", "error[E0432]: unresolved import `shop::net`\n --> tests/wire.rs:1:5"],
    },
    RecurringError {
        name: "unknown script",
        first_session: &[
            Fail("npm run typecheck", "npm error Missing script: \"typecheck\"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run"),
            Run("cat package.json"),
            Run("npm run typecheck --workspace packages/core"),
        ],
        second_failure: ("npm run typecheck", "npm error Missing script: \"typecheck\"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run"),
        answer: "npm run typecheck --workspace packages/core",
        other_outputs: &["src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'."],
    },
    RecurringError {
        name: "missing install",
        first_session: &[
            Fail("npm run lint", "> shop@1.0.0 lint\n> eslint .\n\nsh: eslint: command not found"),
            Run("npm ci"),
            Run("npm run lint"),
        ],
        second_failure: ("npm run lint", "> shop@1.0.0 lint\n> eslint .\n\nsh: eslint: command not found"),
        answer: "run `npm ci` first",
        other_outputs: &["> shop@1.0.0 lint\n> eslint .\n\nsh: prettier: command not found", "/p/src/a.ts\n  3:7  error  'total' is assigned a value but never used  no-unused-vars"],
    },
    RecurringError {
        name: "service to start",
        first_session: &[
            Fail("go test ./store/...", "--- FAIL: TestOrders (0.01s)\n    store_test.go:21: dial tcp 127.0.0.1:5432: connect: connection refused\nFAIL\nFAIL\tshop/store\t0.014s"),
            Run("docker compose ps"),
            Run("docker compose up -d db"),
            Run("go test ./store/..."),
        ],
        second_failure: ("go test ./store/...", "--- FAIL: TestOrders (0.02s)\n    store_test.go:21: dial tcp 127.0.0.1:5432: connect: connection refused\nFAIL\nFAIL\tshop/store\t0.021s"),
        answer: "run `docker compose up -d db` first",
        other_outputs: &["--- FAIL: TestOrders (0.02s)\n    store_test.go:30: got 3 orders, want 4\nFAIL"],
    },
    RecurringError {
        name: "missing variable in a file",
        first_session: &[
            Fail("npm run start:check", "Error: Missing required environment variable STRIPE_KEY\n    at load (src/config.ts:8:9)"),
            Edit(".env.local", &["STRIPE_KEY"]),
            Run("npm run start:check"),
        ],
        second_failure: ("npm run start:check", "Error: Missing required environment variable STRIPE_KEY\n    at load (src/config.ts:11:9)"),
        answer: "fixed in `.env.local` (`STRIPE_KEY`)",
        other_outputs: &["Error: Missing required environment variable MAIL_KEY\n    at load (src/config.ts:8:9)"],
    },
    RecurringError {
        name: "generated code",
        first_session: &[
            Fail("go build ./...", "# shop/api\napi/server.go:14:9: undefined: pb.OrderRequest"),
            Run("cat buf.gen.yaml"),
            Run("buf generate"),
            Run("go build ./..."),
        ],
        second_failure: ("go build ./...", "# shop/api\napi/server.go:31:12: undefined: pb.OrderRequest"),
        answer: "run `buf generate` first",
        other_outputs: &["# shop/api\napi/server.go:31:12: undefined: computeTotal", "# shop/api\napi/server.go:3:2: \"fmt\" imported and not used"],
    },
    RecurringError {
        name: "hook failure",
        first_session: &[
            Fail("git commit -m 'add cart'", "husky - pre-commit script failed (code 1)\n[warn] src/cart.ts\n[warn] Code style issues found in the above file. Run Prettier with --write to fix."),
            Run("npm run format"),
            Run("git add -A"),
            Run("git commit -m 'add cart'"),
        ],
        second_failure: ("git commit -m 'sum orders'", "husky - pre-commit script failed (code 1)\n[warn] src/orders.ts\n[warn] Code style issues found in the above file. Run Prettier with --write to fix."),
        answer: "run `npm run format` first",
        other_outputs: &["nothing to commit, working tree clean", "husky - commit-msg script failed (code 1)\n✖   subject may not be empty [subject-empty]"],
    },
];

/// The events of a session, without the fields that all events have.
fn event_lines(steps: &[Step]) -> Vec<String> {
    let mut events: Vec<Value> = vec![
        json!({ "event": "session_start", "project_root": "/p", "agent": "test", "task": "work on the shop" }),
    ];
    for (nth, step) in steps.iter().enumerate() {
        let mut call = |tool: &str, args: Value, ok: bool, excerpt: &str| {
            let id = format!("c{nth}");
            events.push(json!({ "event": "tool_call", "call_id": id, "tool": tool, "args": args }));
            events.push(json!({ "event": "tool_result", "call_id": id, "tool": tool, "ok": ok, "excerpt": excerpt }));
        };
        match *step {
            Fail(command, output) => call("shell", json!({ "command": command }), false, output),
            Run(command) => call("shell", json!({ "command": command }), true, "ok"),
            Print(command, output) => call("shell", json!({ "command": command }), true, output),
            Edit(path, names) => {
                call("edit", json!({ "paths": [path], "names": names }), true, "");
            }
            User(text) => events.push(json!({ "event": "user_message", "text": text })),
            Say(text) => events.push(json!({ "event": "reasoning", "text": text })),
        }
    }
    events.push(json!({ "event": "step_complete" }));
    let strip = |it: Value| {
        let line = it.to_string();
        line[1..line.len() - 1].to_owned()
    };
    events.into_iter().map(strip).collect()
}

/// A project that has learned these sessions, one a day.
pub(crate) struct TaughtProject {
    pub(crate) fixture: LearningFixture,
    project: Project,
    n_asked: Cell<u32>,
}

impl TaughtProject {
    pub(crate) fn new(sessions: &[&[Step]]) -> Self {
        let fixture = LearningFixture::new();
        // A fix that names a missing file is withheld.
        for path in ["src/cart.test.ts", ".env.local"] {
            let path = fixture.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text\n").unwrap();
        }
        let project = fixture.open_project();
        let mut acc = Self { fixture, project, n_asked: Cell::new(0) };
        for (nth, steps) in sessions.iter().enumerate() {
            acc.learn(u8::try_from(nth + 1).unwrap(), steps);
        }
        acc
    }

    pub(crate) fn learn(&mut self, session: u8, steps: &[Step]) {
        let lines = event_lines(steps);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let start = START + i64::from(session) * DAY_MS;
        self.fixture.record(&mut self.project, &parse_events_at(start, session, &lines));
        self.fixture.learn_journals(&mut self.project);
    }

    /// The texts of the live memories.
    fn memories(&mut self) -> Vec<String> {
        self.fixture.learn_journals(&mut self.project).texts
    }

    /// The answer to a failure in a new session; empty if there is none.
    pub(crate) fn answer(&self, command: &str, output: &str) -> String {
        let event = HookEvent::CallFailed {
            tool: "shell".to_owned(),
            command: Some(command.to_owned()),
            output: output.to_owned(),
        };
        let root = self.fixture.root().display().to_string();
        // A fix is told once in a session, so that each question is asked in another one.
        let n_asked = self.n_asked.replace(self.n_asked.get() + 1);
        let message = HookMessage::from_program(format!("second-{n_asked}"), root, event);
        let injection = self.fixture.run(self.project.injector().inject(&message));
        let is_silent = injection.silence == Some(SilenceReason::NoRelevantMemory);
        assert_eq!(is_silent, injection.text.is_empty());
        injection.text
    }
}

#[test]
fn a_recurring_error_is_answered_with_what_ended_it() {
    let mut missed = Vec::new();
    for case in CASES {
        let project = TaughtProject::new(&[case.first_session]);
        let (command, output) = case.second_failure;
        let answer = project.answer(command, output);
        if !answer.contains(case.answer) {
            missed.push(format!("{}: {answer}", case.name));
        }
    }
    assert!(
        missed.is_empty(),
        "{} of {} missed:\n{}",
        missed.len(),
        CASES.len(),
        missed.join("\n")
    );
}

#[test]
fn another_error_another_intent_and_another_name_are_not_answered() {
    let (mut n_asked, mut wrong) = (0, Vec::new());
    for case in CASES {
        let project = TaughtProject::new(&[case.first_session]);
        let (own_command, own_output) = case.second_failure;
        let mut questions: Vec<(&str, &str)> = Vec::new();
        questions.extend(case.other_outputs.iter().map(|it| (own_command, *it)));
        for other in CASES.iter().filter(|it| it.name != case.name) {
            let (command, output) = other.second_failure;
            questions.extend([(command, output), (own_command, output), (command, own_output)]);
        }
        for (command, output) in questions {
            n_asked += 1;
            let answer = project.answer(command, output);
            if !answer.is_empty() {
                wrong.push(format!("{}: {command} ⇒ {output}\n{answer}", case.name));
            }
        }
    }
    assert!(n_asked >= 100, "{n_asked}");
    assert!(wrong.is_empty(), "{} of {n_asked} answered:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_failure_behind_a_pipe_is_learned_and_one_remedy_of_a_person_is_not() {
    let mut hidden = TaughtProject::new(&[&[
        Print(
            "go test ./... | tail -5",
            "--- FAIL: TestOrders (0.01s)\n    store_test.go:21: DATABASE_URL is not set\nFAIL\tshop/store\t0.014s",
        ),
        Run("DATABASE_URL=x go test ./... | tail -5"),
    ]]);
    let memories = hidden.memories();
    assert!(
        memories.len() == 1 && memories[0].contains("`DATABASE_URL=x go test ./...` instead of"),
        "{memories:?}"
    );
    let remedied: &[Step] = &[
        Fail("npm test", "Error: connect ECONNREFUSED 127.0.0.1:5432"),
        User("connect fails when the vpn is down, switch it on"),
        Say("Trying again."),
        Run("npm test"),
    ];
    // A message before a success may have been about something else, so that one session is not enough.
    assert_eq!(TaughtProject::new(&[remedied]).memories(), Vec::<String>::new());
}

#[test]
fn an_edit_is_live_only_if_it_says_what_to_do_the_next_time() {
    let unexplained: &[Step] = &[
        Fail("npm test", "TypeError: cart.sum is not a function"),
        Edit("src/cart.test.ts", &["total"]),
        Run("npm test"),
    ];
    let mut once = TaughtProject::new(&[unexplained]);
    assert_eq!(once.memories(), Vec::<String>::new());
    assert_eq!(once.answer("npm test", "TypeError: cart.sum is not a function"), "");
    // Half-done work fails like that in any session, which teaches nothing.
    let mut twice = TaughtProject::new(&[unexplained, unexplained]);
    assert_eq!(twice.memories(), Vec::<String>::new());
    // A linter names a rule that sessions break again and again.
    let linted: &[Step] = &[
        Fail("golangci-lint run", "a.go:3:1: error is not nil but it returns nil (nilerr)"),
        Edit("a.go", &["err"]),
        Run("golangci-lint run"),
    ];
    let memories = TaughtProject::new(&[linted, linted]).memories();
    assert!(memories.len() == 1 && memories[0].contains("(2 sessions)"), "{memories:?}");
}

#[test]
fn a_fix_that_failed_is_not_told() {
    let error = "bash: pytest: command not found";
    let found: &[Step] = &[Fail("pytest", error), Run("python -m pytest")];
    let mut project = TaughtProject::new(&[found]);
    assert!(project.answer("pytest", error).contains("python -m pytest"));
    // The agent has just run it.
    assert_eq!(project.answer("python -m pytest", error), "");
    // A later session met the error although it ran the fix.
    project.learn(2, &[Fail("python -m pytest", error)]);
    assert_eq!(project.answer("pytest", error), "");
}
