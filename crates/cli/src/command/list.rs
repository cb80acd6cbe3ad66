//! `waylore list`.

use engine::{MemoryFilter, NotebookScope};
use model::{MemoryScope, MemorySource, MemoryStatus, MemoryType, ProjectPath};
use serde_json::json;

use super::CommandSession;
use super::shared::format_memory;
use crate::wire::MemoryWire;

/// List memories, newest first
///
/// Active memories only; --all or --status include forgotten and deprecated ones.
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) which: ListFilterArgs,
}

/// Filters of `list` and `search`.
#[derive(clap::Args, Debug)]
pub(crate) struct ListFilterArgs {
    /// Only this type
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
    /// Only in this status: live, needs_review, tainted, stale, deprecated, forgotten
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

impl ListFilterArgs {
    pub(crate) fn to_filter(
        &self,
        session: &CommandSession<'_>,
    ) -> anyhow::Result<(MemoryFilter, Option<NotebookScope>)> {
        let limit = self.limit.unwrap_or_else(|| session.settings.get_number("list.limit"));
        let word = |it: model::UnknownWord| engine::Error::from(it);
        let standing = MemoryFilter::active(limit);
        let statuses = match (&self.status, self.all) {
            // `forgotten` is the word used in messages; the stored slug is `deleted`.
            (Some(status), _) if status == "forgotten" => vec![MemoryStatus::Deleted],
            (Some(status), _) => vec![MemoryStatus::parse(status).map_err(word)?],
            (None, true) => MemoryStatus::ALL.to_vec(),
            (None, false) => standing.statuses.clone(),
        };
        let kind = match &self.kind {
            Some(kind) => {
                let kind = MemoryType::parse(kind, &session.settings.types)
                    .map_err(engine::Error::from)?;
                Some(kind.slug().to_owned())
            }
            None => None,
        };
        let file = match &self.file {
            Some(file) => Some(session.project.project_path(file, &session.base)?),
            None => None::<ProjectPath>,
        };
        let filter = MemoryFilter {
            kind,
            source: self.source.as_deref().map(MemorySource::parse).transpose().map_err(word)?,
            scope: self.scope.as_deref().map(MemoryScope::parse).transpose().map_err(word)?,
            file,
            module: self.module.clone(),
            tag: self.tag.clone(),
            branch: self.branch.clone(),
            pinned: self.pinned.then_some(true),
            statuses,
            limit,
            offset: self.offset,
        };
        Ok((filter, self.user.then_some(NotebookScope::User)))
    }
}

pub(crate) async fn run(args: ListArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let (filter, reach) = args.which.to_filter(session)?;
    let found = session.project.retriever().list(&filter, reach).await?;
    if session.output.json {
        let memories: Vec<MemoryWire> = found.iter().map(MemoryWire::from).collect();
        session.output.data_json("memories", json!({ "memories": memories }));
        return Ok(0);
    }
    for shown in &found {
        session.output.print_line(&format_memory(shown, &session.settings.types));
    }
    if found.is_empty() {
        session
            .output
            .say(&format!("nothing to show for `{}`", session.project.project_state().name()));
        session.output.hint("waylore remember \"…\" stores a memory");
    }
    if found.len() == usize::try_from(filter.limit).unwrap_or(usize::MAX) {
        session
            .output
            .hint(&format!("the newest {}; -n shows more, --offset goes on", filter.limit));
    }
    Ok(0)
}
