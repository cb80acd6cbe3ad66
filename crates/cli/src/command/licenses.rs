//! `waylore licenses`: prints the licence of the program and the notice of the built-in model.

use serde_json::json;

use crate::output::Output;

/// Show the licences of this program and of its built-in model
#[derive(clap::Args, Debug)]
pub(crate) struct LicensesArgs {}

const OWN_LICENSE: &str = env!("CARGO_PKG_LICENSE");
const APACHE_LICENSE_URL: &str = "https://www.apache.org/licenses/LICENSE-2.0";

pub(crate) fn run(output: &Output) -> u8 {
    let notice = engine::MODEL_NOTICE.trim_end();
    if output.json {
        output.print_json("licenses", json!({ "license": OWN_LICENSE, "notices": [notice] }));
        return 0;
    }
    output.print_line(&format!(
        "waylore {}: {OWN_LICENSE}, at your choice",
        env!("CARGO_PKG_VERSION")
    ));
    output.print_line("");
    output.print_line("Part of it is the embedding model:");
    output.print_line("");
    output.print_line(notice);
    output.print_line("");
    output.print_line(&format!("The text of that licence: {APACHE_LICENSE_URL}"));
    0
}
