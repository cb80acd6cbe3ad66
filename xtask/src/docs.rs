//! The reference under `docs/reference`, generated from the tables in the code.
//!
//! One file per document. A document is a function without input, so that `docs` can write it and `tidy`
//! can compare it with the written file.

mod markdown;
mod model;

/// One generated document.
pub(crate) struct Document {
    pub(crate) path: &'static str,
    pub(crate) render: fn() -> String,
}

pub(crate) const DOCUMENTS: &[Document] =
    &[Document { path: "docs/reference/model.md", render: model::render }];
