//! `waylore doctor`.

use engine::{Check, Health};
use serde_json::json;

use super::Session;
use super::connect::{self, Standing};
use super::shared::begin;
use crate::output::{BAD, BOLD, DIM, GOOD, WARN, count};

/// Examine everything and say what to do about each problem
#[derive(clap::Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended first
    #[arg(long)]
    fix: bool,
}

pub(crate) async fn run(args: DoctorArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    begin("examining", session);
    let (found, done) = session.engine.doctor(args.fix).await?;
    let mut checks = configuration(session);
    checks.extend(found);
    checks.extend(vectors(session).await);
    checks.push(daemon(session));
    checks.extend(hosts(session));
    checks.extend(twice(session));
    let worst = checks.iter().map(|it| it.health).max().unwrap_or(Health::Good);
    let code = u8::from(worst == Health::Bad);
    if session.output.json {
        let check = |it: &Check| json!({ "name": it.name, "health": word(it.health), "detail": it.detail, "fix": it.fix });
        session.output.data_json("health", json!({ "health": word(worst), "checks": checks.iter().map(check).collect::<Vec<_>>(), "mended": done }));
        return Ok(code);
    }
    for what in &done {
        session.output.line(&format!("{GOOD}mended{GOOD:#}     {what}"));
    }
    for check in &checks {
        let style = match check.health {
            Health::Good => GOOD,
            Health::Doubtful => WARN,
            Health::Bad => BAD,
        };
        session.output.line(&format!(
            "{style}{:<9}{style:#}  {BOLD}{}{BOLD:#}: {}",
            word(check.health),
            check.name,
            check.detail
        ));
        if let Some(fix) = &check.fix {
            session.output.line(&format!("{DIM}{:<9}  → {fix}{DIM:#}", ""));
        }
    }
    Ok(code)
}

/// The settings, which were let pass to get here.
fn configuration(session: &Session<'_>) -> Vec<Check> {
    let check =
        |health, detail, fix| Check { name: "configuration".to_owned(), health, detail, fix };
    let problems = &session.settings.problems;
    if problems.is_empty() {
        let file = session.environment.config_file();
        return vec![check(Health::Good, format!("`{}`", file.display()), None)];
    }
    let fix = "correct it; until then the other commands refuse to work";
    let bad = |it: &String| check(Health::Bad, it.clone(), Some(fix.to_owned()));
    problems.iter().map(bad).collect()
}

/// How many memories the model in use knows; nothing where a notebook cannot be read, which is said
/// already. The built-in model makes up for what it lacks while it answers.
async fn vectors(session: &Session<'_>) -> Option<Check> {
    let check = |health, detail, fix: Option<&str>| {
        let (name, fix) = ("vectors".to_owned(), fix.map(str::to_owned));
        Some(Check { name, health, detail, fix })
    };
    match session.engine.coverage().await {
        Ok(it) => {
            let detail = match it.lacking {
                0 => format!("every memory has one by `{}`", it.model),
                n => {
                    let lack = count(n, "memory has", "memories have");
                    format!("{lack} none by `{}`, of {}", it.model, it.total)
                }
            };
            if it.lacking == 0 || session.engine.config.models.is_built_in() {
                check(Health::Good, detail, None)
            } else {
                check(Health::Doubtful, detail, Some("`waylore embed` makes the others"))
            }
        }
        Err(engine::Error::Model(error)) => {
            let fix = "`waylore config test-provider` looks closer; until then words are searched";
            check(Health::Doubtful, format!("the provider does not make any: {error}"), Some(fix))
        }
        Err(_) => None,
    }
}

/// The agents' hosts that are installed here, and whether they call us.
fn hosts(session: &Session<'_>) -> Option<Check> {
    let standings = connect::standings(&session.environment).ok()?;
    let word = |it: &Standing| match it {
        Standing::Connected => "connected",
        Standing::InPart => "connected by another version or from another place",
        Standing::Not => "not connected",
    };
    let said: Vec<String> =
        standings.iter().map(|(host, it)| format!("{} is {}", host.name, word(it))).collect();
    let of = |wanted: Standing| standings.iter().find(|it| it.1 == wanted).map(|it| it.0.name);
    let old = of(Standing::InPart);
    let fix = old.or_else(|| of(Standing::Not)).map(|it| format!("`waylore connect {it}`"));
    let health = if old.is_some() { Health::Doubtful } else { Health::Good };
    let detail = if said.is_empty() { "none is here".to_owned() } else { said.join(", ") };
    Some(Check { name: "hosts".to_owned(), health, detail, fix })
}

/// Hosts that run two hooks of ours at every event.
fn twice(session: &Session<'_>) -> Option<Check> {
    let named = connect::called_twice(&session.engine.place.root, &session.environment);
    let first = named.first()?;
    let detail = format!(
        "both your settings and this project's call waylore: {}; it counts once, and costs twice",
        named.join(", ")
    );
    let fix = Some(format!("`waylore disconnect {first} --scope project`, or without `--scope`"));
    Some(Check { name: "hosts".to_owned(), health: Health::Doubtful, detail, fix })
}

/// Who serves, and what is done in the background.
fn daemon(session: &Session<'_>) -> Check {
    let check = |health, detail, fix: Option<&str>| {
        let (name, fix) = ("daemon".to_owned(), fix.map(str::to_owned));
        Check { name, health, detail, fix }
    };
    let address = serve::Address::of(&session.environment.data);
    match serve::client::status(&address) {
        Ok(status) => {
            let trouble = status["last_trouble"].as_str();
            let health = if trouble.is_some() { Health::Doubtful } else { Health::Good };
            check(health, super::serve::brief(&status), None)
        }
        Err(serve::client::Silence::Nobody) => {
            check(Health::Good, "not running; hooks answer by themselves".to_owned(), None)
        }
        Err(serve::client::Silence::Trouble(why)) => check(
            Health::Doubtful,
            format!("it does not answer: {why}"),
            Some("`waylore serve --stop` ends it; the next hook starts another"),
        ),
    }
}

const fn word(health: Health) -> &'static str {
    match health {
        Health::Good => "good",
        Health::Doubtful => "doubtful",
        Health::Bad => "bad",
    }
}
