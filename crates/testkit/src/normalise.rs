//! Makes output independent of the run.

use model::MemoryId;

/// Replaces ids by names and the temporary folder by `~`.
pub(crate) fn normalise_output(text: &str, top: &str, names: &[MemoryId]) -> String {
    let mut res = text.replace(top, "~");
    // The order does not matter: an id never contains another.
    for (nth, id) in names.iter().enumerate() {
        let name = format!("m{}", nth + 1);
        res = res.replace(&id.to_string(), &name);
        res = res.replace(&format!("#{}", id.short()), &name);
        res = res.replace(&id.short(), &name);
    }
    crate::fake_secrets::mask_secrets(&res)
}
