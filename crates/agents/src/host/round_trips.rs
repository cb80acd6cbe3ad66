//! Property of every settings file of every host: uninstalling undoes installing. Settings in common
//! layouts are restored byte for byte, random JSON with its values and comments; broken settings are
//! rejected.

use super::mcp_servers::JsonFlavor;
use super::*;

const PROGRAMS: &[&str] = &["/usr/bin/waylore", "/opt/my \"tools\"/waylore", "waylore"];
const SETUP: HostSetup<'_> = HostSetup { program: "waylore", version: None };

/// Settings in common layouts, with entries of other programs in every list that we write into.
const EXISTING_SETTINGS: &[&str] = &[
    "{}\n",
    "{\n  \"theme\": \"dark\"\n}\n",
    "{\n  \"mcpServers\": {\n    \"db\": { \"command\": \"db\", \"args\": [\"mcp\"] }\n  },\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }]\n  }\n}\n",
    "{\"mcpServers\":{\"db\":{\"command\":\"db\"}},\"mcp\":{\"db\":{\"command\":[\"db\"]}},\"context_servers\":{\"db\":{}},\"x\":[]}",
    "{\r\n\t\"context_servers\": {\r\n\t\t\"db\": {\r\n\t\t\t\"command\": \"db\"\r\n\t\t}\r\n\t},\r\n\t\"a\": 1\r\n}\r\n",
    "// mine\n{\n    // \"mcp\": {\n    \"mcp\": {\n        \"db\": { \"command\": [\"db\"] }, // db\n    },\n    \"context_servers\": {\n        \"db\": {} /* { */\n    },\n    /* end */\n}\n",
    "model = \"gpt-5\" # mine\n\n[mcp_servers.db]\ncommand = \"db\"\nargs = [\"mcp\"]\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
];

/// Settings that do not parse, or hold another type where we write into.
const BROKEN_SETTINGS: &[&str] = &[
    "{",
    "[1, 2]",
    "{\"mcpServers\": [], \"hooks\": [], \"mcp\": 7, \"context_servers\": \"x\"}",
    "{\"a\": 1,,}",
    "\u{feff}\u{0}",
    "mcp_servers = 7",
];

/// Calls `check` with every settings file in the table of hosts.
fn for_each_file(mut check: impl FnMut(&Host, &SettingsFile)) {
    for host in HOSTS {
        for file in host.files {
            check(host, file);
        }
    }
}

/// Installs twice, installs another path, and uninstalls. Returns whether the file accepts this
/// text.
fn round_trips(host: &Host, file: &SettingsFile, before: &str) -> bool {
    let case = format!("{} {:?}", host.name, file.place);
    let mut text = before.to_owned();
    for program in PROGRAMS {
        let setup = HostSetup { program, version: None };
        let Ok(with) = (file.install)(&text, &setup) else { return false };
        assert_ne!(with, before, "{case}");
        assert_eq!((file.install)(&with, &setup).as_ref(), Ok(&with), "{case}: installing twice");
        assert_eq!(
            (file.uninstall)(&with).as_deref(),
            Ok(before),
            "{case}: uninstalled from {with}"
        );
        text = with;
    }
    true
}

#[test]
fn existing_settings_are_restored() {
    for_each_file(|host, file| {
        let n_accepted = EXISTING_SETTINGS.iter().filter(|it| round_trips(host, file, it)).count();
        // JSON settings accept at least the first two texts. A hook or plugin file of our own accepts
        // none of them and TOML only the last; both are recognised because uninstalling empties them.
        let with = (file.install)("", &SETUP).unwrap();
        let is_emptied = (file.uninstall)(&with).is_ok_and(|it| it.is_empty());
        assert!(n_accepted >= 2 || is_emptied, "{} {:?}: {n_accepted}", host.name, file.place);
    });
}

#[test]
fn the_comments_of_gemini_settings_stay() {
    let before = "// mine\n{\n  \"theme\": \"dark\", // at night\n  \"hooks\": {\n    /* { */\n    \"SessionEnd\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" /* loud */ }] }]\n  }\n}\n";
    let gemini = find_host("gemini").unwrap();
    assert!(gemini.files.iter().all(|it| round_trips(gemini, it, before)));
}

#[test]
fn broken_settings_are_rejected() {
    for_each_file(|host, file| {
        for broken in BROKEN_SETTINGS {
            let installed = (file.install)(broken, &SETUP);
            assert!(
                installed.is_err(),
                "{} {:?}: {broken} became {installed:?}",
                host.name,
                file.place
            );
        }
    });
}

#[test]
fn a_server_of_another_program_with_our_name_is_not_changed() {
    let other = r#"{"mcpServers":{"waylore":{"command":"/usr/bin/other"}},"mcp":{"waylore":{"command":["other"]}},"context_servers":{"waylore":{"command":"other","args":["mcp"]}}}"#;
    for_each_file(|host, file| {
        // A file whose servers are under another key accepts the text and keeps the entries.
        if let Ok(with) = (file.install)(other, &SETUP) {
            assert!(with.contains("/usr/bin/other"), "{} {:?}: {with}", host.name, file.place);
        }
        if let Ok(without) = (file.uninstall)(other) {
            assert_eq!(without, other, "{} {:?}", host.name, file.place);
        }
    });
}

/// Linear congruential generator with Knuth's MMIX constants, so that a seed repeats a case.
struct SeededRng(u64);

impl SeededRng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn choose<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.below(all.len() as u64)).unwrap_or(0)]
    }
}

/// Blanks between two tokens; in commented JSON also comments.
fn random_gap(rng: &mut SeededRng, flavor: JsonFlavor) -> &'static str {
    const BLANKS: &[&str] = &["", " ", "\n", "\n  ", "\r\n\t", "\n\n    "];
    const COMMENTS: &[&str] = &["", " ", "\n  ", "\n  // , }\n  ", " /* { \" */ ", "\n"];
    rng.choose(match flavor {
        JsonFlavor::Strict => BLANKS,
        JsonFlavor::Commented => COMMENTS,
    })
}

/// Appends a random value; at depth 0 no list or object.
fn push_value(acc: &mut String, rng: &mut SeededRng, depth: u64, flavor: JsonFlavor) {
    match rng.below(if depth == 0 { 3 } else { 5 }) {
        0 => acc.push_str(rng.choose(&["1", "-2.5e3", "true", "null"])),
        1 | 2 => {
            acc.push_str(rng.choose(&[r#""""#, r#""a\"b""#, r#""// é""#, r#""\\""#, r#""{,]""#]));
        }
        3 => push_list(acc, rng, depth, flavor, ('[', ']'), &[]),
        _ => push_list(acc, rng, depth, flavor, ('{', '}'), &["a", "b,", "c\\\"}"]),
    }
}

/// Appends a list between these brackets: with `names` an object, otherwise an array.
fn push_list(
    acc: &mut String,
    rng: &mut SeededRng,
    depth: u64,
    flavor: JsonFlavor,
    (open, close): (char, char),
    names: &[&str],
) {
    acc.push(open);
    let n = if names.is_empty() { rng.below(3) } else { 1 + rng.below(names.len() as u64) };
    for nth in 0..n {
        acc.push_str(random_gap(rng, flavor));
        if let Some(name) = names.get(usize::try_from(nth).unwrap_or(0)) {
            let (before_colon, after_colon) = (rng.choose(&["", " "]), rng.choose(&["", " "]));
            acc.push_str(&["\"", name, "\"", before_colon, ":", after_colon].concat());
        }
        push_value(acc, rng, depth.saturating_sub(1), flavor);
        acc.push_str(random_gap(rng, flavor));
        // Commented JSON may have a trailing comma.
        if nth + 1 < n || (flavor == JsonFlavor::Commented && rng.below(4) == 0) {
            acc.push(',');
        }
    }
    acc.push_str(random_gap(rng, flavor));
    acc.push(close);
}

#[test]
fn random_settings_keep_their_values_and_comments() {
    let mut n_accepted = 0;
    for seed in 0..400 {
        let mut rng = SeededRng(seed);
        let flavor = if seed % 2 == 0 { JsonFlavor::Commented } else { JsonFlavor::Strict };
        let mut before = String::new();
        let names = ["z", "mcpServers", "mcp", "context_servers", "y"];
        push_list(&mut before, &mut rng, 3, flavor, ('{', '}'), &names);
        for_each_file(|host, file| {
            // Rejecting settings of an unexpected shape is allowed; most are accepted, see below.
            let Ok(with) = (file.install)(&before, &SETUP) else { return };
            n_accepted += 1;
            let case =
                format!("seed {seed}, {} {:?}:\n{before}\n--\n{with}", host.name, file.place);
            let parsed = |text: &str| {
                serde_json::from_str::<Value>(&crate::json_spans::to_strict_json(text))
            };
            if let Ok(expected) = parsed(&before) {
                let after = (file.uninstall)(&with).expect(&case);
                assert_eq!(parsed(&after).ok(), Some(expected), "{case}\n--\n{after}");
                let n_comments =
                    |it: &str| it.matches("// , }").count() + it.matches("/* {").count();
                assert_eq!(n_comments(&after), n_comments(&before), "{case}");
            }
        });
    }
    assert!(n_accepted > 1_000, "most are accepted: {n_accepted}");
}
