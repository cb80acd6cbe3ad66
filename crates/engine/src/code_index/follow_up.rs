//! Follow-up of an indexing pass: brings the history and the module map up to date.
//!
//! Both are derived from more than the code, and computing them takes time. So the history is read only
//! if HEAD has moved, and modules are detected only if commits arrived or files came or went. The
//! command `watch` and the daemon call it after every pass.

use std::collections::BTreeSet;

use super::history_index::{HISTORY_HEAD_STATE, index_history};
use super::index::IndexReport;
use super::map::{detect_modules, is_module_file};
use crate::{Error, NotebookScope, Project, TaskProgress};

/// Outcome of a follow-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowUpReport {
    /// New commits.
    pub n_commits: usize,
    /// Number of modules, if they were detected again.
    pub n_modules: Option<usize>,
}

/// Brings history and module map up to date after a pass over the code. Reads only HEAD if nothing
/// changed.
pub(crate) async fn follow_up(
    project: &mut Project,
    indexed: &IndexReport,
    progress: &TaskProgress,
) -> Result<FollowUpReport, Error> {
    let mut report = FollowUpReport::default();

    // The pass that completes the index has its own follow-up.
    if indexed.is_partial {
        return Ok(report);
    }
    let notebook = project.ensure_notebook(NotebookScope::Project).await?;
    let Some(id) = notebook.project else { return Ok(report) };
    let store = project.open_graph_writer(id);
    let head = source::read_head(&project.place).commit;
    if head.is_some() && head != store.get_state(HISTORY_HEAD_STATE).await? {
        let read = index_history(project, progress).await?;
        if read.is_partial {
            return Ok(report);
        }
        report.n_commits = read.n_new;
    }
    let files_came_or_went = indexed.n_new + indexed.n_removed > 0;
    if progress.is_stopped() || (report.n_commits == 0 && !files_came_or_went) {
        return Ok(report);
    }
    if report.n_commits == 0 {
        // Detection is not needed if the module files are the same as before: a file that came and
        // went again, or belongs to no module, changes nothing. Both lists are sorted by path.
        let (stamps, map) = (store.stamps().await?, store.module_map().await?);
        let files: BTreeSet<&str> =
            stamps.iter().filter(|it| is_module_file(it)).map(|it| it.path.as_str()).collect();
        if map.members.iter().map(|(path, _)| path.as_str()).eq(files) {
            return Ok(report);
        }
    }
    report.n_modules = Some(detect_modules(project).await?);
    Ok(report)
}
