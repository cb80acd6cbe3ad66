//! Trust levels: which notes a project accepts without a request, and the requirements for the next level.
//! To *inject* a note is to add a memory to the context of an agent that did not request it.
//!
//! A project starts cautious and is meant to earn more trust by sessions in which the user confirms memories
//! and rarely corrects them. The table in [`TrustLevel::row`] is the policy. So far the user sets the level,
//! and of the table only `confidence_above` and `proactive` are applied; the other columns are printed in the
//! reference.

use crate::{PerMille, closed};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Trust of a project in its learned memories.
    pub enum TrustLevel : "trust level" {
        Cautious = "cautious",
        Standard = "standard",
        Confident = "confident",
        Autonomous = "autonomous",
    }
}

closed! {
    /// Points of a session at which notes may be injected.
    pub enum InjectionTier : "tier" {
        /// Session start, resume, compaction, start of a subagent, and every prompt.
        Start = "start",
        /// The files to read first, with the first prompt. No event is mapped to this tier: predicted files
        /// are a section of the notes for a prompt, which are of the tier `start`.
        Files = "files",
        /// Right after a tool result.
        ToolResult = "tool_result",
        /// Between two steps.
        Step = "step",
    }
}

closed! {
    /// The review that the user is offered at the end of a session.
    pub enum ReviewMode : "review" {
        /// Every new memory needs confirmation before it is used.
        ConfirmEach = "confirm_each",
        /// Everything new is shown; confirming all of it is the default.
        ConfirmAll = "confirm_all",
        /// Only what is marked `needs_review`.
        Flagged = "flagged",
        OnDemand = "on_demand",
    }
}

impl InjectionTier {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Start      => "at session start, on resume, after compaction, when a subagent starts",
            Self::Files      => "with the first prompt: the files to read first",
            Self::ToolResult => "right after a tool result",
            Self::Step       => "between two steps",
        }
    }
}

impl ReviewMode {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::ConfirmEach => "every new memory must be confirmed",
            Self::ConfirmAll  => "new memories are shown, \"confirm all\" is the default",
            Self::Flagged     => "only memories that need review are shown",
            Self::OnDemand    => "nothing is shown until asked for",
        }
    }
}

/// Condition for the step to the next level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustAdvance {
    Earned(TrustRequirements),
    /// Never automatic: the user must choose the next level.
    OptIn,
    /// The highest level.
    Top,
}

/// Requirements for the next level; all must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustRequirements {
    pub sessions: u32,
    /// Least share of shown memories that were confirmed.
    pub confirmed: PerMille,
    /// The corrected share must be below this.
    pub corrected_below: PerMille,
    /// Least number of corrections: evidence that the user reviews at all.
    pub corrections: u32,
}

/// Settings of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustRow {
    /// 1 to 4.
    pub number: u8,
    /// The first session that can reach this level; `None` if sessions alone never do.
    pub from_session: Option<u32>,
    /// Only memories with *more* current confidence are injected unasked.
    pub confidence_above: PerMille,
    pub review: ReviewMode,
    /// Tiers that may inject unasked. A proven fix for the current error is shown at any level.
    pub proactive: &'static [InjectionTier],
    /// True if a weekly card shows what was learned and used.
    pub weekly_audit: bool,
    pub advance: TrustAdvance,
}

impl TrustLevel {
    #[rustfmt::skip]
    pub const fn row(self) -> TrustRow {
        use InjectionTier::{Files, Start, ToolResult};
        match self {
            //                      level from      above review                   proactive                     audit  advance (sessions, confirmed, corrected below, corrections)
            Self::Cautious   => row(1,    Some(1),  800,  ReviewMode::ConfirmEach, &[Start],                     false, earned_advance(3,  500, 1000, 0)),
            Self::Standard   => row(2,    Some(4),  650,  ReviewMode::ConfirmAll,  &[Start, Files, ToolResult],  false, earned_advance(10, 0,   50,   1)),
            Self::Confident  => row(3,    Some(16), 550,  ReviewMode::Flagged,     InjectionTier::ALL,           true,  TrustAdvance::OptIn),
            Self::Autonomous => row(4,    None,     450,  ReviewMode::OnDemand,    InjectionTier::ALL,           false, TrustAdvance::Top),
        }
    }

    /// The level above, however it is reached.
    pub const fn next_level(self) -> Option<Self> {
        match self {
            Self::Cautious => Some(Self::Standard),
            Self::Standard => Some(Self::Confident),
            Self::Confident => Some(Self::Autonomous),
            Self::Autonomous => None,
        }
    }

    /// The level below, offered after several wrong memories in one session.
    pub const fn previous_level(self) -> Option<Self> {
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
    proactive: &'static [InjectionTier],
    weekly_audit: bool,
    advance: TrustAdvance,
) -> TrustRow {
    assert!(confidence_above < 1000, "a level must allow some memories");
    let confidence_above = PerMille::new(confidence_above);
    TrustRow { number, from_session, confidence_above, review, proactive, weekly_audit, advance }
}

/// An advance with these requirements; shares are in per mille. A `corrected_below` of 1000 requires nothing.
const fn earned_advance(
    sessions: u32,
    confirmed: u16,
    corrected_below: u16,
    corrections: u32,
) -> TrustAdvance {
    TrustAdvance::Earned(TrustRequirements {
        sessions,
        confirmed: PerMille::new(confirmed),
        corrected_below: PerMille::new(corrected_below),
        corrections,
    })
}

// Checked at compile time: levels are numbered from 1, only the last one has no next level, and each allows
// less confidence and at least as many tiers as the level below.
const _: () = {
    let mut nth = 0;
    while nth < TrustLevel::ALL.len() {
        let level = TrustLevel::ALL[nth];
        let row = level.row();
        assert!(row.number as usize == nth + 1);
        assert!(matches!(row.advance, TrustAdvance::Top) == level.next_level().is_none());
        if let Some(next) = level.next_level() {
            let next_row = next.row();
            assert!(next_row.confidence_above.get() < row.confidence_above.get());
            assert!(next_row.proactive.len() >= row.proactive.len());
        }
        nth += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_keeps_every_tier_of_the_level_below() {
        for level in TrustLevel::ALL {
            let Some(below) = level.previous_level() else { continue };
            assert_eq!(below.next_level(), Some(*level));
            assert!(below.row().proactive.iter().all(|it| level.row().proactive.contains(it)));
        }
    }

    #[test]
    fn the_autonomous_level_is_only_reached_by_choice() {
        assert_eq!(TrustLevel::Confident.row().advance, TrustAdvance::OptIn);
    }
}
