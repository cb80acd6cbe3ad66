//! Arithmetic on project paths: separated by `/`, relative to the root, which is the empty string.
//! The resolvers of the languages use it to get from an import to a file: `./b` in the folder `a`
//! is `a/b`, and `../b` in the root is outside the project.

/// Appends a relative path to a folder: `a/b` and `../c` give `a/c`. `None` if it leaves the
/// project.
pub(super) fn join_path(folder: &str, path: &str) -> Option<String> {
    let mut segments: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            other => segments.push(other),
        }
    }
    Some(segments.join("/"))
}

/// Appends one name, or a path without `.` and `..`, to a folder.
pub(super) fn child_path(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { [folder, "/", name].concat() }
}

/// The enclosing folder; `None` for the root.
pub(super) fn parent_folder(folder: &str) -> Option<&str> {
    if folder.is_empty() { None } else { Some(folder.rsplit_once('/').map_or("", |it| it.0)) }
}
