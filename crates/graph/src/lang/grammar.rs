//! Node kinds and fields of a grammar as enums, so that a walk is a `match` and a lookup an index.
//!
//! tree-sitter numbers the node kinds and the fields of each grammar and names them with strings. A
//! language declares the names it uses with [`grammar_names!`]; [`Grammar`] maps the grammar's
//! numbers to the enum values once, so that no string is compared during a walk:
//!
//! ```text
//! grammar_names! { enum NodeKind { Call = "call_expression", Comma = "'," } }
//! kind(node) → NodeKind::Call      for every node of the kind `call_expression`
//!            → NodeKind::Comma     for the token `,` (a leading quote marks a token)
//!            → NodeKind::Other     for every node that is not listed
//! ```

use arena::parse_in_arena;
use tree_sitter::{Language, Node, Range, Tree};

use super::SourceLanguage;

/// A grammar whose node kinds and fields were looked up by name once.
pub(crate) struct Grammar<K: 'static, F: 'static> {
    language: Language,
    /// The enum value of every node kind id.
    kinds: Box<[K]>,
    /// True for the ids of anonymous tokens: keywords and punctuation, which have no children.
    is_token: Box<[bool]>,
    /// The field id of every enum value, with that of `OTHER` last; 0 if the grammar has no such field.
    field_ids: Box<[u16]>,
    /// `F` is used by the methods only; a type needs each of its parameters in a field.
    field_type: std::marker::PhantomData<F>,
}

/// An enum of node kinds or fields of a grammar; implemented by `grammar_names!`.
pub(crate) trait GrammarNames: Copy + PartialEq + Sized + 'static {
    /// All listed names with their enum values, in the order of the values.
    const ALL: &'static [(&'static str, Self)];
    /// The value for every name that is not listed.
    const OTHER: Self;
    /// The position of the value in `ALL`, which `OTHER` follows.
    fn index(self) -> usize;
}

impl<K: GrammarNames, F: GrammarNames> Grammar<K, F> {
    /// Looks up the names of a language. A language without a grammar is a bug of the caller.
    pub(crate) fn for_language(language: SourceLanguage) -> Self {
        let language = language.grammar().expect("every language that is walked has a grammar");
        // One entry per node kind id: the lookup of a node's kind is one array access.
        let ids = 0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let kinds = ids.clone().map(|id| node_kind(&language, id)).collect();
        let is_token = ids.map(|id| !language.node_kind_is_named(id)).collect();
        // Field 0 never exists, so a missing field is found in no node.
        let field_id = |it: &(&str, F)| language.field_id_for_name(it.0).map_or(0, u16::from);
        let field_ids = F::ALL.iter().map(field_id).chain([0]).collect();
        Self { language, kinds, is_token, field_ids, field_type: std::marker::PhantomData }
    }

    pub(crate) fn kind(&self, node: Node<'_>) -> K {
        // The id of a syntax error is beyond the table.
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::OTHER)
    }

    /// The kind of a named node; `None` for a token, which a walk can skip.
    pub(crate) fn named_kind(&self, node: Node<'_>) -> Option<K> {
        let id = usize::from(node.kind_id());
        let is_token = self.is_token.get(id).copied().unwrap_or(false);
        (!is_token).then(|| self.kinds.get(id).copied().unwrap_or(K::OTHER))
    }

    /// The child of a node in a field; no node has one in `OTHER`.
    pub(crate) fn field<'t>(&self, node: Node<'t>, field: F) -> Option<Node<'t>> {
        node.child_by_field_id(self.field_ids[field.index()])
    }

    /// Returns whether a field id, as a cursor reports it, is that of `field`.
    pub(crate) fn is_field(&self, id: Option<u16>, field: F) -> bool {
        id == Some(self.field_ids[field.index()])
    }

    /// Parses a text and lends its tree to `visit`; `None` if the parser gives up.
    pub(crate) fn parse<T>(&self, source: &[u8], visit: impl FnOnce(&Tree) -> T) -> Option<T> {
        // No part means the whole text.
        parse_in_arena(&self.language, source, &[], visit)
    }

    /// Parses one part of a text as if it were a file; positions are those of the whole text.
    pub(crate) fn parse_part<T>(
        &self,
        source: &[u8],
        part: Range,
        visit: impl FnOnce(&Tree) -> T,
    ) -> Option<T> {
        parse_in_arena(&self.language, source, &[part], visit)
    }
}

/// The enum value of a node kind id.
fn node_kind<K: GrammarNames>(language: &Language, id: u16) -> K {
    let Some(name) = language.node_kind_for_id(id) else { return K::OTHER };
    let is_named = language.node_kind_is_named(id);
    for (listed_name, kind) in K::ALL {
        // The quote distinguishes the token `'await` from a named node `await`.
        let is_match = match listed_name.strip_prefix('\'') {
            Some(token) => !is_named && token == name,
            None => is_named && *listed_name == name,
        };
        if is_match {
            return *kind;
        }
    }
    K::OTHER
}

/// Declares an enum of node kinds or fields with their names in the grammar, and adds the variant
/// `Other` for all names that are not listed.
macro_rules! grammar_names {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name { $($variant),+, Other }

        impl $crate::lang::grammar::GrammarNames for $name {
            const ALL: &'static [(&'static str, Self)] = &[$(($text, Self::$variant)),+];
            const OTHER: Self = Self::Other;

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}
pub(crate) use grammar_names;
