//! In and out again, for every file of every host: what was there is there afterwards, byte for byte.

use super::*;

const PROGRAMS: &[&str] = &["/usr/bin/waylore", "/opt/my \"tools\"/waylore", "waylore"];

/// Settings as people and programs write them, with entries of others in every list we write into.
const THEIRS: &[&str] = &[
    "{}\n",
    "{\n  \"theme\": \"dark\"\n}\n",
    "{\n  \"mcpServers\": {\n    \"db\": { \"command\": \"db\", \"args\": [\"mcp\"] }\n  },\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }]\n  }\n}\n",
    "{\"mcpServers\":{\"db\":{\"command\":\"db\"}},\"mcp\":{\"db\":{\"command\":[\"db\"]}},\"context_servers\":{\"db\":{}},\"x\":[]}",
    "{\r\n\t\"context_servers\": {\r\n\t\t\"db\": {\r\n\t\t\t\"command\": \"db\"\r\n\t\t}\r\n\t},\r\n\t\"a\": 1\r\n}\r\n",
    "// mine\n{\n    // \"mcp\": {\n    \"mcp\": {\n        \"db\": { \"command\": [\"db\"] }, // db\n    },\n    \"context_servers\": {\n        \"db\": {} /* { */\n    },\n    /* end */\n}\n",
    "model = \"gpt-5\" # mine\n\n[mcp_servers.db]\ncommand = \"db\"\nargs = [\"mcp\"]\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
];

/// What no host could read, and what it could read but we do not know.
const BROKEN: &[&str] = &[
    "{",
    "[1, 2]",
    "{\"mcpServers\": [], \"hooks\": [], \"mcp\": 7, \"context_servers\": \"x\"}",
    "{\"a\": 1,,}",
    "\u{feff}\u{0}",
    "mcp_servers = 7",
];

fn each(mut check: impl FnMut(&Host, &SettingsFile)) {
    for host in HOSTS {
        for file in host.files {
            check(host, file);
        }
    }
}

/// In, in again, elsewhere, and out; whether the file takes such a text at all.
fn goes_round(host: &Host, file: &SettingsFile, before: &str) -> bool {
    let what = format!("{} {:?}", host.name, file.place);
    let mut text = before.to_owned();
    for program in PROGRAMS {
        let setup = Setup { program, version: None };
        let Ok(with) = (file.with)(&text, &setup) else { return false };
        assert_ne!(with, before, "{what}");
        assert_eq!((file.with)(&with, &setup).as_ref(), Ok(&with), "{what}: twice is once");
        assert_eq!((file.without)(&with).as_deref(), Ok(before), "{what}: out again, of {with}");
        text = with;
    }
    true
}

#[test]
fn whatever_was_there_is_there_afterwards() {
    each(|host, file| {
        let n_taken = THEIRS.iter().filter(|it| goes_round(host, file, it)).count();
        let is_own =
            (file.without)(&(file.with)("", &Setup { program: "waylore", version: None }).unwrap())
                .is_ok_and(|it| it.is_empty());
        assert!(n_taken >= 2 || is_own, "{} {:?}: {n_taken}", host.name, file.place);
    });
}

#[test]
fn what_cannot_be_understood_is_refused() {
    each(|host, file| {
        for broken in BROKEN {
            let res = (file.with)(broken, &Setup { program: "waylore", version: None });
            assert!(res.is_err(), "{} {:?}: {broken} became {res:?}", host.name, file.place);
        }
    });
}

#[test]
fn a_server_of_somebody_else_with_our_name_stays_theirs() {
    let theirs = r#"{"mcpServers":{"waylore":{"command":"/usr/bin/other"}},"mcp":{"waylore":{"command":["other"]}},"context_servers":{"waylore":{"command":"other","args":["mcp"]}}}"#;
    each(|host, file| {
        let refused = (file.with)(theirs, &Setup { program: "waylore", version: None });
        if let Ok(with) = &refused {
            assert!(with.contains("/usr/bin/other"), "{} {:?}: {with}", host.name, file.place);
        }
        if let Ok(without) = (file.without)(theirs) {
            assert_eq!(without, theirs, "{} {:?}", host.name, file.place);
        }
    });
}

/// Choices that repeat.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.below(all.len() as u64)).unwrap_or(0)]
    }
}

/// What stands between two things.
fn gap(dice: &mut Dice, commented: bool) -> &'static str {
    const PLAIN: &[&str] = &["", " ", "\n", "\n  ", "\r\n\t", "\n\n    "];
    const ALL: &[&str] = &["", " ", "\n  ", "\n  // , }\n  ", " /* { \" */ ", "\n"];
    dice.of(if commented { ALL } else { PLAIN })
}

fn value(acc: &mut String, dice: &mut Dice, depth: u64, commented: bool) {
    match dice.below(if depth == 0 { 3 } else { 5 }) {
        0 => acc.push_str(dice.of(&["1", "-2.5e3", "true", "null"])),
        1 | 2 => acc.push_str(dice.of(&[r#""""#, r#""a\"b""#, r#""// é""#, r#""\\""#, r#""{,]""#])),
        3 => list(acc, dice, depth, commented, ('[', ']'), &[]),
        _ => list(acc, dice, depth, commented, ('{', '}'), &["a", "b,", "c\\\"}"]),
    }
}

fn list(
    acc: &mut String,
    dice: &mut Dice,
    depth: u64,
    commented: bool,
    (open, close): (char, char),
    names: &[&str],
) {
    acc.push(open);
    let n = if names.is_empty() { dice.below(3) } else { 1 + dice.below(names.len() as u64) };
    for nth in 0..n {
        acc.push_str(gap(dice, commented));
        if let Some(name) = names.get(usize::try_from(nth).unwrap_or(0)) {
            let (before, behind) = (dice.of(&["", " "]), dice.of(&["", " "]));
            acc.push_str(&["\"", name, "\"", before, ":", behind].concat());
        }
        value(acc, dice, depth.saturating_sub(1), commented);
        acc.push_str(gap(dice, commented));
        if nth + 1 < n || (commented && dice.below(4) == 0) {
            acc.push(',');
        }
    }
    acc.push_str(gap(dice, commented));
    acc.push(close);
}

#[test]
fn any_settings_keep_their_meaning_and_their_comments() {
    let mut n_taken = 0;
    for seed in 0..400 {
        let mut dice = Dice(seed);
        let commented = seed % 2 == 0;
        let mut before = String::new();
        let names = ["z", "mcpServers", "mcp", "context_servers", "y"];
        list(&mut before, &mut dice, 3, commented, ('{', '}'), &names);
        each(|host, file| {
            let Ok(with) = (file.with)(&before, &Setup { program: "waylore", version: None })
            else {
                return;
            };
            n_taken += 1;
            let what =
                format!("seed {seed}, {} {:?}:\n{before}\n--\n{with}", host.name, file.place);
            let parsed = |text: &str| serde_json::from_str::<Value>(&crate::spans::strict(text));
            if let Ok(was) = parsed(&before) {
                let after = (file.without)(&with).expect(&what);
                assert_eq!(parsed(&after).ok(), Some(was), "{what}\n--\n{after}");
                let n_comments =
                    |it: &str| it.matches("// , }").count() + it.matches("/* {").count();
                assert_eq!(n_comments(&after), n_comments(&before), "{what}");
            }
        });
    }
    assert!(n_taken > 1_000, "most are taken: {n_taken}");
}
