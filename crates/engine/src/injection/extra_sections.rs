//! The sections of a context block that are not memories: errors of earlier sessions, lines about the
//! project, and files that the task will probably need.
//!
//! `context_builder` sizes the sections first, packs memories into the rest of the budget, and then
//! appends the sections to the packed block. A section that needs too much of the budget is left out
//! as a whole. The *shown log* of a session records what it was shown, these sections included.

use observe::{FilePrediction, PredictedFile};
use recall::estimate_tokens;
use store::ShownEntry;

use super::context_candidates::ContextCandidates;
use super::map_summary::MapLine;
use crate::model_text::{self, TextOrigin, is_withheld};

const EXPECTED_ERRORS_TITLE: &str = "What failed in earlier sessions here, command and answer:";
const PREDICTED_FILES_TITLE: &str = "Files that sessions on such work opened:";
const MAP_TITLE: &str = "This project, according to its files:";

/// Parts of the budget that one section may take: a half, a fifth, a fifth. Memories keep at least a
/// tenth.
const EXPECTED_ERRORS_DIVISOR: u32 = 2;
const MAP_DIVISOR: u32 = 5;
const PREDICTED_FILES_DIVISOR: u32 = 5;

/// The sections of a block that are not memories.
pub(super) struct ExtraSections {
    pub(super) expected_errors: ExtraSection,
    map: ExtraSection,
    predicted_files: ExtraSection,
}

impl ExtraSections {
    /// Formats the sections for a block of `token_budget`.
    pub(super) fn new(candidates: &ContextCandidates, token_budget: u32) -> Self {
        let map_lines: Vec<&str> = candidates.map_lines.iter().map(|it| it.text.as_str()).collect();
        let files = format_predicted_files(candidates.predicted_files.as_ref());
        Self {
            expected_errors: ExtraSection::new(
                EXPECTED_ERRORS_TITLE,
                &candidates.expected_errors,
                token_budget / EXPECTED_ERRORS_DIVISOR,
            ),
            map: ExtraSection::new(MAP_TITLE, &map_lines.join("\n"), token_budget / MAP_DIVISOR),
            predicted_files: ExtraSection::new(
                PREDICTED_FILES_TITLE,
                &files,
                token_budget / PREDICTED_FILES_DIVISOR,
            ),
        }
    }

    pub(super) fn tokens(&self) -> u32 {
        self.expected_errors.tokens + self.map.tokens + self.predicted_files.tokens
    }

    /// Appends all sections to a packed block, in this order: predicted files, map, expected errors.
    pub(super) fn append_to(&self, block: String) -> String {
        let block = self.predicted_files.append_to(block);
        let block = self.map.append_to(block);
        self.expected_errors.append_to(block)
    }

    /// The shown-log entries of the map and the predicted files, if they are in the block. The entry of
    /// the expected errors is made by `shown_notes::context_entries`.
    pub(super) fn shown_entries(&self, map_lines: &[MapLine]) -> Vec<ShownEntry> {
        let mut entries = Vec::new();
        if !self.map.text.is_empty() {
            entries.extend(map_lines.iter().map(|it| it.entry.clone()));
        }
        if !self.predicted_files.text.is_empty() {
            entries.push(ShownEntry::PredictedFiles);
        }
        entries
    }
}

/// A titled section that is not made of memories.
pub(super) struct ExtraSection {
    title: &'static str,
    /// The lines below the title; empty if the section is left out.
    pub(super) text: String,
    /// Upper bound of its tokens, as if it were a block of its own.
    tokens: u32,
}

impl ExtraSection {
    /// A section that needs more than `max_tokens` is left out: the budget is for memories.
    fn new(title: &'static str, text: &str, max_tokens: u32) -> Self {
        // The texts come from tools, files and manifests: none of them may end the block.
        let may_read = |it: &&str| !is_withheld(it, TextOrigin::Unconfirmed);
        let lines: Vec<String> =
            text.lines().filter(may_read).map(model_text::neutralize_foreign_text).collect();
        let text = lines.join("\n");
        let (header, footer) = (model_text::NOTES_HEADER, model_text::NOTES_FOOTER);
        let tokens = estimate_tokens(&format!("{header}\n{title}\n{text}\n{footer}\n"));
        if text.is_empty() || tokens > max_tokens {
            return Self { title, text: String::new(), tokens: 0 };
        }
        Self { title, text, tokens }
    }

    /// Inserts the section before the footer of a block; an empty block gets header and footer.
    fn append_to(&self, block: String) -> String {
        if self.text.is_empty() {
            return block;
        }
        let footer = model_text::NOTES_FOOTER;
        // A block without notes is empty, and the section starts one.
        let body = block.trim_end().strip_suffix(footer).unwrap_or(model_text::NOTES_HEADER);
        format!("{}\n{}\n{}\n{footer}", body.trim_end(), self.title, self.text)
    }
}

/// One line per file that the task will probably need.
fn format_predicted_files(predicted: Option<&FilePrediction>) -> String {
    let Some(FilePrediction { files, n_similar, .. }) = predicted else {
        return String::new();
    };
    let line =
        |it: &PredictedFile| format!("`{}`: {} of {n_similar} sessions", it.path, it.n_sessions);
    files.iter().map(line).collect::<Vec<_>>().join("\n")
}
