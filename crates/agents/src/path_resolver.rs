//! Converts paths as hosts write them to paths relative to the project root.

use model::ProjectPath;

/// Resolves the paths of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathResolver {
    /// Folders that count as the project root: longest first, with `/` separators, no trailing
    /// slash.
    folders: Vec<String>,
    /// Working directory of the host below the root; its relative paths start there.
    below: String,
}

impl PathResolver {
    /// `project` is the root on this machine, if known; `cwd` is the working directory of the host.
    ///
    /// A host that runs inside the project names paths of it. For one that ran elsewhere (another
    /// machine, a worktree) its working directory is taken as the root.
    pub fn new(project: Option<&str>, cwd: &str) -> Self {
        let (project, cwd) = (project.map(normalize_path).unwrap_or_default(), normalize_path(cwd));
        let inside = strip_folder(&project, &cwd).map(str::to_owned);
        let mut folders: Vec<String> = match &inside {
            Some(_) => vec![project],
            None => vec![cwd, project],
        };
        folders.retain(|it| !it.is_empty());
        // With one folder inside the other the inner one must match first.
        folders.sort_by_key(|it| std::cmp::Reverse(it.len()));
        Self { folders, below: inside.unwrap_or_default() }
    }

    /// The path relative to the root; `None` for a path outside of it, a URL, or a text that is no
    /// path.
    pub fn resolve(&self, path: &str) -> Option<ProjectPath> {
        let path = path.trim();
        if path.is_empty() || path.contains("://") {
            return None;
        }
        let cleaned = normalize_path(path);
        let below = self.folders.iter().find_map(|it| strip_folder(it, &cleaned));
        match below {
            Some(below) => ProjectPath::parse(below).ok(),
            None if self.below.is_empty() => ProjectPath::parse(path).ok(),
            None => {
                // Checked alone first: joined, an absolute path such as `/etc/passwd` would look
                // relative.
                ProjectPath::parse(path).ok()?;
                ProjectPath::parse(&format!("{}/{path}", self.below)).ok()
            }
        }
    }
}

fn normalize_path(path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path).replace('\\', "/");
    path.trim_end_matches('/').to_owned()
}

/// The part of `path` below `folder`.
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
