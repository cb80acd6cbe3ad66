//! Sealed lines: the encrypted form of the text files beside the databases (journals, inbox, shown
//! logs, failed sessions, the spool of the injection log).
//!
//! Each line is sealed by itself with ChaCha20-Poly1305, so a file stays append-only, and a line that
//! was cut off costs only itself. Every file has a key of its own, derived from the user's key and
//! the file's name: a line moved to another file does not open. Plain lines are read as they are, so
//! files of earlier versions and files that are being converted stay readable.
//!
//! ```text
//! sealed1 <Base64 of nonce, ciphertext and tag>
//! ```
//!
//! While the data folder is encrypted it has a marker file. A process without a key, such as a daemon
//! that started before the encryption was turned on, finds the marker and writes no plain text.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

use crate::text_erasure::TextCleaner;
use crate::{DataDir, EncryptionKey, Error, os};

/// First word of a sealed line. No plain line begins with it: events are JSON, and a line of a shown log
/// begins with an id or with a keyword of `ShownEntry`.
const SEALED_PREFIX: &str = "sealed1 ";
/// Purpose of the derived keys; part of the format.
const KEY_CONTEXT: &str = "waylore 2026-11-16 sealed lines";
/// Name of the marker file in the data folder.
pub(crate) const SEALED_MARKER: &str = "sealed";

/// Kinds of text files; part of the derived key, so part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFileKind {
    Journal,
    Inbox,
    ShownLog,
    FailedSessions,
    InjectionSpool,
}

impl TextFileKind {
    const fn slug(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Inbox => "inbox",
            Self::ShownLog => "shown",
            Self::FailedSessions => "failed-sessions",
            Self::InjectionSpool => "injections",
        }
    }
}

/// Seals and opens the lines of one file. Without a key, lines stay plain.
pub(crate) struct LineSeal {
    key: Option<LessSafeKey>,
}

impl LineSeal {
    pub(crate) fn new(key: Option<&EncryptionKey>, kind: TextFileKind, path: &Path) -> Self {
        let derive = |key: &EncryptionKey| {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let mut hasher = blake3::Hasher::new_keyed(&key.derive(KEY_CONTEXT));
            hasher.update(kind.slug().as_bytes()).update(b"\0").update(name);
            let unbound = UnboundKey::new(&CHACHA20_POLY1305, hasher.finalize().as_bytes());
            LessSafeKey::new(unbound.expect("a BLAKE3 hash has the 32 bytes of a key"))
        };
        Self { key: key.map(derive) }
    }

    /// Seals whole lines. A line that is sealed already stays as it is: `open_lines` passes on the lines it
    /// cannot open, and a second seal would hide them even from the key they belong to. Refuses if the
    /// system has no random numbers.
    pub(crate) fn seal_lines(&self, lines: &str) -> Result<String, Error> {
        let Some(key) = &self.key else { return Ok(lines.to_owned()) };
        let mut acc = String::with_capacity(lines.len() * 3 / 2);
        for line in lines.lines() {
            if line.starts_with(SEALED_PREFIX) {
                acc.push_str(line);
                acc.push('\n');
                continue;
            }
            let refuse = |_| Error::Internal { what: "a line cannot be encrypted".to_owned() };
            let mut nonce = [0; NONCE_LEN];
            SystemRandom::new().fill(&mut nonce).map_err(refuse)?;
            let mut sealed = line.as_bytes().to_vec();
            key.seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::empty(),
                &mut sealed,
            )
            .map_err(refuse)?;
            sealed.splice(..0, nonce);
            acc.push_str(SEALED_PREFIX);
            STANDARD_NO_PAD.encode_string(&sealed, &mut acc);
            acc.push('\n');
        }
        Ok(acc)
    }

    /// Opens the lines of a file. A line that does not open (cut off, damaged, another key) stays as
    /// it is: every reader skips lines it cannot parse.
    pub(crate) fn open_lines(&self, raw_bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(raw_bytes);
        if self.key.is_none() || !text.contains(SEALED_PREFIX) {
            return text.into_owned();
        }
        let mut acc = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            match self.open_line(line) {
                Some(opened) => {
                    acc.push_str(&opened);
                    acc.push('\n');
                }
                None => acc.push_str(line),
            }
        }
        acc
    }

    /// Applies a cleaner, which returns the changed text or `None`, to the lines of a file. Returns the new
    /// contents, or `None` if nothing changes.
    pub(crate) fn clean_lines(
        &self,
        raw_bytes: &[u8],
        clean: TextCleaner<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some(cleaned) = clean(&self.open_lines(raw_bytes)) else { return Ok(None) };
        Ok(Some(self.seal_lines(&cleaned)?.into_bytes()))
    }

    /// Opens one line; `None` if it is plain or does not open.
    fn open_line(&self, line: &str) -> Option<String> {
        let encoded = line.trim_end().strip_prefix(SEALED_PREFIX)?;
        let mut sealed = STANDARD_NO_PAD.decode(encoded).ok()?;
        let (nonce, body) = sealed.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let opened = self.key.as_ref()?.open_in_place(nonce, Aad::empty(), body).ok()?;
        String::from_utf8(opened.to_vec()).ok()
    }
}

/// Returns whether lines from `open_lines` hold a sealed one, which could not be opened.
pub(crate) fn holds_sealed_line(opened_lines: &str) -> bool {
    opened_lines.lines().any(|it| it.starts_with(SEALED_PREFIX))
}

/// Returns whether the bytes of a file hold a plain line.
pub(crate) fn holds_plain_line(raw_bytes: &[u8]) -> bool {
    let is_plain = |it: &[u8]| !it.is_empty() && !it.starts_with(SEALED_PREFIX.as_bytes());
    raw_bytes.split(|it| *it == b'\n').any(is_plain)
}

/// Prepares writing a text file. A process with a key marks the data folder as encrypted; one without a key
/// is refused if the folder is marked.
pub(crate) fn prepare_to_write(data: &DataDir, key: Option<&EncryptionKey>) -> Result<(), Error> {
    let marker = data.root.join(SEALED_MARKER);
    match (key, marker.exists()) {
        (None, true) => Err(Error::WrongKey { path: data.root.clone() }),
        (Some(_), false) => mark_sealed(data),
        (None, false) | (Some(_), true) => Ok(()),
    }
}

/// Marks the data folder as encrypted.
pub(crate) fn mark_sealed(data: &DataDir) -> Result<(), Error> {
    let marker = data.root.join(SEALED_MARKER);
    let created = os::private_dir(&data.root).and_then(|()| os::private_file(&marker));
    created.map_err(|it| Error::from_io(&marker, &it))
}

/// Removes the mark.
pub(crate) fn unmark_sealed(data: &DataDir) -> Result<(), Error> {
    let marker = data.root.join(SEALED_MARKER);
    os::remove_file_if_exists(&marker).map_err(|it| Error::from_io(&marker, &it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(key: Option<&str>, path: &str) -> LineSeal {
        let key = key.map(|it| EncryptionKey::new(it).unwrap());
        LineSeal::new(key.as_ref(), TextFileKind::Journal, Path::new(path))
    }

    #[test]
    fn sealed_lines_open_with_the_key_of_their_file_only() {
        let own = seal(Some("correct horse"), "a.ndjson");
        let sealed = own.seal_lines("one\ntwo\n").unwrap();
        assert_eq!(sealed.lines().count(), 2);
        assert!(!sealed.contains("one") && !holds_plain_line(sealed.as_bytes()));
        assert_eq!(own.open_lines(sealed.as_bytes()), "one\ntwo\n");
        assert_ne!(own.seal_lines("one\n").unwrap(), own.seal_lines("one\n").unwrap());
        for other in [
            seal(Some("correct horse"), "b.ndjson"),
            seal(Some("battery staple"), "a.ndjson"),
            seal(None, "a.ndjson"),
        ] {
            assert_eq!(other.open_lines(sealed.as_bytes()), sealed);
        }
    }

    #[test]
    fn a_line_of_another_key_survives_a_rewrite() {
        let (own, other) =
            (seal(Some("correct horse"), "a.ndjson"), seal(Some("battery staple"), "a.ndjson"));
        let foreign = other.seal_lines("theirs\n").unwrap();
        let file = foreign.clone() + &own.seal_lines("mine\n").unwrap();
        let clean = |text: &str| Some(text.replace("mine", "erased"));
        let cleaned = own.clean_lines(file.as_bytes(), &clean).unwrap().unwrap();
        assert_eq!(own.open_lines(&cleaned), foreign + "erased\n");
        assert!(other.open_lines(&cleaned).starts_with("theirs\n"));
    }

    #[test]
    fn a_file_cut_at_any_byte_opens_to_its_whole_lines() {
        let own = seal(Some("correct horse"), "a.ndjson");
        let sealed = format!("plain\n{}", own.seal_lines("one\ntwo\n").unwrap());
        for cut in 0..=sealed.len() {
            let opened = own.open_lines(&sealed.as_bytes()[..cut]);
            let opened: Vec<&str> =
                opened.lines().filter(|it| ["plain", "one", "two"].contains(it)).collect();
            let whole = &["plain", "one", "two"][..opened.len()];
            assert_eq!(opened, whole, "cut at {cut}");
        }
        let changed = sealed.replace("sealed1 ", "sealed1 A");
        assert!(!own.open_lines(changed.as_bytes()).contains("one"));
    }
}
