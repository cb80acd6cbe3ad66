//! Settings of hosts: what was connected is connected once, and disconnecting takes out what connecting
//! put in, and nothing else.

use agents::{HOSTS, Setup};

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let setup = Setup { program: PROGRAM, version: Some((9, 9, 9)) };
    for file in HOSTS.iter().flat_map(|it| it.files) {
        let Ok(before) = (file.without)(text) else { continue };
        let again = (file.without)(&before).expect("what we wrote, we can read");
        assert_eq!(again, before, "{}: taking out twice takes out once", file.kept);
        let Ok(with) = (file.with)(&before, &setup) else { continue };
        let twice = (file.with)(&with, &setup).expect("what we wrote, we can read");
        assert_eq!(twice, with, "{}: connecting twice connects once", file.kept);
        let after = (file.without)(&with).expect("what we wrote, we can read");
        // A file that was not there may keep what the host wants in every file of its own.
        if !before.trim().is_empty() {
            assert_eq!(meaning(&after), meaning(&before), "{}: {before}", file.kept);
        }
        assert!(!after.contains(PROGRAM) || before.contains(PROGRAM), "{}: {after}", file.kept);
    }
}

const PROGRAM: &str = "/usr/bin/waylore";

/// What settings say, where they are JSON; the bytes themselves are kept by whoever writes the file. A place
/// for entries that is left empty goes, and counts for nothing.
fn meaning(text: &str) -> Option<serde_json::Value> {
    let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
    let is_empty = |it: &serde_json::Value| it.as_object().is_some_and(serde_json::Map::is_empty);
    value.as_object_mut()?.retain(|_, it| !is_empty(it));
    Some(value)
}
