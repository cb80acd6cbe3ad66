//! What an agent is told at a moment of its session, and nothing when nothing is worth saying.
//!
//! A memory is shown once per session; the trust level says at which moments anything is said, and how
//! sure it must be; a trial keeps some sessions from hearing. `telling` says what would be said and why,
//! `attend` says it. Whoever calls decides what an error means; a hook says nothing then.

use std::collections::HashSet;

use agents::{Heard, Moment, Root};
use model::{Kind, Memory, MemoryId, Phase, ProjectPath, SignalKind, Status, Tier, TrustLevel};
use observe::shell::{self, Deed};
use observe::{Evidence, Modules, Seen, Support};
use recall::{Silence, frame};
use store::{SessionRow, SightingRow, Store};

use super::ask::PassedOver;
use super::assemble::is_trusted;
use super::at_hand;
use super::by_file::Warned;
use super::context::{Context, Occasion, Omitted};
use crate::learn::saved;
use crate::learn::uses::stamped;
use crate::{Engine, Error, Reach, Shown};

/// Tokens of what is said when a session begins, and when a person has said what is to be done.
const START: u32 = 1_000;
const PROMPT: u32 = 800;
/// A prompt with fewer letters says nothing to search with: `go on`, `yes please`.
const SAYS_NOTHING: usize = 12;
/// The most warnings about one file at a time.
const WARNINGS: usize = 4;
/// A warning that takes more bytes than this is told by its summary: four of them stay within what
/// hosts pass on, and a block is never cut.
const LONG: usize = 2_000;
/// Stands for the errors to expect among what was shown.
pub(super) const OUTLOOK: &str = "outlook";
/// What a fix is called that one session found.
const ONCE: &str = "seen once";

/// What is said at a moment and why, or why nothing.
#[derive(Clone, Debug)]
pub struct Telling {
    /// The whole block; empty when nothing is said.
    pub text: String,
    pub silence: Option<Silence>,
    /// How the text came about, at the beginning and at a prompt.
    pub context: Option<Context>,
    /// How the text came about, at a file.
    pub warned: Option<Warned>,
    /// What is not to be said again.
    words: Vec<String>,
}

impl Telling {
    const fn silent(why: Silence) -> Self {
        let (context, warned) = (None, None);
        Self { text: String::new(), silence: Some(why), context, warned, words: Vec::new() }
    }

    fn of(lines: &[String], words: Vec<String>) -> Self {
        if lines.is_empty() {
            return Self::silent(Silence::Nothing);
        }
        let text = format!("{}\n{}\n{}", frame::HEAD, lines.join("\n"), frame::FOOT);
        Self { text, silence: None, context: None, warned: None, words }
    }

    /// The memories the text speaks of.
    pub fn memories(&self) -> Vec<MemoryId> {
        self.words.iter().filter_map(|it| it.parse().ok()).collect()
    }

    /// What would have been said, if what it speaks of were still there.
    pub fn withheld(&self) -> Vec<(MemoryId, PassedOver)> {
        let is_gone =
            |it: PassedOver| matches!(it, PassedOver::FilesGone | PassedOver::SymbolsGone);
        let warned = self.warned.iter().flat_map(|it| &it.left_out);
        let warned = warned.map(|(shown, why)| (shown.memory.id, *why));
        let placed = self.context.iter().flat_map(|it| &it.left_out);
        let placed = placed.filter_map(|(hit, why)| match why {
            Omitted::PassedOver(why) => Some((hit.shown.memory.id, *why)),
            Omitted::OverBudget { .. } => None,
        });
        warned.chain(placed).filter(|it| is_gone(it.1)).collect()
    }
}

impl Engine {
    /// What to tell the agent now, if anything.
    pub async fn attend(&self, heard: &Heard) -> Result<Option<String>, Error> {
        let telling = self.attend_to(heard).await?;
        Ok((!telling.text.is_empty()).then_some(telling.text))
    }

    /// As `attend`, with how it came about. What is said is noted as said.
    pub async fn attend_to(&self, heard: &Heard) -> Result<Telling, Error> {
        if heard.moment == (Moment::Start { compacted: true }) {
            self.forget_heard(&heard.session)?;
        }
        let telling = self.telling(heard, self.manners.level).await?;
        self.enrol(&heard.session)?;
        self.shown_log(&heard.session).add(&telling.words)?;
        Ok(telling)
    }

    /// What would be told at a moment; nothing is noted.
    pub async fn telling(&self, heard: &Heard, level: TrustLevel) -> Result<Telling, Error> {
        let group = self.group(&heard.session);
        let tier = match &heard.moment {
            Moment::Start { .. } => Tier::Start,
            Moment::Prompt { text } if text.trim().len() > SAYS_NOTHING => Tier::Start,
            Moment::Prompt { .. } => return Ok(Telling::silent(Silence::Short)),
            Moment::Touched { .. }
            | Moment::Failed { .. }
            | Moment::Ran { .. }
            | Moment::Step { .. } => Tier::ToolResult,
            Moment::End | Moment::Other => return Ok(Telling::silent(Silence::Moment)),
        };
        if !group.hears(tier) {
            return Ok(Telling::silent(Silence::Trial));
        }
        // What ended this very error is told on every level: it earns the trust.
        let is_fix =
            matches!(heard.moment, Moment::Failed { .. } | Moment::Step { refused: Some(_), .. });
        let shown = self.shown_log(&heard.session).read();
        if let Moment::Ran { command, answer } = &heard.moment
            && may_have_failed(command)
        {
            let telling = self.fix(&shell::head(command), answer, &shown).await?;
            if !telling.text.is_empty() {
                return Ok(telling);
            }
        }
        if !is_fix && !level.row().proactive.contains(&tier) {
            return Ok(Telling::silent(Silence::Level));
        }
        match &heard.moment {
            Moment::Touched { paths } => {
                let files = self.files_named(paths, &heard.cwd);
                self.telling_of(&files, heard.host, level, &shown).await
            }
            // Of a command nobody says how it ended: it did not fail in a way that is known.
            Moment::Ran { command, .. } => {
                let paths = by_shell(std::slice::from_ref(command)).0;
                let files = self.files_named(&paths, &heard.cwd);
                self.telling_of(&files, heard.host, level, &shown).await
            }
            Moment::Step { refused: Some((tool, answer)), .. } => {
                self.fix(tool, answer, &shown).await
            }
            // Files that a tool went over had their moment; those of a shell have it now.
            Moment::Step { commands, .. } => {
                let files = self.files_named(&by_shell(commands).0, &heard.cwd);
                self.telling_of(&files, heard.host, level, &shown).await
            }
            Moment::Failed { tool, command, answer } => {
                let class = command.as_ref().map_or_else(|| tool.clone(), |it| shell::head(it));
                self.fix(&class, answer, &shown).await
            }
            Moment::Prompt { text } => {
                self.told_by(&Occasion { host: heard.host, ..beginning(text, level) }, &shown).await
            }
            _ => {
                let compacted = heard.moment == (Moment::Start { compacted: true });
                let lost = compacted.then(|| ids(&self.shown_log(&heard.session).lost()));
                let lost = lost.unwrap_or_default();
                let occasion = Occasion { host: heard.host, lost, ..beginning("", level) };
                self.told_by(&occasion, &shown).await
            }
        }
    }

    /// Files as a host names them, as those of the project; others are left out.
    pub fn files_named(&self, paths: &[String], cwd: &str) -> Vec<ProjectPath> {
        let root = Root::new(Some(&self.place.root.to_string_lossy()), cwd);
        paths.iter().filter_map(|it| root.relative(it)).collect()
    }

    /// What the beginning of a session, or of a task, is told.
    async fn told_by(
        &self,
        occasion: &Occasion,
        shown: &HashSet<String>,
    ) -> Result<Telling, Error> {
        let outlook = occasion.outlook && !shown.contains(OUTLOOK);
        let (around, told) = (at_hand::at_hand(shown), shown.clone());
        let already_shown = ids(shown);
        let occasion = Occasion { already_shown, outlook, told, around, ..occasion.clone() };
        let context = self.context_start(&occasion).await?;
        let silence = context.text.is_empty().then_some(Silence::Nothing);
        let (text, words) = (context.text.clone(), self.words_of(&context));
        Ok(Telling { text, silence, context: Some(context), warned: None, words })
    }

    /// What is told about files that were touched: a few warnings that hold.
    async fn telling_of(
        &self,
        files: &[ProjectPath],
        host: Option<&'static str>,
        level: TrustLevel,
        shown: &HashSet<String>,
    ) -> Result<Telling, Error> {
        let Warned { said: found, mut left_out } = self.warnings(files, &ids(shown)).await?;
        let read = if found.is_empty() { HashSet::new() } else { self.read_by(host) };
        let mut said: Vec<Shown> = Vec::new();
        for it in found {
            let why = if read.contains(&it.memory.content) {
                Some(PassedOver::ReadByHost)
            } else if !is_trusted(&it, level.row().confidence_above) {
                Some(PassedOver::Untrusted)
            } else if said.len() == WARNINGS {
                Some(PassedOver::Beyond)
            } else {
                self.unfounded(&it.memory).await
            };
            match why {
                Some(why) => left_out.push((it, why)),
                None => said.push(it),
            }
        }
        let lines: Vec<String> = said.iter().map(|it| self.told(&it.memory)).collect();
        let words = said.iter().flat_map(|it| self.noted(it.memory.id)).collect();
        let warned = Some(Warned { said, left_out });
        let mut telling = Telling { warned, ..Telling::of(&lines, words) };
        telling.words.extend(at_hand::noted(files, shown, self.now));
        Ok(telling)
    }

    /// What is kept of a memory that is shown: that it was, and when, so that its use can be told.
    pub(super) fn noted(&self, id: MemoryId) -> [String; 2] {
        [id.to_string(), stamped(id, self.now)]
    }

    /// A memory in full, or its summary where that would be too long.
    pub(super) fn told(&self, memory: &Memory) -> String {
        let whole = self.note(memory, &memory.content, &[]);
        if whole.len() <= LONG { whole } else { self.note(memory, &memory.summary, &[]) }
    }

    /// What ended this very failure before: a memory of it, or what one session found.
    async fn fix(
        &self,
        class: &str,
        answer: &str,
        shown: &HashSet<String>,
    ) -> Result<Telling, Error> {
        let silent = Ok(Telling::silent(Silence::Nothing));
        let (Some(failure), Some(store)) = (observe::failure(class, answer), self.project_store())
        else {
            return silent;
        };
        if !store.exists() {
            return silent;
        }
        let pattern = (SignalKind::ErrorRetry, failure.fingerprint.clone());
        let rows = store.sightings_of(vec![pattern]).await?;
        if let Some(id) = rows.iter().rev().find_map(|it| it.memory) {
            if shown.contains(&id.to_string()) {
                return silent;
            }
            let memory = store.get(id).await?.filter(|it| it.status() == Status::Live);
            let Some(memory) = memory else { return silent };
            if let Some(why) = self.unfounded(&memory).await {
                let it = Shown { current: memory.confidence, reach: Reach::Project, memory };
                let warned = Some(Warned { said: Vec::new(), left_out: vec![(it, why)] });
                return Ok(Telling { warned, ..Telling::silent(Silence::Nothing) });
            }
            let mut words = self.noted(id).to_vec();
            words.push(saved::stamped_fix(&failure.fingerprint, self.now));
            return Ok(Telling::of(&[self.told(&memory)], words));
        }
        let word = format!("once {}", failure.fingerprint);
        if shown.contains(&word) {
            return silent;
        }
        let line = self.seen_once(&store, &failure.fingerprint, rows).await?;
        let stamp = saved::stamped_fix(&failure.fingerprint, self.now);
        Ok(Telling::of(line.as_slice(), vec![word, stamp]))
    }

    /// What a session found that nobody has to doubt: its work was validated, and nothing from outside
    /// had a hand in it.
    async fn seen_once(
        &self,
        store: &Store,
        fingerprint: &str,
        rows: Vec<SightingRow>,
    ) -> Result<Option<String>, Error> {
        let mut seen = Vec::new();
        for row in rows.into_iter().filter(|it| !it.tainted) {
            let Some(session) = store.session(row.session).await?.filter(is_sound) else {
                continue;
            };
            let evidence = Evidence::read(&row.evidence);
            seen.push(Seen { session: row.session, at: session.ended, n: row.times, evidence });
        }
        let draft = observe::draft(
            SignalKind::ErrorRetry,
            fingerprint,
            &seen,
            Support::default(),
            &Modules::default(),
        );
        let (Some(draft), Some(last)) = (draft, seen.last()) else { return Ok(None) };
        let label = Kind::ErrorPattern.row().label;
        let (remarks, id) = ([ONCE.to_owned()], last.session.short());
        let note = frame::Note { label, text: &draft.content, id: &id, remarks: &remarks };
        Ok(Some(frame::line(&note)))
    }
}

/// What a session is told when it begins, or when a task is given.
pub(super) fn beginning(task: &str, level: TrustLevel) -> Occasion {
    Occasion {
        task: task.to_owned(),
        budget: Some(if task.is_empty() { START } else { PROMPT }),
        general: task.is_empty(),
        above: level.row().confidence_above,
        ..Occasion::of(Phase::Implement)
    }
}

/// Whether what a command printed may be a failure: what stands in a file, or is searched for, is none.
fn may_have_failed(command: &str) -> bool {
    let only_shows = |it: &Deed| matches!(it, Deed::Read(_) | Deed::Search(_) | Deed::List(_));
    let deeds = shell::deeds(command);
    deeds.is_empty() || !deeds.iter().all(only_shows)
}

/// The files that commands go over, and what they search for.
pub fn by_shell(commands: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut files, mut searches) = (Vec::new(), Vec::new());
    for deed in commands.iter().flat_map(|it| shell::deeds(it)) {
        match deed {
            Deed::Read(path) | Deed::Edit(path) => files.push(path),
            Deed::Search(text) => searches.push(text),
            _ => {}
        }
    }
    (files, searches)
}

fn is_sound(session: &SessionRow) -> bool {
    session.validated.is_some() && session.outcome != model::Outcome::Failure
}

pub(super) fn ids(shown: &HashSet<String>) -> HashSet<MemoryId> {
    shown.iter().filter_map(|it| it.parse().ok()).collect()
}
