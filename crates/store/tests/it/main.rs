//! The store on real files: one binary, one module per promise.

mod kit;
mod notebook;
