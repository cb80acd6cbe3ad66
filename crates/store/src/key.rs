//! Encryption at rest: the key, and how a connection is unlocked with it.

use crate::Error;
use crate::query::Db;

/// A key or passphrase. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Refuses what the database could not take: an empty key means no encryption at all.
    pub fn new(secret: &str) -> Result<Self, Error> {
        let secret = secret.trim_end_matches(['\r', '\n']);
        if secret.len() < 8 || secret.contains('\0') {
            return Err(Error::Invalid {
                what: "a key has at least 8 characters and no NUL".to_owned(),
            });
        }
        Ok(Self(secret.to_owned()))
    }

    fn quoted(&self) -> String {
        format!("'{}'", self.0.replace('\'', "''"))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Whether this build can encrypt.
pub const AVAILABLE: bool = cfg!(feature = "encryption");

/// Gives the connection its key; must come before anything is read.
pub(crate) fn unlock(db: &Db, key: &Key) -> Result<(), Error> {
    if !AVAILABLE {
        return Err(Error::NoEncryption);
    }
    db.pragma("PRAGMA cipher = 'aes256cbc'")?;
    db.pragma(&format!("PRAGMA key = {}", key.quoted()))?;
    Ok(())
}
