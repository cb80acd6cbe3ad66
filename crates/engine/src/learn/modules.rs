//! The modules that learning speaks of: those of the map, with what people said about it.

use observe::Modules;

use crate::{Engine, Error};

impl Engine {
    /// Which module each file is of; where nothing was indexed, folders are all there is.
    pub(crate) async fn modules(&self) -> Result<Modules, Error> {
        let Some(found) = self.found_modules().await? else { return Ok(Modules::default()) };
        let members = found.modules.into_iter().flat_map(|module| {
            let id = module.id;
            module.files.into_iter().map(move |it| (it, id.clone()))
        });
        Ok(Modules::new(members))
    }
}
