//! Tests of the graph as a whole: small projects written as scripts (`fixture.rs`), their edges
//! compared as text.

#![expect(clippy::unwrap_used, reason = "a script that cannot be read is a failed test")]

mod fixture;

mod c;
mod ecmascript;
mod java;
mod language_parity;
mod languages;
mod rust;

mod hostile;
mod incremental;
mod queries;
mod recovery;
