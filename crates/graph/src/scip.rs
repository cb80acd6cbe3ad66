//! Parser of SCIP indexes (the code intelligence format of Sourcegraph): occurrences of symbols per
//! file.
//!
//! SCIP is a protocol buffer. Only a few fields are needed, so they are read by hand instead of
//! with generated code.

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
    /// The default: most indexers count so, and among them those that leave the field out.
    #[default]
    Utf16,
    /// Unicode code points.
    Utf32,
}

impl ColumnEncoding {
    /// Converts a column to bytes; `None` if the line is shorter or the column is inside a
    /// character.
    pub(crate) fn to_byte_column(self, line: &[u8], column: u32) -> Option<u32> {
        let wanted = column as usize;
        // In ASCII all units are the same, and nearly all lines are ASCII.
        if self == Self::Bytes || line.is_ascii() {
            return (wanted <= line.len()).then_some(column);
        }
        let text = std::str::from_utf8(line).ok()?;
        let mut units = 0;
        for (offset, char) in text.char_indices() {
            if units >= wanted {
                return (units == wanted).then(|| to_index(offset));
            }
            units += if self == Self::Utf16 { char.len_utf16() } else { 1 };
        }
        (units == wanted).then(|| to_index(text.len()))
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

/// Parses an index; `None` if the bytes are not a protocol buffer of that shape.
pub fn parse_scip(bytes: &[u8]) -> Option<Vec<ScipFile<'_>>> {
    let mut files = Vec::new();
    for_each_field(bytes, |number, field| {
        // Field 1 is metadata, 3 the external symbols.
        if let (2, ProtobufField::Bytes(bytes)) = (number, field) {
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
            (1, ProtobufField::Bytes(bytes)) => {
                file.path = String::from_utf8(bytes.to_vec()).ok()?;
            }
            (2, ProtobufField::Bytes(bytes)) => file.occurrences.push(parse_occurrence(bytes)?),
            // `position_encoding`: 1 UTF-8, 2 UTF-16, 3 UTF-32.
            (6, ProtobufField::Integer(1)) => file.encoding = ColumnEncoding::Bytes,
            (6, ProtobufField::Integer(3)) => file.encoding = ColumnEncoding::Utf32,
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
            (1, ProtobufField::Bytes(bytes)) => {
                // Three numbers: line, start, end. Four: line, start, end line, end.
                let mut range = ByteReader::new(bytes);
                (occurrence.line, occurrence.column) = (range.read_u32()?, range.read_u32()?);
                let third = range.read_u32();
                occurrence.end = match range.read_u32() {
                    Some(end) => third.filter(|it| *it == occurrence.line).map(|_| end),
                    None => third,
                };
            }
            (2, ProtobufField::Bytes(bytes)) => {
                occurrence.symbol = std::str::from_utf8(bytes).ok()?;
            }
            // Bit 0 of `symbol_roles` marks a definition.
            (3, ProtobufField::Integer(roles)) => occurrence.is_definition = roles & 1 == 1,
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

/// Calls `visit` with the number and value of each field of a message.
fn for_each_field<'a>(
    bytes: &'a [u8],
    mut visit: impl FnMut(u64, ProtobufField<'a>) -> Option<()>,
) -> Option<()> {
    let mut reader = ByteReader::new(bytes);
    while !reader.is_empty() {
        // The lowest three bits of a tag are the wire type, the rest is the field number.
        let tag = reader.read_varint()?;
        let field = match tag & 7 {
            0 => ProtobufField::Integer(reader.read_varint()?),
            1 => ProtobufField::Integer(reader.read_fixed_u64()?),
            2 => {
                let len = reader.read_len()?;
                ProtobufField::Bytes(reader.read_bytes(len)?)
            }
            5 => ProtobufField::Integer(u64::from(reader.read_fixed_u32()?)),
            _ => return None,
        };
        visit(tag >> 3, field)?;
    }
    Some(())
}
