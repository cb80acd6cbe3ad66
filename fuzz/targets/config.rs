//! Settings of hosts: connecting is idempotent, and disconnecting removes what connecting added and
//! nothing else. The file is restored byte for byte if nothing changed it in between, otherwise in
//! meaning.

use agents::{HOSTS, HostSetup, SettingsBackup, SettingsFile, text_after_disconnect};

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for file in HOSTS.iter().flat_map(|it| it.files) {
        round_trips(file, text);
        keeps_other_settings(file, text);
    }
}

const PROGRAM: &str = "/usr/bin/waylore";
const MOVED: &str = "/opt/waylore";

const fn setup(program: &str) -> HostSetup<'_> {
    HostSetup { program, version: Some((9, 9, 9)) }
}

/// Connects, connects again with another path of the program, and disconnects: every byte is
/// restored.
fn round_trips(file: &SettingsFile, text: &str) {
    let (mut now, mut backup) = (text.to_owned(), None);
    for program in [PROGRAM, MOVED, PROGRAM] {
        let Ok(with) = (file.install)(&now, &setup(program)) else { return };
        let twice =
            (file.install)(&with, &setup(program)).expect("settings that we wrote can be read");
        assert_eq!(twice, with, "{}: connecting twice connects once", file.backup_name);
        if with != now {
            backup = Some(SettingsBackup::update(backup, Some(&now), &with));
        }
        now = with;
    }
    let after = text_after_disconnect(file, &now, backup.as_ref())
        .expect("settings that we wrote can be read");
    if backup.is_some() {
        assert_eq!(after.as_deref(), Some(text), "{}: back to the byte", file.backup_name);
    }
}

/// Without a backup, as after another program has written the file.
fn keeps_other_settings(file: &SettingsFile, text: &str) {
    let Ok(before) = (file.uninstall)(text) else { return };
    let again = (file.uninstall)(&before).expect("settings that we wrote can be read");
    assert_eq!(again, before, "{}: taking out twice takes out once", file.backup_name);
    let Ok(with) = (file.install)(&before, &setup(PROGRAM)) else { return };
    let after = (file.uninstall)(&with).expect("settings that we wrote can be read");
    // A new file may keep what the host requires in every file of its own.
    if !before.trim().is_empty() {
        assert_eq!(meaning(&after), meaning(&before), "{}: {before}", file.backup_name);
    }
    assert!(!after.contains(PROGRAM) || before.contains(PROGRAM), "{}: {after}", file.backup_name);
}

/// The value of JSON settings. Containers that become empty are removed, so empty ones do not
/// count.
fn meaning(text: &str) -> Option<serde_json::Value> {
    let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
    let is_empty = |it: &serde_json::Value| it.as_object().is_some_and(serde_json::Map::is_empty);
    value.as_object_mut()?.retain(|_, it| !is_empty(it));
    Some(value)
}
