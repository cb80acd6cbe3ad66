//! Encryption at rest: the key, and unlocking a connection with it.
//!
//! Only builds with the `encryption` feature can encrypt; others refuse a key when they open a
//! file.

use crate::Error;
use crate::query::Db;

/// Shortest key that is accepted. The message below names the number.
const MIN_KEY_BYTES: usize = 8;

/// A key or passphrase. Its `Debug` form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey(String);

impl EncryptionKey {
    /// Refuses keys that the database cannot use. An empty key would mean no encryption at all.
    pub fn new(secret: &str) -> Result<Self, Error> {
        // Key files usually end with a line break.
        let secret = secret.trim_end_matches(['\r', '\n']);
        if secret.len() < MIN_KEY_BYTES || secret.contains('\0') {
            return Err(Error::InvalidInput {
                what: "a key has at least 8 characters and no NUL".to_owned(),
            });
        }
        Ok(Self(secret.to_owned()))
    }

    /// A key of 32 bytes for another purpose than the database.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, self.0.as_bytes())
    }

    /// A pragma takes no parameters, so the key is quoted.
    fn to_sql_literal(&self) -> String {
        format!("'{}'", self.0.replace('\'', "''"))
    }
}

impl std::fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// True if this build can encrypt.
pub const ENCRYPTION_AVAILABLE: bool = cfg!(feature = "encryption");

/// Sets the key of a connection. Must come before the first read.
pub(crate) fn unlock_connection(db: &Db, key: &EncryptionKey) -> Result<(), Error> {
    if !ENCRYPTION_AVAILABLE {
        return Err(Error::EncryptionUnavailable);
    }
    // The cipher must be set before the key.
    db.query_pragma("PRAGMA cipher = 'aes256cbc'")?;
    db.query_pragma(&format!("PRAGMA key = {}", key.to_sql_literal()))?;
    Ok(())
}
