//! Places, fingerprints and heads on repositories made by the real git.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

mod fixture;
mod heads;
mod history;
mod hostile;
mod places;
mod projects;
