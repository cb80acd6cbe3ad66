//! A/B trial of memory: sessions are assigned to groups by hash, with full, reduced or no injection (adding
//! memories to an agent's context without a request). The groups are compared in `promote`
//! (`trial_comparison.rs`).

use crate::{InjectionTier, closed, fingerprint_text};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The group of a session while a trial runs.
    pub enum TrialGroup : "group" {
        /// Observed only; receives no notes.
        Control = "control",
        /// Receives notes at session start only.
        Passive = "passive",
        /// Receives all notes, as without a trial.
        Full = "full",
    }
}

impl TrialGroup {
    /// Share of sessions in the group, per mille.
    #[rustfmt::skip]
    pub const fn session_share(self) -> u64 {
        match self {
            Self::Control =>  50,
            Self::Passive => 100,
            Self::Full    => 850,
        }
    }

    /// Assigns a session to its group, deterministically. The project is a part of the hash, so that the same
    /// session id is in other groups in other projects.
    pub fn assign_group(session: &str, project: &str) -> Self {
        let fingerprint = fingerprint_text(&format!("trial {project} {session}"));
        // A number below 1000; each group takes a range as long as its share.
        let mut remainder = u64::from_str_radix(&fingerprint, 16).unwrap_or(u64::MAX) % 1000;
        for group in Self::ALL {
            if remainder < group.session_share() {
                return *group;
            }
            remainder -= group.session_share();
        }
        // Never reached, because the shares add up to 1000.
        Self::Full
    }

    /// True if sessions of the group receive notes of this tier.
    pub const fn receives_tier(self, tier: InjectionTier) -> bool {
        match self {
            Self::Control => false,
            Self::Passive => matches!(tier, InjectionTier::Start),
            Self::Full => true,
        }
    }
}

// Every session is in one group.
const _: () = assert!(
    TrialGroup::Control.session_share()
        + TrialGroup::Passive.session_share()
        + TrialGroup::Full.session_share()
        == 1000
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_their_shares_and_a_session_stays_in_its_group() {
        let mut counts = [0_u64; 3];
        for n in 0..20_000 {
            let group = TrialGroup::assign_group(&format!("session {n}"), "project");
            assert_eq!(group, TrialGroup::assign_group(&format!("session {n}"), "project"));
            counts[TrialGroup::ALL.iter().position(|it| *it == group).unwrap()] += 1;
        }
        for (group, n_sessions) in TrialGroup::ALL.iter().zip(counts) {
            // Per mille of 20,000 sessions.
            let expected = 20 * group.session_share();
            assert!(n_sessions.abs_diff(expected) < 200, "{group}: {n_sessions}, not {expected}");
        }
    }

    #[test]
    fn the_same_session_ids_are_in_other_groups_in_another_project() {
        let differ = (0..1_000).filter(|n| {
            let session = n.to_string();
            TrialGroup::assign_group(&session, "a") != TrialGroup::assign_group(&session, "b")
        });
        assert!(differ.count() > 100);
    }
}
