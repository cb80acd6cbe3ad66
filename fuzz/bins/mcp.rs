//! Feeds `targets/mcp.rs`.
#![no_main]

#[path = "../targets/mcp.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
