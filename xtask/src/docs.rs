//! The reference under `docs/reference`, generated from the tables in the code.
//!
//! One file per document. A document is a function without input, so it can be compared as well as written.

mod markdown;
mod model;

/// One generated document.
pub(crate) struct Document {
    pub(crate) path: &'static str,
    pub(crate) render: fn() -> String,
}

pub(crate) const DOCUMENTS: &[Document] =
    &[Document { path: "docs/reference/model.md", render: model::render }];
