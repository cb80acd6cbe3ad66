//! Hosts without hooks (programs that a host starts at events), or with hooks that we have not tested:
//! Cursor, Windsurf, Cline and Zed. Only our MCP server (tools that an agent may call) is added to their
//! settings, as their documentation describes.

use serde_json::{Value, json};

use super::mcp_servers::{self, JsonFlavor};
use super::{FilePlace, Host, HostSetup, SettingsBase, SettingsError, SettingsFile};

const MCP_SERVERS: &str = "mcpServers";
const CONTEXT_SERVERS: &str = "context_servers";
/// Storage of the extension in Visual Studio Code, relative to a folder for settings.
const CLINE_FOLDER: &str = "Code/User/globalStorage/saoudrizwan.claude-dev";
const CLINE_FOLDER_IN_HOME: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev"
} else {
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
};

// The tuple is the name in commands and the name of the product.
pub(super) const CURSOR: Host = mcp_only_host(
    ("cursor", "Cursor"),
    &[home_base(".cursor")],
    &[
        plain_file(FilePlace::Folder("mcp.json"), "cursor-mcp"),
        plain_file(FilePlace::Project(".cursor/mcp.json"), "cursor-project-mcp"),
    ],
);
pub(super) const WINDSURF: Host = mcp_only_host(
    ("windsurf", "Windsurf"),
    &[home_base(".codeium/windsurf")],
    &[plain_file(FilePlace::Folder("mcp_config.json"), "windsurf-mcp")],
);
pub(super) const CLINE: Host = mcp_only_host(
    ("cline", "Cline"),
    &[
        variable_base("APPDATA", CLINE_FOLDER),
        variable_base("XDG_CONFIG_HOME", CLINE_FOLDER),
        home_base(CLINE_FOLDER_IN_HOME),
    ],
    &[plain_file(FilePlace::Folder("settings/cline_mcp_settings.json"), "cline-mcp")],
);
pub(super) const ZED: Host = mcp_only_host(
    ("zed", "Zed"),
    &[variable_base("XDG_CONFIG_HOME", "zed"), home_base(".config/zed")],
    &[
        zed_file(FilePlace::Folder("settings.json"), "zed-mcp"),
        zed_file(FilePlace::Project(".zed/settings.json"), "zed-project-mcp"),
    ],
);

const fn mcp_only_host(
    (name, title): (&'static str, &'static str),
    bases: &'static [SettingsBase],
    files: &'static [SettingsFile],
) -> Host {
    let aliases = &[];
    Host {
        name,
        aliases,
        title,
        bases,
        files,
        hook_protocol: None,
        plugin: None,
        hook_trust: None,
        shell_variables: &[],
        is_tested: false,
    }
}

const fn home_base(below: &'static str) -> SettingsBase {
    SettingsBase { variable: None, folder: below }
}

const fn variable_base(variable: &'static str, below: &'static str) -> SettingsBase {
    SettingsBase { variable: Some(variable), folder: below }
}

const fn plain_file(place: FilePlace, backup_name: &'static str) -> SettingsFile {
    SettingsFile { place, backup_name, install: install_plain, uninstall: uninstall_plain }
}

const fn zed_file(place: FilePlace, backup_name: &'static str) -> SettingsFile {
    SettingsFile { place, backup_name, install: install_zed, uninstall: uninstall_zed }
}

fn install_plain(settings: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    mcp_servers::install(JsonFlavor::Strict, settings, MCP_SERVERS, &server_entry(setup))
}

fn uninstall_plain(settings: &str) -> Result<String, SettingsError> {
    mcp_servers::uninstall(JsonFlavor::Strict, settings, MCP_SERVERS)
}

/// Older versions need `source` to know that no extension provides the server.
fn install_zed(settings: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    let mut server = server_entry(setup);
    server["source"] = json!("custom");
    mcp_servers::install(JsonFlavor::Commented, settings, CONTEXT_SERVERS, &server)
}

fn uninstall_zed(settings: &str) -> Result<String, SettingsError> {
    mcp_servers::uninstall(JsonFlavor::Commented, settings, CONTEXT_SERVERS)
}

fn server_entry(setup: &HostSetup<'_>) -> Value {
    json!({ "command": setup.program, "args": ["mcp"] })
}
