//! `waylore doctor`.

use engine::{DoctorMode, HealthCheck, HealthLevel};
use serde_json::json;

use super::CommandSession;
use super::connect::{self, ConnectionState};
use super::shared::report_start;
use crate::output::{BAD_STYLE, BOLD_STYLE, DIM_STYLE, GOOD_STYLE, WARN_STYLE, format_count};

/// Check everything and print a remedy for each problem
#[derive(clap::Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Repair what can be repaired first
    #[arg(long)]
    fix: bool,
}

pub(crate) async fn run(args: DoctorArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let mode = if args.fix { DoctorMode::Repair } else { DoctorMode::Examine };
    report_start("examining", session);
    let (found, done) = session.project.maintenance().doctor(mode).await?;
    let mut checks = check_configuration(session);
    checks.extend(found);
    checks.extend(check_vectors(session).await);
    checks.push(check_daemon(session));
    checks.extend(check_hosts(session));
    checks.extend(check_double_connection(session));
    let worst = checks.iter().map(|it| it.health).max().unwrap_or(HealthLevel::Good);
    let code = u8::from(worst == HealthLevel::Bad);
    if session.output.json {
        let check = |it: &HealthCheck| json!({ "name": it.name, "health": health_word(it.health), "detail": it.detail, "fix": it.fix });
        session.output.data_json("health", json!({ "health": health_word(worst), "checks": checks.iter().map(check).collect::<Vec<_>>(), "repaired": done }));
        return Ok(code);
    }
    for what in &done {
        session.output.print_line(&format!("{GOOD_STYLE}repaired{GOOD_STYLE:#}   {what}"));
    }
    for check in &checks {
        let style = match check.health {
            HealthLevel::Good => GOOD_STYLE,
            HealthLevel::Warning => WARN_STYLE,
            HealthLevel::Bad => BAD_STYLE,
        };
        session.output.print_line(&format!(
            "{style}{:<9}{style:#}  {BOLD_STYLE}{}{BOLD_STYLE:#}: {}",
            health_word(check.health),
            check.name,
            check.detail
        ));
        if let Some(fix) = &check.fix {
            session.output.print_line(&format!("{DIM_STYLE}{:<9}  → {fix}{DIM_STYLE:#}", ""));
        }
    }
    Ok(code)
}

/// Checks the settings, which `doctor` tolerates on opening.
fn check_configuration(session: &CommandSession<'_>) -> Vec<HealthCheck> {
    let check =
        |health, detail, fix| HealthCheck { name: "configuration".to_owned(), health, detail, fix };
    let problems = &session.settings.problems;
    if problems.is_empty() {
        let file = session.environment.config_file();
        return vec![check(HealthLevel::Good, format!("`{}`", file.display()), None)];
    }
    let fix = "correct it; other commands fail until then";
    let bad = |it: &String| check(HealthLevel::Bad, it.clone(), Some(fix.to_owned()));
    problems.iter().map(bad).collect()
}

/// Checks for missing vectors; skipped if a notebook is unreadable, which another check reports. The
/// built-in model computes missing vectors on the fly.
async fn check_vectors(session: &CommandSession<'_>) -> Option<HealthCheck> {
    let check = |health, detail, fix: Option<&str>| {
        let (name, fix) = ("vectors".to_owned(), fix.map(str::to_owned));
        Some(HealthCheck { name, health, detail, fix })
    };
    match session.project.embedding_indexer().coverage().await {
        Ok(it) => {
            let detail = match it.n_missing {
                0 => format!("every memory has a vector of `{}`", it.model),
                n => {
                    let lack = format_count(n, "memory has", "memories have");
                    format!("{lack} no vector of `{}`, of {}", it.model, it.n_memories)
                }
            };
            if it.n_missing == 0 || session.project.config.models.is_built_in() {
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
        Err(_) => None,
    }
}

/// Checks whether installed hosts are connected.
fn check_hosts(session: &CommandSession<'_>) -> Option<HealthCheck> {
    let standings = connect::connection_states(&session.environment).ok()?;
    let word = |it: &ConnectionState| match it {
        ConnectionState::Connected => "connected",
        ConnectionState::Outdated => "connected by another version or from another path",
        ConnectionState::Not => "not connected",
    };
    let said: Vec<String> =
        standings.iter().map(|(host, it)| format!("{} is {}", host.name, word(it))).collect();
    let of =
        |wanted: ConnectionState| standings.iter().find(|it| it.1 == wanted).map(|it| it.0.name);
    let old = of(ConnectionState::Outdated);
    let fix = old.or_else(|| of(ConnectionState::Not)).map(|it| format!("`waylore connect {it}`"));
    let health = if old.is_some() { HealthLevel::Warning } else { HealthLevel::Good };
    let detail = if said.is_empty() { "none is here".to_owned() } else { said.join(", ") };
    Some(HealthCheck { name: "hosts".to_owned(), health, detail, fix })
}

/// Warns about hosts that run two hooks per event.
fn check_double_connection(session: &CommandSession<'_>) -> Option<HealthCheck> {
    let named = connect::hosts_in_both_scopes(&session.project.place.root, &session.environment);
    let first = named.first()?;
    let detail = format!(
        "connected in both your settings and this project's: {}; events count once but start two processes",
        named.join(", ")
    );
    let fix = Some(format!("`waylore disconnect {first} --scope project`, or without `--scope`"));
    Some(HealthCheck { name: "hosts".to_owned(), health: HealthLevel::Warning, detail, fix })
}

/// Checks the daemon and its background jobs.
fn check_daemon(session: &CommandSession<'_>) -> HealthCheck {
    let check = |health, detail, fix: Option<&str>| {
        let (name, fix) = ("daemon".to_owned(), fix.map(str::to_owned));
        HealthCheck { name, health, detail, fix }
    };
    let address = serve::DaemonAddress::for_data_dir(&session.environment.data);
    match serve::client::daemon_status(&address) {
        Ok(status) => {
            let trouble = status["last_trouble"].as_str();
            let health = if trouble.is_some() { HealthLevel::Warning } else { HealthLevel::Good };
            check(health, super::serve::format_status(&status), None)
        }
        Err(serve::client::ClientError::NotRunning) => {
            check(HealthLevel::Good, "not running; hooks work without it".to_owned(), None)
        }
        Err(serve::client::ClientError::Failed(why)) => check(
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
