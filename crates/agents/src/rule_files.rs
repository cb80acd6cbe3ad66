//! Rule files (`CLAUDE.md`, `AGENTS.md` …): which hosts read which of them, and the statements in
//! them.
//!
//! [`parse_statements`] splits the Markdown of a rule file into single statements: list items and
//! paragraphs, each with the heading or list item above it as context. The selection of statements
//! worth storing is left to the caller.
//!
//! ```text
//! ## Testing                       (context of the items below)
//! - Use `pytest`, **never**
//!   unittest                       under "Testing": Use `pytest`, never unittest
//! - In migrations:                 (an introduction: context of the items inside it)
//!   - never drop a column          under "In migrations": never drop a column
//! ```

/// A file that hosts read on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// Relative to the project root. A folder ends in `/` and stands for the files in it.
    pub path: &'static str,
    /// Hosts that read it on their own.
    pub read_by: &'static [&'static str],
}

/// In the order of reading: a rule in two files is taken from the first.
#[rustfmt::skip]
pub const RULE_FILES: &[RuleFile] = &[
    RuleFile { path: "AGENTS.md",                       read_by: &["codex", "copilot", "opencode", "cursor", "zed"] },
    RuleFile { path: "CLAUDE.md",                       read_by: &["claude-code", "copilot", "opencode"] },
    RuleFile { path: ".claude/CLAUDE.md",               read_by: &["claude-code"] },
    RuleFile { path: "GEMINI.md",                       read_by: &["copilot", "gemini"] },
    RuleFile { path: ".github/copilot-instructions.md", read_by: &["copilot"] },
    RuleFile { path: ".cursorrules",                    read_by: &["cursor"] },
    RuleFile { path: ".cursor/rules/",                  read_by: &["cursor"] },
    RuleFile { path: ".windsurfrules",                  read_by: &["windsurf"] },
    RuleFile { path: ".windsurf/rules/",                read_by: &["windsurf"] },
    RuleFile { path: ".clinerules",                     read_by: &["cline"] },
    RuleFile { path: ".clinerules/",                    read_by: &["cline"] },
];

/// Hosts that read a file only if another one, which they prefer, is missing.
const SKIPPED_IF_PRESENT: &[(&str, &str, &str)] = &[
    // host      skips        if it finds
    ("opencode", "CLAUDE.md", "AGENTS.md"),
];

/// True if a host reads a file on its own. `exists` tests for other rule files of the project.
pub fn is_read_by_host(path: &str, host: &str, exists: impl Fn(&str) -> bool) -> bool {
    let is_skipped = SKIPPED_IF_PRESENT.iter().any(|(skipping_host, skipped, preferred)| {
        (*skipping_host, *skipped) == (host, path) && exists(preferred)
    });
    find_rule_file(path).is_some_and(|it| it.read_by.contains(&host)) && !is_skipped
}

/// The row of the table that a path belongs to.
pub fn find_rule_file(path: &str) -> Option<&'static RuleFile> {
    let matches =
        |it: &&RuleFile| it.path == path || (it.path.ends_with('/') && path.starts_with(it.path));
    RULE_FILES.iter().find(matches)
}

/// One statement of a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleStatement {
    /// Line number, from 1.
    pub line: usize,
    /// The heading above it, or the list item that introduces it.
    pub under: Option<String>,
    pub text: String,
}

/// Words that name no subject, in lower case and without a plural `s`. A heading of such words alone
/// adds nothing to the statements under it: "General notes", "Important rules to follow".
#[rustfmt::skip]
const GENERAL_WORDS: &[&str] = &[
    "a", "additional", "agent", "all", "alway", "and", "avoid", "basic", "best", "common", "convention", "core", "critical",
    "development", "do", "don't", "dont", "essential", "expectation", "follow", "for", "general", "guidance", "guide", "guideline",
    "important", "information", "instruction", "key", "misc", "miscellaneou", "more", "must", "never", "not", "note", "of",
    "other", "overview", "please", "policy", "practice", "preference", "principle", "project", "quick", "reference",
    "remember", "reminder", "requirement", "rule", "specific", "standard", "summary", "the", "thing", "tip", "to",
    "warning", "you", "your",
];

impl RuleStatement {
    /// The statement as it is told: with its heading only if the heading names a subject that the sentence
    /// itself does not name.
    pub fn told_text(&self) -> String {
        match &self.under {
            Some(under) if !repeats_words(under, &self.text) => self.text_under_heading(under),
            _ => self.text.clone(),
        }
    }

    /// All forms in which the statement may have been imported.
    pub fn possible_texts(&self) -> Vec<String> {
        let mut texts = vec![self.told_text(), self.text.clone()];
        texts.extend(self.under.iter().map(|it| self.text_under_heading(it)));
        texts
    }

    fn text_under_heading(&self, under: &str) -> String {
        format!("{under}: {}", self.text)
    }
}

/// The words of a text in lower case, without a plural `s`.
fn plain_words(text: &str) -> Vec<String> {
    let is_separator = |it: char| !it.is_alphanumeric() && it != '\'';
    let words = text.split(is_separator).filter(|it| !it.is_empty());
    words.map(|it| it.to_lowercase().trim_end_matches('s').to_owned()).collect()
}

/// Returns whether a heading names a subject.
fn is_specific(heading: &str) -> bool {
    plain_words(heading).iter().any(|it| !GENERAL_WORDS.contains(&it.as_str()))
}

/// Returns whether a sentence has all words of a heading that name a subject.
fn repeats_words(heading: &str, sentence: &str) -> bool {
    let sentence = plain_words(sentence);
    plain_words(heading)
        .iter()
        .filter(|it| !GENERAL_WORDS.contains(&it.as_str()))
        .all(|it| sentence.contains(it))
}

/// The statements of a rule file, in their order.
pub fn parse_statements(text: &str) -> Vec<RuleStatement> {
    let mut reader = RuleReader::default();
    let mut lines = text.lines().enumerate().peekable();
    if lines.peek().is_some_and(|(_, first_line)| first_line.trim_end() == "---") {
        // Front matter configures the host; it holds no rules.
        lines.next();
        for (_, line) in lines.by_ref() {
            if line.trim_end() == "---" {
                break;
            }
        }
    }
    for (index, line) in lines {
        reader.read_line(index + 1, line);
    }
    reader.finish_statement();
    reader.acc
}

/// A line-by-line reader of Markdown.
#[derive(Default)]
struct RuleReader {
    acc: Vec<RuleStatement>,
    /// The nearest heading. The title is left out: it applies to the whole file, so it adds nothing
    /// to one statement.
    heading: Option<String>,
    /// List items that introduce the items below them, with their indentation.
    introductions: Vec<(usize, String)>,
    /// The statement being read, which may continue on the next line.
    open: Option<OpenStatement>,
    /// The fence that ends the current code block.
    fence: Option<String>,
    in_comment: bool,
}

/// A statement whose end is not reached.
struct OpenStatement {
    line: usize,
    indent: usize,
    is_item: bool,
    text: String,
}

impl OpenStatement {
    /// True for a paragraph whose last line ended a sentence where the next line begins one: people
    /// write one rule per line, without list markers.
    fn is_whole_before(&self, next_line: &str) -> bool {
        let ends_sentence = self.text.ends_with(['.', '!']);
        let begins_sentence =
            next_line.starts_with(|it: char| it.is_uppercase() || matches!(it, '`' | '*'));
        !self.is_item && ends_sentence && begins_sentence
    }
}

impl RuleReader {
    fn read_line(&mut self, number: usize, line: &str) {
        let trimmed = line.trim();
        // Code blocks and comments are skipped up to their end, whatever they contain.
        if let Some(fence) = &self.fence {
            if trimmed.starts_with(fence.as_str()) {
                self.fence = None;
            }
            return;
        }
        if self.in_comment || trimmed.starts_with("<!--") {
            self.in_comment = !trimmed.contains("-->");
            return;
        }
        if let Some(fence) = ["```", "~~~"].iter().find(|it| trimmed.starts_with(**it)) {
            self.finish_statement();
            self.fence = Some((*fence).to_owned());
            return;
        }
        let indent = line.len() - line.trim_start().len();
        if let Some(title) = parse_heading(trimmed) {
            // A heading ends every list above it.
            self.finish_statement();
            self.introductions.clear();
            self.heading = (!trimmed.starts_with("# ")).then(|| strip_emphasis(title));
        } else if trimmed.is_empty() || trimmed.starts_with('|') || is_separator(trimmed) {
            // Blank lines, rows of tables and separators end a statement and are none.
            self.finish_statement();
        } else if let Some(item) = parse_list_item(trimmed) {
            self.finish_statement();
            // Introductions at this depth or deeper belong to lists that have ended.
            self.introductions.retain(|(depth, _)| *depth < indent);
            self.open =
                Some(OpenStatement { line: number, indent, is_item: true, text: item.to_owned() });
        } else if let Some(open) = self.open.as_mut().filter(|it| !it.is_whole_before(trimmed)) {
            // A line without a marker continues the item or paragraph before it.
            open.text.push(' ');
            open.text.push_str(trimmed);
        } else {
            self.finish_statement();
            let text = trimmed.trim_start_matches("> ").to_owned();
            self.open = Some(OpenStatement { line: number, indent, is_item: false, text });
        }
    }

    /// Adds the statement being read, or takes it as an introduction.
    fn finish_statement(&mut self) {
        let Some(open) = self.open.take() else { return };
        let text = strip_emphasis(&open.text);
        // `In migrations:` is no statement but the context of the items below it.
        if let Some(introduction) = text.strip_suffix(':') {
            // A paragraph introduces nothing below it and ends all open introductions.
            let indent = if open.is_item { open.indent } else { 0 };
            self.introductions.retain(|(depth, _)| *depth < indent);
            if open.is_item {
                self.introductions.push((indent, introduction.to_owned()));
            }
            return;
        }
        if text.is_empty() {
            return;
        }
        // The innermost introduction, or else the heading.
        let under = match self.introductions.last() {
            Some((_, introduction)) => Some(introduction.clone()),
            None => self.heading.clone().filter(|it| is_specific(it)),
        };
        self.acc.push(RuleStatement { line: open.line, under, text });
    }
}

/// The text of a heading.
fn parse_heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    if (1..=6).contains(&depth) { rest.strip_prefix(' ') } else { None }
}

/// The text of a list item.
fn parse_list_item(line: &str) -> Option<&str> {
    let bulleted = ["- ", "* ", "+ ", "• "].iter().find_map(|it| line.strip_prefix(it));
    let text = bulleted.or_else(|| strip_item_number(line))?;
    let checkboxes = ["[ ] ", "[x] ", "[X] "];
    Some(checkboxes.iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text))
}

/// The text after `12. ` or `12) `; a number of more than three digits is a year or the like.
fn strip_item_number(line: &str) -> Option<&str> {
    let n_digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=3).contains(&n_digits) {
        return None;
    }
    let rest = &line[n_digits..];
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
}

/// True for a horizontal rule and for the underline of a heading.
fn is_separator(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|it| matches!(it, '-' | '*' | '_' | '=' | ' '))
}

/// The text without emphasis and repeated spaces. Code stays in backticks.
fn strip_emphasis(text: &str) -> String {
    let text = text.replace("**", "").replace("__", "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the statements of a text: line number, context in brackets, statement.
    fn check(text: &str, expect: Expect) {
        let show = |it: &RuleStatement| {
            let under = it.under.as_ref().map(|it| format!("[{it}] ")).unwrap_or_default();
            format!("{}: {under}{}\n", it.line, it.text)
        };
        expect.assert_eq(&parse_statements(text).iter().map(show).collect::<String>());
    }

    #[test]
    fn a_host_that_reads_one_of_two_files_reads_the_preferred_one() {
        let reads = |path: &str, host: &str, existing: &[&str]| {
            is_read_by_host(path, host, |it| existing.contains(&it))
        };
        assert!(reads("CLAUDE.md", "opencode", &["CLAUDE.md"]));
        assert!(!reads("CLAUDE.md", "opencode", &["AGENTS.md", "CLAUDE.md"]));
        assert!(reads("AGENTS.md", "opencode", &["AGENTS.md", "CLAUDE.md"]));
        assert!(reads("CLAUDE.md", "claude-code", &["AGENTS.md", "CLAUDE.md"]));
        assert!(!reads("CLAUDE.md", "codex", &["CLAUDE.md"]));
    }

    #[test]
    fn items_and_paragraphs_are_statements() {
        check(
            "# My project\n\nIt does\nthings.\n\n## Testing\n- Use `pytest`, **never**\n  unittest\n1. Run it twice\n- [ ] later\n\n## Rules\n* Be kind\n",
            expect![[r"
                3: It does things.
                7: [Testing] Use `pytest`, never unittest
                9: [Testing] Run it twice
                10: [Testing] later
                13: Be kind
            "]],
        );
    }

    #[test]
    fn lines_that_are_sentences_are_statements_of_their_own() {
        check(
            "Never use npm.\nAlways use `pnpm`.\n`make check` runs\nbefore a commit.\n\n- An item.\n  Its second sentence.\n",
            expect![[r"
                1: Never use npm.
                2: Always use `pnpm`.
                3: `make check` runs before a commit.
                6: An item. Its second sentence.
            "]],
        );
    }

    #[test]
    fn an_introducing_item_is_the_context_of_the_items_below_it() {
        check(
            "- In migrations:\n  - never drop a column\n  - In SQL files:\n    - one statement a line\n  - keep them small\n- elsewhere\n",
            expect![[r"
                2: [In migrations] never drop a column
                4: [In SQL files] one statement a line
                5: [In migrations] keep them small
                6: elsewhere
            "]],
        );
    }

    #[test]
    fn tables_code_and_comments_are_no_statements() {
        check(
            "---\nglobs: '*.ts'\n---\n<!-- never\nsay this -->\n| a | b |\n|---|---|\n```sh\nrm -rf x\n```\n---\nText\n~~~\nmore\n",
            expect![[r"
                12: Text
            "]],
        );
        check("", expect![""]);
        check("---\nnever closed", expect![""]);
    }

    #[test]
    fn a_heading_is_told_only_if_it_names_a_subject_that_the_sentence_does_not() {
        let told = |text: &str| -> Vec<String> {
            parse_statements(text).iter().map(RuleStatement::told_text).collect()
        };
        for heading in [
            "Overview",
            "Guidelines",
            "Notes",
            "Important",
            "Conventions",
            "Important rules to follow",
        ] {
            let rule = format!("# Project\n\n## {heading}\n\n- Never mock the clock.\n");
            assert_eq!(told(&rule), ["Never mock the clock."], "{heading}");
        }
        assert_eq!(
            told("## Tests\n\n- Run the tests before a commit.\n"),
            ["Run the tests before a commit."]
        );
        assert_eq!(
            told("## Database\n\n- Never open a connection outside `src/db.rs`.\n"),
            ["Database: Never open a connection outside `src/db.rs`."]
        );
    }

    #[test]
    fn hosts_read_their_own_files() {
        let is_read_by =
            |path, host| find_rule_file(path).is_some_and(|it| it.read_by.contains(&host));
        assert!(is_read_by("CLAUDE.md", "claude-code") && !is_read_by("CLAUDE.md", "codex"));
        assert!(is_read_by(".cursor/rules/api.mdc", "cursor"));
        assert!(!is_read_by("README.md", "claude-code"));
    }
}
