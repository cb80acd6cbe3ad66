//! Feeds `targets/hook.rs`.
#![no_main]

#[path = "../targets/hook.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
