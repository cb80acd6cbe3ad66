//! Rule files: what people wrote down for their agents, statement by statement.
//!
//! Markdown as far as it matters here. Which statement is worth keeping is not decided here.

/// A file that hosts read by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// From the root of the project; a folder ends in `/` and stands for the files in it.
    pub path: &'static str,
    /// The hosts that read it unasked.
    pub read_by: &'static [&'static str],
}

/// In the order they are looked at: a rule that stands in two files is taken from the first.
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

/// Hosts that read a file only where there is not another one, which they take first.
const INSTEAD: &[(&str, &str, &str)] = &[
    // host      reads        unless there is
    ("opencode", "CLAUDE.md", "AGENTS.md"),
];

/// Whether a host reads a file unasked, beside those that are there.
pub fn is_read(path: &str, host: &str, is_there: impl Fn(&str) -> bool) -> bool {
    let gives_way = INSTEAD.iter().any(|it| (it.0, it.1) == (host, path) && is_there(it.2));
    rule_file(path).is_some_and(|it| it.read_by.contains(&host)) && !gives_way
}

/// The row of the table that a file belongs to.
pub fn rule_file(path: &str) -> Option<&'static RuleFile> {
    let is_it =
        |it: &&RuleFile| it.path == path || (it.path.ends_with('/') && path.starts_with(it.path));
    RULE_FILES.iter().find(is_it)
}

/// One thing a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Counted from one.
    pub line: usize,
    /// What it stands under: a heading, or the item that introduces it.
    pub under: Option<String>,
    pub text: String,
}

/// Headings that say nothing about what stands under them, in lower case.
const EMPTY_HEADINGS: &[&str] = &[
    "rules",
    "general",
    "general rules",
    "guidelines",
    "general guidelines",
    "conventions",
    "notes",
    "important",
    "important notes",
    "overview",
    "instructions",
    "other",
    "misc",
    "do",
    "don't",
    "dos and don'ts",
    "critical rules",
    "key rules",
    "best practices",
    "guidance",
    "remember",
];

/// What a rule file says, in its order.
pub fn statements(text: &str) -> Vec<Statement> {
    let mut reader = Reader::default();
    let mut lines = text.lines().enumerate().peekable();
    if lines.peek().is_some_and(|it| it.1.trim_end() == "---") {
        // Front matter is for the host.
        lines.next();
        for (_, line) in lines.by_ref() {
            if line.trim_end() == "---" {
                break;
            }
        }
    }
    for (at, line) in lines {
        reader.read(at + 1, line);
    }
    reader.end();
    reader.acc
}

#[derive(Default)]
struct Reader {
    acc: Vec<Statement>,
    /// The title of the file is about all of it, and so about nothing in it.
    heading: Option<String>,
    /// Items that go on in the items below them, with how far they are set in.
    introductions: Vec<(usize, String)>,
    /// What is being read.
    open: Option<Open>,
    /// The fence of a block of code.
    fence: Option<String>,
    in_comment: bool,
}

struct Open {
    line: usize,
    indent: usize,
    is_item: bool,
    text: String,
}

impl Reader {
    fn read(&mut self, at: usize, line: &str) {
        let trimmed = line.trim();
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
            self.end();
            self.fence = Some((*fence).to_owned());
            return;
        }
        let indent = line.len() - line.trim_start().len();
        if let Some(title) = heading(trimmed) {
            self.end();
            self.introductions.clear();
            self.heading = (!trimmed.starts_with("# ")).then(|| plain(title));
        } else if trimmed.is_empty() || trimmed.starts_with('|') || is_rule_line(trimmed) {
            self.end();
        } else if let Some(item) = item(trimmed) {
            self.end();
            self.introductions.retain(|it| it.0 < indent);
            self.open = Some(Open { line: at, indent, is_item: true, text: item.to_owned() });
        } else if let Some(open) = &mut self.open {
            open.text.push(' ');
            open.text.push_str(trimmed);
        } else {
            let text = trimmed.trim_start_matches("> ").to_owned();
            self.open = Some(Open { line: at, indent, is_item: false, text });
        }
    }

    /// What was being read is complete.
    fn end(&mut self) {
        let Some(open) = self.open.take() else { return };
        let text = plain(&open.text);
        if let Some(introduction) = text.strip_suffix(':') {
            let indent = if open.is_item { open.indent } else { 0 };
            self.introductions.retain(|it| it.0 < indent);
            if open.is_item {
                self.introductions.push((indent, introduction.to_owned()));
            }
            return;
        }
        if text.is_empty() {
            return;
        }
        let introduced = self.introductions.last().map(|it| it.1.clone());
        let says = |it: &String| !EMPTY_HEADINGS.contains(&it.to_lowercase().as_str());
        let under = introduced.or_else(|| self.heading.clone().filter(says));
        self.acc.push(Statement { line: open.line, under, text });
    }
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    (1..=6).contains(&depth).then(|| rest.strip_prefix(' ')).flatten()
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ ", "• "].iter().find_map(|it| line.strip_prefix(it));
    let text = bullet.or_else(|| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &line[digits..];
        let follows = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
        follows.filter(|_| (1..=3).contains(&digits))
    })?;
    let boxes = ["[ ] ", "[x] ", "[X] "];
    Some(boxes.iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text))
}

/// A line that only separates.
fn is_rule_line(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|it| matches!(it, '-' | '*' | '_' | '=' | ' '))
}

/// Without emphasis and double spaces. Code stays quoted.
fn plain(text: &str) -> String {
    let text = text.replace("**", "").replace("__", "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let show = |it: &Statement| {
            let under = it.under.as_ref().map(|it| format!("[{it}] ")).unwrap_or_default();
            format!("{}: {under}{}\n", it.line, it.text)
        };
        expect.assert_eq(&statements(text).iter().map(show).collect::<String>());
    }

    #[test]
    fn a_host_that_reads_one_file_of_two_reads_the_first() {
        let reads =
            |path: &str, host: &str, there: &[&str]| is_read(path, host, |it| there.contains(&it));
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
    fn items_that_introduce_others_stand_above_them() {
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
    fn what_is_no_prose_is_no_statement() {
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
    fn hosts_read_their_own_files() {
        let is_read_by = |path, host| rule_file(path).is_some_and(|it| it.read_by.contains(&host));
        assert!(is_read_by("CLAUDE.md", "claude-code") && !is_read_by("CLAUDE.md", "codex"));
        assert!(is_read_by(".cursor/rules/api.mdc", "cursor"));
        assert!(!is_read_by("README.md", "claude-code"));
    }
}
