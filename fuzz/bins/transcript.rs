//! Feeds `targets/transcript.rs`.
#![no_main]

#[path = "../targets/transcript.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
