//! What holds for every host, by going through the table.

use super::*;

const SETUP: Setup<'_> = Setup { program: "/opt/my tools/waylore", version: None };
const RUBBISH: &[&str] = &[
    "",
    "{",
    "[]",
    "null",
    "\"text\"",
    "{}",
    "{\"hook_event_name\":7}",
    "{\"hook_event_name\":\"Stop\"}",
    "{\"session_id\":\"s\",\"cwd\":\"/p\"}",
];

#[test]
fn no_name_stands_twice() {
    let names = |it: &Host| [&[it.name], it.aliases].concat();
    let all: Vec<&str> = HOSTS.iter().flat_map(names).collect();
    for (i, name) in all.iter().enumerate() {
        assert!(!all[..i].contains(name), "{name}");
        assert!(host(name).is_some());
    }
    let kept: Vec<&str> = HOSTS.iter().flat_map(|it| it.files).map(|it| it.kept).collect();
    for (i, name) in kept.iter().enumerate() {
        assert!(!kept[..i].contains(name), "{name}");
    }
}

#[test]
fn ours_comes_in_once_and_goes_out_without_a_trace() {
    for host in HOSTS {
        for file in host.files {
            let with = (file.with)("", &SETUP).unwrap();
            assert!(with.contains("waylore"), "{}: {with}", host.name);
            assert_eq!((file.with)(&with, &SETUP).unwrap(), with, "{}: once", host.name);
            let without = (file.without)(&with).unwrap();
            assert!(!without.contains("waylore"), "{}: {without}", host.name);
            assert_eq!((file.without)(&without).unwrap(), without, "{}", host.name);
            let moved =
                (file.with)(&with, &Setup { program: "/bin/waylore", version: None }).unwrap();
            assert!(!moved.contains(SETUP.program), "{}: {moved}", host.name);
        }
    }
}

#[test]
fn what_is_no_message_says_nothing() {
    for host in HOSTS {
        for rubbish in RUBBISH {
            assert_eq!(host.hear(rubbish.as_bytes()), None, "{} {rubbish}", host.name);
            let events = host.events(rubbish.as_bytes(), None, Timestamp(7));
            assert!(events.is_empty(), "{} {rubbish}", host.name);
        }
    }
}

#[test]
fn a_folder_that_the_environment_names_comes_before_the_home() {
    let claude = host("claude-code").unwrap();
    let home = Path::new("/home/user");
    let at = |text: &str| Some((PathBuf::from(text), PathBuf::from(text)));
    assert_eq!(claude.folder(Some(home), |_| Some(PathBuf::from("/own"))), at("/own"));
    let of_home = (home.to_owned(), home.join(".claude"));
    assert_eq!(claude.folder(Some(home), |_| None), Some(of_home));
    assert_eq!(claude.folder(None, |_| None), None);
}

#[test]
fn a_program_is_ours_by_its_name_wherever_it_lies() {
    for ours in ["waylore", "/opt/my tools/waylore", "C:\\x\\waylore.exe", "/x/waylore-0.2.1"] {
        assert!(is_our_name(ours), "{ours}");
    }
    for other in ["", "way", "/x/waylores", "/waylore/other", "my-waylore"] {
        assert!(!is_our_name(other), "{other}");
    }
    for host in HOSTS {
        for file in host.files {
            let setup = Setup { program: "/x/waylore-0.2", version: None };
            let with = (file.with)("", &setup).unwrap();
            let left = (file.without)(&with).unwrap();
            assert!(!left.contains("waylore"), "{}: {left}", host.name);
        }
    }
}

#[test]
fn a_version_is_read_from_what_a_program_says() {
    for (said, version) in [
        ("2.1.325 (Claude Code)\n", Some((2, 1, 325))),
        ("v1.0.2-beta.3", Some((1, 0, 2))),
        ("tool 0.166.0", Some((0, 166, 0))),
        ("2.1", None),
        ("a.b.c", None),
        ("", None),
        ("99999999999.1.1", None),
    ] {
        assert_eq!(read_version(said), version, "{said}");
    }
}
