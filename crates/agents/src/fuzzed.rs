//! The targets of the fuzzer, over their seeds and what small changes make of them.

#[path = "../../../fuzz/targets/config.rs"]
mod config;
#[path = "../../../fuzz/targets/hook.rs"]
mod hook;
#[path = "../../../fuzz/targets/mutate.rs"]
mod mutate;
#[path = "../../../fuzz/targets/transcript.rs"]
mod transcript;

#[test]
fn whatever_a_host_says_to_its_hook_is_read_or_left() {
    mutate::replay("hook", 3_000, hook::run);
}

#[test]
fn whatever_stands_in_a_transcript_is_read_or_left() {
    mutate::replay("transcript", 500, transcript::run);
}

#[test]
fn what_connecting_puts_into_settings_disconnecting_takes_out() {
    mutate::replay("config", 3_000, config::run);
}
