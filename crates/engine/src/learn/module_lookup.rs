//! Builds the lookup from file to module that learning uses in pattern keys and memories.
//!
//! The modules come from the module map in the graph database, with the user's edits applied.

use observe::ModuleLookup;

use crate::code_index::map::load_modules;
use crate::{Error, ProjectReader};

/// Loads the module of each file. Empty if the code was not indexed; folders then count as modules.
pub(crate) async fn load_module_lookup(reader: &ProjectReader) -> Result<ModuleLookup, Error> {
    let Some(map) = load_modules(reader).await? else { return Ok(ModuleLookup::default()) };
    let mut files_with_module = Vec::new();
    for module in map.modules {
        for file in module.files {
            files_with_module.push((file, module.id.clone()));
        }
    }
    Ok(ModuleLookup::new(files_with_module))
}
