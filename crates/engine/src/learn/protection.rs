//! Protection of memories against automatic changes. Pure.
//!
//! Two rules: learning does not reword a text that the user wrote or confirmed, and it does not
//! supersede or merge away a memory that the user wrote, confirmed or pinned. A pin alone does not
//! freeze the text, because the text of a pinned pattern contains counts that should stay current.
//! Automatic changes concern active memories only, so the test for that is here too.

use model::{Memory, MemorySource, MemoryStatus};

/// Returns whether the user wrote or confirmed the text. Learning must not reword it.
pub(super) fn has_user_wording(memory: &Memory) -> bool {
    memory.flags.user_verified || memory.source == MemorySource::UserTaught
}

/// Returns whether the user wrote, confirmed or pinned the memory. Learning must not supersede it
/// or merge it into another.
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
    fn a_text_the_user_wrote_or_confirmed_is_protected_from_both() {
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
