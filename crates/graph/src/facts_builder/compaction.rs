//! Last step of building facts: binds names, drops what nothing needs, hashes the interface.
//!
//! The builder of a file becomes its finished [`FileFacts`]. Terms, locals and strings are copied
//! on first use and get new ids, so what nothing uses is left behind. Copying has two phases: those
//! reachable from definitions, imports and exports come first and form the file's interface; those
//! that only references need follow and are encoded apart.
//!
//! A term is an expression or a type, reduced to what name resolution needs. A name is bound while
//! its term is copied: [`Term::Unbound`] becomes `Term::Local`, `Term::Def`, `Term::Import`,
//! `Term::Implicit` or `Term::Name`. For the Rust text `fn sync(db: Store) { db.find() }`:
//!
//! ```text
//! builder                                    finished facts
//! Unbound("Store", scope of the file)        Name("Store"): no scope of the file binds it
//! Unbound("db", scope of `sync`)             Local(l0): the parameter
//! ```
//!
//! In some languages one name can be a type and, independently, a value: TypeScript's `interface Job`
//! and `const Job`. Which of the two *declaration spaces* is meant depends on the place of the name, so
//! a term is copied at most once per space.

use std::collections::HashSet;

use model::hasher::FastBuildHasher;

use super::interface_hash::hash_interface;
use super::{
    ANY_ARG_COUNT, BufferPool, CompactionBuffers, DeclarationSpace, FactsBuilder, FieldAssignment,
    MAX_ALTERNATIVES, MAX_OVERLOADS, NameBinding, UNKNOWN_TERM, known_term, to_index,
};
use crate::facts::{
    ArityRange, BaseClause, DefFlags, DefKind, DefSpan, Definition, ExportEntry, FileFacts,
    ImportEntry, ListSpan, LocalId, LocalVariable, RefKind, Reference, ReferenceSlices, StringId,
    Term, TermId, encode_reference_facts, structural_hash,
};

/// Nesting depth from which on terms are not copied but unknown. Copying is a recursion, so the
/// stack is the limit. The resolver follows far fewer levels.
const MAX_TERM_DEPTH: u32 = 128;

/// Copies terms, locals and strings of a builder into finished facts. `buffers` maps their ids in the
/// builder to those of the copies.
struct FactsCompactor<'a, 's> {
    builder: &'a FactsBuilder<'s>,
    facts: FileFacts,
    buffers: CompactionBuffers,
    /// Locals whose index is assigned but whose terms are not copied yet.
    pending_locals: Vec<LocalId>,
    /// Number of terms around the one that is being copied.
    depth: u32,
}

/// Turns a builder into finished facts and returns its buffers to the pool.
pub(super) fn compact(mut builder: FactsBuilder<'_>) -> FileFacts {
    define_assigned_fields(&mut builder);
    set_signatures(&mut builder);

    // First phase: everything that other files can see.
    let buffers = std::mem::take(&mut builder.compaction);
    let mut compactor = FactsCompactor::new(&builder, buffers);
    // The outline, the part of the stored facts that queries read, has only the strings of
    // definitions, so these must come first.
    for def in &builder.defs {
        compactor.copy_string(def.name);
        let owner_name = def.owner_type.and_then(|it| builder.terms.simple_name(it));
        owner_name.map(|it| compactor.copy_string(it));
    }
    compactor.copy_interface();
    compactor.facts.interface_hash = hash_interface(&compactor.facts, &mut compactor.buffers.bytes);
    let facts = &mut compactor.facts;
    facts.n_visible_strings = to_index(facts.strings.len());
    let (n_terms, n_locals, n_lists) = (facts.terms.len(), facts.locals.len(), facts.lists.len());

    // Second phase: references, whose terms are appended to those of the interface, encoded and
    // removed again.
    compactor.copy_references();
    let FactsCompactor { mut facts, mut buffers, .. } = compactor;
    let reference_facts = ReferenceSlices {
        terms: &facts.terms[n_terms..],
        locals: &facts.locals[n_locals..],
        lists: &facts.lists[n_lists..],
        refs: &buffers.refs,
    };
    facts.reference_bytes = encode_reference_facts(reference_facts, &mut buffers.bytes);
    facts.terms.truncate(n_terms);
    facts.locals.truncate(n_locals);
    facts.lists.truncate(n_lists);

    // The clone has exact capacities; the draft keeps its spare capacity for the next file.
    let result = facts.clone();
    buffers.draft = Some(Box::new(facts));
    recycle_buffers(builder, buffers);
    result
}

fn recycle_buffers(builder: FactsBuilder<'_>, compaction: CompactionBuffers) {
    let FactsBuilder { defs, locals, terms, refs, opaque, scopes, .. } = builder;
    BufferPool { defs, locals, terms, refs, opaque, scopes, compaction }.return_to_pool();
}

/// Defines properties that no declaration mentions and that are only assigned through `this`: `db`
/// in `this.db = new Db()`.
fn define_assigned_fields(builder: &mut FactsBuilder<'_>) {
    if builder.field_assignments.is_empty() {
        return;
    }
    let parent_and_name = |it: &Definition| it.parent.map(|parent| (parent, it.name));
    let declared: HashSet<_, FastBuildHasher> =
        builder.defs.iter().filter_map(parent_and_name).collect();

    // The first assignment of each undeclared property, with all values assigned to it. A list, not
    // a map: definitions must appear in the order of their first assignment.
    let mut fields: Vec<(FieldAssignment, Vec<TermId>)> = Vec::new();
    for assignment in std::mem::take(&mut builder.field_assignments) {
        let FieldAssignment { class, name, value, .. } = assignment;
        if declared.contains(&(class, name)) {
            continue;
        }
        match fields.iter_mut().find(|(first, _)| (first.class, first.name) == (class, name)) {
            Some((_, values)) => values.push(value),
            None => fields.push((assignment, vec![value])),
        }
    }

    for (first, values) in fields {
        let is_known = values.len() <= MAX_ALTERNATIVES;
        let value = if is_known { builder.terms.any_of(&values) } else { UNKNOWN_TERM };
        builder.defs.push(Definition {
            kind: DefKind::Field,
            name: first.name,
            parent: Some(first.class),
            owner_type: None,
            owner_name: None,
            flags: DefFlags::default(),
            position: first.position,
            lines: (first.position.line, first.position.line),
            span: DefSpan { start: first.start_byte, body: first.end_byte, end: first.end_byte },
            structural_hash: 0,
            arity: ArityRange { min: 0, max: ANY_ARG_COUNT },
            param_types: None,
            signature: None,
            declared_type: None,
            inferred_from: known_term(Some(value)),
            type_params: <(LocalId, LocalId)>::default(),
        });
    }
}

/// Gives each definition its signatures, several as alternatives.
fn set_signatures(builder: &mut FactsBuilder<'_>) {
    let mut signatures = std::mem::take(&mut builder.signatures);
    // A stable sort: overloads stay in the order of the text.
    signatures.sort_by_key(|(def, _)| *def);
    for overloads in signatures.chunk_by(|a, b| a.0 == b.0) {
        let terms: Vec<TermId> =
            overloads.iter().take(MAX_OVERLOADS).map(|(_, term)| *term).collect();
        let signature = builder.terms.any_of(&terms);
        builder.def_mut(overloads[0].0).signature = known_term(Some(signature));
    }
}

impl<'a, 's> FactsCompactor<'a, 's> {
    fn new(builder: &'a FactsBuilder<'s>, mut buffers: CompactionBuffers) -> Self {
        buffers.strings.resize(builder.terms.n_strings(), None);
        // One copy for each of the two declaration spaces.
        buffers.terms.resize(builder.terms.len(), [None; 2]);
        buffers.locals.resize(builder.locals.len(), None);
        let draft = buffers.draft.take();
        let mut facts = draft.map_or_else(|| FileFacts::empty(builder.lang), |it| *it);
        facts.clear(builder.lang);
        let line_breaks = builder.source.iter().map(|it| usize::from(*it == b'\n'));
        facts.n_lines = to_index(line_breaks.sum::<usize>()) + 1;
        facts.is_test = builder.is_test;
        facts.n_too_deep = builder.n_too_deep;
        facts.n_syntax_errors = builder.n_syntax_errors;
        Self { builder, facts, buffers, pending_locals: Vec::new(), depth: 0 }
    }

    /// Returns the id of a string's copy, which is made on first use.
    fn copy_string(&mut self, string: StringId) -> StringId {
        let strings = &mut self.facts.strings;
        *self.buffers.strings[string.index()].get_or_insert_with(|| {
            strings.push(self.builder.terms.text(string));
            StringId::from_index(strings.len() - 1)
        })
    }

    /// Copies everything that other files can refer to.
    fn copy_interface(&mut self) {
        let builder = self.builder;
        self.facts.namespace = builder.namespace.map(|it| self.copy_string(it));
        builder.defs.iter().for_each(|it| self.copy_definition(it));
        for base in &builder.bases {
            let term = self.copy_term(base.term, DeclarationSpace::Type);
            self.facts.bases.push(BaseClause { term, ..*base });
        }
        for import in &builder.imports {
            let import = ImportEntry {
                module: self.copy_string(import.module),
                imported_name: self.copy_string(import.imported_name),
                local_name: self.copy_string(import.local_name),
                ..import.clone()
            };
            self.facts.imports.push(import);
        }
        builder.exports.iter().for_each(|it| self.copy_export(it));
        self.copy_pending_locals();
    }

    fn copy_definition(&mut self, def: &Definition) {
        let builder = self.builder;
        let first_param = LocalId::from_index(self.facts.locals.len());
        for (i, local) in def.type_param_ids().enumerate() {
            // Type parameters are a range of locals, so their copies must be adjacent, too.
            let copy = self.reserve_local(local);
            debug_assert_eq!(copy.index(), first_param.index() + i);
        }
        let type_params = (first_param, LocalId::from_index(self.facts.locals.len()));
        let owner_name = def.owner_type.and_then(|it| builder.terms.simple_name(it));
        let owner_name = owner_name.map(|it| self.copy_string(it));
        let code = def.span.start..def.span.end;
        let layout = builder.lang.family().rules().layout;
        let copy = Definition {
            name: self.copy_string(def.name),
            owner_type: def.owner_type.map(|it| self.copy_term(it, DeclarationSpace::Type)),
            owner_name,
            param_types: def.param_types.map(|it| self.copy_value(it)),
            signature: def.signature.map(|it| self.copy_value(it)),
            declared_type: def.declared_type.map(|it| self.copy_value(it)),
            inferred_from: def.inferred_from.map(|it| self.copy_value(it)),
            type_params,
            structural_hash: structural_hash(builder.source, code, &builder.opaque, layout),
            ..def.clone()
        };
        self.facts.defs.push(copy);
    }

    fn copy_export(&mut self, export: &ExportEntry) {
        let copy = match *export {
            ExportEntry::Local { name, term } => {
                ExportEntry::Local { name: self.copy_string(name), term: self.copy_value(term) }
            }
            ExportEntry::From { name, module, item } => ExportEntry::From {
                name: self.copy_string(name),
                module: self.copy_string(module),
                item: self.copy_string(item),
            },
            ExportEntry::ModuleAs { name, module } => ExportEntry::ModuleAs {
                name: self.copy_string(name),
                module: self.copy_string(module),
            },
            ExportEntry::Star { module } => ExportEntry::Star { module: self.copy_string(module) },
        };
        self.facts.exports.push(copy);
    }

    fn copy_references(&mut self) {
        let builder = self.builder;
        let names = builder.defs.iter().map(|it| (it.position.line, it.position.column));
        self.buffers.definition_names.extend(names);
        for reference in &builder.refs {
            self.copy_reference(reference);
        }
        self.copy_pending_locals();
    }

    /// Copies a reference. Dropped are uses of local names, the name of a definition at its own
    /// declaration, and repetitions of a use within one definition.
    fn copy_reference(&mut self, reference: &Reference) {
        // `new X` names a type in some languages and a value in others.
        let names_type = match reference.kind {
            RefKind::Type => true,
            RefKind::New => self.builder.lang.family().rules().constructs_by_type_name,
            RefKind::Call | RefKind::Use => false,
        };
        let space = if names_type { DeclarationSpace::Type } else { DeclarationSpace::Value };
        // Calls are never dropped: each one is an edge with its own position and argument count.
        let is_mention = matches!(reference.kind, RefKind::Use | RefKind::Type);
        if is_mention && self.is_local_name(reference.term, space) {
            return;
        }
        // The walk also visits the name of a definition, which is no use of it.
        let position = (reference.position.line, reference.position.column);
        if reference.kind == RefKind::Use && self.buffers.definition_names.contains(&position) {
            return;
        }
        let term = self.copy_term(reference.term, space);
        let enclosing = reference.enclosing_def;
        let is_recursive =
            matches!(self.facts.terms[term.index()], Term::Def(def) if Some(def) == enclosing);
        // A definition that mentions itself needs no edge.
        if is_mention && is_recursive {
            return;
        }
        // The edge of a repeated use exists already: `insert` returns false.
        let use_key = (enclosing, term, reference.kind);
        if is_mention && !self.buffers.seen_uses.insert(use_key) {
            return;
        }
        let arg_types = reference.arg_types.map(|it| self.copy_value(it));
        self.buffers.refs.push(Reference { term, arg_types, ..*reference });
    }

    /// Returns whether a bare name means a local variable or a type parameter.
    fn is_local_name(&mut self, term: TermId, space: DeclarationSpace) -> bool {
        let (mut term, mut space) = (self.builder.terms.get(term), space);
        // A mentioned type is recorded as an instance of it.
        while let Term::InstanceOf(type_name) = term {
            (term, space) = (self.builder.terms.get(type_name), DeclarationSpace::Type);
        }
        let Term::Unbound(name, scope) = term else { return false };
        let binding = self.lookup(name, scope, space);
        matches!(binding, Some(NameBinding::Local(_) | NameBinding::TypeParameter(_)))
    }

    /// Looks a name up in the scopes. The result is remembered, because names repeat.
    fn lookup(
        &mut self,
        name: StringId,
        scope: u32,
        space: DeclarationSpace,
    ) -> Option<NameBinding> {
        let builder = self.builder;
        *self.buffers.lookups.entry((name, scope, space)).or_insert_with(|| {
            builder.scopes.lookup(name, scope, |it| is_declared_in(builder, it, space))
        })
    }

    /// Assigns an index to a local; its terms are copied later, because they may lead back to it.
    fn reserve_local(&mut self, local: LocalId) -> LocalId {
        if let Some(copy) = self.buffers.locals[local.index()] {
            return copy;
        }
        let copy = LocalId::from_index(self.facts.locals.len());
        self.facts.locals.push(LocalVariable::default());
        self.buffers.locals[local.index()] = Some(copy);
        self.pending_locals.push(local);
        copy
    }

    /// Copies the terms of reserved locals, which may reserve further ones.
    fn copy_pending_locals(&mut self) {
        while let Some(local) = self.pending_locals.pop() {
            let LocalVariable { declared_type, inferred_from } = self.builder.locals[local.index()];
            let declared_type = declared_type.map(|it| self.copy_value(it));
            let inferred_from = inferred_from.map(|it| self.copy_value(it));
            // Reserved already, so this only returns its new id.
            let copy = self.reserve_local(local);
            self.facts.locals[copy.index()] = LocalVariable { declared_type, inferred_from };
        }
    }

    fn copy_value(&mut self, term: TermId) -> TermId {
        self.copy_term(term, DeclarationSpace::Value)
    }

    /// Copies a term and its operands. `space` decides how a bare name is looked up: the operand of
    /// `InstanceOf` is a type, nearly all others are values.
    fn copy_term(&mut self, term: TermId, space: DeclarationSpace) -> TermId {
        if let Some(copy) = self.buffers.terms[term.index()][space as usize] {
            return copy;
        }
        if self.depth >= MAX_TERM_DEPTH {
            // Not remembered: elsewhere the same term may be nested less deeply.
            return self.intern_term(Term::Unknown);
        }
        self.depth += 1;
        let copy = match self.builder.terms.get(term) {
            Term::Unbound(name, scope) => self.bind_name(name, scope, space),
            Term::Name(name) => Term::Name(self.copy_string(name)),
            Term::Literal(name) => Term::Literal(self.copy_string(name)),
            Term::Implicit(def, name) => Term::Implicit(def, self.copy_string(name)),
            Term::Member(object, name) => {
                Term::Member(self.copy_value(object), self.copy_string(name))
            }
            Term::Call(it) => Term::Call(self.copy_value(it)),
            Term::InstanceOf(it) => Term::InstanceOf(self.copy_term(it, DeclarationSpace::Type)),
            Term::ElementOf(it) => Term::ElementOf(self.copy_value(it)),
            Term::Unwrapped(it) => Term::Unwrapped(self.copy_value(it)),
            Term::ListOf(it) => Term::ListOf(self.copy_value(it)),
            Term::Function(it) => Term::Function(self.copy_value(it)),
            Term::Rest(it) => Term::Rest(self.copy_value(it)),
            Term::Parameter(it, position) => Term::Parameter(self.copy_value(it), position),
            Term::FunctionType(it) => {
                Term::FunctionType(self.copy_list(it, DeclarationSpace::Value))
            }
            Term::Generic(it) => Term::Generic(self.copy_list(it, space)),
            Term::AnyOf(it) => Term::AnyOf(self.copy_list(it, space)),
            Term::AllOf(it) => Term::AllOf(self.copy_list(it, space)),
            Term::Record(it) => Term::Record(self.copy_record(it)),
            // Only reserved here: a local may be defined by a term that contains it.
            Term::Local(it) => Term::Local(self.reserve_local(it)),
            // Definitions and imports keep their ids: none of them is left behind.
            unchanged @ (Term::Unknown
            | Term::Def(_)
            | Term::Import(_)
            | Term::This(_)
            | Term::Super(_)) => unchanged,
        };
        self.depth -= 1;
        let id = self.intern_term(copy);
        self.buffers.terms[term.index()][space as usize] = Some(id);
        id
    }

    /// Adds a copied term, unless an equal one exists: different names may be bound to one definition.
    fn intern_term(&mut self, term: Term) -> TermId {
        if let Some(id) = self.buffers.term_ids.get(&term) {
            return *id;
        }
        let id = TermId::from_index(self.facts.terms.len());
        self.facts.terms.push(term);
        self.buffers.term_ids.insert(term, id);
        id
    }

    /// The term that replaces [`Term::Unbound`].
    fn bind_name(&mut self, name: StringId, scope: u32, space: DeclarationSpace) -> Term {
        match self.lookup(name, scope, space) {
            Some(NameBinding::Local(it) | NameBinding::TypeParameter(it)) => {
                Term::Local(self.reserve_local(it))
            }
            Some(NameBinding::Def(it)) => Term::Def(it),
            Some(NameBinding::Import(it)) => Term::Import(it),
            // Inside a type or module an unbound name may be an inherited or implicit member of it.
            None => match self.builder.scopes.fallback_owner(scope) {
                Some(owner) => Term::Implicit(owner, self.copy_string(name)),
                None => Term::Name(self.copy_string(name)),
            },
        }
    }

    /// Copies a list of terms, the first of them in `head_space`: the head of a generic type is a
    /// type, its arguments are values.
    fn copy_list(&mut self, list: ListSpan, head_space: DeclarationSpace) -> ListSpan {
        // Collected first: copying an item may append a list of its own.
        let mut copies: Vec<u32> = Vec::with_capacity(list.len as usize);
        for (i, item) in self.builder.terms.list(list).iter().enumerate() {
            let space = if i == 0 { head_space } else { DeclarationSpace::Value };
            copies.push(self.copy_term(TermId(*item), space).0);
        }
        let start = to_index(self.facts.lists.len());
        self.facts.lists.extend(copies);
        ListSpan { start, len: list.len }
    }

    /// Copies a list of names and values in turn.
    fn copy_record(&mut self, list: ListSpan) -> ListSpan {
        let items = self.builder.terms.list(list);
        let mut copies = Vec::with_capacity(items.len());
        for pair in items.chunks_exact(2) {
            copies.push(self.copy_string(StringId(pair[0])).0);
            copies.push(self.copy_value(TermId(pair[1])).0);
        }
        let start = to_index(self.facts.lists.len());
        self.facts.lists.extend(&copies);
        ListSpan { start, len: to_index(copies.len()) }
    }
}

/// Returns whether a binding declares its name in a declaration space.
fn is_declared_in(
    builder: &FactsBuilder<'_>,
    binding: NameBinding,
    space: DeclarationSpace,
) -> bool {
    match binding {
        // Whether an import is a type or a value shows only in the other file.
        NameBinding::Import(_) => true,
        NameBinding::Local(_) => space == DeclarationSpace::Value,
        NameBinding::TypeParameter(_) => space == DeclarationSpace::Type,
        NameBinding::Def(def) => {
            let kind = builder.defs[def.index()].kind;
            match space {
                DeclarationSpace::Value => kind.is_value(),
                DeclarationSpace::Type => {
                    !builder.lang.separates_types_from_values()
                        || kind.is_type()
                        || kind == DefKind::Module
                }
            }
        }
    }
}
