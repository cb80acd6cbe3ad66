//! Feeds `targets/protocol.rs`.
#![no_main]

#[path = "../targets/protocol.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
