//! Finds the files that a patch touches. The format is that of `apply_patch`, a tool of Codex that
//! other hosts have adopted. The files of this patch are `src/a.ts` and `b.ts`:
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.ts
//! @@
//! -x
//! +y
//! *** Add File: b.ts
//! +z
//! *** End Patch
//! ```

const PATCH_HEADER: &str = "*** Begin Patch";
const FILE_LINE_PREFIXES: &[&str] =
    &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

pub(crate) fn is_patch(text: &str) -> bool {
    text.trim_start().starts_with(PATCH_HEADER)
}

/// The patch in a shell command that runs `apply_patch`.
pub(crate) fn find_in_command(command: &str) -> Option<&str> {
    if !command.trim_start().starts_with("apply_patch") {
        return None;
    }
    command.find(PATCH_HEADER).map(|start| &command[start..])
}

/// The paths that a patch names, in its order.
pub(crate) fn patched_files(patch: &str) -> Vec<String> {
    let mut acc = Vec::new();
    for line in patch.lines() {
        if let Some(path) = FILE_LINE_PREFIXES.iter().find_map(|it| line.strip_prefix(it)) {
            acc.push(path.trim().to_owned());
        }
    }
    acc
}
