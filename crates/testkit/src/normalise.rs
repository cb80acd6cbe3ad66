//! Makes the output of a script independent of the run, so that tests can compare it as a whole.

use model::MemoryId;

/// Replaces ids by names (`m1` for the first of `ids`), the temporary folder by `~`, and fake
/// secrets by their names in braces.
pub(crate) fn normalise_output(text: &str, temporary_folder: &str, ids: &[MemoryId]) -> String {
    let mut res = text.replace(temporary_folder, "~");
    // The order does not matter: an id never contains another.
    for (index, id) in ids.iter().enumerate() {
        let name = format!("m{}", index + 1);
        // A long id contains its short form, so the long one is replaced first.
        res = res.replace(&id.to_string(), &name);
        res = res.replace(&format!("#{}", id.short()), &name);
        res = res.replace(&id.short(), &name);
    }
    crate::fake_secrets::mask_secrets(&res)
}
