//! Index types: each is a position in one particular array. The types keep a position in one array
//! from being used in another. `DefId(2)` is `facts.defs[2]`; passing it where a `TermId` is expected
//! does not compile.

/// Declares a `u32` index as a type of its own: `index_type! { DefId }` gives the type
/// `DefId(pub u32)` with `index()`, `from_index(usize)` and conversions from and to `u32`.
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position as an array index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The inverse of [`Self::index`]. Files and projects stay far below `u32::MAX` items.
            pub fn from_index(index: usize) -> Self {
                Self(crate::facts_builder::to_index(index))
            }
        }

        impl From<u32> for $name {
            fn from(index: u32) -> Self {
                Self(index)
            }
        }

        impl From<$name> for u32 {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    };
}

index_type! {
    /// A string of one file: an index into `FileFacts::strings`.
    StringId
}

index_type! {
    /// An index into `FileFacts::terms`.
    TermId
}

index_type! {
    /// An index into `FileFacts::defs`.
    DefId
}

index_type! {
    /// An index into `FileFacts::imports`.
    ImportId
}

index_type! {
    /// An index into `FileFacts::locals`.
    LocalId
}

index_type! {
    /// A file of the project. It keeps its id while it exists; the ids of removed files are reused.
    FileId
}

index_type! {
    /// A file or a definition in a [`QueryGraph`](crate::QueryGraph). Valid for that one graph
    /// only.
    NodeId
}
