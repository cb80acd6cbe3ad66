//! Python: functions, classes and their decorators.
//!
//! ```text
//! class Shape(ABC):                     definition: interface `Shape`, base `ABC`
//!     @property
//!     def area(self) -> float: …        definition: method `Shape.area`, a getter, 0 arguments
//!     @classmethod
//!     def make(cls, n, *rest): …        definition: method `Shape.make`, 1 or more arguments;
//!                                       `cls` is the class, `self` an object of it
//! ```
//!
//! The walk in `python.rs` calls a `visit_…` function with the cursor at the syntax node `node`.
//! The function records what the node defines and uses in `walker.builder`, which collects the
//! facts of the file, and then visits the children. Names are looked up after the walk; the
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Local(db), "find")` for `db.find`.

use tree_sitter::{Node, TreeCursor};

use super::{DecoratorInfo, Field, NodeKind, PythonWalker, add_call_reference};
use crate::facts::{ArityRange, DefFlags, DefId, DefKind, Term, TermId};
use crate::facts_builder::{
    ANY_ARG_COUNT, BaseRelation, MAX_REQUIRED_PARAMS, NameBinding, ScopeKind, UNKNOWN_TERM,
    to_index,
};
use crate::lang::term_shape::{expression_term, field_expression, field_type, type_term};

/// `@decorator` lines and the function or class after them.
pub(super) fn visit_decorated(
    walker: &mut PythonWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let mut decorators = DecoratorInfo {
        flags: DefFlags::default(),
        is_static_method: false,
        is_class_method: false,
        start_byte: to_index(node.start_byte()),
        start_line: to_index(node.start_position().row),
    };
    for decorator in walker.children_of_kind(node, NodeKind::Decorator) {
        let Some(name) = decorator.named_child(0) else { continue };
        let flags = &mut decorators.flags;
        match walker.text(name).rsplit('.').next().unwrap_or_default() {
            "property" | "cached_property" | "getter" => *flags = flags.with(DefFlags::GETTER),
            "staticmethod" => decorators.is_static_method = true,
            "classmethod" => decorators.is_class_method = true,
            "abstractmethod" => *flags = flags.with(DefFlags::ABSTRACT),
            // Other decorators are calls and nothing else.
            _ => {}
        }
        // A decorator without arguments is called all the same.
        if matches!(walker.kind(name), NodeKind::Identifier | NodeKind::Attribute) {
            add_call_reference(walker, name, ANY_ARG_COUNT);
        }
    }
    // The definition is a child and takes the decorators.
    walker.state.decorators = Some(decorators);
    walker.visit_children(cursor);
    walker.state.decorators = None;
}

/// `def name(parameters) -> T:`
pub(super) fn visit_function(
    walker: &mut PythonWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let decorators = walker.state.decorators.take();
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern_node(name_node);
    let text = walker.text(name_node);
    let class =
        walker.builder.enclosing_def().filter(|it| walker.builder.defs[it.index()].kind.is_type());
    // Only a function directly in a class is a method; one inside a method is not.
    let kind = if class.is_some() { DefKind::Method } else { DefKind::Function };
    let is_test = walker.builder.is_test && text.starts_with("test");
    let flags = decorators
        .map_or(DefFlags::default(), |it| it.flags)
        .when(is_test, DefFlags::TEST)
        .when(text == "__init__", DefFlags::CONSTRUCTOR)
        .when(!text.starts_with('_'), DefFlags::EXPORTED);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    include_decorators(walker, def, decorators);
    walker.builder.bind_in_function(name, NameBinding::Def(def));

    walker.builder.open_definition(def);
    walker.builder.enter_function();
    let object = class.and_then(|it| receiver_term(walker, it, text, decorators));
    // `bind_parameters` pushes `self`, which ends with this function.
    let n_outer_methods = walker.state.self_parameters.len();
    let arity = bind_parameters(walker, node, object);
    let declared = field_type(walker, node, Field::ReturnType);
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.visit_children(cursor);
    walker.state.self_parameters.truncate(n_outer_methods);
    let returned = walker.builder.leave_function();
    walker.builder.close_definition();
    walker.builder.set_types(def, declared, Some(returned));
    walker.builder.def_mut(def).arity = arity;
}

/// Lets a definition begin at its first decorator.
fn include_decorators(
    walker: &mut PythonWalker<'_, '_>,
    def: DefId,
    decorators: Option<DecoratorInfo>,
) {
    if let Some(DecoratorInfo { start_byte, start_line, .. }) = decorators {
        let def = walker.builder.def_mut(def);
        (def.span.start, def.lines.0) = (start_byte, start_line);
    }
}

/// The value of a method's first parameter: the object, or the class; `None` for a static method.
fn receiver_term(
    walker: &mut PythonWalker<'_, '_>,
    class: DefId,
    name: &str,
    decorators: Option<DecoratorInfo>,
) -> Option<TermId> {
    if decorators.is_some_and(|it| it.is_static_method) {
        return None;
    }
    // These two are class methods without a decorator.
    let is_class_method = decorators.is_some_and(|it| it.is_class_method)
        || matches!(name, "__new__" | "__init_subclass__");
    let term = if is_class_method { Term::Def(class) } else { Term::This(class) };
    Some(walker.builder.terms.add(term))
}

/// Binds the parameters of `(self, a, b=1, *rest)` and returns the arity. `object` is the value of
/// the first parameter of a method, which does not count.
fn bind_parameters(
    walker: &mut PythonWalker<'_, '_>,
    node: Node<'_>,
    object: Option<TermId>,
) -> ArityRange {
    let is_splat = |it: NodeKind| matches!(it, NodeKind::ListSplat | NodeKind::DictSplat);
    let (mut min_args, mut max_args) = (0_u8, 0_u8);
    for (i, parameter) in walker.field_children(node, Field::Parameters).enumerate() {
        let kind = walker.kind(parameter);
        let pattern = match kind {
            // `a`
            NodeKind::Identifier => Some(parameter),
            // `a: T`, `*a`, `**a`
            NodeKind::TypedParameter | NodeKind::ListSplat | NodeKind::DictSplat => {
                parameter.named_child(0)
            }
            // `a: T = 1`, `a=1`
            NodeKind::TypedDefault | NodeKind::Default => walker.field(parameter, Field::Name),
            // The separators `*` and `/`, and comments.
            _ => None,
        };
        let Some(pattern) = pattern else { continue };
        // `*args: T` is a typed parameter around a splat.
        let is_inner_splat = is_splat(walker.kind(pattern));
        let name_node =
            if is_inner_splat { pattern.named_child(0).unwrap_or(pattern) } else { pattern };
        let name = walker.builder.intern_node(name_node);
        // `self` or `cls`
        if i == 0
            && let Some(object) = object
        {
            walker.state.self_parameters.push((walker.builder.text(name_node), object));
            walker.builder.bind_local(name, Some(object), None);
            continue;
        }
        let is_variadic = is_splat(kind) || is_inner_splat;
        // `*args: T` is a tuple of `T`, so `T` is not the type of `args`.
        let type_node = walker.field(parameter, Field::Type).filter(|_| !is_variadic);
        let declared = type_node.map(|it| type_term(walker, it));
        let default = field_expression(walker, parameter, Field::Value);
        walker.builder.bind_local(name, declared, default);
        max_args = if is_variadic { ANY_ARG_COUNT } else { max_args.saturating_add(1) };
        let is_required = default.is_none() && !is_variadic;
        min_args += u8::from(is_required && min_args < MAX_REQUIRED_PARAMS);
    }
    ArityRange { min: min_args, max: max_args }
}

/// `lambda x: …`. It has no definition; its calls belong to the enclosing one.
pub(super) fn visit_lambda(
    walker: &mut PythonWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    walker.builder.enter_function();
    bind_parameters(walker, node, None);
    walker.visit_children(cursor);
    walker.builder.leave_function();
}

/// `class Name(Base, metaclass=Meta):`
pub(super) fn visit_class(
    walker: &mut PythonWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let decorators = walker.state.decorators.take();
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern_node(name_node);
    let is_exported = !walker.text(name_node).starts_with('_');
    let flags = DefFlags::default().when(is_exported, DefFlags::EXPORTED);
    // An abstract class is the closest that Python has to an interface.
    let mut superclasses = walker.field_children(node, Field::Superclasses);
    let is_abstract = superclasses.any(|it| is_abstract_base(walker.text(it)));
    let kind = if is_abstract { DefKind::Interface } else { DefKind::Class };
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    include_decorators(walker, def, decorators);
    walker.builder.bind_in_function(name, NameBinding::Def(def));
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));

    for base in walker.field_children(node, Field::Superclasses) {
        let term = match walker.kind(base) {
            NodeKind::Identifier | NodeKind::Attribute => expression_term(walker, base),
            // `Generic[T]`
            NodeKind::Subscript => {
                field_expression(walker, base, Field::Value).unwrap_or(UNKNOWN_TERM)
            }
            // Keyword arguments, and calls that compute a base.
            _ => continue,
        };
        walker.builder.add_base(def, term, BaseRelation::Extends);
    }
    walker.builder.open_definition(def);
    walker.builder.scopes.enter(ScopeKind::Class);
    walker.visit_children(cursor);
    walker.builder.scopes.leave();
    walker.builder.close_definition();
}

/// Returns whether a superclass makes a class abstract: `ABC`, `Protocol[T]`, `metaclass=ABCMeta`.
fn is_abstract_base(superclass: &str) -> bool {
    let name = superclass.rsplit(['.', '=']).next().unwrap_or_default();
    matches!(name.split('[').next(), Some("ABC" | "Protocol" | "ABCMeta"))
}
