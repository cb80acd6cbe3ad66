//! Builds the lookup from file to module that learning uses in pattern keys and memories.
//!
//! The modules come from the module map in the graph database, with the user's edits applied.

use observe::ModuleLookup;

use crate::code_index::map::load_modules;
use crate::{Error, ProjectReader};

/// Loads the module of each file. Empty if the code was not indexed; folders then count as modules.
pub(crate) async fn load_module_lookup(reader: &ProjectReader) -> Result<ModuleLookup, Error> {
    let Some(map) = load_modules(reader).await? else { return Ok(ModuleLookup::default()) };
    let files_with_module = map.modules.into_iter().flat_map(|module| {
        let id = module.id;
        module.files.into_iter().map(move |it| (it, id.clone()))
    });
    Ok(ModuleLookup::new(files_with_module))
}
