//! `waylore doctor`: runs the checks of the engine (all stored data) and those of the settings, vectors,
//! daemon and hosts (programs that run agents). Each check is one line: health, subject, detail, and a remedy.

use engine::{DoctorMode, HealthCheck, HealthLevel};
use serde_json::json;

use super::CommandContext;
use super::connect::{self, ConnectionState};
use super::shared::report_start;
use crate::output::{BAD_STYLE, BOLD_STYLE, DIM_STYLE, GOOD_STYLE, WARN_STYLE, format_count};

/// Check what is stored and print a remedy for each problem
///
/// Small databases are checked row by row, large ones by a sample of their rows, their counts and definitions. `waylore
/// maintain` checks every row.
#[derive(clap::Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Repair what can be repaired first, then check everything
    #[arg(long)]
    fix: bool,
    /// Check every row, and open every backup, however large they are
    #[arg(long)]
    full: bool,
}

/// Reports that the agent program of `learn.model` is missing.
fn check_question_program(command: &CommandContext<'_>) -> Option<HealthCheck> {
    let detail = crate::models::missing_question_program(&command.settings)?;
    Some(HealthCheck {
        name: "model of `learn --ask`".to_owned(),
        health: HealthLevel::Warning,
        detail,
        fix: Some("install it, or `waylore config set learn.model off`".to_owned()),
    })
}

pub(crate) async fn run(args: DoctorArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let mode = match args {
        DoctorArgs { fix: true, .. } => DoctorMode::Repair,
        DoctorArgs { full: true, .. } => DoctorMode::ExamineFully,
        DoctorArgs { .. } => DoctorMode::Examine,
    };
    report_start("examining", command);
    let (engine_checks, repairs) = command.project.maintenance().doctor(mode).await?;
    let mut checks = check_configuration(command);
    checks.extend(engine_checks);
    checks.extend(check_vectors(command).await);
    checks.extend(check_question_program(command));
    checks.push(check_daemon(command));
    checks.extend(check_hosts(command));
    checks.extend(check_double_connection(command));
    let worst = checks.iter().map(|it| it.health).max().unwrap_or(HealthLevel::Good);
    // A warning is no reason for scripts to stop.
    let code = u8::from(worst == HealthLevel::Bad);
    if command.output.json {
        let check_json = |it: &HealthCheck| {
            json!({
                "name": it.name,
                "health": health_word(it.health),
                "detail": it.detail,
                "fix": it.fix,
            })
        };
        let body = json!({
            "health": health_word(worst),
            "checks": checks.iter().map(check_json).collect::<Vec<_>>(),
            "repaired": repairs,
        });
        command.output.print_json("health", body);
        return Ok(code);
    }
    for repair in &repairs {
        command.output.print_row(11, &format!("{GOOD_STYLE}repaired{GOOD_STYLE:#}   {repair}"));
    }
    for check in &checks {
        let style = match check.health {
            HealthLevel::Good => GOOD_STYLE,
            HealthLevel::Warning => WARN_STYLE,
            HealthLevel::Bad => BAD_STYLE,
        };
        let line = format!(
            "{style}{:<9}{style:#}  {BOLD_STYLE}{}{BOLD_STYLE:#}: {}",
            health_word(check.health),
            check.name,
            check.detail
        );
        command.output.print_row(11, &line);
        if let Some(fix) = &check.fix {
            command.output.print_row(13, &format!("{DIM_STYLE}{:<9}  → {fix}{DIM_STYLE:#}", ""));
        }
    }
    Ok(code)
}

/// Checks the settings, which `doctor` tolerates on opening.
fn check_configuration(command: &CommandContext<'_>) -> Vec<HealthCheck> {
    let check =
        |health, detail, fix| HealthCheck { name: "configuration".to_owned(), health, detail, fix };
    let problems = &command.settings.problems;
    if problems.is_empty() {
        let file = command.environment.config_file();
        return vec![check(HealthLevel::Good, format!("`{}`", file.display()), None)];
    }
    let fix = "correct it; other commands fail until then";
    let bad_check = |it: &String| check(HealthLevel::Bad, it.clone(), Some(fix.to_owned()));
    problems.iter().map(bad_check).collect()
}

/// Checks for missing vectors. `None` if a notebook (a database of memories) is unreadable, which another
/// check reports.
async fn check_vectors(command: &CommandContext<'_>) -> Option<HealthCheck> {
    let check = |health, detail, fix: Option<&str>| {
        let (name, fix) = ("vectors".to_owned(), fix.map(str::to_owned));
        Some(HealthCheck { name, health, detail, fix })
    };
    match command.project.embedding_indexer().coverage().await {
        Ok(coverage) => {
            let detail = match coverage.n_missing {
                0 => format!("every memory has a vector of `{}`", coverage.model),
                n => {
                    let memories = format_count(n, "memory has", "memories have");
                    format!(
                        "{memories} no vector of `{}`, of {}",
                        coverage.model, coverage.n_memories
                    )
                }
            };
            // The built-in model computes missing vectors on the fly.
            if coverage.n_missing == 0 || command.project.config.models.is_built_in() {
                check(HealthLevel::Good, detail, None)
            } else {
                check(HealthLevel::Warning, detail, Some("`waylore embed` computes them"))
            }
        }
        Err(engine::Error::Model(error)) => {
            let fix =
                "`waylore config test-provider` tests it; until then search uses keywords only";
            check(HealthLevel::Warning, format!("the provider computes none: {error}"), Some(fix))
        }
        // An unreadable notebook, which a check of the engine reports.
        Err(_) => None,
    }
}

/// Checks whether installed hosts are connected. A host that is not connected is the user's choice; one
/// connected by another version, or whose user has not trusted our hooks, is a warning.
fn check_hosts(command: &CommandContext<'_>) -> Option<HealthCheck> {
    // Fails only if the path of this program is not known.
    let states = connect::connection_states(&command.environment).ok()?;
    let word = |it: &ConnectionState| match it {
        ConnectionState::Connected => "connected",
        ConnectionState::Untrusted => "connected, but does not trust the hooks and skips them",
        ConnectionState::Outdated => "connected by another version or from another path",
        ConnectionState::NotConnected => "not connected",
    };
    let lines: Vec<String> =
        states.iter().map(|(host, state)| format!("{} is {}", host.name, word(state))).collect();
    let first_in_state = |wanted: ConnectionState| {
        states.iter().find(|(_, state)| *state == wanted).map(|(host, _)| host.name)
    };
    let (untrusted, outdated) =
        (first_in_state(ConnectionState::Untrusted), first_in_state(ConnectionState::Outdated));
    // One hint is enough: the most urgent host.
    let to_connect = outdated.or_else(|| first_in_state(ConnectionState::NotConnected));
    let fix = match untrusted {
        Some(host) => Some(format!("`waylore connect {host} --trust`")),
        None => to_connect.map(|it| format!("`waylore connect {it}`")),
    };
    let needs_user = untrusted.or(outdated).is_some();
    let health = if needs_user { HealthLevel::Warning } else { HealthLevel::Good };
    let detail = if lines.is_empty() { "none is here".to_owned() } else { lines.join(", ") };
    Some(HealthCheck { name: "hosts".to_owned(), health, detail, fix })
}

/// Warns about hosts that run our hook twice per event, because two settings files of theirs have it.
fn check_double_connection(command: &CommandContext<'_>) -> Option<HealthCheck> {
    let hosts = connect::hosts_in_both_scopes(&command.project.place.root, &command.environment);
    let first = hosts.first()?;
    let detail = format!(
        "connected in both your settings and this project's: {}; events count once but start two processes",
        hosts.join(", ")
    );
    let fix = Some(format!("`waylore disconnect {first} --scope project`, or without `--scope`"));
    Some(HealthCheck { name: "hosts".to_owned(), health: HealthLevel::Warning, detail, fix })
}

/// Checks the daemon and its background jobs.
fn check_daemon(command: &CommandContext<'_>) -> HealthCheck {
    let check = |health, detail, fix: Option<&str>| {
        let (name, fix) = ("daemon".to_owned(), fix.map(str::to_owned));
        HealthCheck { name, health, detail, fix }
    };
    let address = serve::DaemonAddress::for_data_dir(&command.environment.data);
    match serve::client::daemon_status(&address) {
        Ok(status) => {
            let has_error = status["last_trouble"].is_string();
            let health = if has_error { HealthLevel::Warning } else { HealthLevel::Good };
            check(health, super::serve::format_status(&status), None)
        }
        Err(serve::client::ClientError::NotRunning) => {
            let last_error = std::fs::read_to_string(address.last_error_file()).unwrap_or_default();
            if last_error.is_empty() {
                return check(
                    HealthLevel::Good,
                    "not running; hooks work without it".to_owned(),
                    None,
                );
            }
            let detail = format!("not running; the last one had trouble: {last_error}");
            check(
                HealthLevel::Warning,
                detail,
                Some("the next daemon tries again; `waylore learn` does so at once"),
            )
        }
        Err(why) => check(
            HealthLevel::Warning,
            format!("the daemon does not answer: {why}"),
            Some("`waylore serve --stop` stops it; the next hook starts a new one"),
        ),
    }
}

const fn health_word(health: HealthLevel) -> &'static str {
    match health {
        HealthLevel::Good => "good",
        HealthLevel::Warning => "doubtful",
        HealthLevel::Bad => "bad",
    }
}
