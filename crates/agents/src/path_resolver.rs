//! Converts paths as hosts write them (absolute, relative, of Windows, of another machine) to paths
//! relative to the project root. For the project `/home/user/shop` and a host that runs in its folder
//! `web`:
//!
//! ```text
//! /home/user/shop/src/a.rs   →   src/a.rs
//! app.ts                     →   web/app.ts
//! /etc/passwd                →   none: outside of the project
//! ```

use model::ProjectPath;

/// Resolves the paths of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathResolver {
    /// Folders that count as the project root: longest first, with `/` separators, no trailing
    /// slash.
    folders: Vec<String>,
    /// Working directory of the host below the root; its relative paths start there.
    cwd_below_root: String,
}

impl PathResolver {
    /// `project` is the root on this machine, if known; `cwd` is the working directory of the host.
    ///
    /// A host that runs inside the project names paths of it. For one that ran elsewhere (another
    /// machine, a worktree) its working directory is taken as the root.
    pub fn new(project: Option<&str>, cwd: &str) -> Self {
        let project = project.map(normalize_path).unwrap_or_default();
        let cwd = normalize_path(cwd);
        let cwd_below_root = strip_folder(&project, &cwd).map(str::to_owned);
        let is_inside = cwd_below_root.is_some();
        let mut folders = if is_inside { vec![project] } else { vec![cwd, project] };
        folders.retain(|it| !it.is_empty());
        // With one folder inside the other the inner one must match first.
        folders.sort_by_key(|it| std::cmp::Reverse(it.len()));
        Self { folders, cwd_below_root: cwd_below_root.unwrap_or_default() }
    }

    /// The path relative to the root; `None` for a path outside of it, a URL, or a text that is no
    /// path. A relative path that leaves the working directory by `..` counts as outside.
    pub fn resolve(&self, path: &str) -> Option<ProjectPath> {
        let path = path.trim();
        if path.is_empty() || path.contains("://") {
            return None;
        }
        let normalized = normalize_path(path);
        // An absolute path below the root.
        if let Some(relative) = self.folders.iter().find_map(|it| strip_folder(it, &normalized)) {
            return ProjectPath::parse(relative).ok();
        }
        // Checked alone first: joined, an absolute path such as `/etc/passwd` would look relative.
        let relative_to_cwd = ProjectPath::parse(path).ok()?;
        if self.cwd_below_root.is_empty() {
            Some(relative_to_cwd)
        } else {
            ProjectPath::parse(&format!("{}/{path}", self.cwd_below_root)).ok()
        }
    }
}

fn normalize_path(path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path).replace('\\', "/");
    path.trim_end_matches('/').to_owned()
}

/// The part of `path` below `folder`; empty if they are the same, `None` if it is elsewhere.
fn strip_folder<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    if folder.is_empty() {
        return None;
    }
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the resolved paths; a dash stands for a path outside of the project.
    fn check(project: Option<&str>, cwd: &str, paths: &str, expect: Expect) {
        let resolver = PathResolver::new(project, cwd);
        let show = |it: &str| resolver.resolve(it).map_or("–".to_owned(), |it| it.to_string());
        let shown: Vec<String> = paths.split_whitespace().map(show).collect();
        expect.assert_eq(&shown.join(" "));
    }

    #[test]
    fn paths_become_relative_to_the_project() {
        check(
            None,
            "/home/user/shop",
            "/home/user/shop/src/a.rs src/b.rs /etc/passwd ../x /home/user/shopping/a https://a/b",
            expect!["src/a.rs src/b.rs – – – –"],
        );
        check(
            Some("/home/user/shop"),
            "/home/user/shop/web",
            "/home/user/shop/src/a.rs app.ts /home/user/shop/web/app.ts ../src/a.rs",
            expect!["src/a.rs web/app.ts web/app.ts –"],
        );
        check(
            Some("/home/user/shop"),
            "/home/you/shop",
            "/home/you/shop/a /home/user/shop/b",
            expect!["a b"],
        );
        check(
            Some("/p"),
            "C:\\work\\shop",
            "C:\\work\\shop\\src\\a.cs D:\\x",
            expect!["src/a.cs –"],
        );
    }
}
