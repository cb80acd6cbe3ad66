//! The tables by which `intent` reads command lines: interpreters, package managers, options, programs with
//! subcommands. Names are lower case.

/// Package managers that run scripts of the project and programs of its packages.
pub(super) const PACKAGE_MANAGERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Programs that run a program of a package, with the words between them and its name.
#[rustfmt::skip]
pub(super) const PACKAGE_RUNNERS: &[(&str, &[&str])] = &[
    ("npx", &[]), ("bunx", &[]), ("uvx", &[]), ("pnpx", &[]), ("npm", &["exec"]), ("npm", &["x"]), ("pnpm", &["exec"]), ("pnpm", &["dlx"]),
    ("yarn", &["exec"]), ("yarn", &["dlx"]), ("bun", &["x"]), ("pipx", &["run"]), ("uv", &["tool", "run"]),
];

/// Options of package managers and package runners that take a value.
#[rustfmt::skip]
pub(super) const MANAGER_OPTIONS: &[&str] = &[
    "--filter", "-F", "--prefix", "-C", "--dir", "--cwd", "--workspace", "-p", "--package", "-c", "--call", "--registry",
];

/// Subcommands of package managers that are no scripts. `""` is the bare program, which yarn takes for `install`.
#[rustfmt::skip]
pub(super) const MANAGER_COMMANDS: &[&str] = &[
    "", "install", "i", "ci", "add", "remove", "rm", "uninstall", "un", "update", "up", "upgrade", "outdated", "list", "ls", "why", "view", "info", "show",
    "audit", "publish", "pack", "link", "unlink", "login", "logout", "whoami", "config", "cache", "store", "init", "create", "version", "dedupe", "prune",
    "rebuild", "search", "ping", "set", "get", "pkg", "root", "bin", "fetch", "import", "patch", "self-update", "pm", "help",
];

/// Programs that run the script in their first argument.
#[rustfmt::skip]
pub(super) const INTERPRETERS: &[&str] = &[
    "python", "pypy", "node", "deno", "bun", "tsx", "ts-node", "ruby", "perl", "php", "lua", "bash", "sh", "zsh", "dash", "fish", "rscript", "julia", "elixir",
];

/// Programs that go on with a version or have a second name.
#[rustfmt::skip]
pub(super) const PROGRAM_ALIASES: &[(&str, &str)] = &[
    ("py", "python"), ("nodejs", "node"), ("gmake", "make"), ("gradlew", "gradle"), ("mvnw", "mvn"), ("golangci-lint-v2", "golangci-lint"),
];

/// Programs whose first argument is no subcommand: it is a file, a pattern or a folder.
#[rustfmt::skip]
pub(super) const PROGRAMS_WITHOUT_SUBCOMMAND: &[&str] = &[
    "pytest", "jest", "vitest", "mocha", "ava", "tap", "tsc", "eslint", "prettier", "mypy", "pyright", "black", "flake8", "isort", "pylint", "rspec", "rubocop",
    "phpunit", "ctest", "gofmt", "gcc", "g++", "clang", "rustc", "rustfmt", "javac", "java", "cat", "head", "tail", "less", "ls", "tree", "find", "fd", "grep",
    "rg", "egrep", "ag", "sed", "awk", "jq", "yq", "cp", "mv", "rm", "mkdir", "rmdir", "touch", "chmod", "chown", "ln", "echo", "printf", "which", "type",
    "test", "[", "curl", "wget", "ssh", "scp", "rsync", "tar", "unzip", "zip", "diff", "patch", "psql", "mysql", "sqlite3", "redis-cli", "mongosh", "ps",
    "kill", "pkill", "lsof", "open", "source", ".", "export", "unset", "wc", "sort", "xxd", "file", "stat", "du", "df", "env", "sleep", "cd", "pwd", "python",
    "node", "ruby", "perl", "php", "bash", "sh", "zsh", "tox", "nox",
];

/// Programs whose subcommand has two words: `gh pr view`, `mise run lint`.
#[rustfmt::skip]
pub(super) const TWO_WORD_PROGRAMS: &[&str] = &[
    "gh", "glab", "mise", "docker", "podman", "aws", "gcloud", "az", "kubectl", "helm", "turbo", "nx", "lerna", "moon", "deno", "task", "just", "rake", "poe",
    "invoke", "uv", "pdm", "hatch", "rye", "poetry", "dotnet", "flutter", "supabase", "prisma", "wrangler", "firebase", "heroku", "fly", "flyctl", "vercel",
];

/// Programs whose arguments are tasks of the project: `make build test`.
pub(super) const TASK_PROGRAMS: &[&str] = &["make", "gradle", "mvn", "ant", "bazel", "ninja"];

/// Short names of subcommands.
#[rustfmt::skip]
pub(super) const SUBCOMMAND_ALIASES: &[(&str, &str, &str)] = &[
    ("cargo", "t", "test"), ("cargo", "b", "build"), ("cargo", "c", "check"), ("cargo", "r", "run"), ("git", "co", "checkout"), ("git", "ci", "commit"),
];

/// Options whose value is a part of what is run: another value is another scope.
#[rustfmt::skip]
pub(super) const SCOPE_OPTIONS: &[&str] = &[
    "-k", "-m", "-run", "--run", "-bench", "-t", "--testnamepattern", "--testpathpattern", "--grep", "-g", "--fgrep", "-f", "--filter", "-p", "--package",
    "--test", "--bin", "--example", "--bench", "--project", "--workspace", "-w", "--spec", "--tests", "--testpathpatterns", "--only", "--shard",
    "--exclude", "--skip", "--deselect", "--ignore", "-e", "--env", "--group",
];

/// Options that change only what is printed, or how fast it goes.
#[rustfmt::skip]
pub(super) const OUTPUT_OPTIONS: &[&str] = &[
    "-v", "-vv", "-vvv", "-q", "-qq", "-s", "-x", "--verbose", "--quiet", "--silent", "--no-color", "--color", "--nocapture", "--no-capture", "--show-output",
    "--reporter", "--tb", "--message-format", "--format", "--json", "-json", "--no-header", "--stacktrace", "--bail", "--fail-fast", "--failfast",
    "-failfast", "--maxfail", "--runinband", "--no-coverage", "-ra", "-rf", "--durations", "--progress", "--info", "--debug", "--no-fail-fast", "-count",
    "--pretty", "--lf", "--last-failed", "--log-level", "--loglevel", "-timeout", "--timeout", "-j", "--jobs", "--no-pager", "--cache-status",
];

/// Options that make a check pass by not running it. Such a variant is never recommended.
#[rustfmt::skip]
pub(super) const BYPASS_OPTIONS: &[&str] = &[
    "--no-verify", "--force", "--force-with-lease", "--passwithnotests", "--pass-with-no-tests", "--no-check", "--skip", "--exclude", "--deselect",
    "--ignore", "--no-gpg-sign", "--no-audit", "--insecure", "--no-strict", "--no-error-on-unmatched-pattern", "--exit-zero", "--allow-empty",
    "--dry-run", "--help", "-h", "--version", "--list", "--collect-only", "--co", "--no-hooks", "--ignore-scripts", "-dskiptests", "--quit",
];

/// Short names of such options in git.
pub(super) const GIT_BYPASS_OPTIONS: &[&str] = &["-n", "-f"];

/// Programs and subcommands that only look: they cannot be the step that was missing. A subcommand of `""`
/// stands for all of them.
#[rustfmt::skip]
pub(super) const INSPECTIONS: &[(&str, &[&str])] = &[
    ("git",    &["status", "log", "diff", "show", "blame", "branch", "remote", "rev-parse", "ls-files", "describe", "reflog", "config", "grep", "shortlog", "commit"]),
    ("gh",     &["pr", "issue", "run", "api", "repo", "search"]),
    ("cd", &[""]), ("pwd", &[""]), ("echo", &[""]), ("printf", &[""]), ("which", &[""]), ("type", &[""]), ("command", &[""]), ("test", &[""]), ("[", &[""]),
    ("true", &[""]), ("false", &[""]), ("sleep", &[""]), ("wait", &[""]), ("date", &[""]), ("whoami", &[""]), ("env", &[""]), ("printenv", &[""]),
    ("ps", &[""]), ("pgrep", &[""]), ("lsof", &[""]), ("top", &[""]), ("jobs", &[""]), ("wc", &[""]), ("sort", &[""]), ("uniq", &[""]), ("cut", &[""]),
    ("awk", &[""]), ("jq", &[""]), ("yq", &[""]), ("diff", &[""]), ("file", &[""]), ("stat", &[""]), ("du", &[""]), ("df", &[""]), ("xxd", &[""]), ("od", &[""]),
    ("strings", &[""]), ("curl", &[""]), ("wget", &[""]), ("open", &[""]), ("exit", &[""]), ("set", &[""]), ("read", &[""]), ("tee", &[""]), ("for", &[""]),
    ("npm",    &["ls", "list", "view", "info", "show", "why", "config", "outdated", "audit"]),
    ("pip",    &["list", "show", "freeze"]),
    ("docker", &["ps", "logs", "images", "inspect", "version", "info"]),
    ("kubectl",&["get", "describe", "logs"]),
    ("cargo",  &["tree", "metadata", "search", "info", "version"]),
    ("go",     &["list", "env", "version", "doc", "vet"]),
];

/// Words of commands that prepare something for others: the words of a subcommand or script name.
#[rustfmt::skip]
pub(super) const PREPARING_WORDS: &[&str] = &[
    "install", "i", "ci", "add", "sync", "build", "compile", "generate", "gen", "codegen", "migrate", "migration", "db", "seed", "login", "auth", "up", "start",
    "serve", "dev", "init", "setup", "bootstrap", "prepare", "fetch", "pull", "download", "restore", "vendor", "tidy", "link", "use", "create", "mkdir",
    "source", ".", "export", "update", "clean", "reset", "push", "deploy", "docker", "createdb", "makemigrations", "protoc", "buf",
    "sqlc", "nvm", "fnm", "pyenv", "rbenv", "asdf", "corepack", "chmod", "cp", "systemctl", "service", "brew", "apt", "apt-get", "direnv",
];

/// Words of commands that make or fetch something that code can refer to.
#[rustfmt::skip]
pub(super) const MAKING_WORDS: &[&str] = &[
    "install", "i", "ci", "sync", "build", "compile", "generate", "gen", "codegen", "migrate", "migration", "seed", "init", "setup", "bootstrap", "prepare", "download", "restore", "vendor", "tidy",
    "link", "makemigrations", "protoc", "buf", "sqlc", "up", "start", "createdb",
];

/// Words of commands that format or mend source files by themselves.
pub(super) const FIXING_WORDS: &[&str] = &[
    "format",
    "fmt",
    "fix",
    "gofmt",
    "rustfmt",
    "prettier",
    "black",
    "isort",
    "gofumpt",
    "goimports",
];
