//! Parser of SCIP indexes (the code intelligence format of Sourcegraph): occurrences of symbols per
//! file.
//!
//! SCIP is a protocol buffer (`scip.proto` in github.com/sourcegraph/scip). Only a few fields are
//! needed, so they are read by hand instead of with generated code. `precise.rs` fits the result to
//! the graph.
//!
//! A protocol buffer is a sequence of fields, each a tag (field number and wire type) and a value;
//! a message inside another is a field of bytes. Here an `Index` contains `Document`s (files), and
//! each of these `Occurrence`s: a range in the text, a symbol string that is the same wherever the
//! symbol occurs (`scip-typescript npm acme 1.0 src/a.ts/run().`), and a bit that marks its
//! definition.

use model::codec::ByteReader;

use crate::facts_builder::to_index;

/// One file of a SCIP index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScipFile<'a> {
    pub path: String,
    pub encoding: ColumnEncoding,
    pub occurrences: Vec<ScipOccurrence<'a>>,
}

/// Unit of the columns of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnEncoding {
    Bytes,
    /// The default: most indexers count in UTF-16, among them those that do not set the field.
    #[default]
    Utf16,
    /// Unicode code points.
    Utf32,
}

impl ColumnEncoding {
    /// Converts a column to bytes; `None` if the line is shorter or the column is inside a
    /// character.
    pub(crate) fn to_byte_column(self, line: &[u8], column: u32) -> Option<u32> {
        let n_units = column as usize;
        // In ASCII all units are the same, and nearly all lines are ASCII.
        if self == Self::Bytes || line.is_ascii() {
            return (n_units <= line.len()).then_some(column);
        }
        let text = std::str::from_utf8(line).ok()?;
        // Units before the current character.
        let mut n_before = 0;
        for (offset, char) in text.char_indices() {
            if n_before >= n_units {
                return (n_before == n_units).then(|| to_index(offset));
            }
            n_before += if self == Self::Utf16 { char.len_utf16() } else { 1 };
        }
        (n_before == n_units).then(|| to_index(text.len()))
    }
}

/// An occurrence of a symbol. Lines and columns count from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScipOccurrence<'a> {
    pub line: u32,
    pub column: u32,
    /// Column of its end; `None` if it ends on another line.
    pub end: Option<u32>,
    pub symbol: &'a str,
    pub is_definition: bool,
}

/// Numbers of the fields that are read, by message of `scip.proto`.
mod field_number {
    pub(super) const INDEX_DOCUMENTS: u64 = 2;
    pub(super) const DOCUMENT_RELATIVE_PATH: u64 = 1;
    pub(super) const DOCUMENT_OCCURRENCES: u64 = 2;
    pub(super) const DOCUMENT_POSITION_ENCODING: u64 = 6;
    pub(super) const OCCURRENCE_RANGE: u64 = 1;
    pub(super) const OCCURRENCE_SYMBOL: u64 = 2;
    pub(super) const OCCURRENCE_SYMBOL_ROLES: u64 = 3;
}

/// Bit of `symbol_roles` that marks a definition.
const DEFINITION_ROLE: u64 = 1;

/// Parses an index; `None` if the bytes are not a protocol buffer of that shape.
pub fn parse_scip(bytes: &[u8]) -> Option<Vec<ScipFile<'_>>> {
    let mut files = Vec::new();
    for_each_field(bytes, |number, field| {
        // The other fields are metadata and external symbols.
        if let (field_number::INDEX_DOCUMENTS, ProtobufField::Bytes(bytes)) = (number, field) {
            files.push(parse_document(bytes)?);
        }
        Some(())
    })?;
    Some(files)
}

fn parse_document(bytes: &[u8]) -> Option<ScipFile<'_>> {
    let mut file = ScipFile::default();
    for_each_field(bytes, |number, field| {
        match (number, field) {
            (field_number::DOCUMENT_RELATIVE_PATH, ProtobufField::Bytes(bytes)) => {
                file.path = String::from_utf8(bytes.to_vec()).ok()?;
            }
            (field_number::DOCUMENT_OCCURRENCES, ProtobufField::Bytes(bytes)) => {
                file.occurrences.push(parse_occurrence(bytes)?);
            }
            (field_number::DOCUMENT_POSITION_ENCODING, ProtobufField::Integer(encoding)) => {
                // The enum `PositionEncoding`: 1 is UTF-8, 2 is UTF-16, 3 is UTF-32, 0 is not set.
                file.encoding = match encoding {
                    1 => ColumnEncoding::Bytes,
                    3 => ColumnEncoding::Utf32,
                    _ => ColumnEncoding::Utf16,
                };
            }
            // A field that is not needed.
            _ => {}
        }
        Some(())
    })?;
    Some(file)
}

fn parse_occurrence(bytes: &[u8]) -> Option<ScipOccurrence<'_>> {
    let mut occurrence = ScipOccurrence::default();
    for_each_field(bytes, |number, field| {
        match (number, field) {
            (field_number::OCCURRENCE_RANGE, ProtobufField::Bytes(bytes)) => {
                // Three numbers: line, start, end. Four: line, start, end line, end.
                let mut range = ByteReader::new(bytes);
                (occurrence.line, occurrence.column) = (range.read_u32()?, range.read_u32()?);
                let third = range.read_u32();
                occurrence.end = match range.read_u32() {
                    // Four numbers: the end counts only if it is on the same line.
                    Some(end) if third == Some(occurrence.line) => Some(end),
                    Some(_) => None,
                    // Three numbers: the third is the end.
                    None => third,
                };
            }
            (field_number::OCCURRENCE_SYMBOL, ProtobufField::Bytes(bytes)) => {
                occurrence.symbol = std::str::from_utf8(bytes).ok()?;
            }
            (field_number::OCCURRENCE_SYMBOL_ROLES, ProtobufField::Integer(roles)) => {
                occurrence.is_definition = roles & DEFINITION_ROLE != 0;
            }
            // A field that is not needed.
            _ => {}
        }
        Some(())
    })?;
    Some(occurrence)
}

/// Value of a field, by wire type.
enum ProtobufField<'a> {
    Integer(u64),
    Bytes(&'a [u8]),
}

/// Calls `visit` with the number and value of each field of a message. `None` if the bytes are not
/// a message, or if `visit` returned `None`.
fn for_each_field<'a>(
    bytes: &'a [u8],
    mut visit: impl FnMut(u64, ProtobufField<'a>) -> Option<()>,
) -> Option<()> {
    let mut reader = ByteReader::new(bytes);
    while !reader.is_empty() {
        // The lowest three bits of a tag are the wire type, the rest is the field number.
        let tag = reader.read_varint()?;
        // 0 is a varint, 1 and 5 are integers of 8 and 4 bytes, 2 is bytes with their length.
        let field = match tag & 7 {
            0 => ProtobufField::Integer(reader.read_varint()?),
            1 => ProtobufField::Integer(reader.read_fixed_u64()?),
            2 => {
                let len = reader.read_len()?;
                ProtobufField::Bytes(reader.read_bytes(len)?)
            }
            5 => ProtobufField::Integer(u64::from(reader.read_fixed_u32()?)),
            // Groups (3, 4) are obsolete, 6 and 7 undefined.
            _ => return None,
        };
        visit(tag >> 3, field)?;
    }
    Some(())
}
