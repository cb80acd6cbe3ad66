//! Trust levels: how much a project lets memory speak unasked, and what it takes to let it speak more.

use crate::{PerMille, closed};

closed! {
    /// How far a project trusts what was learned about it.
    pub enum TrustLevel : "trust level" {
        Cautious = "cautious",
        Standard = "standard",
        Confident = "confident",
        Autonomous = "autonomous",
    }
}

closed! {
    /// The moments at which memory may speak; see the injection tiers.
    pub enum Tier : "tier" {
        /// Session start, resume, compaction, start of a subagent.
        Start = "start",
        /// The files to read first, with the first prompt.
        Files = "files",
        /// Right after a tool answered.
        ToolResult = "tool_result",
        /// Between two steps.
        Step = "step",
    }
}

closed! {
    /// What a person is asked at the end of a session.
    pub enum ReviewMode : "review" {
        /// Nothing new counts until it was confirmed one by one.
        ConfirmEach = "confirm_each",
        /// Everything new is shown; confirming all of it is the default.
        ConfirmAll = "confirm_all",
        /// Only what is marked `needs_review`.
        Flagged = "flagged",
        OnDemand = "on_demand",
    }
}

impl Tier {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Start      => "at session start, on resume, after compaction, when a subagent starts",
            Self::Files      => "with the first prompt: the files to read first",
            Self::ToolResult => "right after a tool answered",
            Self::Step       => "between two steps",
        }
    }
}

impl ReviewMode {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::ConfirmEach => "every new memory must be confirmed",
            Self::ConfirmAll  => "new memories are shown, \"confirm all\" is the default",
            Self::Flagged     => "only memories that need review are shown",
            Self::OnDemand    => "nothing is shown until asked for",
        }
    }
}

/// What is needed to rise from one level to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    Earned(TrustNeeds),
    /// Never by itself: a person must choose the next level.
    OptIn,
    /// There is nothing above.
    Top,
}

/// What was done on a level before the next one is earned; all of it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustNeeds {
    pub sessions: u32,
    /// At least this share of what was shown was confirmed.
    pub confirmed: PerMille,
    /// Less than this share was corrected.
    pub corrected_below: PerMille,
    /// At least this many corrections were made: somebody is looking.
    pub corrections: u32,
}

/// What holds on one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustRow {
    /// 1 to 4.
    pub number: u8,
    /// The first session that can stand on this level; `None` where no count of sessions leads.
    pub from_session: Option<u32>,
    /// Only memories with *more* current confidence are injected unasked.
    pub confidence_above: PerMille,
    pub review: ReviewMode,
    /// The tiers that may speak unasked. A proven fix for the very error at hand is shown at any level.
    pub proactive: &'static [Tier],
    /// Whether a weekly card shows what was learned and used.
    pub weekly_audit: bool,
    pub advance: Advance,
}

impl TrustLevel {
    #[rustfmt::skip]
    pub const fn row(self) -> TrustRow {
        use Tier::{Files, Start, ToolResult};
        match self {
            //                      level from      above review                   proactive                     audit  advance
            Self::Cautious   => row(1,    Some(1),  800,  ReviewMode::ConfirmEach, &[Start],                     false, earned(3,  500, 1000, 0)),
            Self::Standard   => row(2,    Some(4),  650,  ReviewMode::ConfirmAll,  &[Start, Files, ToolResult],  false, earned(10, 0,   50,   1)),
            Self::Confident  => row(3,    Some(16), 550,  ReviewMode::Flagged,     Tier::ALL,                    true,  Advance::OptIn),
            Self::Autonomous => row(4,    None,     450,  ReviewMode::OnDemand,    Tier::ALL,                    false, Advance::Top),
        }
    }

    /// The level above, however it is reached.
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Cautious => Some(Self::Standard),
            Self::Standard => Some(Self::Confident),
            Self::Confident => Some(Self::Autonomous),
            Self::Autonomous => None,
        }
    }

    /// The level below: what is offered after several wrong memories in one session.
    pub const fn previous(self) -> Option<Self> {
        match self {
            Self::Cautious => None,
            Self::Standard => Some(Self::Cautious),
            Self::Confident => Some(Self::Standard),
            Self::Autonomous => Some(Self::Confident),
        }
    }
}

const fn row(
    number: u8,
    from_session: Option<u32>,
    confidence_above: u16,
    review: ReviewMode,
    proactive: &'static [Tier],
    weekly_audit: bool,
    advance: Advance,
) -> TrustRow {
    assert!(confidence_above < 1000, "a level on which nothing may be said is no level");
    let confidence_above = PerMille::new(confidence_above);
    TrustRow { number, from_session, confidence_above, review, proactive, weekly_audit, advance }
}

/// `corrected_below` of 1000 asks for nothing.
const fn earned(sessions: u32, confirmed: u16, corrected_below: u16, corrections: u32) -> Advance {
    Advance::Earned(TrustNeeds {
        sessions,
        confirmed: PerMille::new(confirmed),
        corrected_below: PerMille::new(corrected_below),
        corrections,
    })
}

// Levels are numbered from 1, and each says more and is surer of itself than the one below.
const _: () = {
    let mut i = 0;
    while i < TrustLevel::ALL.len() {
        let here = TrustLevel::ALL[i].row();
        assert!(here.number as usize == i + 1);
        assert!(matches!(here.advance, Advance::Top) == TrustLevel::ALL[i].next().is_none());
        if let Some(next) = TrustLevel::ALL[i].next() {
            let next = next.row();
            assert!(next.confidence_above.get() < here.confidence_above.get());
            assert!(next.proactive.len() >= here.proactive.len());
        }
        i += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_keeps_every_tier_of_the_level_below() {
        for level in TrustLevel::ALL {
            let Some(below) = level.previous() else { continue };
            assert_eq!(below.next(), Some(*level));
            assert!(below.row().proactive.iter().all(|it| level.row().proactive.contains(it)));
        }
    }

    #[test]
    fn only_a_person_chooses_autonomy() {
        assert_eq!(TrustLevel::Confident.row().advance, Advance::OptIn);
    }
}
