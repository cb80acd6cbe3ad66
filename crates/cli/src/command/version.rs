//! `waylore version`: the same as `--version`, for people who try the word first.

use serde_json::json;

use crate::output::Output;

/// Print the version
#[derive(clap::Args, Debug)]
pub(crate) struct VersionArgs {}

pub(crate) fn run(output: &Output) -> u8 {
    let version = env!("CARGO_PKG_VERSION");
    if output.json {
        output.print_json("version", json!({ "version": version }));
    } else {
        output.print_line(&format!("waylore {version}"));
    }
    0
}
