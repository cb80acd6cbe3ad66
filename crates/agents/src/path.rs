//! Paths as hosts name them, as paths of the project.

use model::ProjectPath;

/// The folders that count as the project's root in one transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// Longest first; `/`-separated, without a slash at the end.
    folders: Vec<String>,
    /// The folder the host was started in, below the root; what its relative paths start from.
    below: String,
}

impl Root {
    /// `project` is the root on this machine, if known; `cwd` the folder the host was started in.
    /// A host started inside the project names paths of it; one started elsewhere (another machine,
    /// a worktree) is taken at its word: where it was started is the root.
    pub fn new(project: Option<&str>, cwd: &str) -> Self {
        let (project, cwd) = (project.map(clean).unwrap_or_default(), clean(cwd));
        let inside = inside(&project, &cwd).map(str::to_owned);
        let mut folders: Vec<String> = match &inside {
            Some(_) => vec![project],
            None => vec![cwd, project],
        };
        folders.retain(|it| !it.is_empty());
        folders.sort_by_key(|it| std::cmp::Reverse(it.len()));
        Self { folders, below: inside.unwrap_or_default() }
    }

    /// The path below the root; `None` for what lies outside, for addresses, and for what is no path.
    pub fn relative(&self, path: &str) -> Option<ProjectPath> {
        let path = path.trim();
        if path.is_empty() || path.contains("://") {
            return None;
        }
        let cleaned = clean(path);
        let below = self.folders.iter().find_map(|it| inside(it, &cleaned));
        match below {
            Some(below) => ProjectPath::parse(below).ok(),
            None if self.below.is_empty() => ProjectPath::parse(path).ok(),
            None => {
                ProjectPath::parse(path).ok()?;
                ProjectPath::parse(&format!("{}/{path}", self.below)).ok()
            }
        }
    }
}

fn clean(path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path).replace('\\', "/");
    path.trim_end_matches('/').to_owned()
}

/// What remains of `path` below `folder`.
fn inside<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
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
        let root = Root::new(project, cwd);
        let show = |it: &str| root.relative(it).map_or("–".to_owned(), |it| it.to_string());
        let res: Vec<String> = paths.split_whitespace().map(show).collect();
        expect.assert_eq(&res.join(" "));
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
