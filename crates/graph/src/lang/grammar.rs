//! Kinds of syntax nodes as enums, so that a walk is a `match` and a look-up is an index.

use std::cell::RefCell;

use tree_sitter::{Language, Node, Parser, Range, Tree};

use super::arena;

/// A grammar whose kinds and fields have been looked up once.
pub(crate) struct Grammar<K: 'static, F: 'static> {
    pub(crate) language: Language,
    kinds: Box<[K]>,
    /// Kinds without a name of their own: keywords and signs, which hold nothing.
    tokens: Box<[bool]>,
    fields: Box<[u16]>,
    field: std::marker::PhantomData<F>,
}

/// An enum of names; made by `kinds!` and `fields!`.
pub(crate) trait Names: Copy + Sized + 'static {
    const ALL: &'static [(&'static str, Self)];
    const OTHER: Self;
    fn index(self) -> usize;
}

impl<K: Names, F: Names> Grammar<K, F> {
    pub(crate) fn new(language: Language) -> Self {
        let kind = |id: usize| {
            let id = u16::try_from(id).ok()?;
            let name = language.node_kind_for_id(id)?;
            let named = language.node_kind_is_named(id);
            // A leading quote stands for a keyword, which may have the name of a node.
            let is_it = |it: &&(&str, K)| match it.0.strip_prefix('\'') {
                Some(keyword) => !named && keyword == name,
                None => named && it.0 == name,
            };
            K::ALL.iter().find(is_it).map(|it| it.1)
        };
        let kinds =
            (0..language.node_kind_count()).map(|it| kind(it).unwrap_or(K::OTHER)).collect();
        let is_token =
            |id: usize| u16::try_from(id).is_ok_and(|it| !language.node_kind_is_named(it));
        let tokens = (0..language.node_kind_count()).map(is_token).collect();
        let field = |it: &(&'static str, F)| language.field_id_for_name(it.0).map_or(0, u16::from);
        let fields = F::ALL.iter().map(field).collect();
        Self { language, kinds, tokens, fields, field: std::marker::PhantomData }
    }

    pub(crate) fn kind(&self, node: Node<'_>) -> K {
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::OTHER)
    }

    /// The kind of a node that a walk has come to; nothing where it need not look at all.
    pub(crate) fn met(&self, node: Node<'_>) -> Option<K> {
        let id = usize::from(node.kind_id());
        let is_token = self.tokens.get(id).copied().unwrap_or(false);
        (!is_token).then(|| self.kinds.get(id).copied().unwrap_or(K::OTHER))
    }

    pub(crate) fn field<'t>(&self, node: Node<'t>, field: F) -> Option<Node<'t>> {
        node.child_by_field_id(self.fields[field.index()])
    }

    pub(crate) fn is_field(&self, id: Option<u16>, field: F) -> bool {
        id == Some(self.fields[field.index()])
    }

    /// Lends out what a text is made of; `None` only when the parser was cancelled, which nobody does.
    pub(crate) fn parse<T>(&self, source: &[u8], then: impl FnOnce(&Tree) -> T) -> Option<T> {
        parse(&self.language, source, &[], then)
    }

    /// Reads one part of a text as if it were all of it; places are those of the whole.
    pub(crate) fn parse_part<T>(
        &self,
        source: &[u8],
        part: Range,
        then: impl FnOnce(&Tree) -> T,
    ) -> Option<T> {
        parse(&self.language, source, &[part], then)
    }
}

thread_local! {
    /// Kept while one file is read: some have parts that are read by themselves.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

pub(super) fn parse<T>(
    language: &Language,
    source: &[u8],
    parts: &[Range],
    then: impl FnOnce(&Tree) -> T,
) -> Option<T> {
    let tree = PARSER.with_borrow_mut(|parser| {
        let parser = parser.get_or_insert_with(Parser::new);
        parser.set_language(language).ok()?;
        parser.set_included_ranges(parts).ok()?;
        parser.parse(source, None)
    })?;
    let res = then(&tree);
    if arena::is_open() {
        // Its room is used again as a whole.
        std::mem::forget(tree);
    }
    Some(res)
}

/// Lets the parser go, before its room is used again.
pub(super) fn let_go() {
    drop(PARSER.take());
}

macro_rules! names {
    ($vis:vis enum $name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name { $($variant),+, Other }

        impl $crate::lang::grammar::Names for $name {
            const ALL: &'static [(&'static str, Self)] = &[$(($text, Self::$variant)),+];
            const OTHER: Self = Self::Other;

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}
