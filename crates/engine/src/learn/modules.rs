//! Modules of the project, as learning names them: those of the module map with the user's changes.

use observe::ModuleLookup;

use crate::graph::map::load_modules;
use crate::{Error, ProjectReader};

/// Maps each file to its module. Empty if the code was not indexed; folders then count as modules.
pub(crate) async fn modules(reader: &ProjectReader) -> Result<ModuleLookup, Error> {
    let Some(map) = load_modules(reader).await? else { return Ok(ModuleLookup::default()) };
    let members = map.modules.into_iter().flat_map(|module| {
        let id = module.id;
        module.files.into_iter().map(move |it| (it, id.clone()))
    });
    Ok(ModuleLookup::new(members))
}
