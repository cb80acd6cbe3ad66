//! Python.

mod term;

use std::sync::LazyLock;

use tree_sitter::{Node, TreeCursor};

use super::Grammar;
use super::walk::{Steps, Walk, children, steps};
use crate::facts::{DefKind, Flags, Import, ImportKind, RefKind, TermId};
use crate::sketch::{ANY_NUMBER, Bound, ScopeKind, Sketch, index};

names! {
    pub(crate) enum K {
        Comment = "comment", Text = "string", Identifier = "identifier", Attribute = "attribute", Call = "call",
        Function = "function_definition", Class = "class_definition", Decorated = "decorated_definition",
        Decorator = "decorator", Import = "import_statement", ImportFrom = "import_from_statement",
        FutureImport = "future_import_statement",
        Dotted = "dotted_name", Aliased = "aliased_import", Relative = "relative_import", Wildcard = "wildcard_import",
        Assignment = "assignment", Lambda = "lambda", Return = "return_statement", For = "for_statement",
        ForIn = "for_in_clause", AsPattern = "as_pattern", AsTarget = "as_pattern_target", Walrus = "named_expression",
        KeywordArgument = "keyword_argument", Type = "type", GenericType = "generic_type", Subscript = "subscript",
        TypeParameter = "type_parameter", Union = "union_type", Binary = "binary_operator", Boolean = "boolean_operator",
        PatternList = "pattern_list", TuplePattern = "tuple_pattern", ListPattern = "list_pattern",
        TypedParameter = "typed_parameter", TypedDefault = "typed_default_parameter", Default = "default_parameter",
        ListSplat = "list_splat_pattern", DictSplat = "dictionary_splat_pattern", Splat = "list_splat",
        DictionarySplat = "dictionary_splat", KeywordSeparator = "keyword_separator", PositionalSeparator = "positional_separator",
        ListComprehension = "list_comprehension", SetComprehension = "set_comprehension",
        DictComprehension = "dictionary_comprehension", Generator = "generator_expression",
        Parenthesized = "parenthesized_expression", Conditional = "conditional_expression", Await = "await",
        List = "list", Tuple = "tuple", Dictionary = "dictionary", Set = "set", Integer = "integer", Float = "float",
        True = "true", False = "false", None = "none", Concatenated = "concatenated_string", TypeAlias = "type_alias_statement",
        Expression = "expression_statement",
    }
}

names! {
    pub(crate) enum F {
        Name = "name", Body = "body", Parameters = "parameters", ReturnType = "return_type", Superclasses = "superclasses",
        Definition = "definition", ModuleName = "module_name", Alias = "alias", Function = "function", Arguments = "arguments",
        Object = "object", AttributeName = "attribute", Left = "left", Right = "right", Type = "type", Value = "value",
        TypeParameters = "type_parameters", Operator = "operator", Subscript = "subscript",
    }
}

static GRAMMAR: LazyLock<Grammar<K, F>> =
    LazyLock::new(|| Grammar::new(tree_sitter_python::LANGUAGE.into()));

struct Python<'a, 's> {
    w: Walk<'a, 's, K, F>,
    /// How the methods around call their object, and what that is.
    selfs: Vec<(&'s str, TermId)>,
    /// What decorators said about the definition that follows, and where they begin.
    decorated: Option<(Flags, bool, bool, u32, u32)>,
    spoken: Option<usize>,
}

pub(super) fn walk(sketch: &mut Sketch<'_>) {
    GRAMMAR.parse(sketch.source, |tree| {
        let w = Walk { grammar: &GRAMMAR, s: sketch, depth: 0 };
        Python { w, selfs: Vec::new(), decorated: None, spoken: None }.visit(&mut tree.walk());
    });
}

steps!(Python);

impl<'s> Python<'_, 's> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        let node = cursor.node();
        let Some(kind) = self.w.grammar.met(node) else { return };
        match kind {
            K::Comment => self.w.s.comment(node),
            K::Text => {
                self.w.s.string(node);
                // Only what is filled in is code.
                let quote = self.w.text(node).find(['"', '\'']).unwrap_or_default();
                if self.w.text(node)[..quote].contains(['f', 'F', 't', 'T']) {
                    self.inside(cursor);
                }
            }
            K::Identifier => self.mention(node, RefKind::Use),
            K::Type => self.types(node, 12),
            K::Attribute => self.first_only(cursor),
            K::KeywordArgument => self.last_only(cursor),
            K::Import => self.import(node),
            K::ImportFrom => self.import_from(node),
            K::FutureImport => {}
            K::Decorated => self.decorated(cursor, node),
            K::Function => self.function(cursor, node),
            K::Class => self.class(cursor, node),
            K::Lambda => self.lambda(cursor, node),
            K::Assignment => self.assignment(cursor, node),
            K::Return => {
                if let Some(value) = node.named_child(0) {
                    let term = self.term(value);
                    self.w.s.add_return(term);
                }
                self.inside(cursor);
            }
            K::For | K::ForIn => {
                self.bind_loop(node);
                self.inside(cursor);
            }
            K::ListComprehension | K::SetComprehension | K::DictComprehension | K::Generator => {
                self.w.s.enter(ScopeKind::Function);
                self.inside(cursor);
                self.w.s.leave();
            }
            K::AsPattern => {
                self.bind_alias(node);
                self.inside(cursor);
            }
            K::Walrus => {
                if let (Some(name), Some(value)) =
                    (self.w.field(node, F::Name), self.w.field(node, F::Value))
                {
                    let made = self.term(value);
                    self.bind_target(name, None, made);
                }
                self.inside(cursor);
            }
            K::Call => self.call(cursor, node),
            _ => self.inside(cursor),
        }
    }

    fn mention(&mut self, node: Node<'_>, kind: RefKind) {
        if self.spoken == Some(node.id()) {
            return;
        }
        let name = self.w.text(node);
        let term = self.w.s.free(name);
        self.w.s.refer(kind, term, node, 0);
    }

    /// The names in an annotation.
    fn types(&mut self, node: Node<'_>, left: u32) {
        match self.w.kind(node) {
            K::Identifier => self.mention(node, RefKind::Type),
            K::Attribute => {
                let term = self.term(node);
                if let Some(at) = self.w.field(node, F::AttributeName) {
                    self.w.s.refer(RefKind::Type, term, at, 0);
                }
            }
            K::Text => self.w.s.string(node),
            _ if left > 0 => children(node).for_each(|it| self.types(it, left - 1)),
            _ => {}
        }
    }

    fn call(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if let Some(callee) = self.w.field(node, F::Function) {
            self.refer_to(callee, self.n_args(node));
        }
        self.inside(cursor);
    }

    fn refer_to(&mut self, callee: Node<'_>, n_args: u8) {
        let at = match self.w.kind(callee) {
            K::Identifier => {
                self.spoken = Some(callee.id());
                Some(callee)
            }
            K::Attribute => self.w.field(callee, F::AttributeName),
            _ => None,
        };
        if let Some(at) = at {
            let term = self.term(callee);
            self.w.s.refer(RefKind::Call, term, at, n_args);
        }
    }

    fn n_args(&self, node: Node<'_>) -> u8 {
        let arguments = self.w.field(node, F::Arguments);
        let is_spread = |it| matches!(it, K::Splat | K::DictionarySplat);
        self.w.n_args(arguments, |it| it == K::Comment, is_spread)
    }

    fn decorated(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let (mut flags, mut is_static, mut of_class) = (Flags::default(), false, false);
        let grammar = self.w.grammar;
        for it in children(node).filter(|it| grammar.kind(*it) == K::Decorator) {
            let Some(name) = it.named_child(0) else { continue };
            match self.w.text(name).rsplit('.').next().unwrap_or_default() {
                "property" | "cached_property" | "getter" => flags = flags.with(Flags::GETTER),
                "staticmethod" => is_static = true,
                "classmethod" => of_class = true,
                "abstractmethod" => flags = flags.with(Flags::ABSTRACT),
                _ => {}
            }
            if matches!(self.w.kind(name), K::Identifier | K::Attribute) {
                self.refer_to(name, ANY_NUMBER);
            }
        }
        let start = (index(node.start_byte()), index(node.start_position().row));
        self.decorated = Some((flags, is_static, of_class, start.0, start.1));
        self.inside(cursor);
        self.decorated = None;
    }

    fn function(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let decorated = self.decorated.take();
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let class = self.w.s.around().filter(|it| self.w.s.defs[*it as usize].kind.is_type());
        let text = self.w.text(name);
        let kind = if class.is_some() { DefKind::Method } else { DefKind::Function };
        let flags = decorated.map_or(Flags::default(), |it| it.0);
        let is_test = self.w.s.is_test && text.starts_with("test");
        let flags = flags.when(is_test, Flags::TEST).when(text == "__init__", Flags::CONSTRUCTOR);
        let def = self.w.s.define(
            kind,
            word,
            name,
            node,
            flags.when(!text.starts_with('_'), Flags::EXPORTED),
        );
        if let Some((_, _, _, byte, line)) = decorated {
            let it = self.w.s.def(def);
            (it.bytes.0, it.lines.0) = (byte, line);
        }
        self.w.s.bind_wide(word, Bound::Def(def));
        self.w.s.open(def);
        self.w.s.enter_function();
        let is_bound = class.is_some() && !decorated.is_some_and(|it| it.1);
        let own = class.filter(|_| is_bound).map(|class| {
            let of_class = decorated.is_some_and(|it| it.2)
                || text == "__new__"
                || text == "__init_subclass__";
            let term = if of_class {
                crate::facts::Term::Def(class)
            } else {
                crate::facts::Term::This(class)
            };
            self.w.s.term(term)
        });
        let takes = self.parameters(node, own);
        let declared = self.w.field(node, F::ReturnType).map(|it| self.type_term(it));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.inside(cursor);
        if takes.1 {
            self.selfs.pop();
        }
        let made = self.w.s.leave_function();
        self.w.s.close();
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.takes, it.declared, it.made) = (takes.0, some(declared), some(Some(made)));
    }

    /// Binds parameters; says how many arguments are taken, and whether one stands for the object.
    fn parameters(&mut self, node: Node<'_>, own: Option<TermId>) -> ((u8, u8), bool) {
        let (mut least, mut most, mut has_self) = (0_u8, 0_u8, false);
        let list = self.w.field(node, F::Parameters);
        for (i, it) in list.into_iter().flat_map(children).enumerate() {
            let kind = self.w.kind(it);
            let name = match kind {
                K::Identifier => Some(it),
                K::TypedParameter | K::ListSplat | K::DictSplat => it.named_child(0),
                K::TypedDefault | K::Default => self.w.field(it, F::Name),
                _ => None,
            };
            let Some(name) = name else { continue };
            let is_splat = |it: K| matches!(it, K::ListSplat | K::DictSplat);
            let is_many = is_splat(kind) || is_splat(self.w.kind(name));
            let name = if is_splat(self.w.kind(name)) {
                name.named_child(0).unwrap_or(name)
            } else {
                name
            };
            if i == 0
                && let Some(own) = own
            {
                self.selfs.push((self.w.text(name), own));
                has_self = true;
                let word = self.w.s.word_of(name);
                self.w.s.bind_local(word, Some(own), None);
                continue;
            }
            let declared =
                self.w.field(it, F::Type).filter(|_| !is_many).map(|it| self.type_term(it));
            let default = self.w.field(it, F::Value);
            let made = default.map(|it| self.term(it));
            let word = self.w.s.word_of(name);
            self.w.s.bind_local(word, declared, made);
            most = if is_many { ANY_NUMBER } else { most.saturating_add(1) };
            least += u8::from(default.is_none() && !is_many && least < 250);
        }
        ((least, most), has_self)
    }

    fn lambda(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        self.w.s.enter_function();
        self.parameters(node, None);
        self.inside(cursor);
        self.w.s.leave_function();
    }

    fn class(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let decorated = self.decorated.take();
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let flags = Flags::default().when(!self.w.text(name).starts_with('_'), Flags::EXPORTED);
        // A class that only promises is what others call an interface.
        let bases = self.w.field(node, F::Superclasses);
        let is_promise = bases.into_iter().flat_map(children).any(|it| {
            let name = self.w.text(it).rsplit(['.', '=']).next().unwrap_or_default();
            matches!(name.split('[').next(), Some("ABC" | "Protocol" | "ABCMeta"))
        });
        let kind = if is_promise { DefKind::Interface } else { DefKind::Class };
        let def = self.w.s.define(kind, word, name, node, flags);
        if let Some((_, _, _, byte, line)) = decorated {
            let it = self.w.s.def(def);
            (it.bytes.0, it.lines.0) = (byte, line);
        }
        self.w.s.bind_wide(word, Bound::Def(def));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        for it in self.w.field(node, F::Superclasses).into_iter().flat_map(children) {
            let term = match self.w.kind(it) {
                K::Identifier | K::Attribute => self.term(it),
                K::Subscript => {
                    self.w.field(it, F::Value).map_or(Sketch::UNKNOWN, |it| self.term(it))
                }
                _ => continue,
            };
            self.w.s.add_base(def, term, false);
        }
        self.w.s.open(def);
        self.w.s.enter(ScopeKind::Class);
        self.inside(cursor);
        self.w.s.leave();
        self.w.s.close();
    }

    fn assignment(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let made = self.w.field(node, F::Right).map_or(Sketch::UNKNOWN, |it| self.term(it));
        let Some(left) = self.w.field(node, F::Left) else { return self.inside(cursor) };
        match self.w.kind(left) {
            K::Attribute => {
                let (object, name) =
                    (self.w.field(left, F::Object), self.w.field(left, F::AttributeName));
                if let (Some(object), Some(name)) = (object, name)
                    && self.selfs.last().is_some_and(|it| it.0 == self.w.text(object))
                    && let Some(class) = self.w.s.class()
                {
                    let word = self.w.s.word_of(name);
                    let made = declared.unwrap_or(made);
                    self.w.s.assign(class, word, made, name, node);
                }
            }
            _ => self.bind_or_define(left, node, declared, made),
        }
        self.inside(cursor);
    }

    /// A name that is assigned: a local, a field of the class, or a variable of the module.
    fn bind_or_define(
        &mut self,
        left: Node<'_>,
        node: Node<'_>,
        declared: Option<TermId>,
        made: TermId,
    ) {
        if self.w.s.is_inside_function() || self.w.kind(left) != K::Identifier {
            return self.bind_target(left, declared, made);
        }
        let word = self.w.s.word_of(left);
        let parent = self.w.s.around();
        if self.w.s.defs.iter().any(|it| it.name == word && it.parent == parent) {
            return;
        }
        let is_field = parent.is_some_and(|it| self.w.s.defs[it as usize].kind.is_type());
        let kind = if is_field { DefKind::Field } else { DefKind::Variable };
        let flags = Flags::default().when(is_field, Flags::STATIC);
        let def = self.w.s.define(kind, word, left, node, flags);
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.declared, it.made) = (some(declared), some(Some(made)));
        self.w.s.bind_wide(word, Bound::Def(def));
    }

    /// Binds the names of a target inside a function.
    fn bind_target(&mut self, target: Node<'_>, declared: Option<TermId>, made: TermId) {
        match self.w.kind(target) {
            K::Identifier => {
                let word = self.w.s.word_of(target);
                self.w.s.rebind(word, declared, made);
            }
            K::PatternList | K::TuplePattern | K::ListPattern => {
                for (i, it) in children(target).enumerate() {
                    let place = self.w.s.word(&i.to_string());
                    let made = self.w.s.term(crate::facts::Term::Member(made, place));
                    self.bind_target(it, None, made);
                }
            }
            K::ListSplat | K::Parenthesized => {
                if let Some(it) = target.named_child(0) {
                    self.bind_target(it, None, Sketch::UNKNOWN);
                }
            }
            _ => {}
        }
    }

    fn bind_loop(&mut self, node: Node<'_>) {
        let (left, right) = (self.w.field(node, F::Left), self.w.field(node, F::Right));
        let (Some(left), Some(right)) = (left, right) else { return };
        let of = self.term(right);
        let element = self.w.s.term(crate::facts::Term::Element(of));
        self.bind_target(left, None, element);
    }

    /// `with open(p) as f`, `except E as e`.
    fn bind_alias(&mut self, node: Node<'_>) {
        let target = self.w.field(node, F::Alias).and_then(|it| it.named_child(0));
        let (Some(target), Some(value)) = (target, node.named_child(0)) else { return };
        let value = self.term(value);
        // A class after `except` stands for an object of it; a manager stands for itself, mostly.
        let is_except = node.parent().is_some_and(|it| it.kind() == "except_clause");
        let made = if is_except { self.w.s.object(value) } else { value };
        self.bind_target(target, None, made);
    }

    fn add_import(
        &mut self,
        kind: ImportKind,
        module: &str,
        item: &'s str,
        local: &'s str,
        node: Node<'_>,
    ) {
        let (module, item, name) =
            (self.w.s.word(module), self.w.s.word(item), self.w.s.word(local));
        let import = index(self.w.s.imports.len());
        let within = self.w.s.around();
        let line = index(node.start_position().row);
        self.w.s.imports.push(Import {
            kind,
            module,
            item,
            local: name,
            within,
            public: true,
            line,
        });
        if kind != ImportKind::Star {
            self.w.s.bind_wide(name, Bound::Import(import));
        }
    }

    fn import(&mut self, node: Node<'_>) {
        for it in children(node) {
            match self.w.kind(it) {
                K::Dotted => {
                    let path = self.w.text(it);
                    let top = path.split('.').next().unwrap_or(path);
                    self.add_import(ImportKind::Module, top, top, top, it);
                    if top.len() < path.len() {
                        // Only for the file it names; the top is what is bound.
                        let (module, item) = (self.w.s.word(path), self.w.s.word(top));
                        let (within, line) = (self.w.s.around(), index(it.start_position().row));
                        let kind = ImportKind::Effect;
                        self.w.s.imports.push(Import {
                            kind,
                            module,
                            item,
                            local: item,
                            within,
                            public: false,
                            line,
                        });
                    }
                }
                K::Aliased => {
                    if let (Some(name), Some(alias)) =
                        (self.w.field(it, F::Name), self.w.field(it, F::Alias))
                    {
                        let (path, alias) = (self.w.text(name), self.w.text(alias));
                        self.add_import(ImportKind::Module, path, path, alias, it);
                    }
                }
                _ => {}
            }
        }
    }

    fn import_from(&mut self, node: Node<'_>) {
        let Some(module) = self.w.field(node, F::ModuleName) else { return };
        let path: String = self.w.text(module).split_whitespace().collect();
        for it in children(node).filter(|it| it.id() != module.id()) {
            match self.w.kind(it) {
                K::Wildcard => self.add_import(ImportKind::Star, &path, "*", "*", it),
                K::Dotted => {
                    self.add_import(ImportKind::Named, &path, self.w.text(it), self.w.text(it), it);
                }
                K::Aliased => {
                    if let (Some(name), Some(alias)) =
                        (self.w.field(it, F::Name), self.w.field(it, F::Alias))
                    {
                        self.add_import(
                            ImportKind::Named,
                            &path,
                            self.w.text(name),
                            self.w.text(alias),
                            it,
                        );
                    }
                }
                _ => {}
            }
        }
    }
}
