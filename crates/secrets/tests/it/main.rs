//! The public API: every kind is found, placeholders stay, redaction is idempotent, size does no
//! harm.
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its literals so")]

mod adversarial;
mod assignments;
mod notation;
mod paths;
mod redaction;
mod rules;
mod samples;
mod silence;
mod structures;
