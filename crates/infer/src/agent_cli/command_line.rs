//! The command line of each agent program: one question, with tools, hooks and MCP servers off.
//!
//! Each line was checked against the requests that the program sends. Flags alone do not suffice for some:
//! Gemini and Copilot read settings from the folder, Codex its system prompt from a file.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::{ASK_MARKER, AgentCli, AgentProgram};
use crate::generate::TextPrompt;

/// Switches off what Gemini would send and run beside the question.
const GEMINI_SETTINGS: &str = r#"{"tools":{"core":[]},"hooksConfig":{"enabled":false},"skills":{"enabled":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false,"maxAttempts":1}}"#;
const COPILOT_SETTINGS: &str = r#"{"disableAllHooks": true}"#;
/// Features of Codex that add tools or instructions.
const CODEX_FEATURES: &[&str] = &[
    "hooks",
    "plugins",
    "remote_plugin",
    "plugin_discovery_prefetch",
    "apps",
    "shell_tool",
    "unified_exec",
    "shell_snapshot",
    "multi_agent",
    "goals",
    "view_image",
    "image_generation",
    "browser_use",
    "browser_use_external",
    "in_app_browser",
    "computer_use",
    "skill_search",
    "skill_mcp_dependency_install",
    "sleep_tool",
    "tool_suggest",
    "workspace_dependencies",
    "guardian_approval",
];
/// Variables of a session that may have started us.
const SESSION_VARIABLES: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_CHILD_SESSION",
];

/// Prepares the folder and builds the command.
pub(super) fn build_command(cli: &AgentCli, prompt: &TextPrompt<'_>) -> io::Result<Command> {
    fs::create_dir_all(&cli.folder)?;
    let mut command = Command::new(&cli.path);
    command.current_dir(&cli.folder).env(ASK_MARKER, "1");
    for variable in SESSION_VARIABLES {
        command.env_remove(variable);
    }
    match cli.program {
        AgentProgram::Claude => add_claude(&mut command, cli, prompt),
        AgentProgram::Codex => {
            let system = write_file(&cli.folder, "system.md", prompt.system)?;
            add_codex(&mut command, cli, &system);
        }
        AgentProgram::Gemini => {
            let system = write_file(&cli.folder, "system.md", prompt.system)?;
            write_file(&cli.folder, ".gemini/settings.json", GEMINI_SETTINGS)?;
            add_gemini(&mut command, cli, &system);
        }
        AgentProgram::Copilot => {
            write_file(&cli.folder, ".github/copilot/settings.json", COPILOT_SETTINGS)?;
            add_copilot(&mut command, cli);
        }
        AgentProgram::OpenCode => add_opencode(&mut command, cli, prompt),
    }
    Ok(command)
}

fn write_file(folder: &Path, name: &str, text: &str) -> io::Result<String> {
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(&path, text)?;
    Ok(path.to_string_lossy().into_owned())
}

fn add_claude(command: &mut Command, cli: &AgentCli, prompt: &TextPrompt<'_>) {
    command
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        // Its own retries would take minutes; we try again later.
        .env("CLAUDE_CODE_MAX_RETRIES", "1")
        .env("API_TIMEOUT_MS", "90000")
        .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "4000")
        .args([
            "-p",
            "--safe-mode",
            "--strict-mcp-config",
            "--tools",
            "",
            "--disable-slash-commands",
        ])
        .args(["--no-session-persistence", "--permission-mode", "dontAsk", "--max-turns", "1"])
        .args(["--effort", "low", "--model", cli.model.as_deref().unwrap_or("haiku")])
        .args(["--output-format", "json", "--system-prompt", prompt.system]);
}

fn add_codex(command: &mut Command, cli: &AgentCli, system: &str) {
    command
        .args(["exec", "--json", "--ephemeral", "--ignore-user-config", "--ignore-rules"])
        .args(["--skip-git-repo-check", "-s", "read-only"])
        .args(["-m", cli.model.as_deref().unwrap_or("gpt-5.5")]);
    let instructions = format!("model_instructions_file={system:?}");
    for setting in [
        "model_reasoning_effort=\"low\"",
        instructions.as_str(),
        "project_doc_max_bytes=0",
        "include_environment_context=false",
        "include_permissions_instructions=false",
        "include_apps_instructions=false",
        "include_collaboration_mode_instructions=false",
        "skills.include_instructions=false",
        "web_search=\"disabled\"",
        "analytics.enabled=false",
        "check_for_update_on_startup=false",
    ] {
        command.args(["-c", setting]);
    }
    for feature in CODEX_FEATURES {
        command.args(["--disable", feature]);
    }
    command.arg("-");
}

fn add_gemini(command: &mut Command, cli: &AgentCli, system: &str) {
    command
        // Without trust the settings of the folder are ignored, and hooks run.
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        .env("GEMINI_CLI_NO_RELAUNCH", "true")
        .env("GEMINI_SYSTEM_MD", system)
        .env("NO_COLOR", "1")
        .args(["-m", cli.model.as_deref().unwrap_or("gemini-2.5-flash-lite"), "-o", "json"])
        .args(["-e", "none", "--allowed-mcp-server-names", "none"]);
}

fn add_copilot(command: &mut Command, cli: &AgentCli) {
    command
        .args(["--output-format", "json", "--stream", "off", "--trust-folder"])
        .args(["--name", "waylore-ask", "--available-tools=none", "--disable-builtin-mcps"])
        .args(["--disable-mcp-server", "waylore", "--no-custom-instructions", "--no-ask-user"])
        .args(["--no-auto-update", "--no-remote-export", "--disable-client-telemetry"])
        .args(["--log-level", "none", "--no-color"]);
    if let Some(model) = &cli.model {
        command.args(["--model", model]);
    }
}

fn add_opencode(command: &mut Command, cli: &AgentCli, prompt: &TextPrompt<'_>) {
    let config = serde_json::json!({
        "autoupdate": false, "share": "disabled", "snapshot": false,
        "mcp": { "waylore": { "enabled": false } },
        "agent": { "ask": { "mode": "primary", "prompt": prompt.system, "tools": { "*": false } } },
    });
    command
        .env("OPENCODE_DB", ":memory:")
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1")
        .env("OPENCODE_DISABLE_PROJECT_CONFIG", "1")
        .env("OPENCODE_CONFIG_CONTENT", config.to_string())
        .args(["run", "--pure", "--format", "json", "--agent", "ask", "--title", "waylore-ask"]);
    if let Some(model) = &cli.model {
        command.args(["-m", model]);
    }
}
