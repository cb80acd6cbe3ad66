//! The module map: the modules of a project, the purpose of each, and their dependencies; and the
//! tools the project is built, tested and run with.
//!
//! Modules follow manifests first, then folders, then communities of files that refer to one
//! another and change together.
//!
//! Pure and synchronous: file nodes and the texts of manifests come in as values. The crate reads
//! no files, parses no source code, runs no git and stores nothing. The texts are
//! untrusted content of the project: they are quoted and never interpreted as instructions.

mod codec;
mod community;
mod core_files;
mod description;
mod discovery;
mod entry_points;
mod folder_roles;
mod module;
mod naming;
mod partition;
#[cfg(test)]
mod plain_definition;
mod relations;
mod stable_ids;
mod test_files;
mod tools;

pub use codec::{decode_module, encode_module};
pub use community::detect_communities;
pub use description::{extract_descriptions, manifest_description, manifest_name};
pub use discovery::find_modules;
pub use module::{FileNode, Module, ModuleCoverage};
pub use partition::PackageRoot;
pub use stable_ids::reuse_module_ids;
pub use test_files::reclassify_test_libraries;
pub use tools::{CI_CONFIG_PATHS, MANIFEST_FILES, ProjectTool, ProjectToolKind, detect_tools};
