//! Whether memory helps, measured: sessions fall into groups by their names, one with memory, one with
//! less, one without.

use crate::{Tier, closed, fingerprint};

closed! {
    /// What a session is told while memory is on trial.
    pub enum Group : "group" {
        /// It is observed and told nothing.
        Control = "control",
        /// It is told something when it begins, and nothing later.
        Passive = "passive",
        /// It is told everything, as without a trial.
        Full = "full",
    }
}

impl Group {
    /// The share of sessions, in thousandths.
    #[rustfmt::skip]
    pub const fn share(self) -> u64 {
        match self {
            Self::Control =>  50,
            Self::Passive => 100,
            Self::Full    => 850,
        }
    }

    /// The group of a session: the same whenever and by whomever it is asked.
    pub fn of(session: &str, project: &str) -> Self {
        let print = fingerprint(&format!("trial {project} {session}"));
        let mut left = u64::from_str_radix(&print, 16).unwrap_or(u64::MAX) % 1000;
        for group in Self::ALL {
            if left < group.share() {
                return *group;
            }
            left -= group.share();
        }
        Self::Full
    }

    /// Whether its sessions are told anything at such moments.
    pub const fn hears(self, tier: Tier) -> bool {
        match self {
            Self::Control => false,
            Self::Passive => matches!(tier, Tier::Start),
            Self::Full => true,
        }
    }
}

// Every session is in one group.
const _: () =
    assert!(Group::Control.share() + Group::Passive.share() + Group::Full.share() == 1000);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_large_as_they_should_be_and_stay_as_they_are() {
        let mut counts = [0_u64; 3];
        for n in 0..20_000 {
            let group = Group::of(&format!("session {n}"), "project");
            assert_eq!(group, Group::of(&format!("session {n}"), "project"));
            counts[Group::ALL.iter().position(|it| *it == group).unwrap()] += 1;
        }
        for (group, n) in Group::ALL.iter().zip(counts) {
            let wanted = 20 * group.share();
            assert!(n.abs_diff(wanted) < 200, "{group}: {n}, wanted {wanted}");
        }
    }

    #[test]
    fn another_project_has_other_groups() {
        let differ = (0..1_000).filter(|n| {
            let session = n.to_string();
            Group::of(&session, "a") != Group::of(&session, "b")
        });
        assert!(differ.count() > 100);
    }
}
