//! Commands that search and build contexts. They embed new memories first where the engine's callers
//! do so, because a search compares embeddings.

use std::collections::HashSet;
use std::path::PathBuf;

use engine::{
    ContextBlock, ContextRequest, DisabledStages, Error, NoteDetail, SearchPurpose, SearchQuery,
};
use model::{MemoryId, Phase, ProjectPath};

use super::ScriptLine;
use super::inspect::{filter, push_nothing_if_empty};
use crate::TestWorld;

pub(super) fn search_query(world: &mut TestWorld, line: &ScriptLine) -> Result<SearchQuery, Error> {
    let (filter, scope) = filter(world, line)?;
    Ok(SearchQuery {
        text: line.text_from(0),
        files: Vec::new(),
        filter,
        scope,
        phase: None,
        purpose: SearchPurpose::Search,
        disabled_stages: disabled_stages(line)?,
    })
}

pub(super) fn search(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let query = search_query(world, line)?;
    let (results, notice) = world.with_project(async |project| {
        let notice = project.embedding_indexer().embed_new_memories().await;
        Ok((project.retriever().search(&query).await?, notice))
    })?;
    acc.extend(notice);
    acc.extend(results.notices);
    for it in results.hits {
        let name = world.name_of(it.rated.memory.id);
        let because = match it.explanation.linked_from {
            // Another hit has a relation to it.
            Some(hit) => format!("pulled in by {}", world.name_of(hit)),
            None => format!("by {}", it.explanation.matched_terms.join(" ")),
        };
        acc.push(format!("{name} {:?} {because}", it.rated.memory.content));
    }
    push_nothing_if_empty(acc);
    Ok(())
}

/// Generated text, if there is any, then the evidence.
pub(super) fn ask(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let query = search_query(world, line)?;
    let (reply, notice) = world.with_project(async |project| {
        let notice = project.embedding_indexer().embed_new_memories().await;
        Ok((project.retriever().ask(&query).await?, notice))
    })?;
    acc.extend(notice);
    acc.extend(reply.results.notices);
    if let Some(answer) = reply.generated {
        let cited: Vec<String> =
            answer.cited_memories.iter().map(|it| world.name_of(*it)).collect();
        acc.push(format!("{} ({})", answer.text, cited.join(" ")));
    }
    for it in reply.results.hits {
        let name = world.name_of(it.rated.memory.id);
        acc.push(format!("{name} {:?}", it.rated.memory.content));
    }
    push_nothing_if_empty(acc);
    Ok(())
}

/// The context for a session start; the words of the line are its task.
pub(super) fn context(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let mut request = context_request(world, line, &line.options("file"))?;
    request.task = line.text_from(0);
    let context = world.with_project(async |project| {
        let mut notice = None;
        if request.has_search_text() {
            notice = project.embedding_indexer().embed_new_memories().await;
        }
        let mut context = project.injector().start_context(&request).await?;
        context.notices.extend(notice);
        Ok(context)
    })?;
    push_context(world, line, context, acc);
    Ok(())
}

/// The context for the files that are the words of the line.
pub(super) fn file_context(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let request = context_request(world, line, &line.words)?;
    let context =
        world.with_project(async |project| project.injector().file_context(&request).await)?;
    push_context(world, line, context, acc);
    Ok(())
}

/// Notes for a step that accesses files; `--shown ID` names memories that were shown before.
pub(super) fn touch(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let files = project_paths(world, &line.words)?;
    let shown: HashSet<MemoryId> =
        line.options("shown").iter().filter_map(|it| world.resolve_id(it).parse().ok()).collect();
    for it in world
        .with_project(async |project| project.retriever().file_warnings(&files, &shown).await)?
    {
        let name = world.name_of(it.memory.id);
        acc.push(format!("{name} {} {:?}", it.memory.kind, it.memory.content));
    }
    push_nothing_if_empty(acc);
    Ok(())
}

fn context_request(
    world: &mut TestWorld,
    line: &ScriptLine,
    files: &[String],
) -> Result<ContextRequest, Error> {
    let phase = line.option("phase").map_or(Ok(Phase::Explore), |it| Phase::parse(&it))?;
    Ok(ContextRequest {
        files: project_paths(world, files)?,
        token_budget: line.number_option("budget"),
        detail: if line.has_switch("full") { NoteDetail::Full } else { NoteDetail::Summary },
        disabled_stages: disabled_stages(line)?,
        ..ContextRequest::new(phase)
    })
}

/// Paths in a line, which are relative to the current folder.
fn project_paths(world: &mut TestWorld, given: &[String]) -> Result<Vec<ProjectPath>, Error> {
    let cwd = world.cwd.clone();
    let path =
        |project: &engine::Project, it: &String| project.project_path(&PathBuf::from(it), &cwd);
    world.with_project(async |project| given.iter().map(|it| path(project, it)).collect())
}

/// The stages of retrieval that `--without` switches off.
fn disabled_stages(line: &ScriptLine) -> Result<DisabledStages, Error> {
    let stages: Result<Vec<_>, _> =
        line.options("without").iter().map(|it| engine::RankingStage::parse(it)).collect();
    Ok(DisabledStages(stages?))
}

/// The lines inside the frame; with `--explain` also the reasons and the omitted memories.
fn push_context(
    world: &mut TestWorld,
    line: &ScriptLine,
    context: ContextBlock,
    acc: &mut Vec<String>,
) {
    assert_eq!(
        context.used_tokens,
        engine::estimate_tokens(&context.text),
        "what is counted is what is shown"
    );
    assert!(context.used_tokens <= context.token_budget, "a budget is kept");
    acc.extend(context.notices.clone());
    // The frame is the opening tag and its introduction, and the closing tag.
    let lines: Vec<&str> = context.text.lines().collect();
    if let [_, _, notes @ .., _] = &lines[..] {
        acc.extend(notes.iter().map(|it| (*it).to_owned()));
    }
    if line.has_switch("explain") {
        for it in &context.placed {
            let caveats = it.hit.explanation.caveats.join("; ");
            let name = world.name_of(it.hit.rated.memory.id);
            acc.push(format!("  {name} worth {}: {caveats}", it.hit.rated.current_confidence));
        }
        for (hit, why) in &context.omitted {
            let name = world.name_of(hit.rated.memory.id);
            acc.push(format!("  without {name}: {}", why.description()));
        }
    }
    push_nothing_if_empty(acc);
}
