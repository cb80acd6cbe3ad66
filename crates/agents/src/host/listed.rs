//! Hosts that call nobody whom we could answer, or whom no real session of ours has tried: only our MCP
//! server is written into their settings, as their documentation says.

use serde_json::{Value, json};

use super::servers::{self, Format};
use super::{Base, FilePlace, Host, SettingsFile, Setup, Unfit};

const MCP_SERVERS: &str = "mcpServers";
const CONTEXT_SERVERS: &str = "context_servers";
/// Where Visual Studio Code keeps what its extensions want kept, below a folder for settings.
const CLINE: &str = "Code/User/globalStorage/saoudrizwan.claude-dev";
const CLINE_AT_HOME: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev"
} else {
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
};

pub(super) const CURSOR: Host = listed(
    ("cursor", "Cursor"),
    &[home(".cursor")],
    &[
        plain(FilePlace::Folder("mcp.json"), "cursor-mcp"),
        plain(FilePlace::Project(".cursor/mcp.json"), "cursor-project-mcp"),
    ],
);
pub(super) const WINDSURF: Host = listed(
    ("windsurf", "Windsurf"),
    &[home(".codeium/windsurf")],
    &[plain(FilePlace::Folder("mcp_config.json"), "windsurf-mcp")],
);
pub(super) const CLINE_HOST: Host = listed(
    ("cline", "Cline"),
    &[moved("APPDATA", CLINE), moved("XDG_CONFIG_HOME", CLINE), home(CLINE_AT_HOME)],
    &[plain(FilePlace::Folder("settings/cline_mcp_settings.json"), "cline-mcp")],
);
pub(super) const ZED: Host = listed(
    ("zed", "Zed"),
    &[moved("XDG_CONFIG_HOME", "zed"), home(".config/zed")],
    &[
        zed(FilePlace::Folder("settings.json"), "zed-mcp"),
        zed(FilePlace::Project(".zed/settings.json"), "zed-project-mcp"),
    ],
);

const fn listed(
    (name, title): (&'static str, &'static str),
    bases: &'static [Base],
    files: &'static [SettingsFile],
) -> Host {
    let aliases = &[];
    Host {
        name,
        aliases,
        title,
        bases,
        files,
        speech: None,
        plugin: None,
        trust: None,
        is_tried: false,
    }
}

const fn home(below: &'static str) -> Base {
    Base { variable: None, below }
}

const fn moved(variable: &'static str, below: &'static str) -> Base {
    Base { variable: Some(variable), below }
}

const fn plain(place: FilePlace, kept: &'static str) -> SettingsFile {
    SettingsFile { place, kept, with: with_plain, without: without_plain }
}

const fn zed(place: FilePlace, kept: &'static str) -> SettingsFile {
    SettingsFile { place, kept, with: with_zed, without: without_zed }
}

fn with_plain(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    servers::with(settings, MCP_SERVERS, &server(setup))
}

fn without_plain(settings: &str) -> Result<String, Unfit> {
    servers::without(settings, MCP_SERVERS)
}

/// Its older versions want to be told that no extension brings the server.
fn with_zed(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    let mut server = server(setup);
    server["source"] = json!("custom");
    servers::with_in(Format::Commented, settings, CONTEXT_SERVERS, &server)
}

fn without_zed(settings: &str) -> Result<String, Unfit> {
    servers::without_in(Format::Commented, settings, CONTEXT_SERVERS)
}

fn server(setup: &Setup<'_>) -> Value {
    json!({ "command": setup.program, "args": ["mcp"] })
}
