//! Protection of memories against automatic changes. Pure.
//!
//! The user's part in a memory protects it to two degrees: a text the user wrote or confirmed is not
//! reworded; what the user also pinned is not deprecated either. A pin alone does not freeze the
//! text, because a pinned pattern should keep its counts current.

use model::{Memory, MemorySource, MemoryStatus};

/// Returns whether the user wrote or confirmed the text. Learning must not reword it.
pub(super) fn has_user_wording(memory: &Memory) -> bool {
    memory.flags.user_verified || memory.source == MemorySource::UserTaught
}

/// Returns whether the user wrote, confirmed or pinned the memory. Learning must not supersede it or merge
/// it into another.
pub(super) fn is_user_protected(memory: &Memory) -> bool {
    has_user_wording(memory) || memory.flags.pinned
}

/// Returns whether a memory is neither forgotten nor deprecated.
pub(super) fn is_active(memory: &Memory) -> bool {
    !matches!(memory.status(), MemoryStatus::Deleted | MemoryStatus::Deprecated)
}

#[cfg(test)]
mod tests {
    use super::super::fresh_memory::tests::memory;
    use super::*;

    #[test]
    fn a_pin_protects_from_deprecation_but_not_from_rewording() {
        let mut pinned = memory("run `make check` first");
        pinned.flags.pinned = true;
        assert!(is_user_protected(&pinned) && !has_user_wording(&pinned));
    }

    #[test]
    fn the_users_own_or_confirmed_text_is_protected_from_both() {
        let mut confirmed = memory("run `make check` first");
        confirmed.flags.user_verified = true;
        let mut taught = memory("run `make check` first");
        taught.source = MemorySource::UserTaught;
        for it in [&confirmed, &taught] {
            assert!(is_user_protected(it) && has_user_wording(it));
        }
        assert!(!is_user_protected(&memory("run `make check` first")));
    }
}
