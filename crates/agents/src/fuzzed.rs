//! Runs the fuzz targets over their seeds and random mutations of them, as a regular test.
//!
//! A target panics if its input breaks a promise; `make fuzz` runs the same targets for longer.

#[path = "../../../fuzz/targets/config.rs"]
mod config;
#[path = "../../../fuzz/targets/hook.rs"]
mod hook;
#[path = "../../../fuzz/targets/mutate.rs"]
mod mutate;
#[path = "../../../fuzz/targets/transcript.rs"]
mod transcript;

#[test]
fn any_hook_message_is_read_or_ignored() {
    mutate::replay("hook", 3_000, hook::run);
}

#[test]
fn any_transcript_is_read_or_ignored() {
    mutate::replay("transcript", 500, transcript::run);
}

#[test]
fn disconnecting_undoes_connecting() {
    mutate::replay("config", 3_000, config::run);
}
