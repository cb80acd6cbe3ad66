//! A/B trial of memory: sessions are assigned to groups by hash, with full, reduced or no injection.

use crate::{InjectionTier, closed, fingerprint_text};

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

    /// Assigns a session to its group, deterministically.
    pub fn assign_group(session: &str, project: &str) -> Self {
        let print = fingerprint_text(&format!("trial {project} {session}"));
        let mut left = u64::from_str_radix(&print, 16).unwrap_or(u64::MAX) % 1000;
        for group in Self::ALL {
            if left < group.session_share() {
                return *group;
            }
            left -= group.session_share();
        }
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
    fn groups_are_as_large_as_they_should_be_and_stay_as_they_are() {
        let mut counts = [0_u64; 3];
        for n in 0..20_000 {
            let group = TrialGroup::assign_group(&format!("session {n}"), "project");
            assert_eq!(group, TrialGroup::assign_group(&format!("session {n}"), "project"));
            counts[TrialGroup::ALL.iter().position(|it| *it == group).unwrap()] += 1;
        }
        for (group, n) in TrialGroup::ALL.iter().zip(counts) {
            let wanted = 20 * group.session_share();
            assert!(n.abs_diff(wanted) < 200, "{group}: {n}, wanted {wanted}");
        }
    }

    #[test]
    fn another_project_has_other_groups() {
        let differ = (0..1_000).filter(|n| {
            let session = n.to_string();
            TrialGroup::assign_group(&session, "a") != TrialGroup::assign_group(&session, "b")
        });
        assert!(differ.count() > 100);
    }
}
