//! Byte format of a file's facts, in which the caller stores them between runs: varints (integers
//! that take fewer bytes the smaller they are) and strings, in field order. The caller stores a
//! version beside the bytes; facts of another version are extracted again, never decoded.
//!
//! The facts are stored in two parts. The outline lists the definitions and is all that queries
//! need. The body has everything else and is read only when the file, or one it depends on,
//! changes. The writer and the reader of an item stand side by side; a reader returns `None` for
//! damaged bytes.
//!
//! ```text
//! encode_outline(facts) → bytes    decode_outline(bytes) → facts with definitions only
//! encode_body(facts) → bytes       decode_body(those facts, bytes) → complete facts
//! term Member(t2, "find")          9, 2, id of "find"      a tag, then the operands
//! ```

use model::codec::{ByteReader, ByteWriter};

use super::reference_facts::ReferenceFacts;
use super::{
    ArityRange, BaseClause, DefFlags, DefKind, DefSpan, Definition, ExportEntry, FileFacts,
    ImportEntry, ImportKind, ListSpan, LocalVariable, RefKind, Reference, SourcePos, Term,
    validate,
};
use crate::lang::SourceLanguage;

/// Encodes the outline: the properties of the file and the definitions without their types.
pub fn encode_outline(facts: &FileFacts) -> Vec<u8> {
    // Rough sizes in bytes. The sum is rarely exceeded, so the buffer is allocated once.
    let capacity = 32 + 40 * facts.defs.len();
    let mut to = ByteWriter::new(Vec::with_capacity(capacity));

    // Properties of the file. Enums are stored as their position in `ALL`.
    to.write_u32(facts.lang as u32);
    to.write_u32(facts.n_lines);
    to.write_u32(u32::from(facts.is_test));
    to.write_u32(facts.n_too_deep);
    to.write_u32(facts.n_syntax_errors);
    // A hash is rarely small, so it is no varint.
    to.write_fixed_u64(facts.interface_hash);

    let n_strings = n_outline_strings(facts);
    to.write_len(n_strings);
    facts.strings.iter().take(n_strings).for_each(|it| to.write_str(it));

    to.write_len(facts.defs.len());
    for def in &facts.defs {
        to.write_u32(def.kind as u32);
        write_id(&mut to, def.name);
        write_optional_id(&mut to, def.parent);
        write_optional_id(&mut to, def.owner_name);
        to.write_u32(u32::from(def.flags.0));
        to.write_u32(def.position.line);
        to.write_u32(def.position.column);
        // Ends are stored as distances, which take fewer bytes than offsets.
        to.write_u32(def.lines.0);
        to.write_u32(def.lines.1 - def.lines.0);
        to.write_u32(def.span.start);
        to.write_u32(def.span.body - def.span.start);
        to.write_u32(def.span.end - def.span.body);
        to.write_fixed_u64(def.structural_hash);
    }
    to.bytes
}

/// Decodes an outline. The rest of the facts is empty until [`decode_body`].
pub fn decode_outline(bytes: &[u8]) -> Option<FileFacts> {
    let mut from = ByteReader::new(bytes);
    let lang = *SourceLanguage::ALL.get(from.read_u32()? as usize)?;
    let (n_lines, is_test) = (from.read_u32()?, from.read_u32()? != 0);
    let (n_too_deep, n_syntax_errors) = (from.read_u32()?, from.read_u32()?);
    let interface_hash = from.read_fixed_u64()?;
    let empty = FileFacts::empty(lang);
    let mut facts =
        FileFacts { n_lines, is_test, n_too_deep, n_syntax_errors, interface_hash, ..empty };
    for _ in 0..from.read_len()? {
        facts.strings.push(from.read_str()?);
    }
    let n_defs = from.read_len()?;
    facts.defs.reserve_exact(n_defs);
    for _ in 0..n_defs {
        facts.defs.push(read_def(&mut from)?);
    }
    from.is_empty().then_some(facts)
}

/// Encodes everything that the outline leaves out.
pub fn encode_body(facts: &FileFacts) -> Vec<u8> {
    // Rough sizes in bytes. The sum is rarely exceeded, so the buffer is allocated once.
    let numbers = 8 * facts.defs.len() + 4 * facts.terms.len() + 3 * facts.locals.len();
    let names = 12 * (facts.strings.len() + facts.imports.len());
    let capacity = 64 + numbers + names + facts.reference_bytes.len();
    let mut to = ByteWriter::new(Vec::with_capacity(capacity));

    let n_in_outline = n_outline_strings(facts);
    to.write_len(facts.strings.len() - n_in_outline);
    facts.strings.iter().skip(n_in_outline).for_each(|it| to.write_str(it));
    to.write_u32(facts.n_visible_strings);
    write_optional_id(&mut to, facts.namespace);

    // No count of definitions: the outline has it.
    for def in &facts.defs {
        write_optional_id(&mut to, def.owner_type);
        to.write_u32(u32::from(def.arity.min));
        to.write_u32(u32::from(def.arity.max));
        write_optional_id(&mut to, def.param_types);
        write_optional_id(&mut to, def.signature);
        write_optional_id(&mut to, def.declared_type);
        write_optional_id(&mut to, def.inferred_from);
        write_id(&mut to, def.type_params.0);
        write_id(&mut to, def.type_params.1);
    }

    to.write_len(facts.bases.len());
    for base in &facts.bases {
        write_id(&mut to, base.def);
        write_id(&mut to, base.term);
        to.write_u32(u32::from(base.implements));
    }

    to.write_len(facts.imports.len());
    for import in &facts.imports {
        to.write_u32(import.kind as u32);
        write_id(&mut to, import.module);
        write_id(&mut to, import.imported_name);
        write_id(&mut to, import.local_name);
        write_optional_id(&mut to, import.parent_module);
        to.write_u32(u32::from(import.is_public));
        to.write_u32(import.line);
    }

    to.write_len(facts.exports.len());
    facts.exports.iter().for_each(|it| write_export(&mut to, it));
    to.write_len(facts.locals.len());
    facts.locals.iter().for_each(|it| write_local(&mut to, *it));
    to.write_len(facts.terms.len());
    facts.terms.iter().for_each(|it| write_term(&mut to, *it));
    to.write_len(facts.lists.len());
    facts.lists.iter().for_each(|it| to.write_u32(*it));

    // Already encoded; they take the rest of the bytes, so no length is written.
    to.bytes.extend(&facts.reference_bytes);
    to.bytes
}

/// Adds the body to facts that hold only an outline.
pub fn decode_body(mut facts: FileFacts, body: &[u8]) -> Option<FileFacts> {
    let mut from = ByteReader::new(body);
    for _ in 0..from.read_len()? {
        facts.strings.push(from.read_str()?);
    }
    facts.n_visible_strings = from.read_u32()?;
    facts.namespace = read_optional_id(&mut from)?;
    for def in &mut facts.defs {
        def.owner_type = read_optional_id(&mut from)?;
        let (min, max) = (from.read_u32()?, from.read_u32()?);
        def.arity = ArityRange { min: u8::try_from(min).ok()?, max: u8::try_from(max).ok()? };
        def.param_types = read_optional_id(&mut from)?;
        def.signature = read_optional_id(&mut from)?;
        def.declared_type = read_optional_id(&mut from)?;
        def.inferred_from = read_optional_id(&mut from)?;
        def.type_params = (read_id(&mut from)?, read_id(&mut from)?);
    }
    for _ in 0..from.read_len()? {
        let (def, term) = (read_id(&mut from)?, read_id(&mut from)?);
        facts.bases.push(BaseClause { def, term, implements: from.read_u32()? != 0 });
    }
    for _ in 0..from.read_len()? {
        facts.imports.push(ImportEntry {
            kind: *ImportKind::ALL.get(from.read_u32()? as usize)?,
            module: read_id(&mut from)?,
            imported_name: read_id(&mut from)?,
            local_name: read_id(&mut from)?,
            parent_module: read_optional_id(&mut from)?,
            is_public: from.read_u32()? != 0,
            line: from.read_u32()?,
        });
    }
    for _ in 0..from.read_len()? {
        facts.exports.push(read_export(&mut from)?);
    }
    for _ in 0..from.read_len()? {
        facts.locals.push(read_local(&mut from)?);
    }
    for _ in 0..from.read_len()? {
        facts.terms.push(read_term(&mut from)?);
    }
    for _ in 0..from.read_len()? {
        facts.lists.push(from.read_u32()?);
    }
    facts.reference_bytes = from.rest.into();
    // The resolver indexes without checks, so damaged bytes are refused here.
    let is_valid = validate::has_valid_indices(&facts)
        && ReferenceFacts::decode(from.rest)?.has_valid_indices(&facts);
    is_valid.then_some(facts)
}

/// The number of strings that the outline stores. The names of definitions come first in the
/// string table, so the outline needs all strings up to the last of them.
fn n_outline_strings(facts: &FileFacts) -> usize {
    let strings = facts.defs.iter().flat_map(|it| [Some(it.name), it.owner_name]).flatten();
    strings.max().map_or(0, |it| it.index() + 1).min(facts.strings.len())
}

/// Reads the outline part of a definition; the other fields are placeholders.
fn read_def(from: &mut ByteReader<'_>) -> Option<Definition> {
    let kind = *DefKind::ALL.get(from.read_u32()? as usize)?;
    let name = read_id(from)?;
    let (parent, owner_name) = (read_optional_id(from)?, read_optional_id(from)?);
    let flags = DefFlags(u16::try_from(from.read_u32()?).ok()?);
    let position = read_position(from)?;
    let first_line = from.read_u32()?;
    let lines = (first_line, first_line.checked_add(from.read_u32()?)?);
    let start = from.read_u32()?;
    let body = start.checked_add(from.read_u32()?)?;
    let span = DefSpan { start, body, end: body.checked_add(from.read_u32()?)? };
    let structural_hash = from.read_fixed_u64()?;
    Some(Definition {
        kind,
        name,
        parent,
        owner_type: None,
        owner_name,
        flags,
        position,
        lines,
        span,
        structural_hash,
        arity: ArityRange { min: 0, max: 0 },
        param_types: None,
        signature: None,
        declared_type: None,
        inferred_from: None,
        type_params: Default::default(),
    })
}

pub(crate) fn write_id(to: &mut ByteWriter, id: impl Into<u32>) {
    to.write_u32(id.into());
}

pub(crate) fn write_optional_id(to: &mut ByteWriter, id: Option<impl Into<u32>>) {
    to.write_optional_u32(id.map(Into::into));
}

fn read_id<T: From<u32>>(from: &mut ByteReader<'_>) -> Option<T> {
    from.read_u32().map(Into::into)
}

/// The outer `None` means damaged bytes, the inner one a stored `None`.
#[expect(clippy::option_option, reason = "unreadable bytes are not a stored `None`")]
fn read_optional_id<T: From<u32>>(from: &mut ByteReader<'_>) -> Option<Option<T>> {
    Some(from.read_optional_u32()?.map(Into::into))
}

fn read_position(from: &mut ByteReader<'_>) -> Option<SourcePos> {
    Some(SourcePos { line: from.read_u32()?, column: from.read_u32()? })
}

fn read_list(from: &mut ByteReader<'_>) -> Option<ListSpan> {
    Some(ListSpan { start: from.read_u32()?, len: from.read_u32()? })
}

pub(super) fn write_local(to: &mut ByteWriter, local: LocalVariable) {
    write_optional_id(to, local.declared_type);
    write_optional_id(to, local.inferred_from);
}

pub(super) fn read_local(from: &mut ByteReader<'_>) -> Option<LocalVariable> {
    let declared_type = read_optional_id(from)?;
    Some(LocalVariable { declared_type, inferred_from: read_optional_id(from)? })
}

/// Writes a reference. Its line is written as the difference from `previous_line`, the line of the
/// reference before it: references are nearly always in text order, so that takes one byte.
pub(super) fn write_reference(to: &mut ByteWriter, reference: Reference, previous_line: &mut u32) {
    to.write_byte(reference.kind as u8);
    to.write_byte(reference.n_args);
    write_optional_id(to, reference.enclosing_def);
    write_id(to, reference.term);
    write_optional_id(to, reference.arg_types);
    let difference = i64::from(reference.position.line) - i64::from(*previous_line);
    to.write_varint(zigzag(difference));
    to.write_u32(reference.position.column);
    *previous_line = reference.position.line;
}

pub(super) fn read_reference(
    from: &mut ByteReader<'_>,
    previous_line: &mut u32,
) -> Option<Reference> {
    let kind = *RefKind::ALL.get(usize::from(from.read_byte()?))?;
    let n_args = from.read_byte()?;
    let (enclosing_def, term) = (read_optional_id(from)?, read_id(from)?);
    let arg_types = read_optional_id(from)?;
    let difference = unzigzag(from.read_varint()?);
    let line = u32::try_from(i64::from(*previous_line).checked_add(difference)?).ok()?;
    *previous_line = line;
    let position = SourcePos { line, column: from.read_u32()? };
    Some(Reference { kind, enclosing_def, term, position, n_args, arg_types })
}

/// Zigzag encoding: 0, -1, 1, -2 become 0, 1, 2, 3, so that a small negative number stays small.
const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// The inverse of [`zigzag`].
const fn unzigzag(code: u64) -> i64 {
    (code >> 1).cast_signed() ^ -(code & 1).cast_signed()
}

/// Writes the tag of an export and its fields.
pub(crate) fn write_export(to: &mut ByteWriter, export: &ExportEntry) {
    let numbers: &[u32] = match *export {
        ExportEntry::Local { name, term } => &[0, name.into(), term.into()],
        ExportEntry::From { name, module, item } => &[1, name.into(), module.into(), item.into()],
        ExportEntry::ModuleAs { name, module } => &[2, name.into(), module.into()],
        ExportEntry::Star { module } => &[3, module.into()],
    };
    numbers.iter().for_each(|it| to.write_u32(*it));
}

fn read_export(from: &mut ByteReader<'_>) -> Option<ExportEntry> {
    Some(match from.read_u32()? {
        0 => ExportEntry::Local { name: read_id(from)?, term: read_id(from)? },
        1 => {
            ExportEntry::From { name: read_id(from)?, module: read_id(from)?, item: read_id(from)? }
        }
        2 => ExportEntry::ModuleAs { name: read_id(from)?, module: read_id(from)? },
        3 => ExportEntry::Star { module: read_id(from)? },
        _ => return None,
    })
}

/// Writes the tag of a term and its operands. The tags are stored: a new term gets the next number.
pub(crate) fn write_term(to: &mut ByteWriter, term: Term) {
    let numbers: &[u32] = match term {
        // `Unbound` never occurs in finished facts.
        Term::Unknown | Term::Unbound(..) => &[0],
        Term::Literal(it) => &[1, it.into()],
        Term::Name(it) => &[2, it.into()],
        Term::Def(it) => &[3, it.into()],
        Term::Local(it) => &[4, it.into()],
        Term::Import(it) => &[5, it.into()],
        Term::This(it) => &[6, it.into()],
        Term::Super(it) => &[7, it.into()],
        Term::Implicit(def, it) => &[8, def.into(), it.into()],
        Term::Member(object, it) => &[9, object.into(), it.into()],
        Term::Call(it) => &[10, it.into()],
        Term::InstanceOf(it) => &[11, it.into()],
        Term::ElementOf(it) => &[12, it.into()],
        Term::Unwrapped(it) => &[13, it.into()],
        Term::ListOf(it) => &[14, it.into()],
        Term::Generic(it) => &[15, it.start, it.len],
        Term::Function(it) => &[16, it.into()],
        Term::AnyOf(it) => &[17, it.start, it.len],
        Term::AllOf(it) => &[18, it.start, it.len],
        Term::Record(it) => &[19, it.start, it.len],
        Term::FunctionType(it) => &[20, it.start, it.len],
        Term::Rest(it) => &[21, it.into()],
        Term::Parameter(function, position) => &[22, function.into(), position],
    };
    numbers.iter().for_each(|it| to.write_u32(*it));
}

pub(super) fn read_term(from: &mut ByteReader<'_>) -> Option<Term> {
    Some(match from.read_u32()? {
        0 => Term::Unknown,
        1 => Term::Literal(read_id(from)?),
        2 => Term::Name(read_id(from)?),
        3 => Term::Def(read_id(from)?),
        4 => Term::Local(read_id(from)?),
        5 => Term::Import(read_id(from)?),
        6 => Term::This(read_id(from)?),
        7 => Term::Super(read_id(from)?),
        8 => Term::Implicit(read_id(from)?, read_id(from)?),
        9 => Term::Member(read_id(from)?, read_id(from)?),
        10 => Term::Call(read_id(from)?),
        11 => Term::InstanceOf(read_id(from)?),
        12 => Term::ElementOf(read_id(from)?),
        13 => Term::Unwrapped(read_id(from)?),
        14 => Term::ListOf(read_id(from)?),
        15 => Term::Generic(read_list(from)?),
        16 => Term::Function(read_id(from)?),
        17 => Term::AnyOf(read_list(from)?),
        18 => Term::AllOf(read_list(from)?),
        19 => Term::Record(read_list(from)?),
        20 => Term::FunctionType(read_list(from)?),
        21 => Term::Rest(read_id(from)?),
        22 => Term::Parameter(read_id(from)?, from.read_u32()?),
        _ => return None,
    })
}
