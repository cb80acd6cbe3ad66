//! Kinds of errors and families of tools: the closed vocabularies of recognised errors.

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
use model::closed;

closed! {
    /// Kind of an error: what would have to change for the call to succeed.
    pub enum ErrorKind : "error kind" {
        /// A module, package, header or crate that the code imports is not there.
        MissingModule = "missing_module",
        /// A program that the command line or a script starts is not there.
        MissingCommand = "missing_command",
        /// An environment variable is not set.
        MissingVariable = "missing_variable",
        /// A file or folder that is read is not there. An imported one is a missing module.
        MissingFile = "missing_file",
        /// The tool does not know the option, subcommand, script or argument it was given, so that another
        /// command line can be the fix.
        UsageError = "usage_error",
        /// A test compared two values, and they differ.
        AssertionFailure = "assertion_failure",
        /// A compiler or type checker refuses the source.
        CompileError = "compile_error",
        /// A linter or formatter refuses the source by one of its rules.
        LintRule = "lint_rule",
        /// A program ended with an exception that no other kind describes.
        Exception = "exception",
        /// The tool refused or had nothing to do: no tests matched, the text to replace was not found.
        NotRun = "not_run",
        /// Rights are missing: file modes, credentials.
        Permission = "permission",
        /// Another machine or a port could not be reached or bound.
        Network = "network",
        /// Two states of the same thing disagree: merge conflicts, versions that exclude each other.
        Conflict = "conflict",
        /// Something took longer than allowed.
        Timeout = "timeout",
        Other = "other",
    }
}

closed! {
    /// The tool that printed an error, which a wrapper such as `make` or `npm test` may have started.
    pub enum ToolFamily : "tool family" {
        Vitest = "vitest",
        Jest = "jest",
        Mocha = "mocha",
        NodeTest = "node_test",
        BunTest = "bun_test",
        Pytest = "pytest",
        Unittest = "unittest",
        GoTest = "go_test",
        CargoTest = "cargo_test",
        Rspec = "rspec",
        Phpunit = "phpunit",
        Junit = "junit",
        DotnetTest = "dotnet_test",
        Ctest = "ctest",
        Typescript = "typescript",
        Rustc = "rustc",
        /// gcc, clang and compilers that print as they do, such as `swiftc`.
        Clang = "clang",
        GoBuild = "go_build",
        Javac = "javac",
        Kotlinc = "kotlinc",
        Csharp = "csharp",
        Eslint = "eslint",
        Biome = "biome",
        Ruff = "ruff",
        Mypy = "mypy",
        GolangciLint = "golangci_lint",
        Clippy = "clippy",
        Prettier = "prettier",
        /// `dart analyze` and `flutter analyze`.
        DartAnalyzer = "dart_analyzer",
        Npm = "npm",
        Pnpm = "pnpm",
        Yarn = "yarn",
        Bun = "bun",
        Pip = "pip",
        Poetry = "poetry",
        Uv = "uv",
        Cargo = "cargo",
        GoMod = "go_mod",
        Bundler = "bundler",
        Composer = "composer",
        Maven = "maven",
        Gradle = "gradle",
        Git = "git",
        Shell = "shell",
        Docker = "docker",
        /// make, just, task and other programs that run scripts of the project.
        ScriptRunner = "script_runner",
        Python = "python",
        Node = "node",
        /// A tool of the agent's host: edit, read, search.
        HostTool = "host_tool",
        /// Any other program; its errors are told apart by the command.
        Generic = "generic",
    }
}
