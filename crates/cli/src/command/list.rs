//! `waylore list`.

use engine::{Filter, Reach};
use model::{MemoryType, ProjectPath, Scope, Source, Status};
use serde_json::json;

use super::Session;
use super::shared::line;
use crate::wire::MemoryWire;

/// List memories, newest first
///
/// Shows what stands: forgotten and deprecated memories only with --all or --status.
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) which: Which,
}

/// The filters of `list` and `search`.
#[derive(clap::Args, Debug)]
pub(crate) struct Which {
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
    /// Only made on this branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only in this status: live, needs_review, tainted, stale, deprecated, forgotten
    #[arg(short, long, value_name = "STATUS")]
    status: Option<String>,
    /// In every status, the forgotten ones too
    #[arg(short, long, conflicts_with = "status")]
    all: bool,
    /// Only pinned ones
    #[arg(long)]
    pinned: bool,
    /// Only yours, which follow you across projects
    #[arg(long)]
    user: bool,
    /// How many at most
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u32>,
    /// Skip this many first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,
}

impl Which {
    pub(crate) fn filter(&self, session: &Session<'_>) -> anyhow::Result<(Filter, Option<Reach>)> {
        let limit = self.limit.unwrap_or_else(|| session.settings.number("list.limit"));
        let word = |it: model::UnknownWord| engine::Error::from(it);
        let standing = Filter::standing(limit);
        let statuses = match (&self.status, self.all) {
            // The word we say for it ourselves.
            (Some(status), _) if status == "forgotten" => vec![Status::Deleted],
            (Some(status), _) => vec![Status::parse(status).map_err(word)?],
            (None, true) => Status::ALL.to_vec(),
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
            Some(file) => Some(session.engine.path(file, &session.base)?),
            None => None::<ProjectPath>,
        };
        let filter = Filter {
            kind,
            source: self.source.as_deref().map(Source::parse).transpose().map_err(word)?,
            scope: self.scope.as_deref().map(Scope::parse).transpose().map_err(word)?,
            file,
            module: self.module.clone(),
            tag: self.tag.clone(),
            branch: self.branch.clone(),
            pinned: self.pinned.then_some(true),
            statuses,
            limit,
            offset: self.offset,
        };
        Ok((filter, self.user.then_some(Reach::User)))
    }
}

pub(crate) async fn run(args: ListArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let (filter, reach) = args.which.filter(session)?;
    let found = session.engine.list(&filter, reach).await?;
    if session.output.json {
        let memories: Vec<MemoryWire> = found.iter().map(MemoryWire::from).collect();
        session.output.data_json("memories", json!({ "memories": memories }));
        return Ok(0);
    }
    for shown in &found {
        session.output.line(&line(shown, &session.settings.types));
    }
    if found.is_empty() {
        session.output.say(&format!("nothing to show for `{}`", session.engine.project().name()));
        session.output.hint("waylore remember \"…\" keeps something");
    }
    if found.len() == usize::try_from(filter.limit).unwrap_or(usize::MAX) {
        session
            .output
            .hint(&format!("the newest {}; -n shows more, --offset goes on", filter.limit));
    }
    Ok(0)
}
