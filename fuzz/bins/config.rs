//! Feeds `targets/config.rs`.
#![no_main]

#[path = "../targets/config.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
