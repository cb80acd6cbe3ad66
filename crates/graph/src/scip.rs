//! Precise indexes of other tools, as far as they say who refers to whom.
//!
//! SCIP is a protocol buffer; the few fields that matter are read by hand.

use crate::facts::Reader;

/// One file of a SCIP index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScipFile {
    pub path: String,
    pub occurrences: Vec<Occurrence>,
}

/// A symbol at a place. Columns count in the encoding of the tool, UTF-16 for most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrence {
    pub line: u32,
    pub column: u32,
    pub symbol: String,
    pub is_definition: bool,
}

/// Reads an index; `None` if the bytes are none.
pub fn read_scip(bytes: &[u8]) -> Option<Vec<ScipFile>> {
    let mut res = Vec::new();
    fields(bytes, |number, field| {
        if let (2, Field::Bytes(it)) = (number, field) {
            res.push(document(it)?);
        }
        Some(())
    })?;
    Some(res)
}

fn document(bytes: &[u8]) -> Option<ScipFile> {
    let mut res = ScipFile::default();
    fields(bytes, |number, field| {
        match (number, field) {
            (1, Field::Bytes(it)) => res.path = String::from_utf8(it.to_vec()).ok()?,
            (2, Field::Bytes(it)) => res.occurrences.push(occurrence(it)?),
            _ => {}
        }
        Some(())
    })?;
    Some(res)
}

fn occurrence(bytes: &[u8]) -> Option<Occurrence> {
    let mut res = Occurrence::default();
    fields(bytes, |number, field| {
        match (number, field) {
            (1, Field::Bytes(it)) => {
                let mut range = Reader(it);
                (res.line, res.column) = (range.small()?, range.small()?);
            }
            (2, Field::Bytes(it)) => res.symbol = String::from_utf8(it.to_vec()).ok()?,
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
