//! What one file says about itself, before anybody else is asked: definitions, imports, references.
//!
//! Facts are made from the text of one file alone and refer to nothing outside it, so an unchanged
//! file never needs to be read again. Receivers and types are kept as terms: small expressions that
//! the resolver evaluates once it knows the other files.

mod code;
mod hash;
mod inside;
mod sound;
mod texts;

use model::closed;

pub(crate) use code::{Reader, Writer, write_export, write_term};
pub use code::{complete, decode_outline, encode_body, encode_outline};
pub use hash::fingerprint;
pub(crate) use hash::{Hash, Opaque, Ranges, meaning, sum};
pub(crate) use inside::{Inside, encode_inside};
pub use texts::Texts;

use crate::lang::Lang;

/// A word of this file: an index into `Facts::names`.
pub type Word = u32;
/// An index into `Facts::terms`.
pub type TermId = u32;

closed! {
    /// What a definition is. Equal constructs of different languages have one word: a Rust `struct`
    /// is a class, a trait is an interface.
    pub enum DefKind : "kind of symbol" {
        Module = "module",
        Class = "class",
        Interface = "interface",
        Enum = "enum",
        TypeAlias = "type",
        Function = "function",
        /// Unlike a function, a method belongs to a type.
        Method = "method",
        /// A property of a type. Unlike a variable, it is reached through a value.
        Field = "field",
        Variable = "variable",
        /// A named test case that is no function of its own: `it("works", …)`.
        Test = "test",
    }
}

impl DefKind {
    pub const fn is_type(self) -> bool {
        matches!(self, Self::Class | Self::Interface | Self::Enum | Self::TypeAlias)
    }

    pub const fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method)
    }

    /// Whether the name can stand for a value at run time.
    pub const fn is_value(self) -> bool {
        !matches!(self, Self::Interface | Self::TypeAlias)
    }
}

/// What is known of a definition beside its kind; a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    pub const EXPORTED: Self = Self(1);
    pub const STATIC: Self = Self(2);
    pub const TEST: Self = Self(4);
    /// Reading it is calling it: a getter, a Python property.
    pub const GETTER: Self = Self(8);
    /// A signature without a body.
    pub const ABSTRACT: Self = Self(16);
    pub const CONSTRUCTOR: Self = Self(32);
    /// Not visible outside its file.
    pub const PRIVATE: Self = Self(64);
    /// A declaration that only repeats what is defined elsewhere: a prototype in a header.
    pub const DECLARATION: Self = Self(128);

    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn when(self, condition: bool, other: Self) -> Self {
        if condition { self.with(other) } else { self }
    }
}

/// A place in the text: both count from 0, the column in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

/// Something with a name that others can refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Def {
    pub kind: DefKind,
    pub name: Word,
    /// The definition around it.
    pub parent: Option<u32>,
    /// The type it belongs to when it does not stand inside it: a Go receiver, a Rust `impl`.
    pub owner: Option<TermId>,
    /// The simple name of that type.
    pub owned_by: Option<Word>,
    pub flags: Flags,
    /// Where its name stands.
    pub at: Pos,
    /// First and last line, with what decorates it.
    pub lines: (u32, u32),
    /// Where the text begins, where the body begins, where it ends, in bytes.
    pub bytes: (u32, u32, u32),
    /// What it means: the same whatever the white space and the comments.
    pub meaning: u64,
    /// What it takes: fewest and most arguments.
    pub takes: (u8, u8),
    /// The types of its parameters, where a language tells namesakes apart by them; the last of any
    /// number of arguments is one of them.
    pub params: Option<TermId>,
    /// Its declared type; of something callable, the type it returns.
    pub declared: Option<TermId>,
    /// What it is made from: an initial value, returned values.
    pub made: Option<TermId>,
    /// Its type parameters, as a span of `Facts::locals`.
    pub generics: (u32, u32),
}

/// A type that a definition builds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    pub def: u32,
    pub term: TermId,
    /// `implements` rather than `extends`.
    pub implements: bool,
}

closed! {
    /// How a file brings a name in.
    pub enum ImportKind : "kind of import" {
        /// One name of a module.
        Named = "named",
        /// Whatever the module exports as its default.
        Default = "default",
        /// The module itself.
        Module = "module",
        /// Every name of a module, unqualified.
        Star = "star",
        /// Nothing but its effects.
        Effect = "effect",
        /// The declaration of a child module that is a file: Rust's `mod name;`.
        Child = "child",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub kind: ImportKind,
    /// The module as written: `./a`, `a.b`, `crate::a`.
    pub module: Word,
    /// The name there.
    pub item: Word,
    /// The name here.
    pub local: Word,
    /// The module inside this file whose names it joins; bound lexically when it is a function's.
    pub within: Option<u32>,
    /// Others that look here find it, too.
    pub public: bool,
    pub line: u32,
}

/// A name that a file hands out, when that is said apart from the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export {
    Local { name: Word, term: TermId },
    From { name: Word, module: Word, item: Word },
    ModuleAs { name: Word, module: Word },
    Star { module: Word },
}

/// A parameter or local variable that some term speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Local {
    pub declared: Option<TermId>,
    pub made: Option<TermId>,
}

/// A span of `Facts::lists`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct List {
    pub start: u32,
    pub len: u32,
}

/// An expression or a type, as far as names matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Unknown,
    /// A value of a type the language brings along: `string`, `Array`.
    Literal(Word),
    /// A name that nothing inside the file binds, or that another file may.
    Name(Word),
    Def(u32),
    Local(u32),
    Import(u32),
    /// The object whose type this definition is.
    This(u32),
    /// The same object, seen as what its type builds on.
    Super(u32),
    /// A bare name that may be a member of the type around it.
    Implicit(u32, Word),
    Member(TermId, Word),
    Call(TermId),
    /// An object of a type: `new X()`, a declared `x: X`.
    New(TermId),
    /// One of what a container holds.
    Element(TermId),
    /// What is waited for; in C++, what a pointer points to.
    Await(TermId),
    /// A container of such values.
    Many(TermId),
    /// A generic type with its arguments: the first of the list is the type.
    Args(List),
    /// A function that returns such a value.
    Function(TermId),
    /// One of several.
    Either(List),
    /// All of several at once.
    Both(List),
    /// Names and values in turn.
    Record(List),
    /// A name as it was met, before it was bound; never in finished facts.
    Free(Word, u32),
}

closed! {
    /// How a reference uses what it names.
    pub enum RefKind : "kind of reference" {
        Call = "call",
        New = "new",
        /// Named as a value: passed on, compared, stored.
        Use = "use",
        Type = "type",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ref {
    pub kind: RefKind,
    /// The definition it stands in; the file itself when there is none.
    pub from: Option<u32>,
    pub term: TermId,
    /// Where the last name of it stands.
    pub at: Pos,
    /// How many arguments; 255 when that cannot be said.
    pub args: u8,
    /// What they are, where namesakes are told apart by them.
    pub given: Option<TermId>,
}

/// One file's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub lang: Lang,
    /// The open namespace the file adds to: a Java package, a C# namespace.
    pub space: Option<Word>,
    /// Those of definitions first, then those that others can see, then the rest.
    pub names: Texts,
    /// How many of them others can see.
    pub n_outer_names: u32,
    pub defs: Vec<Def>,
    pub bases: Vec<Base>,
    pub imports: Vec<Import>,
    pub exports: Vec<Export>,
    pub locals: Vec<Local>,
    pub terms: Vec<Term>,
    pub lists: Vec<u32>,
    /// What its references need beside that, and they themselves.
    pub inner: Box<[u8]>,
    pub n_lines: u32,
    /// A test by its place or name.
    pub is_test: bool,
    /// Parts that were nested too deeply to be followed.
    pub n_too_deep: u32,
    /// Everything that others can see, in one number: while it stays, nobody else is concerned.
    pub surface: u64,
}

impl Facts {
    pub fn empty(lang: Lang) -> Self {
        Self {
            lang,
            space: None,
            names: Texts::default(),
            n_outer_names: 0,
            defs: Vec::new(),
            bases: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            locals: Vec::new(),
            terms: Vec::new(),
            lists: Vec::new(),
            inner: Box::default(),
            n_lines: 0,
            is_test: false,
            n_too_deep: 0,
            surface: 0,
        }
    }

    /// Empties it and keeps its room.
    pub(crate) fn clear(&mut self, lang: Lang) {
        let Self { names, defs, bases, imports, exports, locals, terms, lists, .. } = self;
        names.clear();
        defs.clear();
        bases.clear();
        imports.clear();
        exports.clear();
        locals.clear();
        terms.clear();
        lists.clear();
        (self.lang, self.space, self.n_outer_names) = (lang, None, 0);
        self.inner = Box::default();
        (self.n_lines, self.is_test, self.n_too_deep, self.surface) = (0, false, 0, 0);
    }

    /// Gives back the room that was kept for more.
    pub(crate) fn shrink(&mut self) {
        self.names.shrink();
        self.defs.shrink_to_fit();
        self.bases.shrink_to_fit();
        self.imports.shrink_to_fit();
        self.exports.shrink_to_fit();
        self.locals.shrink_to_fit();
        self.terms.shrink_to_fit();
        self.lists.shrink_to_fit();
    }

    pub fn word(&self, word: Word) -> &str {
        self.names.get(word as usize).unwrap_or_default()
    }

    pub fn list(&self, list: List) -> &[u32] {
        let start = list.start as usize;
        self.lists.get(start..start + list.len as usize).unwrap_or_default()
    }

    /// The name of a definition with those around it: `Server.run`.
    pub fn qualified(&self, def: u32) -> String {
        let mut parts = Vec::new();
        let mut at = Some(def);
        while let Some(def) = at.and_then(|it| self.defs.get(it as usize)) {
            parts.push(self.word(def.name));
            parts.extend(def.owned_by.map(|it| self.word(it)));
            at = def.parent;
        }
        parts.reverse();
        parts.join(".")
    }
}
