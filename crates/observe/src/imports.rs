//! What a file imports, by the words of its import lines; enough to see that a reader followed them.

const STARTS: &[&str] = &[
    "import ", "from ", "use ", "pub use ", "mod ", "require", "const ", "#include", "\"",
    "include ", "using ", "load(",
];

/// Words of import lines in the beginning of a file, in lower case.
pub(crate) fn imported(text: &str) -> Vec<String> {
    let mut acc = Vec::new();
    for line in text.lines().take(80) {
        // Hosts number the lines they show.
        let line = line.trim_start_matches(|it: char| {
            it.is_ascii_digit() || it.is_whitespace() || matches!(it, '→' | ':' | '|')
        });
        let wanted = STARTS.iter().any(|it| line.starts_with(it));
        let requires = !line.starts_with("const ") || line.contains("require(");
        if wanted && requires {
            let words = line.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '-');
            acc.extend(words.filter(|it| it.len() > 2).map(str::to_ascii_lowercase));
        }
        if acc.len() > 120 {
            break;
        }
    }
    acc
}

/// Whether one of the words names this file or, where a package is a folder, its folder.
pub(crate) fn names(words: &[String], path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut parts = lower.rsplit('/');
    let stem = parts.next().and_then(|it| it.split('.').next()).unwrap_or_default().to_owned();
    let folder = parts.next().unwrap_or_default();
    words.contains(&stem) || (folder.len() > 2 && words.iter().any(|it| it == folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_name_files() {
        let words = imported(
            "1→package cli\n2→import (\n3→\t\"entire.io/cli/paths\"\n4→)\n5→// used_word\n",
        );
        assert!(names(&words, "cmd/cli/paths/paths.go"));
        assert!(!names(&words, "cmd/other/used_word.go"));
        let words = imported("import { total } from './cart/total';\nconst x = 1;");
        assert!(names(&words, "src/cart/total.ts") && !names(&words, "src/x.ts"));
    }
}
