//! What a session has heard, by the name it goes by: nothing is said to it twice, whoever says it.

use model::{Group, MemoryId, ProjectPath, Tier};
use store::Milestone;

use super::at_hand::{TOUCHED, at_hand};
use super::attend::{OUTLOOK, ids};
use super::context::{Context, Occasion};
use super::step::SPENT;
use crate::learn::saved::FIX;
use crate::learn::uses::read_stamp;
use crate::{Engine, Error};

/// How the group of a session is kept, among what it heard and in the notebook.
const GROUP: &str = "group ";

impl Engine {
    /// What an agent should know when it begins, but for what its session has heard already. Noted as
    /// said.
    pub async fn tell_start(&self, session: &str, occasion: Occasion) -> Result<Context, Error> {
        let mut occasion = self.unheard(session, occasion);
        occasion.above = self.manners.level.row().confidence_above;
        self.enrol(session)?;
        let mut context = self.context_start(&occasion).await?;
        if !self.group(session).hears(Tier::Start) {
            (context.text, context.outlook, context.used) = (String::new(), String::new(), 0);
            context.placed.clear();
        }
        self.note_context(session, &context)?;
        Ok(context)
    }

    /// What an agent should know about files, but for what its session has heard already. Noted as said.
    pub async fn tell_file(&self, session: &str, occasion: Occasion) -> Result<Context, Error> {
        let context = self.context_file(&self.unheard(session, occasion)).await?;
        self.note_context(session, &context)?;
        Ok(context)
    }

    fn unheard(&self, session: &str, occasion: Occasion) -> Occasion {
        let shown = self.shown_log(session).read();
        let outlook = occasion.outlook && !shown.contains(OUTLOOK);
        let (already_shown, around) = (ids(&shown), at_hand(&shown));
        Occasion { already_shown, outlook, around, told: shown, ..occasion }
    }

    /// Waits for others that tell the same session something; they wait as long as what is returned lives.
    /// Blocks, so that it is for a process that does nothing else.
    pub fn turn(&self, session: &str) -> Result<impl Sized + use<>, Error> {
        Ok(self.shown_log(session).turn()?)
    }

    /// The files a session went over, the last first.
    pub(crate) fn files_at_hand(&self, session: &str) -> Vec<ProjectPath> {
        at_hand(&self.shown_log(session).read())
    }

    /// Notes that a session has heard what is in a context.
    pub fn note_context(&self, session: &str, context: &Context) -> Result<(), Error> {
        Ok(self.shown_log(session).add(&self.words_of(context))?)
    }

    /// Notes that a session has heard these memories: it asked for them.
    pub fn note_heard(
        &self,
        session: &str,
        memories: impl Iterator<Item = MemoryId>,
    ) -> Result<(), Error> {
        let words: Vec<String> = memories.flat_map(|it| self.noted(it)).collect();
        Ok(self.shown_log(session).add(&words)?)
    }

    /// The conversation in which a session was told things is gone; they may be told once more.
    pub fn forget_heard(&self, session: &str) -> Result<(), Error> {
        Ok(self.shown_log(session).lose(was_said)?)
    }

    pub(super) fn words_of(&self, context: &Context) -> Vec<String> {
        let ids = context.placed.iter().flat_map(|it| self.noted(it.hit.shown.memory.id));
        let outlook = (!context.outlook.is_empty()).then(|| OUTLOOK.to_owned());
        ids.chain(outlook).chain(context.told.iter().cloned()).collect()
    }

    /// The group of a session; all are told everything while nothing is on trial, and so is whoever asks
    /// for no session.
    pub(super) fn group(&self, session: &str) -> Group {
        let project = self.project.id().filter(|_| self.manners.on_trial && !session.is_empty());
        let whole = session.split('/').next().unwrap_or_default();
        project.map_or(Group::Full, |it| Group::of(whole, &it.to_string()))
    }

    /// Notes the group of a session of a trial.
    pub(super) fn enrol(&self, session: &str) -> Result<(), Error> {
        if !self.manners.on_trial {
            return Ok(());
        }
        let (log, word) = (self.shown_log(session), format!("{GROUP}{}", self.group(session)));
        if log.read().contains(&word) { Ok(()) } else { Ok(log.add(&[word])?) }
    }

    /// The group that a session was in, to be kept when it is learned from.
    pub(crate) fn enrolled(&self, heard_as: &str, session: model::SessionId) -> Option<Milestone> {
        let words = self.shown_log(heard_as).read();
        let group = words.iter().find_map(|it| Group::from_slug(it.strip_prefix(GROUP)?))?;
        Some(Milestone { what: format!("{GROUP}{group} {session}"), mark: 0 })
    }
}

/// Whether a word stands for something that was said; others note when, at which files, and what it cost.
fn was_said(word: &str) -> bool {
    let notes = [GROUP, TOUCHED, SPENT, FIX].iter().any(|it| word.starts_with(it));
    !notes && read_stamp(word).is_none()
}

/// The session and the group that a milestone tells of, if it does.
pub(crate) fn read_group(milestone: &Milestone) -> Option<(Group, model::SessionId)> {
    let (group, session) = milestone.what.strip_prefix(GROUP)?.split_once(' ')?;
    Some((Group::from_slug(group)?, session.parse().ok()?))
}
