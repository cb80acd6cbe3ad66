//! Folders of third-party code: dependencies inside a project and the caches of package managers.
//!
//! `source` does not walk them, and `observe` treats the text of their files as external content.

/// Names of folders whose files other people wrote, wherever the folder is.
#[rustfmt::skip]
pub const VENDORED_FOLDERS: &[&str] = &[
    "node_modules", "bower_components", "jspm_packages", "web_modules", "vendor", "third_party", "third-party", "thirdparty",
    "site-packages", "dist-packages", "__pypackages__", ".venv", "venv", ".tox", ".nox", ".eggs", "Pods", "Carthage", "elm-stuff",
    ".pub-cache", ".pnpm-store", ".rustup",
];

/// Folders of package managers, recognised by two names in a row: `~/.cargo/registry/…`.
#[rustfmt::skip]
const CACHE_FOLDERS: &[(&str, &str)] = &[
    (".cargo", "registry"), (".cargo", "git"), ("cargo", "registry"), ("pkg", "mod"), (".m2", "repository"), (".gradle", "caches"),
    (".nuget", "packages"), (".yarn", "cache"), (".yarn", "unplugged"), (".npm", "_cacache"), (".npm", "_npx"), (".cache", "pip"),
    (".cache", "uv"), (".terraform", "modules"), (".terraform", "providers"), (".bundle", "gems"), ("ruby", "gems"), (".gem", "ruby"),
    ("lib", "ruby"), (".deno", "npm"), (".bun", "install"),
];

/// Returns whether a path leads into a folder of third-party code: `node_modules/left-pad/README.md`. The
/// separators of Windows count, and the case of letters does not.
pub fn is_vendored_path(path: &str) -> bool {
    let mut previous = "";
    for name in path.split(['/', '\\']) {
        let is_cache = |it: &(&str, &str)| {
            it.0.eq_ignore_ascii_case(previous) && it.1.eq_ignore_ascii_case(name)
        };
        if VENDORED_FOLDERS.iter().any(|it| it.eq_ignore_ascii_case(name))
            || CACHE_FOLDERS.iter().any(is_cache)
        {
            return true;
        }
        previous = name;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_dependencies_are_told_from_files_of_the_project() {
        for path in [
            "node_modules/left-pad/README.md",
            "web/node_modules/x/index.js",
            "vendor/github.com/x/y.go",
            "third_party/zlib/README",
            ".venv/lib/python3.12/site-packages/requests/api.py",
            "ios/Pods/AFNetworking/README.md",
            "/home/user/.cargo/registry/src/index.crates.io-1/serde-1.0.0/README.md",
            "/home/user/go/pkg/mod/github.com/x/y@v1.0.0/README.md",
            "bower_components/jquery/README.md",
            r"C:\p\node_modules\x\index.js",
        ] {
            assert!(is_vendored_path(path), "{path}");
        }
        for path in [
            "src/a.rs",
            "src/vendors.ts",
            "docs/node_modules.md",
            "target/debug/build.log",
            "pkg/server/mod.go",
            "registry/main.go",
            "",
        ] {
            assert!(!is_vendored_path(path), "{path}");
        }
    }
}
