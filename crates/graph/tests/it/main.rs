//! The graph as a whole: small repositories in a script, their edges as text.

#![expect(clippy::unwrap_used, reason = "a script that cannot be read is a failed test")]

mod fixture;

mod ecmascript;
mod hostile;
mod incremental;
mod language_parity;
mod languages;
mod queries;
