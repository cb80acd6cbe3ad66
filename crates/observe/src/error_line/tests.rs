//! Outputs of real tools and what is recognised in them. A fixture has cases: a name after `%%%`, the command
//! after `$`, and the output.

use super::*;
use expect_test::{Expect, expect};
use std::fmt::Write as _;

macro_rules! fixtures {
    ($($name:literal),+) => {
        &[$(($name, include_str!(concat!("../../fixtures/error_line/", $name, ".txt")))),+]
    };
}

pub(super) const FIXTURES: &[(&str, &str)] = fixtures![
    "bun",
    "dotnet",
    "generic",
    "git",
    "go",
    "host_tools",
    "java",
    "jest",
    "linters",
    "make",
    "mocha",
    "native",
    "node",
    "node_test",
    "npm",
    "other_tests",
    "packages",
    "pip",
    "pytest",
    "python",
    "rust",
    "shell",
    "typescript",
    "unittest",
    "vitest"
];

pub(super) struct FixtureCase {
    pub(super) name: &'static str,
    pub(super) command: &'static str,
    pub(super) output: &'static str,
}

pub(super) fn cases(fixture: &str) -> Vec<FixtureCase> {
    let text = FIXTURES.iter().find(|it| it.0 == fixture).unwrap().1;
    let case = |it: &'static str| {
        let (name, rest) = it.split_once("\n$ ").unwrap();
        let (command, output) = rest.split_once('\n').unwrap();
        FixtureCase { name, command, output }
    };
    text.split("%%% ").filter(|it| !it.is_empty()).map(case).collect()
}

/// Checks `case: family kind subject | line` for each case of a fixture; `–` if no error is recognised.
fn check_fixture(fixture: &str, expect: Expect) {
    let mut acc = String::new();
    for FixtureCase { name, command, output } in cases(fixture) {
        let shown = recognise_error(command, output).map_or("–".to_owned(), |it| {
            let subject = it.subject.unwrap_or("–".to_owned());
            format!("{} {} {subject} | {}", it.family, it.kind, it.display_line)
        });
        let _ = writeln!(acc, "{name}: {shown}");
    }
    expect.assert_eq(&acc);
}

#[test]
fn errors_of_bun_are_known_by_their_line() {
    check_fixture(
        "bun",
        expect![[r#"
            assertion: bun_test assertion_failure adds two numbers | expect(received).toBe(expected) Expected: 4 Received: 3
            missing_module: bun_test missing_module hono | Cannot find module 'hono' from 'app.test.ts'
            missing_script: bun usage_error tests | Script not found "tests"
        "#]],
    );
}

#[test]
fn errors_of_dotnet_are_known_by_their_line() {
    check_fixture(
        "dotnet",
        expect![[r"
            test: dotnet_test assertion_failure Tests.CartTests.Adds | Assert.Equal() Failure: Values differ Expected: 4 Actual: 3
            compile: csharp compile_error foo | CS0103: The name 'foo' does not exist in the current context
            no_project: csharp usage_error – | MSB1003: Specify a project or solution file. The current working directory does not contain a project or solution file.
        "]],
    );
}

#[test]
fn errors_of_generic_are_known_by_their_line() {
    check_fixture(
        "generic",
        expect![[r"
            gh_flag: generic usage_error --stat | unknown flag: --stat
            invalid_environment: generic missing_variable STRIPE_KEY | ❌ Invalid environment variables: { STRIPE_KEY: [ 'Required' ]
            port: generic network – | listen tcp 127.0.0.1:8080: bind: address already in use
            banner: generic other – | the cache is corrupt: bad magic number
        "]],
    );
}

#[test]
fn errors_of_git_are_known_by_their_line() {
    check_fixture(
        "git",
        expect![[r"
            git_no_upstream: git usage_error – | The current branch has no upstream branch
            git_conflict: git conflict – | CONFLICT (content): Merge conflict in f
            git_rejected: git conflict – | push [rejected] (non-fast-forward)
            git_pathspec: git usage_error nobranch | pathspec 'nobranch' did not match any file(s) known to git
            git_unknown_option: git usage_error --no-stat | unrecognized argument: --no-stat
            git_unknown_revision: git usage_error nope..main | ambiguous argument 'nope..main': unknown revision or path not in the working tree.
            git_unknown_command: generic usage_error comit | git: 'comit' is not a git command. See 'git --help'.
            git_nothing: git not_run – | nothing to commit, working tree clean
            git_overwritten: git conflict – | Your local changes to the following files would be overwritten by checkout
            git_not_a_repository: git other – | not a git repository (or any of the parent directories): .git
            husky: eslint lint_rule no-undef | 'y' is not defined (no-undef)
            pre_commit: git lint_rule trailing-whitespace | hook trailing-whitespace failed
            push_hook: typescript compile_error totl | TS2551: Property 'totl' does not exist on type 'Cart'. Did you mean 'total'?
            gitignore: git usage_error – | The following paths are ignored by one of your .gitignore files
        "]],
    );
}

#[test]
fn errors_of_go_are_known_by_their_line() {
    check_fixture(
        "go",
        expect![[r#"
            assertion: go_test assertion_failure TestTotal/with_discount | expected 12, got 15
            assertion_verbose: go_test assertion_failure TestOrder | order 17 should be closed
            testify: go_test assertion_failure TestParse | Not equal: expected: "a" actual : "b"
            panic: go_test exception – | panic: runtime error: invalid memory address or nil pointer dereference
            undefined: go_build compile_error runCleanWithBranches | undefined: runCleanWithBranches
            missing_module: go_build missing_module github.com/spf13/cobra | no required module provides package github.com/spf13/cobra; to add it:
            no_main_module: go_mod other – | cannot find main module, but found .git/config in app
            lint: golangci_lint lint_rule nilerr | error is not nil (line 219) but it returns nil (nilerr)
            lint_typecheck: golangci_lint compile_error OpenRepository | undefined: OpenRepository
        "#]],
    );
}

#[test]
fn errors_of_host_tools_are_known_by_their_line() {
    check_fixture(
        "host_tools",
        expect![[r"
        not_read: host_tool not_run – | File has not been read yet. Read it first before writing to it.
        not_found: host_tool not_run – | String to replace not found in file.
        two_matches: host_tool not_run – | Found 2 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true.
        no_file: host_tool missing_file – | File does not exist.
        sibling: –
    "]],
    );
}

#[test]
fn errors_of_java_are_known_by_their_line() {
    check_fixture(
        "java",
        expect![[r"
            javac_symbol: javac compile_error undefinedName | cannot find symbol: variable undefinedName
            javac_package: javac missing_module com.nope | package com.nope does not exist
            maven_test: junit assertion_failure adds | org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
            maven_compile: javac compile_error Invoice | cannot find symbol: class Invoice
            gradle_test: junit assertion_failure adds() | org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
            gradle_dependency: gradle other – | Could not find com.example:nope:1.0.
            kotlin: kotlinc compile_error invoice | Unresolved reference 'invoice'.
        "]],
    );
}

#[test]
fn errors_of_jest_are_known_by_their_line() {
    check_fixture(
        "jest",
        expect![[r#"
        assertion: jest assertion_failure adds two numbers | expect(received).toBe(expected) // Object.is equality Expected: 4 Received: 3
        missing_module: jest missing_module ./missing | Cannot find module './missing' from 'src/app.test.js'
        timeout: jest timeout – | thrown: "Exceeded timeout of 5000 ms for a test.
    "#]],
    );
}

#[test]
fn errors_of_linters_are_known_by_their_line() {
    check_fixture(
        "linters",
        expect![[r#"
            eslint: eslint lint_rule no-unused-vars | 'x' is assigned a value but never used (no-unused-vars)
            eslint_semi: eslint lint_rule semi | Missing semicolon (semi)
            eslint_no_config: eslint missing_file – | ESLint couldn't find an eslint.config.(js|mjs|cjs) file.
            biome: biome lint_rule lint/correctness/noUnusedVariables | This variable is unused. (lint/correctness/noUnusedVariables)
            ruff: ruff lint_rule F401 | F401 `os` imported but unused
            ruff_full: ruff lint_rule E711 | E711 Comparison to `None` should be `cond is None`
            mypy: mypy compile_error – | Incompatible types in assignment (expression has type "str", variable has type "int") [assignment]
            mypy_import: mypy missing_module httpx | Cannot find implementation or library stub for module named "httpx" [import-not-found]
            prettier: prettier lint_rule format | Code style issues found in the above file. Run Prettier with --write to fix.
        "#]],
    );
}

#[test]
fn errors_of_make_are_known_by_their_line() {
    check_fixture(
        "make",
        expect![[r#"
            make_no_rule: script_runner usage_error x | No rule to make target 'x', needed by 'all'.
            make_inner: clang compile_error undeclared | 'undeclared' undeclared (first use in this function)
            make_no_target: script_runner usage_error nothing | No rule to make target 'nothing'.
            just_no_recipe: script_runner usage_error tests | Justfile does not contain recipe `tests`
            task_missing: script_runner usage_error tests | Task "tests" does not exist
            mise_missing: script_runner usage_error tests | no task tests found
            turbo: typescript compile_error – | TS2554: Expected 2 arguments, but got 1.
        "#]],
    );
}

#[test]
fn errors_of_mocha_are_known_by_their_line() {
    check_fixture(
        "mocha",
        expect![[r"
        assertion: mocha assertion_failure adds two numbers | AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 3 !== 4
    "]],
    );
}

#[test]
fn errors_of_native_are_known_by_their_line() {
    check_fixture(
        "native",
        expect![[r"
            gcc_missing_header: clang missing_module nope.h | fatal error: nope.h: No such file or directory
            gcc_syntax: clang compile_error – | expected expression before ';' token
            gcc_link: clang compile_error bar | undefined reference to `bar'
            gcc_undeclared: clang compile_error undeclared | 'undeclared' undeclared (first use in this function)
            ctest_failed: ctest assertion_failure adds | adds: Failed
            swift: clang compile_error invoice | cannot find 'invoice' in scope
        "]],
    );
}

#[test]
fn errors_of_node_are_known_by_their_line() {
    check_fixture(
        "node",
        expect![[r"
            node_missing_module: node missing_module zod | Error: Cannot find module 'zod'
            node_missing_package_esm: node missing_module zod | Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from boom.mjs
            node_missing_entry: node missing_module nothere.js | Error: Cannot find module 'nothere.js'
            node_missing_variable: node missing_variable DATABASE_URL | Error: DATABASE_URL environment variable is not set
            node_syntax: node compile_error – | SyntaxError: Unexpected end of input
            node_type_error: node exception – | TypeError: Cannot read properties of null (reading 'x')
            node_bad_option: node usage_error --foo | bad option: --foo
        "]],
    );
}

#[test]
fn errors_of_node_test_are_known_by_their_line() {
    check_fixture(
        "node_test",
        expect![[r"
        node_test_spec: node_test assertion_failure adds two numbers | AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 3 !== 4
        node_test_tap: node_test assertion_failure adds two numbers | Expected values to be strictly equal: 3 !== 4
    "]],
    );
}

#[test]
fn errors_of_npm_are_known_by_their_line() {
    check_fixture(
        "npm",
        expect![[r#"
        npm_missing_script: npm usage_error tests | Missing script: "tests"
        npm_lifecycle: node missing_module zod | Error: Cannot find module 'zod'
        npm_test: node_test assertion_failure adds two numbers | Expected values to be strictly equal: 3 !== 4
        npm_ci: npm conflict – | The `npm ci` command can only install with an existing package-lock.json or
        npm_install_404: npm other – | request to https://registry.npmjs.org/nonexistent-pkg-zz failed: cache mode is 'only-if-cached' but no cached response is available.
    "#]],
    );
}

#[test]
fn errors_of_other_tests_are_known_by_their_line() {
    check_fixture(
        "other_tests",
        expect![[r#"
        rspec: rspec assertion_failure Cart adds two numbers | expected: 4 got: 3
        rspec_load: rspec missing_module sinatra | LoadError: cannot load such file -- sinatra
        phpunit: phpunit assertion_failure testAdds | Failed asserting that 3 matches expected 4.
        phpunit_error: phpunit missing_module App\Invoice | Error: Class "App\Invoice" not found
    "#]],
    );
}

#[test]
fn errors_of_packages_are_known_by_their_line() {
    check_fixture(
        "packages",
        expect![[r#"
            npm_404: npm missing_module nonexistent-zz | 404 'nonexistent-zz@*' is not in this registry.
            npm_eresolve: npm conflict – | ERESOLVE unable to resolve dependency tree
            npm_no_manifest: npm missing_file package.json | enoent Could not read package.json: Error: ENOENT: no such file or directory, open 'package.json'
            pnpm_no_script: pnpm usage_error tests | ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL Command "tests" not found
            pnpm_lockfile: pnpm conflict – | ERR_PNPM_OUTDATED_LOCKFILE Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with <ROOT>/package.json
            yarn_command: yarn usage_error tests | Command "tests" not found.
            yarn_berry: yarn usage_error tests | Couldn't find a script named "tests".
            poetry: poetry conflict – | Because app depends on foo (^2.0) which requires Python >=3.12, version solving failed.
            uv_solution: uv conflict – | Because foo was not found in the package registry and your project depends on foo, we can conclude that your project's requirements are unsatisfiable.
            uv_spawn: uv missing_command pytests | Failed to spawn: `pytests`
            bundler: bundler missing_command rake | bundler: command not found: rake
            composer: composer conflict – | Your requirements could not be resolved to an installable set of packages.
        "#]],
    );
}

#[test]
fn errors_of_pip_are_known_by_their_line() {
    check_fixture(
        "pip",
        expect![[r"
        pip_bad_requirement: pip missing_module nonexistent-zz | Could not find a version that satisfies the requirement nonexistent-zz (from versions: none)
        pip_no_file: pip missing_file reqs.txt | Could not open requirements file: [Errno 2] No such file or directory: 'reqs.txt'
    "]],
    );
}

#[test]
fn errors_of_pytest_are_known_by_their_line() {
    check_fixture(
        "pytest",
        expect![[r"
            assertion: pytest assertion_failure test_adds | assert 3 == 4
            missing_module: pytest missing_module httpx | ModuleNotFoundError: No module named 'httpx'
            missing_variable: pytest missing_variable SERVICE_KEY | KeyError: 'SERVICE_KEY'
            fixture: pytest other – | fixture 'db' not found
            summary_only: pytest assertion_failure test_total | AssertionError: assert 12 == 15
            unknown_option: pytest usage_error --parallel | unrecognized arguments: --parallel
            no_such_path: pytest missing_file tests/nope | ERROR: file or directory not found: tests/nope
        "]],
    );
}

#[test]
fn errors_of_python_are_known_by_their_line() {
    check_fixture(
        "python",
        expect![[r"
            python_environ: python missing_variable API_KEY | KeyError: 'API_KEY'
            python_missing_module: python missing_module yaml_nope | ModuleNotFoundError: No module named 'yaml_nope'
            python_syntax: python compile_error – | SyntaxError: invalid syntax
            python_chained: python exception – | RuntimeError: cannot start
            python_no_file: generic missing_file nope.py | python3: can't open file 'nope.py': [Errno 2] No such file or directory
            python_no_module_flag: generic missing_module pytest_nope | python3: No module named pytest_nope
            argparse: generic usage_error --nope | python -m json.tool: error: unrecognized arguments: --nope
        "]],
    );
}

#[test]
fn errors_of_rust_are_known_by_their_line() {
    check_fixture(
        "rust",
        expect![[r#"
            rustc_undefined: rustc compile_error b | error[E0425]: cannot find value `b` in this scope
            rustc_import: rustc missing_module nope | error[E0432]: unresolved import `nope`
            cargo_test: cargo_test assertion_failure adds | assertion `left == right` failed: wrong sum left: 2 right: 4
            cargo_test_unwrap: cargo_test missing_file – | called `Result::unwrap()` on an `Err` value: Os { code: 2, kind: NotFound, message: "No such file or directory" }
            clippy: clippy lint_rule needless_return | unneeded `return` statement
            cargo_no_command: cargo missing_command tst | no such command: `tst`
            cargo_no_target: cargo usage_error nope | no test target named `nope` in default-run packages
            cargo_no_package: cargo usage_error nope | package ID specification `nope` did not match any packages
            cargo_dependency: cargo missing_module serde_nope | no matching package named `serde_nope` found
            cargo_no_manifest: cargo other – | could not find `Cargo.toml` in `/` or any parent directory
            rustfmt_check: rustc lint_rule rustfmt | rustfmt would change a file
            cargo_usage: cargo usage_error --nope | unexpected argument '--nope' found
        "#]],
    );
}

#[test]
fn errors_of_shell_are_known_by_their_line() {
    check_fixture(
        "shell",
        expect![[r#"
            bash_command_not_found: shell missing_command vitestx | vitestx: command not found
            sh_not_found: shell missing_command vitestx | vitestx: not found
            bash_unbound: shell missing_variable DEPLOY_TOKEN | DEPLOY_TOKEN: unbound variable
            bash_required: shell missing_variable API_TOKEN | API_TOKEN: must be set
            bash_syntax: shell usage_error – | -c: line 2: syntax error: unexpected end of file
            bash_permission: shell permission – | ./v.sh: Permission denied
            bash_cd: shell missing_file nowhere | cd: nowhere: No such file or directory
            cat_missing: generic missing_file nofile.txt | cat: nofile.txt: No such file or directory
            docker_daemon: docker network – | Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?
            zsh_not_found: shell missing_command bunx | command not found: bunx
            zsh_no_matches: shell usage_error src/[id]/page.test.ts | no matches found: src/[id]/page.test.ts
            compose_service: docker other – | service "web" is not running
            docker_pull: docker permission – | Error response from daemon: pull access denied for nope/image, repository does not exist or may require 'docker login'.
        "#]],
    );
}

#[test]
fn errors_of_typescript_are_known_by_their_line() {
    check_fixture(
        "typescript",
        expect![[r"
            module: typescript missing_module zod | TS2307: Cannot find module 'zod' or its corresponding type declarations.
            type: typescript compile_error – | TS2322: Type 'string' is not assignable to type 'number'.
            property: typescript compile_error total | TS2339: Property 'total' does not exist on type 'Cart'.
            option: typescript usage_error --nope | TS5023: Unknown compiler option '--nope'.
        "]],
    );
}

#[test]
fn errors_of_unittest_are_known_by_their_line() {
    check_fixture(
        "unittest",
        expect![[r"
            unittest_assertion: unittest assertion_failure test_adds | AssertionError: 3 != 4
            unittest_missing_module: unittest missing_module requests_nope | ModuleNotFoundError: No module named 'requests_nope'
            unittest_environ: unittest missing_variable SERVICE_TOKEN | KeyError: 'SERVICE_TOKEN'
        "]],
    );
}

#[test]
fn errors_of_vitest_are_known_by_their_line() {
    check_fixture(
        "vitest",
        expect![[r#"
            missing_variable: vitest missing_variable LIVE_API_KEY | Error: LIVE_API_KEY is not set
            missing_module: vitest missing_module ../src/start | Error: Cannot find module '../src/start' imported from live.test.ts
            unresolved_import: vitest missing_module msw/node | Error: Failed to resolve import "msw/node" from "test/live.test.ts". Does the file exist?
            assertion: vitest assertion_failure adds two numbers | AssertionError: expected 3 to be 4 // Object.is equality
            no_files: vitest not_run – | No test files found, exiting with code 1
            unknown_option: vitest usage_error --tests | CACError: Unknown option `--tests`
        "#]],
    );
}
