//! `waylore licenses`.

use serde_json::json;

use crate::output::Output;

/// Show under which licences this program and the model in it may be used and passed on
#[derive(clap::Args, Debug)]
pub(crate) struct LicensesArgs {}

const OWN: &str = env!("CARGO_PKG_LICENSE");
const TEXT_OF_APACHE: &str = "https://www.apache.org/licenses/LICENSE-2.0";

pub(crate) fn run(output: &Output) -> u8 {
    let notice = engine::MODEL_NOTICE.trim_end();
    if output.json {
        output.data_json("licenses", json!({ "license": OWN, "notices": [notice] }));
        return 0;
    }
    output.line(&format!("waylore {}: {OWN}, at your choice", env!("CARGO_PKG_VERSION")));
    output.line("");
    output.line("Part of it is the embedding model:");
    output.line("");
    output.line(notice);
    output.line("");
    output.line(&format!("The text of that licence: {TEXT_OF_APACHE}"));
    0
}
