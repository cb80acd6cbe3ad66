//! Recognises files that configure a project: manifests, lock files, builds, environments, CI.
//!
//! Four tables (names, endings, folders, beginnings) and one function over them: `web/package.json`,
//! `App.csproj`, `.github/workflows/ci.yml` and `.env.local` are found by one table each.

/// Whole file names, in lower case.
#[rustfmt::skip]
const CONFIG_NAMES: &[&str] = &[
    ".babelrc", ".clang-format", ".clang-tidy", ".dockerignore", ".editorconfig", ".env", ".envrc", ".eslintrc", ".eslintrc.js", ".eslintrc.json",
    ".flake8", ".gitattributes", ".gitignore", ".gitlab-ci.yml", ".gitmodules", ".golangci.yaml", ".golangci.yml", ".goreleaser.yaml", ".goreleaser.yml", ".htaccess",
    ".mise.toml", ".node-version", ".npmrc", ".nvmrc", ".pre-commit-config.yaml", ".prettierrc", ".prettierrc.json", ".pylintrc", ".python-version",
    ".rubocop.yml", ".ruby-version", ".swiftlint.yml", ".tool-versions", ".travis.yml", ".yarnrc", ".yarnrc.yml",
    "analysis_options.yaml", "appveyor.yml", "azure-pipelines.yml", "babel.config.js", "biome.json", "bitbucket-pipelines.yml", "brewfile", "build", "build.bazel", "build.gradle", "build.gradle.kts",
    "build.sbt", "build.xml", "build.zig", "build.zig.zon", "bun.lock", "bun.lockb", "bunfig.toml", "buf.gen.yaml", "buf.yaml", "cabal.project", "cargo.lock", "cargo.toml", "cartfile",
    "circle.yml", "clippy.toml", "cloudbuild.yaml", "cmakelists.txt", "codecov.yml", "compose.yaml", "compose.yml", "composer.json", "composer.lock", "conanfile.py", "conanfile.txt", "configure.ac",
    "deno.json", "deno.jsonc", "deno.lock", "deny.toml", "deps.edn", "directory.build.props", "docker-compose.yaml", "docker-compose.yml", "dockerfile", "environment.yml", "flake.lock", "flake.nix",
    "fly.toml", "gemfile", "gemfile.lock", "global.json", "go.mod", "go.sum", "go.work", "go.work.sum", "gradle.properties", "gruntfile.js", "gulpfile.js", "jenkinsfile", "jest.config.js", "jest.config.ts",
    "jsconfig.json", "justfile", "lerna.json", "makefile", "manifest.in", "meson.build", "meson_options.txt", "mise.toml", "mix.exs", "mix.lock", "module.bazel", "netlify.toml", "next.config.js", "next.config.mjs", "next.config.ts",
    "nuget.config", "nx.json", "package-lock.json", "package.json", "package.resolved", "package.swift", "packages.lock.json", "pdm.lock", "phpunit.xml", "pipfile", "pipfile.lock", "playwright.config.ts", "pnpm-lock.yaml", "pnpm-workspace.yaml",
    "podfile", "podfile.lock", "poetry.lock", "pom.xml", "postcss.config.js", "procfile", "project.clj", "pubspec.lock", "pubspec.yaml", "pyproject.toml", "pytest.ini", "rakefile", "rebar.config",
    "renovate.json", "requirements.in", "requirements.txt", "rollup.config.js", "ruff.toml", "rust-toolchain", "rust-toolchain.toml", "rustfmt.toml", "serverless.yml", "settings.gradle", "settings.gradle.kts",
    "setup.cfg", "setup.py", "shard.yml", "skaffold.yaml", "stack.yaml", "svelte.config.js", "tailwind.config.js", "tailwind.config.ts", "taskfile.yml", "tox.ini", "tsconfig.json", "turbo.json", "uv.lock", "vagrantfile", "vercel.json",
    "vite.config.js", "vite.config.ts", "vitest.config.ts", "webpack.config.js", "workspace", "wrangler.toml", "yarn.lock",
];

/// Endings of file names, in lower case.
#[rustfmt::skip]
const CONFIG_ENDINGS: &[&str] = &[".csproj", ".fsproj", ".vbproj", ".sln", ".props", ".targets", ".gemspec", ".cabal", ".nimble", ".podspec", ".tf", ".tfvars", ".bzl", ".cmake", ".gradle", ".nix", ".opam", ".rockspec"];

/// Folders that hold only configuration: of CI, deployment, git hooks, cargo, development containers. In
/// lower case.
const CONFIG_FOLDERS: &[&str] = &[
    ".github/workflows/",
    ".github/actions/",
    ".circleci/",
    ".buildkite/",
    ".gitlab/",
    ".husky/",
    ".cargo/",
    "helm/",
    "k8s/",
    ".devcontainer/",
];

/// Beginnings of file names, in lower case: variants of files in the table.
const CONFIG_BEGINNINGS: &[&str] = &[
    ".env.",
    "dockerfile.",
    "docker-compose.",
    "tsconfig.",
    "requirements-",
    "requirements_",
    "makefile.",
    ".eslintrc.",
    "jest.config.",
    "vite.config.",
    "vitest.config.",
];

/// Returns whether a path names a file that configures the project, in upper or lower case.
pub fn is_config(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    CONFIG_NAMES.contains(&name)
        || CONFIG_ENDINGS.iter().any(|it| name.ends_with(it))
        || CONFIG_BEGINNINGS.iter().any(|it| name.starts_with(it))
        || CONFIG_FOLDERS.iter().any(|it| path.starts_with(it) || path.contains(&format!("/{it}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_files_of_all_ecosystems_are_recognised() {
        let config = "Cargo.toml web/package.json go.mod pom.xml pyproject.toml Dockerfile docker/Dockerfile.dev .github/workflows/ci.yml \
            App.csproj Gemfile mix.exs build.gradle.kts CMakeLists.txt Package.swift .ENV.local pubspec.yaml composer.json Makefile infra/main.tf \
            MISE.TOML .golangci.yaml deno.json stack.yaml flake.nix";
        for it in config.split_whitespace() {
            assert!(is_config(it), "{it}");
        }
        let other = "src/config.rs docs/build.md package.rs src/makefile_parser.go cargo.rs README.md src/build/x.ts";
        for it in other.split_whitespace() {
            assert!(!is_config(it), "{it}");
        }
    }
}
