//! Decides whether a command line brings in text from outside the project, and through which channel:
//! `curl …` fetches, `python -c 'import urllib…'` runs code that does, `cat node_modules/x/README.md` prints
//! text of a dependency. `cargo build`, `npm test`, `python script.py` and `make` bring in none.
//!
//! The decision is made by what the command names: known programs (`network_table`), addresses, and network
//! calls in code on the command line or in a here-document. Wrappers, `bash -c`, substitutions and pipes are
//! followed. A script in a file is not read: running one counts only if an address is among its arguments.

use model::{ContentChannel, is_vendored_path};

use super::command_split::{MAX_LINE_BYTES, SimpleCommand, split_commands};
use super::effect_table::{is_check_program, skip_git_options};
use super::network_table::{
    ADDRESS_IS_TEXT, CONTENT_PROGRAMS, DECODERS, FOREIGN_TEXT_COMMANDS, INTERPRETERS, LOCAL_TOOLS,
    NETWORK_APIS, NETWORK_PROGRAMS, PACKAGE_RUNNERS, REMOTE_COPY_PROGRAMS, SENDING_PR_COMMANDS,
    SHELLS,
};
use super::{program_name, strip_wrappers};

/// Levels of commands within commands that are followed.
const MAX_DEPTH: usize = 4;

/// The channel of the external text that a command line brings in; `None` if it brings in none.
pub(super) fn find_channel(line: &str) -> Option<ContentChannel> {
    channel_of_line(line, 0)
}

/// The channel of what a script runner reports: it prints each command before it runs it.
pub fn echoed_channel(output: &str) -> Option<ContentChannel> {
    let echoed = output.lines().filter_map(|line| {
        let line = line.trim_start();
        let is_network_program =
            |it: &str| NETWORK_PROGRAMS.contains(&it.split(' ').next().unwrap_or_default());
        // `> curl …` of npm and pnpm, `$ curl …` of yarn and bun; make prints the command alone.
        let marked = line.strip_prefix("> ").or_else(|| line.strip_prefix("$ "));
        marked.or_else(|| Some(line).filter(|it| is_network_program(it) && it.contains("://")))
    });
    echoed.into_iter().find_map(find_channel)
}

fn channel_of_line(line: &str, depth: usize) -> Option<ContentChannel> {
    // Too long or too deep to be understood: it may hide anything.
    if line.len() > MAX_LINE_BYTES || depth > MAX_DEPTH {
        return Some(ContentChannel::Shell);
    }
    if line.contains("/dev/tcp/") || line.contains("/dev/udp/") {
        return Some(ContentChannel::Shell);
    }
    let mut fetching_scripts: Vec<&str> = Vec::new();
    let mut in_dependency = false;
    let commands = split_commands(line);
    for (nth, simple) in commands.iter().enumerate() {
        let words = strip_wrappers(&simple.words);
        let Some(program) = words.first().map(|it| program_name(it)) else { continue };
        let input = input_text(&commands, nth);
        if let Some(channel) = channel_of_command(&program, &words[1..], input.as_deref(), depth) {
            return Some(channel);
        }
        // `cd node_modules/x && cat README.md`. A shell stays there, so the last command counts as well.
        if matches!(program.as_str(), "cd" | "pushd") {
            in_dependency = words.get(1).is_some_and(|it| is_vendored_path(it));
        }
        let is_last = nth + 1 == commands.len();
        if in_dependency && (is_last || CONTENT_PROGRAMS.contains(&program.as_str())) {
            return Some(ContentChannel::VendoredFile);
        }
        // A script that this line writes and then runs.
        let runs_script = |script: &&str| words.iter().any(|it| it.ends_with(script));
        if fetching_scripts.iter().any(runs_script) {
            return Some(ContentChannel::Interpreter);
        }
        fetching_scripts.extend(written_script(simple, input.as_deref(), depth));
    }
    let substituted = |it: &str| channel_of_line(it, depth + 1);
    substitutions(line).into_iter().find_map(substituted)
}

/// The file that a command writes code to, if the code reaches the network.
fn written_script<'a>(
    simple: &'a SimpleCommand,
    input: Option<&str>,
    depth: usize,
) -> Option<&'a str> {
    let words = &simple.words;
    let after = |nth: usize| words.get(nth + 1).map(String::as_str);
    let target = words.iter().enumerate().find_map(|(nth, word)| match word.as_str() {
        ">" | ">>" | "tee" => after(nth),
        word => word.strip_prefix(">>").or_else(|| word.strip_prefix('>')),
    })?;
    let text = input.map_or_else(|| words.join(" "), str::to_owned);
    let fetches = names_network_api(&text) || channel_of_line(&text, depth + 1).is_some();
    let name = target.rsplit('/').next().unwrap_or(target);
    (fetches && !name.is_empty()).then_some(name)
}

/// The text that a command reads from its standard input, as far as the line shows it: its here-document,
/// or the words of the commands before it in its pipe.
fn input_text(commands: &[SimpleCommand], nth: usize) -> Option<String> {
    let simple = &commands[nth];
    if simple.here_document.is_some() || !simple.is_piped {
        return simple.here_document.clone();
    }
    let mut acc = Vec::new();
    for earlier in commands[..nth].iter().rev() {
        acc.push(earlier.words.join(" "));
        acc.extend(earlier.here_document.clone());
        if !earlier.is_piped {
            break;
        }
    }
    Some(acc.join("\n"))
}

fn channel_of_command(
    program: &str,
    args: &[&str],
    input: Option<&str>,
    depth: usize,
) -> Option<ContentChannel> {
    if SHELLS.contains(&program) || program == "eval" {
        return channel_of_shell(program, args, input, depth);
    }
    if NETWORK_PROGRAMS.contains(&program) {
        return (!names_only_local_addresses(args)).then_some(ContentChannel::Shell);
    }
    let prints_foreign_text = prints_foreign_text(program, args)
        || REMOTE_COPY_PROGRAMS.contains(&program) && args.iter().any(|it| is_remote_path(it));
    if prints_foreign_text {
        return Some(ContentChannel::Shell);
    }
    if let Some(inner) = packaged_command(program, args) {
        return channel_of_packaged(args, inner, input, depth);
    }
    if let Some(code) = inline_code(program, args, input) {
        return channel_of_code(&code);
    }
    // `python -m pip show x`, `go run example.com/x@latest`, `find . -exec cat {} +`.
    let command_after = |option: &str| {
        let at = args.iter().position(|it| *it == option)?;
        let (program, args) = args.get(at + 1..)?.split_first()?;
        channel_of_command(&program_name(program), args, input, depth + 1)
    };
    let nested = match program {
        "find" | "fd" => command_after("-exec").or_else(|| command_after("-x")),
        it if it.starts_with("py") => command_after("-m"),
        _ => None,
    };
    let reads_dependency = CONTENT_PROGRAMS.contains(&program)
        && args.iter().any(|it| is_vendored_path(it.trim_start_matches('<')));
    let runs_remote_package = program == "go"
        && args.first() == Some(&"run")
        && args.iter().any(|it| it.contains('@') && it.contains('/'));
    let names_address =
        !ADDRESS_IS_TEXT.contains(&program) && args.iter().any(|it| has_remote_address(it));
    if nested.is_some() {
        nested
    } else if reads_dependency {
        Some(ContentChannel::VendoredFile)
    } else if runs_remote_package || names_address {
        Some(ContentChannel::Shell)
    } else {
        None
    }
}

/// The channel of `bash -c SCRIPT`, `eval SCRIPT`, and of a script on the standard input.
fn channel_of_shell(
    program: &str,
    args: &[&str],
    input: Option<&str>,
    depth: usize,
) -> Option<ContentChannel> {
    if program == "eval" {
        return channel_of_line(&args.join(" "), depth + 1);
    }
    let is_code_option =
        |it: &&str| it.starts_with('-') && !it.starts_with("--") && it.ends_with('c');
    if let Some(at) = args.iter().position(is_code_option) {
        return args.get(at + 1).and_then(|it| channel_of_line(it, depth + 1));
    }
    let has_script = args.iter().any(|it| !it.starts_with('-') && !it.starts_with('>'));
    if has_script {
        let names_address = args.iter().any(|it| has_remote_address(it));
        return names_address.then_some(ContentChannel::Shell);
    }
    let input = input?;
    let is_decoded = input.lines().any(|it| {
        it.split_whitespace().next().is_some_and(|it| DECODERS.contains(&program_name(it).as_str()))
    });
    if is_decoded {
        return Some(ContentChannel::Interpreter);
    }
    // Of `echo 'curl …' | sh`, the words of `echo` are the script.
    let script = input.strip_prefix("echo ").or_else(|| input.strip_prefix("printf "));
    channel_of_line(script.unwrap_or(input), depth + 1)
}

fn prints_foreign_text(program: &str, args: &[&str]) -> bool {
    let args = if program == "git" { skip_git_options(args) } else { args };
    let mut positional = args.iter().copied().filter(|it| !it.starts_with('-'));
    let (first, second) =
        (positional.next().unwrap_or_default(), positional.next().unwrap_or_default());
    let is_listed = FOREIGN_TEXT_COMMANDS.iter().any(|(name, firsts)| {
        *name == program && firsts.iter().any(|it| it.is_empty() || *it == first)
    });
    is_listed
        || match (program, first) {
            ("gh", "pr") => !SENDING_PR_COMMANDS.contains(&second),
            ("gh", "repo") => matches!(second, "view" | "clone" | "list" | "fork"),
            ("git", "submodule") => matches!(second, "add" | "update"),
            ("git", "fetch" | "pull") => args.iter().any(|it| has_remote_address(it)),
            ("git", "archive") => args.iter().any(|it| it.starts_with("--remote")),
            ("uv", "pip") => matches!(second, "show" | "download"),
            ("bun", "pm") => second == "view",
            ("dotnet", "package") => second == "search",
            // Documentation of a package on a host: `go doc github.com/x/y`.
            ("go", "doc") => args[1..].iter().any(|it| {
                it.split('/').next().is_some_and(|it| it.contains('.') && !it.starts_with('.'))
            }),
            _ => false,
        }
}

/// The words of the command that a package runner downloads and runs: `cowsay hi` of `npx -y cowsay hi`.
fn packaged_command<'a, 'b>(program: &str, args: &'b [&'a str]) -> Option<&'b [&'a str]> {
    let (_, prefix) = PACKAGE_RUNNERS
        .iter()
        .find(|(name, prefix)| *name == program && args.starts_with(prefix))?;
    let mut rest = &args[prefix.len()..];
    while let [option, more @ ..] = rest {
        rest = match *option {
            "-p" | "--package" | "--from" | "--with" | "--python" | "-c" | "--call" => {
                more.get(1..).unwrap_or_default()
            }
            it if it.starts_with('-') => more,
            _ => break,
        };
    }
    Some(rest)
}

fn channel_of_packaged(
    args: &[&str],
    inner: &[&str],
    input: Option<&str>,
    depth: usize,
) -> Option<ContentChannel> {
    if depth > MAX_DEPTH {
        return Some(ContentChannel::Shell);
    }
    let (name, inner_args) = inner.split_first()?;
    let is_installed = args.iter().any(|it| matches!(*it, "--no-install" | "--offline" | "--no"));
    // A version after the name: `prettier@3`. A scope begins with the sign: `@biomejs/biome`.
    let at = name.char_indices().skip(1).find(|(_, it)| *it == '@').map_or(name.len(), |it| it.0);
    let name = program_name(&name[..at]);
    let is_local = is_installed || LOCAL_TOOLS.contains(&name.as_str()) || is_check_program(&name);
    let channel = channel_of_command(&name, inner_args, input, depth + 1);
    channel.or_else(|| (!is_local).then_some(ContentChannel::Shell))
}

/// The code that an interpreter runs from its command line or its standard input; `None` if it runs a file.
fn inline_code(program: &str, args: &[&str], input: Option<&str>) -> Option<String> {
    let is_program = |name: &str| {
        let version = program.strip_prefix(name);
        version.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit() || it == b'.'))
    };
    let (_, options) = INTERPRETERS.iter().find(|(name, _)| is_program(name))?;
    // Also glued to its option: `-c'…'`, `--eval=…`.
    let begins_code = |arg: &&str| {
        options.contains(arg)
            || options.iter().any(|it| {
                let rest = arg.strip_prefix(it);
                rest.is_some_and(|rest| {
                    if it.starts_with("--") { rest.starts_with('=') } else { it.len() == 2 }
                })
            })
    };
    if let Some(at) = args.iter().position(begins_code) {
        return Some(args[at..].join("\n"));
    }
    // The program of awk is its first argument.
    if options.is_empty() {
        return args
            .first()
            .filter(|it| it.contains("/inet/") || it.contains("getline"))
            .map(|it| (*it).to_owned());
    }
    let runs_file = args.iter().any(|it| !it.starts_with('-') && !it.starts_with(['<', '>']));
    input.filter(|_| !runs_file).map(str::to_owned)
}

fn channel_of_code(code: &str) -> Option<ContentChannel> {
    let is_encoded =
        code.lines().next().is_some_and(|it| it.to_ascii_lowercase().starts_with("-enc"));
    if is_encoded || names_network_api(code) {
        return Some(ContentChannel::Interpreter);
    }
    // Pieces between quotes and blanks: `open('node_modules/x/README.md')`.
    let mut pieces = code.split(|it: char| it.is_whitespace() || "'\"`()[],".contains(it));
    let reads_dependency = pieces.any(|it| it.contains(['/', '\\']) && is_vendored_path(it));
    reads_dependency.then_some(ContentChannel::VendoredFile)
}

/// Returns whether code names a network call or an address. Code whose addresses are all of this machine
/// talks to the project's own server.
fn names_network_api(code: &str) -> bool {
    let lower = code.to_ascii_lowercase();
    let addresses = || lower.match_indices("://").map(|(at, _)| &lower[at + 3..]);
    if addresses().any(|it| !is_local_host(it)) {
        // A scheme such as `file://` or `sqlite://` reaches nothing.
        return has_remote_address(&lower) || NETWORK_APIS.iter().any(|it| has_word(&lower, it));
    }
    addresses().next().is_none() && NETWORK_APIS.iter().any(|it| has_word(&lower, it))
}

/// Returns whether a text has a word that is not part of a longer name.
fn has_word(text: &str, word: &str) -> bool {
    let is_name_char = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let ends_with_name = word.ends_with(is_name_char);
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let goes_on = ends_with_name && after.is_some_and(is_name_char);
        !goes_on && !before.is_some_and(is_name_char)
    })
}

/// Returns whether a text contains the address of another machine.
fn has_remote_address(text: &str) -> bool {
    const SCHEMES: &[&str] =
        &["http", "https", "ftp", "ftps", "sftp", "ws", "wss", "gopher", "ssh", "git"];
    text.match_indices("://").any(|(at, _)| {
        let scheme =
            text[..at].rsplit(|it: char| !it.is_ascii_alphanumeric()).next().unwrap_or_default();
        SCHEMES.iter().any(|it| it.eq_ignore_ascii_case(scheme)) && !is_local_host(&text[at + 3..])
    })
}

/// Returns whether the text after a scheme begins with a name of this machine.
fn is_local_host(address: &str) -> bool {
    const LOCAL_HOSTS: &[&str] = &["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]"];
    LOCAL_HOSTS.iter().any(|host| {
        let rest = address.strip_prefix(host);
        // `localhost.evil.test` and `localhost@evil.test` are other machines.
        rest.is_some_and(|it| {
            !it.starts_with(|it: char| it.is_alphanumeric() || "-.@_".contains(it))
                && !user_info_follows(it)
        })
    })
}

/// Returns whether an address goes on with `:password@host`, so that the name before it is a user.
fn user_info_follows(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#', '"', '\'', ' ']).next().unwrap_or_default();
    authority.contains('@')
}

/// Returns whether a fetching program is told an address of this machine and of no other.
fn names_only_local_addresses(args: &[&str]) -> bool {
    let is_local = |it: &&&str| {
        let after_scheme = it.split_once("://").map_or(**it, |it| it.1);
        is_local_host(after_scheme) || after_scheme.starts_with(':')
    };
    args.iter().any(|it| is_local(&it)) && !args.iter().any(|it| has_remote_address(it))
}

/// Returns whether an argument is `host:path`.
fn is_remote_path(arg: &str) -> bool {
    let host = arg.split_once(':').map(|it| it.0);
    host.is_some_and(|it| !it.is_empty() && !it.contains('/') && !it.starts_with('-'))
}

/// The command lines within `$(…)`, `` `…` ``, `<(…)` and `>(…)`. Within single quotes nothing is replaced.
fn substitutions(line: &str) -> Vec<&str> {
    let mut acc = Vec::new();
    let (mut in_single, mut in_double) = (false, false);
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes.get(at + 1).copied();
        match bytes[at] {
            b'\\' => at += 1,
            b'\'' if !in_double => in_single = !in_single,
            b'"' if !in_single => in_double = !in_double,
            b'$' | b'<' | b'>' if !in_single && next == Some(b'(') => {
                let inner = &line[at + 2..];
                let end = closing_bracket(inner);
                acc.push(&inner[..end]);
                at += 1 + end;
            }
            b'`' if !in_single => {
                let inner = &line[at + 1..];
                let end = inner.find('`').unwrap_or(inner.len());
                acc.push(&inner[..end]);
                at += 1 + end;
            }
            _ => {}
        }
        at += 1;
    }
    acc
}

/// The position of the bracket that closes a substitution; the end of the text if none does.
fn closing_bracket(text: &str) -> usize {
    let mut depth = 1_u32;
    for (at, it) in text.bytes().enumerate() {
        match it {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
