//! Settings of hosts: what was connected is connected once, and disconnecting takes out what connecting
//! put in, and nothing else: to the byte where nobody wrote in between, in meaning where somebody did.

use agents::{HOSTS, Kept, SettingsFile, Setup, left};

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for file in HOSTS.iter().flat_map(|it| it.files) {
        comes_and_goes(file, text);
        keeps_what_others_wrote(file, text);
    }
}

const PROGRAM: &str = "/usr/bin/waylore";
const MOVED: &str = "/opt/waylore";

const fn setup(program: &str) -> Setup<'_> {
    Setup { program, version: Some((9, 9, 9)) }
}

/// Connected, connected again from another place, disconnected: every byte is what it was.
fn comes_and_goes(file: &SettingsFile, text: &str) {
    let (mut now, mut kept) = (text.to_owned(), None);
    for program in [PROGRAM, MOVED, PROGRAM] {
        let Ok(with) = (file.with)(&now, &setup(program)) else { return };
        let twice = (file.with)(&with, &setup(program)).expect("what we wrote, we can read");
        assert_eq!(twice, with, "{}: connecting twice connects once", file.kept);
        if with != now {
            kept = Some(Kept::over(kept, Some(&now), &with));
        }
        now = with;
    }
    let after = left(file, &now, kept.as_ref()).expect("what we wrote, we can read");
    if kept.is_some() {
        assert_eq!(after.as_deref(), Some(text), "{}: back to the byte", file.kept);
    }
}

/// Without what was kept, as after somebody else has written the file.
fn keeps_what_others_wrote(file: &SettingsFile, text: &str) {
    let Ok(before) = (file.without)(text) else { return };
    let again = (file.without)(&before).expect("what we wrote, we can read");
    assert_eq!(again, before, "{}: taking out twice takes out once", file.kept);
    let Ok(with) = (file.with)(&before, &setup(PROGRAM)) else { return };
    let after = (file.without)(&with).expect("what we wrote, we can read");
    // A file that was not there may keep what the host wants in every file of its own.
    if !before.trim().is_empty() {
        assert_eq!(meaning(&after), meaning(&before), "{}: {before}", file.kept);
    }
    assert!(!after.contains(PROGRAM) || before.contains(PROGRAM), "{}: {after}", file.kept);
}

/// What settings say, where they are JSON. A place for entries that is left empty goes, and counts for
/// nothing.
fn meaning(text: &str) -> Option<serde_json::Value> {
    let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
    let is_empty = |it: &serde_json::Value| it.as_object().is_some_and(serde_json::Map::is_empty);
    value.as_object_mut()?.retain(|_, it| !is_empty(it));
    Some(value)
}
