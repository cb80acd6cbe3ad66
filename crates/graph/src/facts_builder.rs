//! Builder of one file's facts. The walkers in `lang` call it for every construct they visit, in
//! text order; it knows no grammar and no syntax itself.
//!
//! Names stay unbound until the end, because most languages allow a name to be used above its
//! definition. [`FactsBuilder::finish`] then binds them and drops everything no reference needs.
//! A *term* is an expression or a type, reduced to what name resolution needs; `t1` and `t2` below
//! are terms.
//!
//! For the Python text `def run(job): job.start()` a walker makes these calls:
//!
//! ```text
//! add_definition(Function, "run", …)    → d0
//! bind_in_function("run", Def(d0))      uses of `run` in this scope mean d0
//! open_definition(d0)                   what follows is inside `run`
//! enter_function()                      a new scope
//! bind_local("job", …)                  → a local variable of that scope
//! unbound_name("job")                   → t1, a name and the scope it is used in
//! terms.member_of(t1, "start")          → t2
//! add_reference(Call, t2, …, 0)         d0 calls `job.start`
//! leave_function(), close_definition()
//! ```

mod buffer_pool;
mod compaction;
mod interface_hash;
mod scope;
mod term_table;

use tree_sitter::Node;

use buffer_pool::{BufferPool, CompactionBuffers};
use scope::ScopeTree;
pub(crate) use scope::{DeclarationSpace, NameBinding, ScopeKind};
use term_table::TermTable;

use crate::facts::{
    ArityRange, BaseClause, DefFlags, DefId, DefKind, DefSpan, Definition, ExportEntry, FileFacts,
    ImportEntry, ImportId, ImportKind, LocalId, LocalVariable, OpaqueKind, OpaqueSpan, RefKind,
    Reference, SourcePos, StringId, Term, TermId,
};
use crate::lang::SourceLanguage;

/// Argument count of a call with spread arguments, and upper bound of a variadic function.
pub(crate) const ANY_ARG_COUNT: u8 = u8::MAX;

/// Upper limit of the number of required parameters. Further ones are not counted, so that the
/// count never reaches [`ANY_ARG_COUNT`].
pub(crate) const MAX_REQUIRED_PARAMS: u8 = 250;

/// The term of an expression or type about which nothing is known.
pub(crate) const UNKNOWN_TERM: TermId = TermId(0);

/// Maximum number of alternative values of a function's result or of a property. With more of them
/// its value counts as unknown.
const MAX_ALTERNATIVES: usize = 4;

/// Maximum number of overloads of a definition whose signatures are stored.
const MAX_OVERLOADS: usize = 32;

/// Relation of a type to a base type in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BaseRelation {
    Extends,
    Implements,
}

/// An assignment to a property of `this`, which may be the property's only declaration.
#[derive(Clone, Copy, Debug)]
struct FieldAssignment {
    class: DefId,
    name: StringId,
    value: TermId,
    /// The position of the name.
    position: SourcePos,
    /// Start and end of the whole assignment.
    start_byte: u32,
    end_byte: u32,
}

/// Facts of one file under construction. `'s` is the lifetime of the source text.
pub(crate) struct FactsBuilder<'s> {
    pub(crate) source: &'s [u8],
    /// `source` as text, if all of it is valid UTF-8.
    source_text: Option<&'s str>,
    pub(crate) path: &'s str,
    pub(crate) lang: SourceLanguage,
    /// The namespace that the file declares: `a.b` for Java's `package a.b;`.
    pub(crate) namespace: Option<StringId>,
    pub(crate) defs: Vec<Definition>,
    pub(crate) bases: Vec<BaseClause>,
    pub(crate) imports: Vec<ImportEntry>,
    pub(crate) exports: Vec<ExportEntry>,
    pub(crate) locals: Vec<LocalVariable>,
    pub(crate) terms: TermTable,
    refs: Vec<Reference>,
    pub(crate) scopes: ScopeTree,
    /// Definitions that enclose the current node, outermost first.
    open_defs: Vec<DefId>,
    /// Returned values of the functions that enclose the current node, outermost first.
    returned_terms: Vec<Vec<TermId>>,
    field_assignments: Vec<FieldAssignment>,
    /// The function types of definitions, in text order; one with overloads has several.
    signatures: Vec<(DefId, TermId)>,
    /// Comments and strings, in text order.
    opaque: Vec<OpaqueSpan>,
    /// Buffers that only [`FactsBuilder::finish`] uses.
    compaction: CompactionBuffers,
    /// True if the path is that of a test file.
    pub(crate) is_test: bool,
    /// Number of subtrees that were skipped because they are nested too deeply.
    pub(crate) n_too_deep: u32,
    /// Number of places that the grammar could not parse.
    pub(crate) n_syntax_errors: u32,
}

impl<'s> FactsBuilder<'s> {
    pub(crate) fn new(lang: SourceLanguage, path: &'s str, source: &'s [u8]) -> Self {
        let pool = BufferPool::take();
        let mut builder = Self {
            source,
            source_text: std::str::from_utf8(source).ok(),
            path,
            lang,
            namespace: None,
            defs: pool.defs,
            bases: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            locals: pool.locals,
            terms: pool.terms,
            refs: pool.refs,
            scopes: pool.scopes,
            open_defs: Vec::new(),
            returned_terms: Vec::new(),
            field_assignments: Vec::new(),
            signatures: Vec::new(),
            opaque: pool.opaque,
            compaction: pool.compaction,
            is_test: crate::lang::is_test_path(path),
            n_too_deep: 0,
            n_syntax_errors: 0,
        };
        builder.scopes.enter_root();
        // Takes id 0, which is `UNKNOWN_TERM`.
        builder.terms.add(Term::Unknown);
        builder
    }

    /// Binds all names and returns the facts. The buffers go back to the thread's pool.
    pub(crate) fn finish(self) -> FileFacts {
        compaction::compact(self)
    }

    /// Returns the text of a node; empty if it is not valid UTF-8.
    pub(crate) fn text(&self, node: Node<'_>) -> &'s str {
        if let Some(text) = self.source_text {
            return text.get(node.byte_range()).unwrap_or_default();
        }
        // In a file with invalid bytes, most nodes are valid by themselves.
        let bytes = self.source.get(node.byte_range()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    pub(crate) fn intern(&mut self, text: &str) -> StringId {
        self.terms.intern(text)
    }

    pub(crate) fn intern_node(&mut self, node: Node<'_>) -> StringId {
        let text = self.text(node);
        self.intern(text)
    }

    // Names as terms.

    /// A name in the current scope, to be looked up when all names are bound.
    pub(crate) fn unbound_name(&mut self, text: &str) -> TermId {
        let name = self.intern(text);
        self.terms.add(Term::Unbound(name, self.scopes.current()))
    }

    /// A bare name that is called, in a language whose methods call one another without a
    /// qualifier: a member of the enclosing type takes precedence.
    pub(crate) fn implicit_member(&mut self, text: &str) -> TermId {
        match self.enclosing_type() {
            Some(class) => {
                let name = self.intern(text);
                self.terms.add(Term::Implicit(class, name))
            }
            None => self.unbound_name(text),
        }
    }

    // Definitions.

    /// Adds a definition inside the innermost open one. `name_node` is its name, `node` all of it.
    pub(crate) fn add_definition(
        &mut self,
        kind: DefKind,
        name: StringId,
        name_node: Node<'_>,
        node: Node<'_>,
        flags: DefFlags,
    ) -> DefId {
        let end = to_index(node.end_byte());
        let def = DefId::from_index(self.defs.len());
        self.defs.push(Definition {
            kind,
            name,
            parent: self.open_defs.last().copied(),
            owner_type: None,
            owner_name: None,
            flags,
            position: node_position(name_node),
            lines: (to_index(node.start_position().row), to_index(node.end_position().row)),
            // Without a body until `set_body_start`.
            span: DefSpan { start: to_index(node.start_byte()), body: end, end },
            structural_hash: 0,
            arity: ArityRange { min: 0, max: ANY_ARG_COUNT },
            param_types: None,
            signature: None,
            declared_type: None,
            inferred_from: None,
            type_params: <(LocalId, LocalId)>::default(),
        });
        def
    }

    pub(crate) fn def_mut(&mut self, def: DefId) -> &mut Definition {
        &mut self.defs[def.index()]
    }

    /// Sets where the header of a definition ends and its body begins.
    pub(crate) fn set_body_start(&mut self, def: DefId, body: Option<Node<'_>>) {
        if let Some(body) = body {
            let def = self.def_mut(def);
            def.span.body = to_index(body.start_byte()).clamp(def.span.start, def.span.end);
        }
    }

    /// Sets the declared type and the value it is inferred from, where they are known.
    pub(crate) fn set_types(
        &mut self,
        def: DefId,
        declared: Option<TermId>,
        value: Option<TermId>,
    ) {
        let def = self.def_mut(def);
        (def.declared_type, def.inferred_from) = (known_term(declared), known_term(value));
    }

    pub(crate) fn add_base(&mut self, def: DefId, base: TermId, relation: BaseRelation) {
        if base != UNKNOWN_TERM {
            let implements = relation == BaseRelation::Implements;
            self.bases.push(BaseClause { def, term: base, implements });
        }
    }

    /// Makes a definition the parent of those that follow, until it is closed.
    pub(crate) fn open_definition(&mut self, def: DefId) {
        self.open_defs.push(def);
    }

    pub(crate) fn close_definition(&mut self) {
        self.open_defs.pop();
    }

    pub(crate) fn enclosing_def(&self) -> Option<DefId> {
        self.open_defs.last().copied()
    }

    pub(crate) fn enclosing_type(&self) -> Option<DefId> {
        let is_type = |it: &&DefId| self.defs[it.index()].kind.is_type();
        self.open_defs.iter().rev().find(is_type).copied()
    }

    pub(crate) fn enclosing_module(&self) -> Option<DefId> {
        let is_module = |it: &&DefId| self.defs[it.index()].kind == DefKind::Module;
        self.open_defs.iter().rev().find(is_module).copied()
    }

    /// Names of the enclosing modules of this file, outermost first.
    pub(crate) fn enclosing_module_names(&self) -> Vec<String> {
        let modules = self.open_defs.iter().map(|it| &self.defs[it.index()]);
        let modules = modules.filter(|it| it.kind == DefKind::Module);
        modules.map(|it| self.terms.text(it.name).to_owned()).collect()
    }

    /// Records the assignment `this.name = value` in a method of `class`. [`Self::finish`] defines
    /// the property if nothing declares it. `name_node` is the name, `node` the whole assignment.
    pub(crate) fn add_field_assignment(
        &mut self,
        class: DefId,
        name: StringId,
        value: TermId,
        name_node: Node<'_>,
        node: Node<'_>,
    ) {
        self.field_assignments.push(FieldAssignment {
            class,
            name,
            value,
            position: node_position(name_node),
            start_byte: to_index(node.start_byte()),
            end_byte: to_index(node.end_byte()),
        });
    }

    /// Records the function type of a definition, or one more overload of it.
    pub(crate) fn add_signature(&mut self, def: DefId, function_type: TermId) {
        self.signatures.push((def, function_type));
    }

    // Functions.

    /// Returns whether the current node runs as part of a function. Variables there are local.
    pub(crate) fn is_inside_function(&self) -> bool {
        // A lambda has returned values, but no definition.
        !self.returned_terms.is_empty()
            || self.open_defs.iter().any(|it| self.defs[it.index()].kind.is_callable())
    }

    pub(crate) fn enter_function(&mut self) {
        self.returned_terms.push(Vec::new());
        self.scopes.enter(ScopeKind::Function);
    }

    /// Leaves a function; the result is what it returns, as far as its `return` statements show.
    pub(crate) fn leave_function(&mut self) -> TermId {
        self.scopes.leave();
        let returned = self.returned_terms.pop().unwrap_or_default();
        if returned.len() > MAX_ALTERNATIVES { UNKNOWN_TERM } else { self.terms.any_of(&returned) }
    }

    pub(crate) fn add_return(&mut self, value: TermId) {
        if let Some(returned) = self.returned_terms.last_mut() {
            returned.push(value);
        }
    }

    // Names bound in scopes.

    pub(crate) fn bind_name(&mut self, name: StringId, binding: NameBinding) {
        self.scopes.bind(self.scopes.current(), name, binding);
    }

    /// Binds in the enclosing function or file, as `var` and Python's assignments do.
    pub(crate) fn bind_in_function(&mut self, name: StringId, binding: NameBinding) {
        self.scopes.bind(self.scopes.function_scope(), name, binding);
    }

    // Local variables. The functions differ in the scope, and in what happens to a local with the same
    // name in that scope (a lookup finds the first binding of a scope):
    //
    // | function | scope | an earlier local with the name |
    // |---|---|---|
    // | `add_local` | binds no name | stays |
    // | `bind_local` | current | stays and is found instead of the new one |
    // | `assign_local` | function | gets the value as an alternative, unless its type is declared |
    // | `shadow_local` | current | gets the value as an alternative; a declared type becomes one, too |

    /// Adds a local without a name. Unknown terms are stored as `None`.
    pub(crate) fn add_local(&mut self, declared: Option<TermId>, value: Option<TermId>) -> LocalId {
        let local =
            LocalVariable { declared_type: known_term(declared), inferred_from: known_term(value) };
        self.locals.push(local);
        LocalId::from_index(self.locals.len() - 1)
    }

    pub(crate) fn bind_local(
        &mut self,
        name: StringId,
        declared: Option<TermId>,
        value: Option<TermId>,
    ) {
        let local = self.add_local(declared, value);
        self.bind_name(name, NameBinding::Local(local));
    }

    /// Assigns to a variable of the enclosing function. The first assignment declares it, later
    /// ones add alternatives to its value.
    pub(crate) fn assign_local(&mut self, name: StringId, declared: Option<TermId>, value: TermId) {
        let scope = self.scopes.function_scope();
        let Some(local) = self.scopes.find_local(scope, name) else {
            let local = self.add_local(declared, Some(value));
            return self.scopes.bind(scope, name, NameBinding::Local(local));
        };
        let earlier = self.locals[local.index()];
        // A declared type is more reliable than any assigned value. Unlike in `add_local`, an unknown
        // term is stored as it is; for the resolver its value is unknown.
        if earlier.declared_type.is_none() {
            let earlier_value = earlier.inferred_from.unwrap_or(UNKNOWN_TERM);
            let either_value = self.terms.any_of(&[earlier_value, value]);
            self.locals[local.index()] =
                LocalVariable { declared_type: declared, inferred_from: Some(either_value) };
        }
    }

    /// Binds a variable that may shadow an equally named one of the same scope. Which of the two a
    /// later use means is not tracked, so both values stay possible.
    pub(crate) fn shadow_local(&mut self, name: StringId, value: TermId) {
        let Some(local) = self.scopes.find_local(self.scopes.current(), name) else {
            return self.bind_local(name, None, Some(value));
        };
        let earlier = self.locals[local.index()];
        let shadowed = earlier.declared_type.or(earlier.inferred_from).unwrap_or(UNKNOWN_TERM);
        let either_value = self.terms.any_of(&[shadowed, value]);
        self.locals[local.index()] =
            LocalVariable { declared_type: None, inferred_from: Some(either_value) };
    }

    // Imports.

    /// Adds an import at the top level of the file, private to it. Its local name is `item` unless
    /// `local` is given. The caller changes `parent_module` and `is_public` and binds the name as
    /// its language requires.
    pub(crate) fn add_import(
        &mut self,
        kind: ImportKind,
        module: &str,
        item: &str,
        local: Option<&str>,
        node: Node<'_>,
    ) -> ImportId {
        let (module, imported_name) = (self.intern(module), self.intern(item));
        let local_name = local.map_or(imported_name, |it| self.intern(it));
        let line = to_index(node.start_position().row);
        let import = ImportId::from_index(self.imports.len());
        self.imports.push(ImportEntry {
            kind,
            module,
            imported_name,
            local_name,
            parent_module: None,
            is_public: false,
            line,
        });
        import
    }

    /// Binds the local name of an import in the current scope.
    pub(crate) fn bind_import(&mut self, import: ImportId) {
        let name = self.imports[import.index()].local_name;
        self.bind_name(name, NameBinding::Import(import));
    }

    /// Binds the local name of an import in the enclosing function or file.
    pub(crate) fn bind_import_in_function(&mut self, import: ImportId) {
        let name = self.imports[import.index()].local_name;
        self.bind_in_function(name, NameBinding::Import(import));
    }

    // References.

    /// Adds a reference, unless its term is unknown. `name_node` is the last name of the term.
    pub(crate) fn add_reference(
        &mut self,
        kind: RefKind,
        term: TermId,
        name_node: Node<'_>,
        n_args: u8,
    ) {
        if term != UNKNOWN_TERM {
            let (enclosing_def, position) = (self.enclosing_def(), node_position(name_node));
            let arg_types = None;
            self.refs.push(Reference { kind, enclosing_def, term, position, n_args, arg_types });
        }
    }

    /// Adds a call in a language that selects overloads by the types of the arguments.
    pub(crate) fn add_typed_call(
        &mut self,
        callee: TermId,
        name_node: Node<'_>,
        arguments: &[TermId],
    ) {
        let n_args = u8::try_from(arguments.len()).unwrap_or(ANY_ARG_COUNT);
        self.add_reference(RefKind::Call, callee, name_node, n_args);
        let arg_types = self.terms.all_of(arguments);
        // An unknown callee was not recorded, so the last reference may be another one.
        if let Some(call) = self.refs.last_mut().filter(|it| it.term == callee) {
            call.arg_types = arg_types;
        }
    }

    // Text that structural hashes treat apart from code.

    pub(crate) fn mark_comment(&mut self, node: Node<'_>) {
        self.mark_opaque(node, OpaqueKind::Comment);
    }

    pub(crate) fn mark_string(&mut self, node: Node<'_>) {
        self.mark_opaque(node, OpaqueKind::String);
    }

    fn mark_opaque(&mut self, node: Node<'_>, kind: OpaqueKind) {
        let (start, end) = (to_index(node.start_byte()), to_index(node.end_byte()));
        self.opaque.push(OpaqueSpan { start, end, kind });
    }
}

/// Turns an unknown term into `None`.
pub(crate) fn known_term(term: Option<TermId>) -> Option<TermId> {
    term.filter(|it| *it != UNKNOWN_TERM)
}

pub(crate) fn node_position(node: Node<'_>) -> SourcePos {
    let start = node.start_position();
    SourcePos { line: to_index(start.row), column: to_index(start.column) }
}

/// Converts an offset or count inside one file, all of which fit 32 bits.
pub(crate) fn to_index(value: usize) -> u32 {
    u32::try_from(value).expect("a source file is below four gigabytes")
}
