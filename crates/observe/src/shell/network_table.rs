//! The tables by which `network_reach` decides whether a command brings in text from outside the project:
//! programs, subcommands, interpreters and the network calls of their languages.
//!
//! ```text
//! sudo curl https://a.example          WRAPPERS drops `sudo`, NETWORK_PROGRAMS has `curl`: brings in text
//! npx vite build                       PACKAGE_RUNNERS has `npx`, LOCAL_TOOLS has `vite`: brings in none
//! python -c 'import urllib.request'    INTERPRETERS has `-c`, NETWORK_APIS has `urllib`: brings in text
//! ```
//!
//! A command is compared with the tables in this order, and the first that applies decides: `WRAPPERS`,
//! `SHELLS`, `NETWORK_PROGRAMS`, `FOREIGN_TEXT_COMMANDS` and `REMOTE_COPY_PROGRAMS`, `PACKAGE_RUNNERS` (with
//! `LOCAL_TOOLS`), `INTERPRETERS` (with `NETWORK_APIS`), `CONTENT_PROGRAMS`, `ADDRESS_IS_TEXT`.
//!
//! Names of programs are in lower case, because `program_name` lowers them first. Options are compared as
//! they are typed, so `-Command` stands beside `-command`.

/// Programs that fetch whatever their arguments are, unless every address is this machine.
#[rustfmt::skip]
pub(super) const NETWORK_PROGRAMS: &[&str] = &[
    "curl", "wget", "wget2", "http", "https", "xh", "xhs", "curlie", "lynx", "w3m", "links", "elinks", "aria2c", "axel", "ftp", "sftp",
    "lftp", "tftp", "telnet", "nc", "ncat", "netcat", "socat", "websocat", "grpcurl", "ssh", "whois", "finger", "dig", "nslookup",
    "rclone", "gsutil", "s3cmd", "yt-dlp", "youtube-dl", "tldr", "cheat", "ddgr", "googler", "invoke-webrequest", "invoke-restmethod",
    "iwr", "irm", "start-bitstransfer",
];

/// Programs that copy from another machine if an argument is `host:path`.
pub(super) const REMOTE_COPY_PROGRAMS: &[&str] = &["scp", "rsync"];

/// Subcommands that print text of other people: descriptions, advisories, issues. Program, then the words
/// that its first argument may be; `""` stands for any. Subcommands that depend on a second word (`gh pr`,
/// `gh repo`, `git submodule`) are not rows here but arms of `network_reach::prints_foreign_text`.
#[rustfmt::skip]
pub(super) const FOREIGN_TEXT_COMMANDS: &[(&str, &[&str])] = &[
    ("npm",       &["view", "info", "show", "v", "search", "find", "s", "se", "audit", "docs", "pack", "fund"]),
    ("pnpm",      &["view", "info", "show", "search", "audit", "fund"]),
    ("yarn",      &["info", "audit", "npm", "search"]),
    ("bun",       &["info", "audit"]),
    ("pip",       &["download", "search", "index", "show", "inspect"]),
    ("pip3",      &["download", "search", "index", "show", "inspect"]),
    ("pipx",      &["search"]),
    ("poetry",    &["search", "show"]),
    ("conda",     &["search"]),
    ("pip-audit", &[""]),
    ("cargo",     &["search", "info", "audit"]),
    ("gem",       &["search", "info", "specification", "fetch", "query", "unpack"]),
    ("bundle",    &["info", "audit"]),
    ("composer",  &["show", "search", "info", "audit"]),
    ("brew",      &["info", "search", "desc", "cat", "home"]),
    ("apt",       &["show", "search", "changelog"]),
    ("apt-get",   &["changelog", "source", "download"]),
    ("apt-cache", &["show", "search"]),
    ("dnf",       &["info", "search", "changelog"]),
    ("yum",       &["info", "search", "changelog"]),
    ("apk",       &["info", "search"]),
    ("winget",    &["show", "search"]),
    ("choco",     &["info", "search"]),
    ("scoop",     &["info", "search"]),
    ("helm",      &["show", "search", "pull"]),
    ("docker",    &["search"]),
    ("podman",    &["search"]),
    ("nix",       &["search"]),
    ("git",       &["clone", "ls-remote"]),
    ("gh",        &["api", "issue", "release", "run", "search", "gist", "discussion", "project", "browse", "status"]),
    ("glab",      &["api", "issue", "release", "ci", "mr", "snippet"]),
    ("hub",       &["api", "issue", "ci-status"]),
    ("tea",       &["issue", "issues", "pr", "pulls"]),
    ("jira",      &[""]),
    ("linear",    &[""]),
];

/// Subcommands of `gh pr` that only send. All others print text of other people.
pub(super) const SENDING_PR_COMMANDS: &[&str] =
    &["create", "merge", "close", "reopen", "ready", "edit", "comment", "lock", "unlock"];

/// Programs that download the program that they run, with the words before its name.
#[rustfmt::skip]
pub(super) const PACKAGE_RUNNERS: &[(&str, &[&str])] = &[
    ("npx", &[]), ("bunx", &[]), ("uvx", &[]), ("pnpx", &[]), ("npm", &["exec"]), ("npm", &["x"]), ("pnpm", &["dlx"]), ("yarn", &["dlx"]),
    ("bun", &["x"]), ("pipx", &["run"]), ("uv", &["tool", "run"]),
];

/// Tools of the project that package runners start all day. Programs that test or check (`eslint`, `jest`) are
/// not listed: `effect_table::is_check_program` recognises them.
#[rustfmt::skip]
pub(super) const LOCAL_TOOLS: &[&str] = &[
    "tsx", "ts-node", "node", "vite", "next", "nuxt", "webpack", "rollup", "esbuild", "parcel", "turbo", "nx", "lerna", "tsup", "swc", "babel",
    "prisma", "drizzle-kit", "knex", "typeorm", "sequelize", "tailwindcss", "postcss", "sass", "storybook", "cypress", "ng", "nest",
    "astro", "svelte-kit", "svelte-check", "vue-tsc", "expo", "react-native", "electron", "wrangler", "husky", "lint-staged",
    "changeset", "semantic-release", "commitlint", "nodemon", "concurrently", "rimraf", "cross-env", "c8", "nyc", "knip", "depcheck",
    "madge", "oxlint", "stylelint", "markdownlint", "typedoc", "api-extractor", "size-limit", "tsd", "attw", "publint", "remix", "gatsby",
    "pre-commit", "isort", "pyright", "basedpyright", "ty", "pyupgrade", "sphinx-build", "mkdocs", "alembic", "bandit", "coverage", "poe",
    "xo", "standard", "tap", "wtr", "karma", "cucumber-js", "graphql-codegen", "openapi-typescript", "buf", "cdk", "sst", "serverless",
];

/// Interpreters and the options whose value is code. Programs that begin with the name and go on with a
/// version (`python3.12`) count. Without options (`awk`) the code is the first argument.
#[rustfmt::skip]
pub(super) const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python",     &["-c"]),
    ("pypy",       &["-c"]),
    ("py",         &["-c"]),
    ("ipython",    &["-c"]),
    ("node",       &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nodejs",     &["-e", "--eval", "-p", "--print", "-pe"]),
    ("bun",        &["-e", "--eval", "-p", "--print"]),
    ("deno",       &["eval"]),
    ("tsx",        &["-e", "--eval"]),
    ("ts-node",    &["-e", "--eval"]),
    ("ruby",       &["-e"]),
    ("perl",       &["-e", "-E", "-ne", "-pe", "-le", "-nle", "-lne", "-lpe"]),
    ("php",        &["-r"]),
    ("lua",        &["-e"]),
    ("luajit",     &["-e"]),
    ("rscript",    &["-e"]),
    ("julia",      &["-e", "-E"]),
    ("elixir",     &["-e"]),
    ("groovy",     &["-e"]),
    ("clojure",    &["-e"]),
    ("clj",        &["-e"]),
    ("bb",         &["-e"]),
    ("scala",      &["-e"]),
    ("ghc",        &["-e"]),
    ("osascript",  &["-e"]),
    ("powershell", &["-command", "-c", "-Command", "-encodedcommand", "-EncodedCommand", "-enc"]),
    ("pwsh",       &["-command", "-c", "-Command", "-encodedcommand", "-EncodedCommand", "-enc"]),
    ("awk",        &[]),
    ("gawk",       &[]),
];

/// Programs whose code is a command line, which is compared with these tables again.
pub(super) const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ksh", "ash", "fish"];

/// Names in code that reach the network, or that hide what the code does, in lower case; the code is lowered
/// before the comparison. No letter, digit or underscore may stand before a name, nor after one that ends with
/// such a character: `requests` is not in `my_requests`. A name with a bracket (`fetch(`) is a call.
#[rustfmt::skip]
pub(super) const NETWORK_APIS: &[&str] = &[
    // Python
    "urllib", "urllib2", "urllib3", "urlopen", "urlretrieve", "requests", "httpx", "aiohttp", "http.client", "httplib", "httplib2", "pycurl", "socket",
    "ftplib", "telnetlib", "paramiko", "websockets", "asyncio.open_connection", "b64decode", "__import__", "importlib", "marshal",
    // JavaScript
    "fetch(", "fetch (", "xmlhttprequest", "axios", "undici", "superagent", "node-fetch", "needle", "got(", "require('http'", "require('https'", "require(\"http\"",
    "require(\"https\"", "require('http2'", "require('net'", "require(\"net\"", "require('tls'", "require('dns'", "from 'http'", "from 'https'", "from \"http\"",
    "from \"https\"", "node:http", "node:https", "node:http2", "node:net",
    "node:tls", "node:dns", "websocket", "eventsource", "deno.connect", "atob(", "'base64'", "\"base64\"", "fromcharcode",
    // Ruby, Perl, PHP
    "net/http", "net::http", "open-uri", "uri.open", "faraday", "httparty", "tcpsocket", "lwp", "http::tiny", "io::socket", "www::mechanize",
    "curl_init", "curl_exec", "fsockopen", "stream_socket_client", "guzzlehttp", "base64_decode", "unpack(",
    // Other languages and systems
    "httpclient", "webclient", "downloadstring", "downloadfile", "webrequest", "httpurlconnection", "java.net", "net.http", "httpoison", "req.get",
    "socket.http", "download.file", "httr", "url(", "invoke-webrequest", "invoke-restmethod", "iwr", "irm", "frombase64string", "/inet/",
    "/dev/tcp/", "/dev/udp/",
    // A fetching program started by the code.
    "curl", "wget",
];

/// Programs that decode: the code that a shell gets from them through a pipe cannot be read.
pub(super) const DECODERS: &[&str] =
    &["base64", "base32", "xxd", "openssl", "gunzip", "zcat", "uudecode", "rev"];

/// Programs that print the content of the files in their arguments. With a file of a dependency
/// (`cat node_modules/x/README.md`) they bring in text of other people.
#[rustfmt::skip]
pub(super) const CONTENT_PROGRAMS: &[&str] = &[
    "cat", "head", "tail", "less", "more", "bat", "batcat", "nl", "tac", "grep", "rg", "egrep", "fgrep", "ag", "ack", "ripgrep", "zgrep", "sed",
    "awk", "gawk", "cut", "sort", "uniq", "jq", "yq", "strings", "xxd", "od", "hexdump", "diff", "colordiff", "comm", "paste", "column",
    "fold", "fmt", "view", "zcat", "bzcat", "xmllint", "glow", "mdcat", "pandoc", "get-content", "select-string", "type", "gc",
];

/// Programs for which an address is text or a place to send to: they print nothing of it.
#[rustfmt::skip]
pub(super) const ADDRESS_IS_TEXT: &[&str] = &[
    "echo", "printf", "git", "gh", "glab", "grep", "rg", "egrep", "fgrep", "ag", "ack", "sed", "awk", "gawk", "cat", "head", "tail", "jq", "yq", "find",
    "fd", "ls", "tree", "export", "set", "unset", "test", "[", "[[", "cd", "mkdir", "touch", "cp", "mv", "rm", "ln", "chmod", "cargo", "go", "make", "npm",
    "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "gem", "bundle", "composer", "mvn", "gradle", "gradlew", "dotnet", "docker", "podman",
    "kubectl", "helm", "terraform", "tofu", "pulumi", "waylore", "open", "xdg-open", "start", "code", "tee", "read", "alias", "declare", "local",
    "apply_patch", "sqlite3", "psql", "mysql", "redis-cli", "mongosh", "pytest", "jest", "vitest", "playwright", "cypress", "k6", "wrk", "ab", "hey",
    "nix", "nix-shell", "asdf", "mise", "brew", "apt", "apt-get", "claude", "codex", "gemini", "opencode", "copilot", "for", "case",
];

/// A program that only runs the command in its arguments: `timeout -k 5 60 make` runs `make`.
pub(super) struct Wrapper {
    pub(super) program: &'static str,
    /// The word that must follow the program, as in `docker run`; empty if none must.
    pub(super) subcommand: &'static str,
    /// Options whose value is the next word; other options are a single word.
    pub(super) options_with_value: &'static [&'static str],
    /// Arguments besides options that precede the command: the duration of `timeout`.
    pub(super) n_arguments: usize,
}

/// A row of [`WRAPPERS`].
const fn wrapper(
    program: &'static str,
    subcommand: &'static str,
    options_with_value: &'static [&'static str],
    n_arguments: usize,
) -> Wrapper {
    Wrapper { program, subcommand, options_with_value, n_arguments }
}

/// The wrappers; the first row that fits decides. The columns are the fields of [`Wrapper`].
#[rustfmt::skip]
pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper("sudo",     "",     &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D"],  0),
    wrapper("doas",     "",     &["-u", "-C"],                                            0),
    wrapper("env",      "",     &["-u", "-C"],                                            0),
    wrapper("time",     "",     &["-f", "-o"],                                            0),
    wrapper("nice",     "",     &["-n"],                                                  0),
    wrapper("ionice",   "",     &["-c", "-n", "-p"],                                      0),
    wrapper("timeout",  "",     &["-k", "-s", "--signal", "--kill-after"],                1),
    wrapper("gtimeout", "",     &["-k", "-s", "--signal", "--kill-after"],                1),
    wrapper("xargs",    "",     &["-n", "-P", "-I", "-L", "-d", "-a", "-s", "-E"],        0),
    wrapper("parallel", "",     &["-j"],                                                  0),
    wrapper("stdbuf",   "",     &["-i", "-o", "-e"],                                      0),
    wrapper("watch",    "",     &["-n"],                                                  0),
    wrapper("flock",    "",     &["-w", "-E"],                                            1),
    wrapper("strace",   "",     &["-e", "-o", "-s", "-p"],                                0),
    wrapper("nohup",    "",     &[], 0), wrapper("command", "", &[], 0), wrapper("exec",        "", &[], 0), wrapper("builtin",  "", &[], 0),
    wrapper("setsid",   "",     &[], 0), wrapper("chronic", "", &[], 0), wrapper("unbuffer",    "", &[], 0), wrapper("torsocks", "", &[], 0),
    wrapper("torify",   "",     &[], 0), wrapper("caffeinate", "", &[], 0), wrapper("proxychains", "", &[], 0),
    // Words of the shell before a command.
    wrapper("if",       "",     &[], 0), wrapper("then",    "", &[], 0), wrapper("else",        "", &[], 0), wrapper("elif",     "", &[], 0),
    wrapper("while",    "",     &[], 0), wrapper("until",   "", &[], 0), wrapper("do",          "", &[], 0), wrapper("!",        "", &[], 0),
    // Environments of a project.
    wrapper("direnv",   "exec", &[],                                                      1),
    wrapper("mise",     "exec", &["-C"],                                                  0),
    wrapper("mise",     "x",    &["-C"],                                                  0),
    wrapper("poetry",   "run",  &[],                                                      0),
    wrapper("uv",       "run",  &["--with", "-p", "--python", "--extra", "--group", "--project", "--directory", "--package", "--env-file"], 0),
    wrapper("pipenv",   "run",  &[],                                                      0),
    wrapper("pdm",      "run",  &[],                                                      0),
    wrapper("hatch",    "run",  &[],                                                      0),
    wrapper("rye",      "run",  &[],                                                      0),
    wrapper("bundle",   "exec", &[],                                                      0),
    wrapper("conda",    "run",  &["-n", "-p", "--name", "--prefix"],                      0),
    wrapper("pnpm",     "exec", &["-C", "--filter", "-F"],                                0),
    wrapper("yarn",     "exec", &[],                                                      0),
    wrapper("doppler",  "run",  &["-p", "-c"],                                            0),
    wrapper("dotenv",   "",     &["-f", "-e"],                                            0),
    // Containers: the arguments before the command are the image or the name.
    wrapper("docker",   "run",  CONTAINER_OPTIONS,                                        1),
    wrapper("docker",   "exec", CONTAINER_OPTIONS,                                        1),
    wrapper("podman",   "run",  CONTAINER_OPTIONS,                                        1),
    wrapper("podman",   "exec", CONTAINER_OPTIONS,                                        1),
    wrapper("nerdctl",  "run",  CONTAINER_OPTIONS,                                        1),
    wrapper("kubectl",  "exec", &["-n", "--namespace", "-c", "--container"],              1),
];

/// The options of container programs whose value is the next word.
#[rustfmt::skip]
const CONTAINER_OPTIONS: &[&str] = &[
    "-v", "--volume", "-e", "--env", "--env-file", "-p", "--publish", "-w", "--workdir", "-u", "--user", "--name", "--network", "--net", "--entrypoint",
    "--mount", "-h", "--hostname", "-l", "--label", "--platform", "-m", "--memory", "--cpus", "--gpus", "--add-host", "--cap-add", "--shm-size", "--pull",
];
