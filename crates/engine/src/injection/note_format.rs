//! The format of a memory as a note for a language model: label, text, short id and remarks, framed by
//! `model_text` so that no text can pose as an instruction. The functions differ in the text that
//! they choose: the summary, the whole content, or a given text.

use super::context_request::NoteDetail;
use crate::ProjectReader;
use crate::model_text::{self, TextOrigin};
use model::{Memory, MemoryStatus, MemoryType};

/// Bytes of a note above which its summary is used. Hosts cut long output; four notes of this size
/// stay below their limits, so a block is never cut.
const MAX_NOTE_BYTES: usize = 2_000;

/// Formats a memory by its summary or its whole text.
pub(crate) fn format_memory_note(
    reader: &ProjectReader,
    memory: &Memory,
    detail: NoteDetail,
    remarks: &[String],
) -> String {
    let text = match detail {
        NoteDetail::Summary if !memory.summary.is_empty() => &memory.summary,
        NoteDetail::Summary | NoteDetail::Full => &memory.content,
    };
    format_text(reader, memory, text, remarks)
}

/// Formats a memory by its whole text, or by its summary if the note would be too long.
pub(super) fn format_capped(reader: &ProjectReader, memory: &Memory) -> String {
    let full = format_text(reader, memory, &memory.content, &[]);
    if full.len() <= MAX_NOTE_BYTES {
        full
    } else {
        format_text(reader, memory, &memory.summary, &[])
    }
}

/// Formats a memory of any status by its whole text; the note names a status other than live.
pub(crate) fn format_with_status(reader: &ProjectReader, memory: &Memory) -> String {
    let mut remarks = Vec::new();
    if memory.status() != MemoryStatus::Live {
        remarks.push(memory.status().slug().replace('_', " "));
    }
    format_text(reader, memory, &memory.content, &remarks)
}

/// Formats a given text with the label and the id of a memory.
pub(super) fn format_text(
    reader: &ProjectReader,
    memory: &Memory,
    text: &str,
    remarks: &[String],
) -> String {
    let (label, id) = (type_label(reader, &memory.kind), memory.id.short());
    let note = model_text::FramedNote { label: &label, text, id: &id, remarks };
    model_text::format_note(&note, TextOrigin::of_memory(memory))
}

/// The label of a type; a custom type has the label it was declared with.
fn type_label(reader: &ProjectReader, kind: &MemoryType) -> String {
    if let Some(core) = kind.core_kind() {
        return core.row().label.to_owned();
    }
    let declared = reader.config.types.iter().find(|it| it.slug == kind.slug());
    declared.map_or_else(|| kind.slug().to_owned(), |it| it.label.clone())
}
