//! Facts as bytes: numbers of variable length, in the order of the fields. The version is the
//! caller's: bytes of another version are made anew, never read.
//!
//! A file is two pieces. The outline says what is defined where, and is all that questions need;
//! the body is needed again only when the file or something it depends on changes.

use super::inside::Inside;
use super::{
    Base, Def, DefKind, Export, Facts, Flags, Import, ImportKind, List, Local, Pos, Ref, RefKind,
    Term, sound,
};
use crate::lang::Lang;

#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    pub(crate) fn size(&mut self, value: usize) {
        self.number(value as u64);
    }

    pub(crate) fn small(&mut self, value: u32) {
        self.number(u64::from(value));
    }

    /// Nothing is 0, everything else one more than it is.
    pub(crate) fn maybe(&mut self, value: Option<u32>) {
        self.number(value.map_or(0, |it| u64::from(it) + 1));
    }

    pub(crate) fn whole(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.size(value.len());
        self.0.extend(value.as_bytes());
    }
}

/// Reads what a writer wrote; `None` as soon as the bytes cannot be that.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut res = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            res |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(res);
            }
        }
        None
    }

    pub(crate) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// A count of things that take at least a byte each.
    pub(crate) fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|it| *it <= self.0.len())
    }

    #[expect(clippy::option_option, reason = "bytes that say nothing, and bytes that say: nothing")]
    pub(crate) fn maybe(&mut self) -> Option<Option<u32>> {
        match self.number()? {
            0 => Some(None),
            it => Some(Some(u32::try_from(it - 1).ok()?)),
        }
    }

    pub(crate) fn whole(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let len = self.size()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        std::str::from_utf8(bytes).ok()
    }

    fn pos(&mut self) -> Option<Pos> {
        Some(Pos { line: self.small()?, column: self.small()? })
    }

    fn list(&mut self) -> Option<List> {
        Some(List { start: self.small()?, len: self.small()? })
    }
}

/// How many names come first because definitions bear them.
fn n_outline_names(facts: &Facts) -> usize {
    let words = facts.defs.iter().flat_map(|it| [Some(it.name), it.owned_by]).flatten();
    words.max().map_or(0, |it| it as usize + 1).min(facts.names.len())
}

pub fn encode_outline(facts: &Facts) -> Vec<u8> {
    let mut to = Writer(Vec::with_capacity(32 + 40 * facts.defs.len()));
    to.small(facts.lang as u32);
    to.small(facts.n_lines);
    to.small(u32::from(facts.is_test));
    to.small(facts.n_too_deep);
    to.whole(facts.surface);
    let n_names = n_outline_names(facts);
    to.size(n_names);
    facts.names.iter().take(n_names).for_each(|it| to.text(it));
    to.size(facts.defs.len());
    for def in &facts.defs {
        to.small(def.kind as u32);
        to.small(def.name);
        to.maybe(def.parent);
        to.maybe(def.owned_by);
        to.small(u32::from(def.flags.0));
        to.small(def.at.line);
        to.small(def.at.column);
        to.small(def.lines.0);
        to.small(def.lines.1 - def.lines.0);
        to.small(def.bytes.0);
        to.small(def.bytes.1 - def.bytes.0);
        to.small(def.bytes.2 - def.bytes.1);
        to.whole(def.meaning);
    }
    to.0
}

pub fn encode_body(facts: &Facts) -> Vec<u8> {
    let numbers = 8 * facts.defs.len() + 4 * facts.terms.len() + 3 * facts.locals.len();
    let names = 12 * (facts.names.len() + facts.imports.len());
    let mut to = Writer(Vec::with_capacity(64 + numbers + names + facts.inner.len()));
    let n_known = n_outline_names(facts);
    to.size(facts.names.len() - n_known);
    facts.names.iter().skip(n_known).for_each(|it| to.text(it));
    to.small(facts.n_outer_names);
    to.maybe(facts.space);
    for def in &facts.defs {
        to.maybe(def.owner);
        to.small(u32::from(def.takes.0));
        to.small(u32::from(def.takes.1));
        to.maybe(def.params);
        to.maybe(def.declared);
        to.maybe(def.made);
        to.small(def.generics.0);
        to.small(def.generics.1);
    }
    to.size(facts.bases.len());
    for it in &facts.bases {
        to.small(it.def);
        to.small(it.term);
        to.small(u32::from(it.implements));
    }
    to.size(facts.imports.len());
    for it in &facts.imports {
        to.small(it.kind as u32);
        to.small(it.module);
        to.small(it.item);
        to.small(it.local);
        to.maybe(it.within);
        to.small(u32::from(it.public));
        to.small(it.line);
    }
    to.size(facts.exports.len());
    facts.exports.iter().for_each(|it| write_export(&mut to, it));
    to.size(facts.locals.len());
    for it in &facts.locals {
        to.maybe(it.declared);
        to.maybe(it.made);
    }
    to.size(facts.terms.len());
    facts.terms.iter().for_each(|it| write_term(&mut to, *it));
    to.size(facts.lists.len());
    facts.lists.iter().for_each(|it| to.small(*it));
    to.0.extend(&facts.inner);
    to.0
}

/// Reads an outline; the rest of the facts is empty until `complete`.
pub fn decode_outline(bytes: &[u8]) -> Option<Facts> {
    let mut from = Reader(bytes);
    let lang = *Lang::ALL.get(from.small()? as usize)?;
    let (n_lines, is_test) = (from.small()?, from.small()? != 0);
    let (n_too_deep, surface) = (from.small()?, from.whole()?);
    let mut res = Facts { n_lines, is_test, n_too_deep, surface, ..Facts::empty(lang) };
    for _ in 0..from.size()? {
        res.names.push(from.text()?);
    }
    let n_defs = from.size()?;
    res.defs.reserve_exact(n_defs);
    for _ in 0..n_defs {
        res.defs.push(read_def(&mut from)?);
    }
    from.0.is_empty().then_some(res)
}

fn read_def(from: &mut Reader<'_>) -> Option<Def> {
    let kind = *DefKind::ALL.get(from.small()? as usize)?;
    let (name, parent, owned_by) = (from.small()?, from.maybe()?, from.maybe()?);
    let flags = Flags(u16::try_from(from.small()?).ok()?);
    let at = from.pos()?;
    let first = from.small()?;
    let lines = (first, first.checked_add(from.small()?)?);
    let start = from.small()?;
    let body = start.checked_add(from.small()?)?;
    let bytes = (start, body, body.checked_add(from.small()?)?);
    let meaning = from.whole()?;
    let (owner, declared, made) = (None, None, None);
    let (takes, params, generics) = ((0, 0), None, (0, 0));
    Some(Def {
        kind,
        name,
        parent,
        owner,
        owned_by,
        flags,
        at,
        lines,
        bytes,
        meaning,
        takes,
        params,
        declared,
        made,
        generics,
    })
}

/// Adds the body to facts that are an outline so far.
pub fn complete(mut facts: Facts, body: &[u8]) -> Option<Facts> {
    let mut from = Reader(body);
    for _ in 0..from.size()? {
        facts.names.push(from.text()?);
    }
    facts.n_outer_names = from.small()?;
    facts.space = from.maybe()?;
    for def in &mut facts.defs {
        def.owner = from.maybe()?;
        def.takes = (u8::try_from(from.small()?).ok()?, u8::try_from(from.small()?).ok()?);
        def.params = from.maybe()?;
        (def.declared, def.made) = (from.maybe()?, from.maybe()?);
        def.generics = (from.small()?, from.small()?);
    }
    for _ in 0..from.size()? {
        let (def, term, implements) = (from.small()?, from.small()?, from.small()? != 0);
        facts.bases.push(Base { def, term, implements });
    }
    for _ in 0..from.size()? {
        facts.imports.push(Import {
            kind: *ImportKind::ALL.get(from.small()? as usize)?,
            module: from.small()?,
            item: from.small()?,
            local: from.small()?,
            within: from.maybe()?,
            public: from.small()? != 0,
            line: from.small()?,
        });
    }
    for _ in 0..from.size()? {
        facts.exports.push(read_export(&mut from)?);
    }
    for _ in 0..from.size()? {
        facts.locals.push(read_local(&mut from)?);
    }
    for _ in 0..from.size()? {
        facts.terms.push(read_term(&mut from)?);
    }
    for _ in 0..from.size()? {
        facts.lists.push(from.small()?);
    }
    facts.inner = from.0.into();
    let is_sound = sound::is_sound(&facts) && Inside::decode(from.0)?.is_sound(&facts);
    is_sound.then_some(facts)
}

pub(super) fn read_local(from: &mut Reader<'_>) -> Option<Local> {
    Some(Local { declared: from.maybe()?, made: from.maybe()? })
}

/// References come in the order of the text, nearly always: the step from line to line is small.
pub(super) fn write_ref(to: &mut Writer, it: Ref, line: &mut u32) {
    to.0.push(it.kind as u8);
    to.0.push(it.args);
    to.maybe(it.from);
    to.small(it.term);
    to.maybe(it.given);
    let step = i64::from(it.at.line) - i64::from(*line);
    to.number(((step << 1) ^ (step >> 63)).cast_unsigned());
    to.small(it.at.column);
    *line = it.at.line;
}

pub(super) fn read_ref(from: &mut Reader<'_>, line: &mut u32) -> Option<Ref> {
    let kind = *RefKind::ALL.get(usize::from(from.byte()?))?;
    let (args, of, term) = (from.byte()?, from.maybe()?, from.small()?);
    let (given, step) = (from.maybe()?, from.number()?);
    let step = (step >> 1).cast_signed() ^ -(step & 1).cast_signed();
    *line = u32::try_from(i64::from(*line).checked_add(step)?).ok()?;
    let at = Pos { line: *line, column: from.small()? };
    Some(Ref { kind, from: of, term, at, args, given })
}

pub(crate) fn write_export(to: &mut Writer, export: &Export) {
    let numbers: &[u32] = match export {
        Export::Local { name, term } => &[0, *name, *term],
        Export::From { name, module, item } => &[1, *name, *module, *item],
        Export::ModuleAs { name, module } => &[2, *name, *module],
        Export::Star { module } => &[3, *module],
    };
    numbers.iter().for_each(|it| to.small(*it));
}

fn read_export(from: &mut Reader<'_>) -> Option<Export> {
    Some(match from.small()? {
        0 => Export::Local { name: from.small()?, term: from.small()? },
        1 => Export::From { name: from.small()?, module: from.small()?, item: from.small()? },
        2 => Export::ModuleAs { name: from.small()?, module: from.small()? },
        3 => Export::Star { module: from.small()? },
        _ => return None,
    })
}

pub(crate) fn write_term(to: &mut Writer, term: Term) {
    let numbers: &[u32] = match &term {
        Term::Unknown | Term::Free(..) => &[0],
        Term::Literal(it) => &[1, *it],
        Term::Name(it) => &[2, *it],
        Term::Def(it) => &[3, *it],
        Term::Local(it) => &[4, *it],
        Term::Import(it) => &[5, *it],
        Term::This(it) => &[6, *it],
        Term::Super(it) => &[7, *it],
        Term::Implicit(def, it) => &[8, *def, *it],
        Term::Member(of, it) => &[9, *of, *it],
        Term::Call(it) => &[10, *it],
        Term::New(it) => &[11, *it],
        Term::Element(it) => &[12, *it],
        Term::Await(it) => &[13, *it],
        Term::Many(it) => &[14, *it],
        Term::Args(it) => &[15, it.start, it.len],
        Term::Function(it) => &[16, *it],
        Term::Either(it) => &[17, it.start, it.len],
        Term::Both(it) => &[18, it.start, it.len],
        Term::Record(it) => &[19, it.start, it.len],
    };
    numbers.iter().for_each(|it| to.small(*it));
}

pub(super) fn read_term(from: &mut Reader<'_>) -> Option<Term> {
    Some(match from.small()? {
        0 => Term::Unknown,
        1 => Term::Literal(from.small()?),
        2 => Term::Name(from.small()?),
        3 => Term::Def(from.small()?),
        4 => Term::Local(from.small()?),
        5 => Term::Import(from.small()?),
        6 => Term::This(from.small()?),
        7 => Term::Super(from.small()?),
        8 => Term::Implicit(from.small()?, from.small()?),
        9 => Term::Member(from.small()?, from.small()?),
        10 => Term::Call(from.small()?),
        11 => Term::New(from.small()?),
        12 => Term::Element(from.small()?),
        13 => Term::Await(from.small()?),
        14 => Term::Many(from.small()?),
        15 => Term::Args(from.list()?),
        16 => Term::Function(from.small()?),
        17 => Term::Either(from.list()?),
        18 => Term::Both(from.list()?),
        19 => Term::Record(from.list()?),
        _ => return None,
    })
}
