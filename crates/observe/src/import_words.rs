//! The imports of a file, approximated by the words of its import lines.
//!
//! The scratchpad (the log of one session) compares them with the path of the next file that is read, to see
//! whether the agent followed an import: `import { total } from './cart/total'` has the words `import`,
//! `total`, `from` and `cart`, and so names `src/cart/total.ts`. There is no parser, because the file can be
//! in any language and its excerpt can be truncated anywhere.

/// Beginnings of lines that may import something. A line of a Go import block begins with a quote.
const IMPORT_PREFIXES: &[&str] = &[
    "import ", "from ", "use ", "pub use ", "mod ", "require", "const ", "#include", "\"",
    "include ", "using ", "load(",
];

/// Lines at the start of a file that are searched for imports.
const MAX_IMPORT_LINES: usize = 80;
/// Words after which the search stops.
const MAX_IMPORT_WORDS: usize = 120;

/// Words of the import lines at the start of a file, in lower case.
pub(crate) fn imported_words(text: &str) -> Vec<String> {
    let mut acc = Vec::new();
    for line in text.lines().take(MAX_IMPORT_LINES) {
        // Hosts put a line number before each line.
        let line = line.trim_start_matches(|it: char| {
            it.is_ascii_digit() || it.is_whitespace() || matches!(it, '→' | ':' | '|')
        });
        let is_import = IMPORT_PREFIXES.iter().any(|it| line.starts_with(it));
        // `const a = require('a')` is an import in JavaScript; other constants are not.
        let is_constant = line.starts_with("const ") && !line.contains("require(");
        if is_import && !is_constant {
            let words = line.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '-');
            acc.extend(words.filter(|it| it.len() > 2).map(str::to_ascii_lowercase));
        }
        // So many words name nearly any file.
        if acc.len() > MAX_IMPORT_WORDS {
            break;
        }
    }
    acc
}

/// Returns whether one of the words names this file or, for languages whose packages are folders, its
/// folder.
pub(crate) fn words_name_file(words: &[String], path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut parts = lower.rsplit('/');
    // The name without its extension: imports name modules.
    let stem = parts.next().and_then(|it| it.split('.').next()).unwrap_or_default().to_owned();
    let folder = parts.next().unwrap_or_default();
    words.contains(&stem) || (folder.len() > 2 && words.iter().any(|it| it == folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_name_files() {
        let words = imported_words(
            "1→package cli\n2→import (\n3→\t\"entire.io/cli/paths\"\n4→)\n5→// used_word\n",
        );
        assert!(words_name_file(&words, "cmd/cli/paths/paths.go"));
        assert!(!words_name_file(&words, "cmd/other/used_word.go"));
        let words = imported_words("import { total } from './cart/total';\nconst x = 1;");
        assert!(
            words_name_file(&words, "src/cart/total.ts") && !words_name_file(&words, "src/x.ts")
        );
    }
}
