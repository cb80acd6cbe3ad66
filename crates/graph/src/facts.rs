//! The facts of one file: its definitions, imports, exports and references.
//!
//! `lang` extracts the facts from the text of that file alone, the caller stores them, and
//! `resolve` joins the facts of all files into edges. Facts refer to nothing outside their file,
//! so an unchanged file never needs to be parsed again.
//!
//! All lists are flat arrays, and ids are indices into them. Receivers and types are stored as
//! [`Term`]s: small expressions that the resolver evaluates once all files are known. For example,
//! the Rust function `fn sync(db: Store) { db.find(1).save() }` has these facts:
//!
//! ```text
//! defs    d0: function `sync`, 1 to 2 arguments (in Rust the object may be one more: `T::f(x, 1)`)
//! locals  l0: the parameter `db`, declared type t1
//! terms   t0 = Name("Store")           the type `Store`, which this file does not define
//!         t1 = InstanceOf(t0)          a value of type `Store`
//!         t2 = Local(l0)               db
//!         t3 = Member(t2, "find")      db.find
//!         t4 = Call(t3)                db.find(1)
//!         t5 = Member(t4, "save")      db.find(1).save
//! refs    d0 uses type t0, calls t3 with 1 argument, calls t5 with 0 arguments
//! ```

mod codec;
mod hash;
mod reference_facts;
mod string_table;
mod structural_hash;
mod validate;

use model::closed;

pub use codec::{decode_body, decode_outline, encode_body, encode_outline};
pub(crate) use codec::{write_export, write_id, write_optional_id, write_term};
pub use hash::fingerprint;
pub(crate) use hash::{FnvHasher, hash_bytes};
pub(crate) use reference_facts::{ReferenceFacts, ReferenceSlices, encode_reference_facts};
pub use string_table::StringTable;
pub(crate) use structural_hash::{LayoutRule, OpaqueKind, OpaqueSpan, structural_hash};

pub use crate::ids::{DefId, ImportId, LocalId, StringId, TermId};
use crate::lang::SourceLanguage;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The kind of a definition. Equal constructs of different languages share one: a Rust `struct`
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
        /// A named test case that is not a function itself: `it("works", …)`.
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

    /// Returns whether the name denotes a value at run time.
    pub const fn is_value(self) -> bool {
        !matches!(self, Self::Interface | Self::TypeAlias)
    }
}

/// Properties of a definition beside its kind, as a bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DefFlags(pub u16);

impl DefFlags {
    pub const EXPORTED: Self = Self(1);
    pub const STATIC: Self = Self(2);
    pub const TEST: Self = Self(4);
    /// Reading it calls it: a getter, a Python property.
    pub const GETTER: Self = Self(8);
    /// A signature without a body.
    pub const ABSTRACT: Self = Self(16);
    pub const CONSTRUCTOR: Self = Self(32);
    /// Not visible outside its file.
    pub const PRIVATE: Self = Self(64);
    /// A declaration of something that is defined elsewhere: a prototype in a header.
    pub const DECLARATION: Self = Self(128);

    /// Returns whether at least one of the flags `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Adds `other` if the condition holds.
    #[must_use]
    pub const fn when(self, condition: bool, other: Self) -> Self {
        if condition { self.with(other) } else { self }
    }
}

/// A position in the text. Line and column count from 0, the column in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePos {
    pub line: u32,
    pub column: u32,
}

/// The byte offsets of a definition: `start..body` is its header, `body..end` its body. `body`
/// equals `end` if it has no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefSpan {
    pub start: u32,
    pub body: u32,
    pub end: u32,
}

/// The smallest and the largest number of arguments of a callable. The largest is 255 if it is
/// variadic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArityRange {
    pub min: u8,
    pub max: u8,
}

/// A named thing that other code can refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub kind: DefKind,
    pub name: StringId,
    /// The enclosing definition.
    pub parent: Option<DefId>,
    /// The type it belongs to if it is defined outside the body of that type: a Go receiver, a Rust
    /// `impl`.
    pub owner_type: Option<TermId>,
    /// The simple name of `owner_type`.
    pub owner_name: Option<StringId>,
    pub flags: DefFlags,
    /// The position of its name.
    pub position: SourcePos,
    /// First and last line, including decorators and attributes.
    pub lines: (u32, u32),
    pub span: DefSpan,
    /// A hash of its code that ignores white space and comments.
    pub structural_hash: u64,
    pub arity: ArityRange,
    /// The types of its parameters, in languages that overload by type. A variadic parameter is the
    /// last of them.
    pub param_types: Option<TermId>,
    /// The [`Term::FunctionType`] of a callable, or of an interface that can be called; several
    /// overloads are an `AnyOf`. Only in languages whose callbacks have no types of their own:
    /// TypeScript. `None` if no parameter can be a function.
    pub signature: Option<TermId>,
    /// Its declared type; of a callable, the declared return type.
    pub declared_type: Option<TermId>,
    /// The expression its type is inferred from: an initial value, the returned values.
    pub inferred_from: Option<TermId>,
    /// Its type parameters: first and end of a range of `FileFacts::locals`.
    pub type_params: (LocalId, LocalId),
}

impl Definition {
    /// Its type parameters.
    pub(crate) fn type_param_ids(&self) -> impl Iterator<Item = LocalId> + use<> {
        let (first, end) = self.type_params;
        (first.0..end.0).map(LocalId)
    }

    /// Returns whether it can be called with this number of arguments.
    pub const fn accepts(&self, n_args: u8) -> bool {
        self.arity.min <= n_args && n_args <= self.arity.max
    }
}

/// A base of a type: a class it extends or an interface it implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseClause {
    /// The type that has the base.
    pub def: DefId,
    /// The base.
    pub term: TermId,
    /// `implements` rather than `extends`.
    pub implements: bool,
}

closed! {
    /// The form of an import.
    pub enum ImportKind : "kind of import" {
        /// One name of a module.
        Named = "named",
        /// The default export of a module.
        Default = "default",
        /// The module itself.
        Module = "module",
        /// Every name of a module, unqualified.
        Star = "star",
        /// No name: the module is imported for its side effects.
        Effect = "effect",
        /// The declaration of a child module that is a file: Rust's `mod name;`.
        Child = "child",
    }
}

/// One imported name. An import statement with several names has several entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportEntry {
    pub kind: ImportKind,
    /// The module as written: `./a`, `a.b`, `crate::a`.
    pub module: StringId,
    /// The name in the imported module.
    pub imported_name: StringId,
    /// The name in this file.
    pub local_name: StringId,
    /// The module inside this file whose names it joins. An import inside a function binds
    /// lexically and joins none.
    pub parent_module: Option<DefId>,
    /// True if other files can import the name from here.
    pub is_public: bool,
    pub line: u32,
}

/// An exported name that is declared apart from its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportEntry {
    /// `export { local as name }`, `export default value`
    Local { name: StringId, term: TermId },
    /// `export { item as name } from "module"`
    From { name: StringId, module: StringId, item: StringId },
    /// `export * as name from "module"`
    ModuleAs { name: StringId, module: StringId },
    /// `export * from "module"`
    Star { module: StringId },
}

/// A parameter, local variable or type parameter that some term mentions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalVariable {
    pub declared_type: Option<TermId>,
    /// The expression its type is inferred from.
    pub inferred_from: Option<TermId>,
}

/// A range of `FileFacts::lists`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ListSpan {
    pub start: u32,
    pub len: u32,
}

/// An expression or a type, reduced to what name resolution needs. Operands are terms of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Syntax whose value cannot be determined, such as arithmetic.
    Unknown,
    /// A value of the built-in type with this name: `"text"` is a `string`, `[1]` an `Array`.
    Literal(StringId),
    /// A name that no scope of the file binds: a global, a name of the same package.
    Name(StringId),
    /// A name that means a definition of this file.
    Def(DefId),
    /// A name that means a local variable, a parameter or a type parameter.
    Local(LocalId),
    /// A name that means an imported item.
    Import(ImportId),
    /// The receiver inside this type: `this`, `self`.
    This(DefId),
    /// The receiver as an instance of the bases of this type: `super`.
    Super(DefId),
    /// An unqualified name that may be a member of this enclosing type or module: Java's `run()`
    /// for `this.run()`.
    Implicit(DefId, StringId),
    /// The member of an object, type or module: `object.name`, `module::name`.
    Member(TermId, StringId),
    /// The result of a call: `f()`.
    Call(TermId),
    /// An instance of a type: `new X()`, a declared `x: X`.
    InstanceOf(TermId),
    /// An element of a container: `xs[0]`, the variable of `for x of xs`.
    ElementOf(TermId),
    /// The content of a wrapper: the result of `await`, of Rust's `?`; in C++ the target of a
    /// pointer.
    Unwrapped(TermId),
    /// A list of such values: `[x]`, `X[]`.
    ListOf(TermId),
    /// A generic type with its arguments; the first of the list is the type: `Map<K, V>`.
    Generic(ListSpan),
    /// A function that returns such a value: `() => x`.
    Function(TermId),
    /// A function type; the first of the list is the result, the parameters follow:
    /// `(c: Context, ...rest: Next[]) => void`.
    FunctionType(ListSpan),
    /// A parameter that takes all further arguments as a list: `...rest: Next[]`. Only in the list
    /// of a function type.
    Rest(TermId),
    /// The argument that a function gets at a position. `c` of `app.get('/', c => …)` is
    /// `Parameter(Parameter(app.get, 1), 0)`: the first argument of the function that `get` takes.
    Parameter(TermId, u32),
    /// One of several values: a union type, the branches of a conditional.
    AnyOf(ListSpan),
    /// All of several values: an intersection type, an argument list.
    AllOf(ListSpan),
    /// A record, in whose list names and values alternate: `{ a: x, b: y }`, a tuple `(x, y)` with
    /// its positions as names.
    Record(ListSpan),
    /// A name with the scope it occurs in, before binding. Never in finished facts.
    Unbound(StringId, u32),
}

closed! {
    /// The use that a reference makes of its target.
    pub enum RefKind : "kind of reference" {
        Call = "call",
        New = "new",
        /// Named as a value: passed on, compared, stored.
        Use = "use",
        Type = "type",
    }
}

/// One occurrence of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    pub kind: RefKind,
    /// The definition that contains it; `None` at the top level of the file.
    pub enclosing_def: Option<DefId>,
    pub term: TermId,
    /// The position of the last name of the term: of `find` in `db.find(1)`.
    pub position: SourcePos,
    /// The number of arguments; 255 if it is unknown.
    pub n_args: u8,
    /// The argument values, in languages that overload by type.
    pub arg_types: Option<TermId>,
}

/// The facts of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub lang: SourceLanguage,
    /// The open namespace that the file, like others, adds to: a Java package, a C# namespace. In a
    /// manifest (`package.json`, `Cargo.toml`), the name of the package.
    pub namespace: Option<StringId>,
    /// Strings of definitions first, then those visible to other files, then the rest.
    pub strings: StringTable,
    /// The number of strings that other files can see.
    pub n_visible_strings: u32,
    pub defs: Vec<Definition>,
    pub bases: Vec<BaseClause>,
    pub imports: Vec<ImportEntry>,
    pub exports: Vec<ExportEntry>,
    pub locals: Vec<LocalVariable>,
    pub terms: Vec<Term>,
    /// The items of all [`ListSpan`]s: term ids, and string ids in records.
    pub lists: Vec<u32>,
    /// The encoded `ReferenceFacts`: the references, and the terms that only they use.
    pub reference_bytes: Box<[u8]>,
    pub n_lines: u32,
    /// True if the path or the name marks a test file.
    pub is_test: bool,
    /// The number of subtrees that were skipped because they are nested too deeply.
    pub n_too_deep: u32,
    /// The number of places that the grammar could not parse. Definitions there may be missing.
    pub n_syntax_errors: u32,
    /// A hash of everything that other files can see. While it is equal, an edit affects no other
    /// file.
    pub interface_hash: u64,
}

impl FileFacts {
    pub fn empty(lang: SourceLanguage) -> Self {
        Self {
            lang,
            namespace: None,
            strings: StringTable::default(),
            n_visible_strings: 0,
            defs: Vec::new(),
            bases: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            locals: Vec::new(),
            terms: Vec::new(),
            lists: Vec::new(),
            reference_bytes: Box::default(),
            n_lines: 0,
            is_test: false,
            n_too_deep: 0,
            n_syntax_errors: 0,
            interface_hash: 0,
        }
    }

    /// Removes everything and keeps the allocated capacity.
    pub(crate) fn clear(&mut self, lang: SourceLanguage) {
        // First everything that has a capacity; then the rest gets the values of `empty`.
        let Self { strings, defs, bases, imports, exports, locals, terms, lists, .. } = self;
        strings.clear();
        defs.clear();
        bases.clear();
        imports.clear();
        exports.clear();
        locals.clear();
        terms.clear();
        lists.clear();
        (self.lang, self.namespace, self.n_visible_strings) = (lang, None, 0);
        self.reference_bytes = Box::default();
        (self.n_lines, self.is_test, self.interface_hash) = (0, false, 0);
        (self.n_too_deep, self.n_syntax_errors) = (0, 0);
    }

    /// Releases unused capacity.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.strings.shrink_to_fit();
        self.defs.shrink_to_fit();
        self.bases.shrink_to_fit();
        self.imports.shrink_to_fit();
        self.exports.shrink_to_fit();
        self.locals.shrink_to_fit();
        self.terms.shrink_to_fit();
        self.lists.shrink_to_fit();
    }

    pub fn string(&self, string: StringId) -> &str {
        self.strings.get(string.index()).unwrap_or_default()
    }

    pub fn def(&self, def: DefId) -> &Definition {
        &self.defs[def.index()]
    }

    /// The definitions with their ids, in text order.
    pub fn defs_with_ids(&self) -> impl Iterator<Item = (DefId, &Definition)> {
        (0..).map(DefId).zip(&self.defs)
    }

    pub fn term(&self, term: TermId) -> Term {
        self.terms[term.index()]
    }

    pub fn import(&self, import: ImportId) -> &ImportEntry {
        &self.imports[import.index()]
    }

    /// The imports with their ids, in text order.
    pub fn imports_with_ids(&self) -> impl Iterator<Item = (ImportId, &ImportEntry)> {
        (0..).map(ImportId).zip(&self.imports)
    }

    pub fn local(&self, local: LocalId) -> LocalVariable {
        self.locals[local.index()]
    }

    fn list_items(&self, list: ListSpan) -> &[u32] {
        let start = list.start as usize;
        self.lists.get(start..start + list.len as usize).unwrap_or_default()
    }

    /// The terms of a list.
    pub fn term_list(&self, list: ListSpan) -> impl ExactSizeIterator<Item = TermId> {
        self.list_items(list).iter().map(|it| TermId(*it))
    }

    /// The names and values of a record.
    pub fn record_fields(&self, list: ListSpan) -> impl Iterator<Item = (StringId, TermId)> {
        self.list_items(list).chunks_exact(2).map(|it| (StringId(it[0]), TermId(it[1])))
    }

    /// The name of a definition after those of the definitions around it: `Server.run`.
    pub fn qualified_name(&self, def: DefId) -> String {
        // From the definition outwards; the order is reversed at the end.
        let mut segments = Vec::new();
        let mut next_outer = Some(def);
        while let Some(def) = next_outer.and_then(|it| self.defs.get(it.index())) {
            segments.push(self.string(def.name));
            segments.extend(def.owner_name.map(|it| self.string(it)));
            next_outer = def.parent;
        }
        segments.reverse();
        segments.join(".")
    }
}
