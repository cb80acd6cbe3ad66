//! `waylore review`.

use std::io::{Read as _, Write as _};

use engine::{Correction, Edit, Filter, OnSecret, Reach, Shown};
use model::{Memory, Status};
use serde_json::json;

use super::Session;
use super::shared::{label, status_note};
use crate::output::{BOLD, DIM, GOOD, Output, WARN, is_conversation};
use crate::wire::MemoryWire;

/// Decide about memories that wait for you, one key each
///
/// What needs review, or came from outside, is told to no agent until you say yes. Keys: y it is right, x it is not,
/// e change what it says, s later, u take the last one back, q stop. Where there is no terminal, the keys are read
/// from standard input, and --json lists what waits.
#[derive(clap::Args, Debug)]
pub(crate) struct ReviewArgs {
    /// Also what was learned and never confirmed
    #[arg(short, long)]
    all: bool,
}

/// What a key means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Right,
    Discard,
    Edit,
    Later,
    Back,
    Stop,
}

/// Every key with what it does, as the line below a memory shows it.
#[rustfmt::skip]
const KEYS: &[(char, Decision, &str)] = &[
    ('y', Decision::Right,   "right"),
    ('x', Decision::Discard, "wrong"),
    ('e', Decision::Edit,    "edit"),
    ('s', Decision::Later,   "later"),
    ('u', Decision::Back,    "take back"),
    ('q', Decision::Stop,    "stop"),
];

pub(crate) async fn run(args: ReviewArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let waiting = waiting(&args, session).await?;
    if out.json {
        let memories: Vec<_> = waiting.iter().map(|it| MemoryWire::from(&it.memory)).collect();
        out.data_json("review", json!({ "waiting": memories }));
        return Ok(0);
    }
    if waiting.is_empty() {
        out.say("nothing waits for you");
        return Ok(0);
    }
    let keyboard = Keyboard::open();
    let mut decided: Vec<(usize, Decision)> = Vec::new();
    let mut at = 0;
    while let Some(shown) = waiting.get(at) {
        show(shown, at, waiting.len(), session);
        let decision = keyboard.decision(out)?;
        let id = id(&shown.memory);
        match decision {
            Decision::Right => {
                session.engine.correct(&id, Correction::Right).await?;
            }
            Decision::Discard => {
                let wrong = Correction::Outdated { replacement: None };
                session.engine.correct(&id, wrong).await?;
            }
            Decision::Edit => match keyboard.text("what it should say")? {
                Some(text) => edit(session, &id, text).await?,
                None => continue,
            },
            Decision::Later => {}
            Decision::Back => {
                match decided.pop() {
                    Some((last, _)) => {
                        take_back(session, &waiting[last].memory).await?;
                        at = last;
                    }
                    None => out.say("nothing was decided yet"),
                }
                continue;
            }
            Decision::Stop => break,
        }
        if decision != Decision::Later {
            decided.push((at, decision));
        }
        at += 1;
    }
    let n = |wanted| decided.iter().filter(|it| it.1 == wanted).count();
    out.line(&format!(
        "{} confirmed, {} discarded, {} reworded, {} left",
        n(Decision::Right),
        n(Decision::Discard),
        n(Decision::Edit),
        waiting.len() - decided.len()
    ));
    if !decided.is_empty() {
        out.hint("`waylore undo` takes the last decision back");
    }
    Ok(0)
}

/// What waits, the project's before the user's, the newest first.
async fn waiting(args: &ReviewArgs, session: &Session<'_>) -> anyhow::Result<Vec<Shown>> {
    let filter =
        Filter { statuses: vec![Status::NeedsReview, Status::Tainted], ..Filter::standing(10_000) };
    let mut res = session.engine.list(&filter, None).await?;
    if args.all {
        let rest = session.engine.list(&Filter::standing(10_000), None).await?;
        let is_open =
            |it: &Shown| it.memory.status() == Status::Live && !it.memory.flags.user_verified;
        res.extend(rest.into_iter().filter(is_open));
    }
    Ok(res)
}

fn show(shown: &Shown, at: usize, n: usize, session: &Session<'_>) {
    let (out, memory) = (session.output, &shown.memory);
    let kind = label(&memory.kind, &session.engine.config.types);
    out.say(&format!(
        "\n{DIM}{} of {n}{DIM:#}  {BOLD}#{}{BOLD:#}  {kind}",
        at + 1,
        memory.id.short()
    ));
    out.say(&memory.content);
    let mut about: Vec<String> = memory.files.iter().map(ToString::to_string).collect();
    about.push(format!("by {}, confidence {}", memory.created_by, shown.current));
    if shown.reach == Reach::User {
        about.push("yours everywhere".to_owned());
    }
    out.say(&format!("{DIM}{}{DIM:#}", about.join(" · ")));
    if let Some(note) = status_note(memory.status()) {
        out.say(&format!("{WARN}[{note}]{WARN:#}"));
    }
    if let Some(why) = engine::instruction_like(&memory.content) {
        out.say(&format!("{WARN}it reads like an order to an agent: {why}{WARN:#}"));
    }
}

async fn edit(session: &mut Session<'_>, id: &str, text: String) -> anyhow::Result<()> {
    let edit = Edit {
        content: Some(text),
        kind: None,
        tags: None,
        files: None,
        modules: None,
        confidence: None,
        cwd: session.base.clone(),
        on_secret: OnSecret::Refuse,
    };
    session.engine.edit(id, edit).await?;
    // Whoever writes it anew says that it is right.
    session.engine.correct(id, Correction::Right).await?;
    Ok(())
}

/// Takes back what was decided about a memory; an edit was two changes.
async fn take_back(session: &Session<'_>, before: &Memory) -> anyhow::Result<()> {
    while session.engine.find(&id(before)).await?.memory.version > before.version
        && differs(session, before).await?
    {
        session.engine.undo(Some(&id(before))).await?;
    }
    Ok(())
}

async fn differs(session: &Session<'_>, before: &Memory) -> anyhow::Result<bool> {
    let now = session.engine.find(&id(before)).await?.memory;
    let same = now.content == before.content
        && now.flags == before.flags
        && now.states == before.states
        && now.confidence == before.confidence;
    Ok(!same)
}

fn id(memory: &Memory) -> String {
    memory.id.to_string()
}

/// Keys from a terminal, or letters from standard input.
enum Keyboard {
    Terminal(console::Term),
    Input,
}

impl Keyboard {
    fn open() -> Self {
        if is_conversation() { Self::Terminal(console::Term::stderr()) } else { Self::Input }
    }

    /// Waits for a key that means something. The end of the input is a wish to stop.
    fn decision(&self, out: &Output) -> anyhow::Result<Decision> {
        if matches!(self, Self::Terminal(_)) {
            let keys: Vec<String> =
                KEYS.iter().map(|(key, _, what)| format!("{GOOD}{key}{GOOD:#} {what}")).collect();
            out.say(&keys.join("   "));
        }
        loop {
            let Some(key) = self.key()? else { return Ok(Decision::Stop) };
            let meant = KEYS.iter().find(|it| it.0 == key.to_ascii_lowercase());
            if let Some((_, decision, _)) = meant {
                return Ok(*decision);
            }
        }
    }

    fn key(&self) -> std::io::Result<Option<char>> {
        match self {
            Self::Terminal(term) => Ok(match term.read_key()? {
                console::Key::Char(key) => Some(key),
                console::Key::Enter => Some('\n'),
                console::Key::Escape | console::Key::CtrlC => None,
                _ => Some('\0'),
            }),
            Self::Input => {
                let mut byte = [0];
                let n = std::io::stdin().lock().read(&mut byte)?;
                Ok((n == 1).then(|| char::from(byte[0])))
            }
        }
    }

    /// A line of text; nothing when it was left empty.
    fn text(&self, what: &str) -> std::io::Result<Option<String>> {
        if let Self::Terminal(_) = self {
            let mut err = anstream::stderr();
            write!(err, "{what}: ")?;
            err.flush()?;
        }
        let mut res = String::new();
        std::io::stdin().read_line(&mut res)?;
        let res = res.trim().to_owned();
        Ok((!res.is_empty()).then_some(res))
    }
}
