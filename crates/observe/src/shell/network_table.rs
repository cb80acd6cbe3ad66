//! The tables by which `network_reach` decides whether a command brings in text from outside the project:
//! programs, subcommands, interpreters and the network calls of their languages. Names are lower case.

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
/// that its first argument may be; `""` stands for any.
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

/// Tools of the project that package runners start all day. A program that tests or checks need not be
/// listed.
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
/// version (`python3.12`) count.
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

pub(super) const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ksh", "ash", "fish"];

/// Names in code that reach the network, or that hide what the code does. Compared as whole words.
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

/// Programs that decode: code behind them cannot be read.
pub(super) const DECODERS: &[&str] =
    &["base64", "base32", "xxd", "openssl", "gunzip", "zcat", "uudecode", "rev"];

/// Programs that print the content of the files in their arguments.
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

/// Programs that only run the command in their arguments: program, subcommand before the command (`""` for
/// none), options with a value, and the number of arguments before the command.
#[rustfmt::skip]
pub(super) const WRAPPERS: &[(&str, &str, &[&str], usize)] = &[
    ("sudo",     "",     &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D"],  0),
    ("doas",     "",     &["-u", "-C"],                                            0),
    ("env",      "",     &["-u", "-C"],                                            0),
    ("time",     "",     &["-f", "-o"],                                            0),
    ("nice",     "",     &["-n"],                                                  0),
    ("ionice",   "",     &["-c", "-n", "-p"],                                      0),
    ("timeout",  "",     &["-k", "-s", "--signal", "--kill-after"],                1),
    ("gtimeout", "",     &["-k", "-s", "--signal", "--kill-after"],                1),
    ("xargs",    "",     &["-n", "-P", "-I", "-L", "-d", "-a", "-s", "-E"],        0),
    ("parallel", "",     &["-j"],                                                  0),
    ("stdbuf",   "",     &["-i", "-o", "-e"],                                      0),
    ("watch",    "",     &["-n"],                                                  0),
    ("flock",    "",     &["-w", "-E"],                                            1),
    ("strace",   "",     &["-e", "-o", "-s", "-p"],                                0),
    ("nohup",    "",     &[], 0), ("command", "", &[], 0), ("exec",        "", &[], 0), ("builtin",  "", &[], 0),
    ("setsid",   "",     &[], 0), ("chronic", "", &[], 0), ("unbuffer",    "", &[], 0), ("torsocks", "", &[], 0),
    ("torify",   "",     &[], 0), ("caffeinate", "", &[], 0), ("proxychains", "", &[], 0),
    // Words of the shell before a command.
    ("if",       "",     &[], 0), ("then",    "", &[], 0), ("else",        "", &[], 0), ("elif",     "", &[], 0),
    ("while",    "",     &[], 0), ("until",   "", &[], 0), ("do",          "", &[], 0), ("!",        "", &[], 0),
    // Environments of a project.
    ("direnv",   "exec", &[],                                                      1),
    ("mise",     "exec", &["-C"],                                                  0),
    ("mise",     "x",    &["-C"],                                                  0),
    ("poetry",   "run",  &[],                                                      0),
    ("uv",       "run",  &["--with", "-p", "--python", "--extra", "--group", "--project", "--directory", "--package", "--env-file"], 0),
    ("pipenv",   "run",  &[],                                                      0),
    ("pdm",      "run",  &[],                                                      0),
    ("hatch",    "run",  &[],                                                      0),
    ("rye",      "run",  &[],                                                      0),
    ("bundle",   "exec", &[],                                                      0),
    ("conda",    "run",  &["-n", "-p", "--name", "--prefix"],                      0),
    ("pnpm",     "exec", &["-C", "--filter", "-F"],                                0),
    ("yarn",     "exec", &[],                                                      0),
    ("doppler",  "run",  &["-p", "-c"],                                            0),
    ("dotenv",   "",     &["-f", "-e"],                                            0),
    // Containers: the arguments before the command are the image or the name.
    ("docker",   "run",  CONTAINER_OPTIONS,                                        1),
    ("docker",   "exec", CONTAINER_OPTIONS,                                        1),
    ("podman",   "run",  CONTAINER_OPTIONS,                                        1),
    ("podman",   "exec", CONTAINER_OPTIONS,                                        1),
    ("nerdctl",  "run",  CONTAINER_OPTIONS,                                        1),
    ("kubectl",  "exec", &["-n", "--namespace", "-c", "--container"],              1),
];

#[rustfmt::skip]
const CONTAINER_OPTIONS: &[&str] = &[
    "-v", "--volume", "-e", "--env", "--env-file", "-p", "--publish", "-w", "--workdir", "-u", "--user", "--name", "--network", "--net", "--entrypoint",
    "--mount", "-h", "--hostname", "-l", "--label", "--platform", "-m", "--memory", "--cpus", "--gpus", "--add-host", "--cap-add", "--shm-size", "--pull",
];
