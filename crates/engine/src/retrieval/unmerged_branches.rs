//! The branches that are not merged into the checked-out commit. Memories of such a branch describe
//! code that is not in the working tree, so automatic searches leave them out. Listing the branches
//! runs git, so the answer is cached in the [`ProjectReader`].

use std::sync::PoisonError;

use model::Timestamp;
use source::GitHead;

use crate::ProjectReader;
use crate::blocking::run_blocking;

/// Milliseconds for which the cached branches are valid while the same commit is checked out.
const CACHE_MS: i64 = 60_000;

/// The cached answer of git.
#[derive(Clone, Debug)]
pub(crate) struct UnmergedBranches {
    head: GitHead,
    fetched_at: Timestamp,
    branches: Vec<String>,
}

/// Lists the unmerged branches. Runs git only if HEAD has moved or the cache is old. If git fails,
/// no branch counts as unmerged.
pub(crate) async fn list_unmerged_branches(reader: &ProjectReader) -> Vec<String> {
    let head = source::read_head(&reader.place);
    let cached = reader.branches.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let is_valid = |it: &UnmergedBranches| {
        let age = reader.now.millis_since(it.fetched_at);
        // A clock that went back makes the age negative and the cache invalid.
        it.head == head && (0..CACHE_MS).contains(&age)
    };
    if let Some(cached) = cached.filter(is_valid) {
        return cached.branches;
    }
    // Two searches may run git at the same time; the lock is not held during the await.
    let place = reader.place.clone();
    let branches =
        run_blocking(move || source::unmerged_branches(&place)).await.unwrap_or_default();
    let fetched = UnmergedBranches { head, fetched_at: reader.now, branches: branches.clone() };
    *reader.branches.lock().unwrap_or_else(PoisonError::into_inner) = Some(fetched);
    branches
}
