//! Paths and ids: known token formats are masked, ordinary names stay as they are.

use waylore_secrets::{redact_path, scan_path};

/// Paths of real projects that look random or name a secret, and hold none.
const ORDINARY_PATHS: &[&str] = &[
    "src/main.rs",
    ".git/objects/3f/5a9d2c7b8e1f4a6d0c9b8a7e6f5d4c3b2a1908",
    "node_modules/.pnpm/react-dom@18.2.0_react@18.2.0/node_modules/react-dom/index.js",
    "target/debug/deps/libserde-7f3c1a9b0e5d2f48.rlib",
    "/nix/store/8zr9fk2xqv3a1c5wd7lj6hnp0gs4bym2-openssl-3.0.12/lib",
    "dist/assets/index-BkQ3x9Lz.js",
    "packages/auth/token=refresh/password_reset.test.ts",
    "secrets/api_key_rotation.md",
    "config/password=default.yml",
    "/home/user/.claude/projects/-home-user-shop/0198c7d2-6f3e-7a41-9c55-2b1d4e6f8a90.jsonl",
    "toolu_01A09q90qw90lq917835lq9",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "C:/Users/user/AppData/Local/Temp/tmp7f3c1a9b",
    "rollout-2026-11-16T09-12-44-0198c7d2-6f3e-7a41-9c55-2b1d4e6f8a90.jsonl",
];

#[test]
fn ordinary_paths_are_left_alone() {
    for path in ORDINARY_PATHS {
        assert_eq!(redact_path(path).text, *path, "{:?}", scan_path(path));
    }
}

#[test]
fn tokens_in_paths_are_masked_and_the_rest_stays() {
    let github = ["ghp", "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let aws = ["AKIA", "QYLPMN5HHHFPZ3XK"].concat();
    let masked = |path: String| redact_path(&path).text;
    assert_eq!(masked(format!("dumps/{github}.txt")), "dumps/[REDACTED: github-token].txt");
    assert_eq!(masked(format!("{aws}/state.json")), "[REDACTED: aws-access-key-id]/state.json");
    assert_eq!(masked(format!("call-{github}")), "call-[REDACTED: github-token]");
    assert_eq!(redact_path(&masked(format!("a/{github}"))).findings, [], "masked once only");
}
