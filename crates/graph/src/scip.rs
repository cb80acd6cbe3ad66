//! Precise indexes of other tools, as far as they say who refers to whom.
//!
//! SCIP is a protocol buffer; the few fields that matter are read by hand.

use crate::facts::Reader;

/// One file of a SCIP index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScipFile<'a> {
    pub path: String,
    pub encoding: Encoding,
    pub occurrences: Vec<Occurrence<'a>>,
}

/// In what the columns of a file count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    Bytes,
    /// What most tools count in, and those mean that do not say.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// A column in bytes; `None` if the line is not so long or it would cut a character.
    pub(crate) fn bytes(self, line: &[u8], column: u32) -> Option<u32> {
        let wanted = column as usize;
        if self == Self::Bytes || line.is_ascii() {
            return (wanted <= line.len()).then_some(column);
        }
        let text = std::str::from_utf8(line).ok()?;
        let mut at = 0;
        for (i, it) in text.char_indices() {
            if at >= wanted {
                return (at == wanted).then(|| crate::sketch::index(i));
            }
            at += if self == Self::Utf16 { it.len_utf16() } else { 1 };
        }
        (at == wanted).then(|| crate::sketch::index(text.len()))
    }
}

/// A symbol at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrence<'a> {
    pub line: u32,
    pub column: u32,
    /// Where it ends on that line; nothing if it ends on another.
    pub end: Option<u32>,
    pub symbol: &'a str,
    pub is_definition: bool,
}

/// Reads an index; `None` if the bytes are none.
pub fn read_scip(bytes: &[u8]) -> Option<Vec<ScipFile<'_>>> {
    let mut res = Vec::new();
    fields(bytes, |number, field| {
        if let (2, Field::Bytes(it)) = (number, field) {
            res.push(document(it)?);
        }
        Some(())
    })?;
    Some(res)
}

fn document(bytes: &[u8]) -> Option<ScipFile<'_>> {
    let mut res = ScipFile::default();
    fields(bytes, |number, field| {
        match (number, field) {
            (1, Field::Bytes(it)) => res.path = String::from_utf8(it.to_vec()).ok()?,
            (2, Field::Bytes(it)) => res.occurrences.push(occurrence(it)?),
            (6, Field::Number(1)) => res.encoding = Encoding::Bytes,
            (6, Field::Number(3)) => res.encoding = Encoding::Utf32,
            _ => {}
        }
        Some(())
    })?;
    Some(res)
}

fn occurrence(bytes: &[u8]) -> Option<Occurrence<'_>> {
    let mut res = Occurrence::default();
    fields(bytes, |number, field| {
        match (number, field) {
            (1, Field::Bytes(it)) => {
                let mut range = Reader(it);
                (res.line, res.column) = (range.small()?, range.small()?);
                let third = range.small();
                res.end = match range.small() {
                    Some(end) => third.filter(|it| *it == res.line).map(|_| end),
                    None => third,
                };
            }
            (2, Field::Bytes(it)) => res.symbol = std::str::from_utf8(it).ok()?,
            (3, Field::Number(it)) => res.is_definition = it & 1 == 1,
            _ => {}
        }
        Some(())
    })?;
    Some(res)
}

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn fields<'a>(bytes: &'a [u8], mut found: impl FnMut(u64, Field<'a>) -> Option<()>) -> Option<()> {
    let mut from = Reader(bytes);
    while !from.0.is_empty() {
        let tag = from.number()?;
        let field = match tag & 7 {
            0 => Field::Number(from.number()?),
            1 => Field::Number(from.whole()?),
            2 => {
                let len = from.size()?;
                let (it, rest) = from.0.split_at_checked(len)?;
                from.0 = rest;
                Field::Bytes(it)
            }
            5 => {
                let (it, rest) = from.0.split_first_chunk::<4>()?;
                from.0 = rest;
                Field::Number(u64::from(u32::from_le_bytes(*it)))
            }
            _ => return None,
        };
        found(tag >> 3, field)?;
    }
    Some(())
}
