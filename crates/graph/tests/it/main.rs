//! The graph as a whole: small repositories in a script, their edges as text.

#![expect(clippy::unwrap_used, reason = "a script that cannot be read is a failed test")]

mod kit;

mod asking;
mod equal;
mod hostile;
mod incremental;
mod languages;
mod script;
