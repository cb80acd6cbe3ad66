//! `waylore list`: prints memories by filters, without a search text. `search` and `ask` share the filters.
//! The memories come from two notebooks: that of the project and that of the user.

use engine::{MemoryFilter, NotebookScope};
use model::{MemoryScope, MemorySource, MemoryStatus, MemoryType};
use serde_json::json;

use super::CommandContext;
use super::shared::{format_memory, kind_slug};
use crate::wire::MemoryWire;

/// List memories, newest first
///
/// Active memories only; --all or --status include forgotten and deprecated ones.
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter_args: MemoryFilterArgs,
}

/// Filters of `list`, `search` and `ask`.
#[derive(clap::Args, Debug)]
pub(crate) struct MemoryFilterArgs {
    /// Only this type: gotcha, error_pattern, preference …
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Only about this file
    #[arg(short, long, value_name = "PATH")]
    file: Option<std::path::PathBuf>,
    /// Only about this module
    #[arg(short, long, value_name = "NAME")]
    module: Option<String>,
    /// Only with this tag
    #[arg(short = 'g', long, value_name = "TAG")]
    tag: Option<String>,
    /// Only from this source: user_taught, agent_explicit …
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only of this scope: global, module, work_unit, session
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Only created on this branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only in this status: live, needs_review, candidate, tainted, stale, deprecated, forgotten
    #[arg(short, long, value_name = "STATUS")]
    status: Option<String>,
    /// All statuses, including forgotten
    #[arg(short, long, conflicts_with = "status")]
    all: bool,
    /// Only pinned ones
    #[arg(long)]
    pinned: bool,
    /// Only your personal memories
    #[arg(long)]
    user: bool,
    /// Most memories to print
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u32>,
    /// Memories to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,
}

impl MemoryFilterArgs {
    /// The filter of these options, and the notebook if only one is wanted.
    pub(crate) fn to_filter(
        &self,
        command: &CommandContext<'_>,
    ) -> anyhow::Result<(MemoryFilter, Option<NotebookScope>)> {
        let limit = self.limit.unwrap_or_else(|| command.settings.get_number("list.limit"));
        // The error of a value that is not in the list of valid ones.
        let unknown_word = |it: model::UnknownWord| engine::Error::from(it);
        let statuses = match (&self.status, self.all) {
            // `forgotten` is the word used in messages; the stored slug is `deleted`.
            (Some(status), _) if status == "forgotten" => vec![MemoryStatus::Deleted],
            (Some(status), _) => vec![MemoryStatus::parse(status).map_err(unknown_word)?],
            (None, true) => MemoryStatus::ALL.to_vec(),
            // Neither forgotten, deprecated nor a candidate.
            (None, false) => MemoryFilter::active(limit).statuses,
        };
        let kind = match &self.kind {
            Some(kind) => {
                let slug = kind_slug(kind, &command.settings.types);
                let kind = MemoryType::parse(&slug, &command.settings.types)
                    .map_err(engine::Error::from)?;
                Some(kind.slug().to_owned())
            }
            None => None,
        };
        let file = match &self.file {
            Some(file) => Some(command.project.project_path(file, &command.base)?),
            None => None,
        };
        let source = self.source.as_deref().map(MemorySource::parse).transpose();
        let source = source.map_err(unknown_word)?;
        let scope = self.scope.as_deref().map(MemoryScope::parse).transpose();
        let scope = scope.map_err(unknown_word)?;
        let filter = MemoryFilter {
            kind,
            source,
            scope,
            file,
            module: self.module.clone(),
            tag: self.tag.clone(),
            branch: self.branch.clone(),
            // `None`: pinned or not.
            pinned: if self.pinned { Some(true) } else { None },
            statuses,
            limit,
            offset: self.offset,
        };
        let notebook_scope = if self.user { Some(NotebookScope::User) } else { None };
        Ok((filter, notebook_scope))
    }
}

pub(crate) async fn run(args: ListArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let (filter, notebook_scope) = args.filter_args.to_filter(command)?;
    let found = command.project.retriever().list(&filter, notebook_scope).await?;
    if command.output.json {
        let memories: Vec<MemoryWire> = found.iter().map(MemoryWire::from).collect();
        command.output.print_json("memories", json!({ "memories": memories }));
        return Ok(0);
    }
    for rated in &found {
        command.output.print_cut(&format_memory(rated, &command.settings.types));
    }
    // Not an error: a new project has no memories.
    if found.is_empty() {
        command
            .output
            .say(&format!("nothing to show for `{}`", command.project.project_state().name()));
        command.output.hint("waylore remember \"…\" stores a memory");
    }
    // A full page: there may be more.
    if found.len() == usize::try_from(filter.limit).unwrap_or(usize::MAX) {
        command
            .output
            .hint(&format!("the newest {}; -n shows more, --offset goes on", filter.limit));
    }
    Ok(0)
}
