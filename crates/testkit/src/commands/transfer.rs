//! Commands that export, import and purge memories.
//!
//! The import file is a list of records in the test world: `export` replaces it, `foreign` adds a
//! record as another program could have written it, and `import` reads it. The notation of the lines is
//! in the header of the crate.

use engine::{Error, ImportOptions, ImportRecord, PurgeReport, RecordOutcome, RuleTrust};
use model::{
    Actor, DAY_MS, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryKind, MemoryScope,
    MemorySource, MemoryType, PerMille, ProjectPath, Relation, RelationKind, RelationTarget,
    SessionId, SoftStates, SymbolAnchor, UsageCounters, Visibility, WorkUnit,
};
use store::StoreChange;

use super::ScriptLine;
use super::change::{agent_batch, notebook_scope, on_secret};
use crate::random::id_bytes;
use crate::{TestWorld, output};

pub(super) fn export(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let scope = notebook_scope(line);
    let package = world.with_project(async |project| project.maintenance().export(scope).await)?;
    acc.push(format!(
        "{} memories, {} with a past, {} settings",
        package.memories.len(),
        package.versions.len(),
        package.settings.len()
    ));
    // Memories in which export masked a secret.
    acc.extend(package.redacted.iter().map(|it| format!("{} masked", world.name_of(*it))));
    let record = |(index, memory): (usize, Memory)| ImportRecord {
        at: index + 1,
        memory: Ok(Box::new(memory)),
    };
    world.import_records = package.memories.into_iter().enumerate().map(record).collect();
    Ok(())
}

pub(super) fn import(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let options = ImportOptions {
        file: "foreign.json".to_owned(),
        scope: notebook_scope(line),
        is_vouched: line.has_switch("vouched"),
        skip_invalid: line.has_switch("skip"),
        on_secret: on_secret(line),
        dry_run: line.has_switch("dry"),
    };
    let records = world.import_records.clone();
    let res =
        world.with_project(async |project| project.editor().import(records, options).await)?;
    for it in &res.outcomes {
        acc.push(match it {
            RecordOutcome::Added(id) => format!("{} added", world.name_of(*id)),
            RecordOutcome::Duplicate(id) => format!("{} known", world.name_of(*id)),
            RecordOutcome::Erased(id) => format!("{} erased", world.name_of(*id)),
        });
    }
    acc.extend(res.problems.iter().map(|it| format!("record {}: {}", it.at, it.what)));
    if !res.written {
        acc.push("nothing written".to_owned());
    }
    Ok(())
}

/// Imports the project's rule files.
pub(super) fn rules(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let trust = if line.has_switch("vouched") { RuleTrust::Vouched } else { RuleTrust::External };
    let res = world.with_project(async |project| {
        let rule_files = project.editor().list_rules();
        project.editor().import_rules(&rule_files, trust).await
    })?;
    for it in &res.added {
        acc.push(format!("added: {}", output::memory_line(&world.name_of(it.id), it)));
    }
    for (it, before) in &res.changed {
        acc.push(format!("was {before:?}: {}", output::memory_line(&world.name_of(it.id), it)));
    }
    for it in &res.retired {
        acc.push(format!("retired: {}", output::memory_line(&world.name_of(it.id), it)));
    }
    acc.push(format!("{} known", res.n_known));
    Ok(())
}

/// Adds a foreign record to the import file; `--empty` removes all records instead.
pub(super) fn add_foreign_record(world: &mut TestWorld, line: &ScriptLine) {
    if line.has_switch("empty") {
        world.import_records.clear();
        return;
    }
    let at = world.import_records.len() + 1;
    let memory = match line.option("bad") {
        // A record that could not be parsed, with the reason.
        Some(why) => Err(format!("{why} {}", line.text_from(0)).trim().to_owned()),
        None => Ok(Box::new(foreign_memory(world, line))),
    };
    world.import_records.push(ImportRecord { at, memory });
}

/// Stores a record without the admission checks, as an older version with weaker rules would have.
pub(super) fn insert_unchecked(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let (scope, memory, now) = (notebook_scope(line), foreign_memory(world, line), world.now);
    let id = memory.id;
    world.with_project(async |project| {
        let notebook = project.ensure_notebook(scope).await?;
        let memory = Memory { project: notebook.project, ..memory };
        let changes = vec![StoreChange::Insert(Box::new(memory))];
        project.notebook_writer(&notebook).apply(agent_batch(now, changes)).await?;
        Ok(())
    })?;
    acc.push(format!("{} inserted unchecked", world.name_of(id)));
    Ok(())
}

/// The memory of a `foreign` or `insert-unchecked` line. It claims as much as a record can: full
/// confidence, pinned, verified by the user, and a summary that differs from its content.
///
/// - `--content WORD --into FIELD` puts the line's text into another field, and the word into the
///   content: every field must be checked for secrets. `FIELD` is `type`, `file`, `anchor`, `anchor_file`,
///   `relation`, `work_unit`, `commit`, `branch`, `reason` or `author`.
/// - `--inflated` adds a creation time in the future, a huge half-life and a large use count.
/// - `--candidate` makes it a claim that is not sure, without a pin and not verified.
/// - `--plain` leaves out the pin and the differing summary.
fn foreign_memory(world: &TestWorld, line: &ScriptLine) -> Memory {
    let mut memory = confident_memory(world, line);
    if line.has_switch("inflated") {
        memory.visibility = Visibility::from_slug(&line.option("for").unwrap_or_default())
            .unwrap_or(Visibility::Organization);
        memory.half_life_days = Some(100_000);
        memory.states.stale_at = Some(world.now);
        memory.created_at = world.now.plus_millis(9_000 * DAY_MS);
        memory.counters.used_count = 999;
    }
    if line.has_switch("candidate") {
        memory.flags.user_verified = false;
        memory.flags.pinned = false;
        memory.flags.candidate = true;
    }
    if line.has_switch("plain") {
        memory.flags.pinned = false;
        memory.summary = line.text_from(0);
    }
    memory
}

/// The memory of a line without its switches.
fn confident_memory(world: &TestWorld, line: &ScriptLine) -> Memory {
    let now = world.now;
    let text = line.text_from(0);
    // The line's text if `--into` names this field.
    let text_into =
        |field: &str| line.option("into").filter(|it| it == field).map(|_| text.clone());
    let slug = |name: &str| line.option(name).unwrap_or_default();
    let path = |it: &str| ProjectPath::parse(it).expect("the path is relative");

    // `--like` reuses the id of a known memory, `--short` fixes the short form of a new one.
    let reused_id = line.option("like").and_then(|it| world.resolve_id(&it).parse().ok());
    let id = reused_id.unwrap_or_else(|| MemoryId::new(now, with_short(line.option("short"))));
    let kind = text_into("type")
        .map(|it| MemoryType::Custom(format!("custom:acme.{it}")))
        .or_else(|| MemoryType::from_slug(&slug("type")).ok());
    let files = line.options("file").into_iter().map(|it| path(&it));

    // An anchor has two fields that can hold the text: the symbol and the file.
    let anchor = |file: &str, symbol: &str| SymbolAnchor {
        file: path(file),
        symbol: symbol.to_owned(),
        hash: String::new(),
    };
    let anchor_at_symbol = text_into("anchor").map(|symbol| anchor("src/a.rs", &symbol));
    let anchor_in_file = text_into("anchor_file").map(|file| anchor(&file, "f"));

    let relation = |kind: RelationKind, target: RelationTarget| Relation {
        kind,
        target,
        confidence: PerMille::ONE,
        auto: false,
    };
    let memory_target = |name: String| {
        let id = world.resolve_id(&name);
        RelationTarget::Memory(id.parse().expect("a relation has a target"))
    };
    let rests_on = line
        .options("rests-on")
        .into_iter()
        .map(|it| relation(RelationKind::DerivedFrom, memory_target(it)));
    let required = line
        .options("requires")
        .into_iter()
        .map(|it| relation(RelationKind::RequiredWith, memory_target(it)));
    let relation_to_file = text_into("relation")
        .map(|it| relation(RelationKind::DerivedFrom, RelationTarget::File(path(&it))));
    let work_unit =
        |label: String| WorkUnit { methodology: "native".to_owned(), hierarchy: Vec::new(), label };
    Memory {
        id,
        project: None,
        kind: kind.unwrap_or(MemoryType::Core(MemoryKind::Gotcha)),
        source: MemorySource::from_slug(&slug("source")).unwrap_or(MemorySource::UserTaught),
        scope: MemoryScope::from_slug(&slug("scope")).unwrap_or(MemoryScope::Global),
        visibility: Visibility::from_slug(&slug("for")).unwrap_or(Visibility::Personal),
        content: line.option("content").unwrap_or_else(|| text.clone()),
        summary: "a summary that says something else".to_owned(),
        citation: "else".to_owned(),
        confidence: PerMille::ONE,
        tags: line.options("tag"),
        files: text_into("file")
            .and_then(|it| ProjectPath::parse(&it).ok())
            .into_iter()
            .chain(files)
            .collect(),
        modules: line.options("module"),
        anchors: anchor_at_symbol.into_iter().chain(anchor_in_file).collect(),
        work_unit: text_into("work_unit").map(work_unit),
        session: line.number_option("session").map(session),
        provenance: Vec::new(),
        commit: text_into("commit"),
        branch: text_into("branch").or_else(|| line.option("branch")),
        relations: rests_on.chain(required).chain(relation_to_file).collect(),
        half_life_days: None,
        flags: MemoryFlags { user_verified: true, pinned: true, ..MemoryFlags::default() },
        states: SoftStates { deprecated_reason: text_into("reason"), ..SoftStates::default() },
        payload: None,
        created_by: text_into("author").map_or(Actor::User, Actor::Agent),
        created_at: now,
        updated_at: now,
        version: 1,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters::default(),
    }
}

/// Session id for a number.
fn session(number: u32) -> SessionId {
    let mut bytes = [0; 10];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    SessionId::new(model::Timestamp(0), bytes)
}

/// Random bytes of an id with the given short form.
fn with_short(short: Option<String>) -> [u8; 10] {
    let mut bytes = id_bytes();
    if let Some(number) = short.and_then(|it| u32::from_str_radix(&it, 16).ok()) {
        // The short form of an id is its last four bytes in hexadecimal.
        bytes[6..].copy_from_slice(&number.to_be_bytes());
    }
    bytes
}

pub(super) fn purge(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let text = line.text_from(1);
    let res = match line.word(0) {
        "secret" => {
            world.with_project(async |project| project.maintenance().purge_secret(&text).await)?
        }
        "secrets" => {
            world.with_project(async |project| project.maintenance().purge_secrets_found().await)?
        }
        "project" => world.with_project(async |project| project.purge_project().await)?,
        "everything" => {
            world.with_opened_project(async |project| project?.purge_everything().await)?
        }
        // The names of memories.
        _ => {
            let ids: Vec<String> = line.words.iter().map(|it| world.resolve_id(it)).collect();
            world.with_project(async |project| project.maintenance().purge_memories(&ids).await)?
        }
    };
    push_purge_report(world, &res, acc);
    Ok(())
}

/// The erased memories, and the result of the search for their text in the data folder.
fn push_purge_report(world: &mut TestWorld, res: &PurgeReport, acc: &mut Vec<String>) {
    let names: Vec<String> = res.memories.iter().map(|it| world.name_of(*it)).collect();
    let names = if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
    let n_files = res.proof.found_in.len();
    let proof = if res.proof.found_in_database {
        "still there inside".to_owned()
    } else if n_files > 0 {
        format!("still found in {n_files} files")
    } else if res.proof.pieces > 0 && !res.proof.is_encrypted {
        "not found anywhere".to_owned()
    } else if res.memories.is_empty() {
        "nothing to look for".to_owned()
    } else {
        // The texts are too short, or the files encrypted, so that they cannot be searched for bytes.
        "no bytes to look for, not there inside".to_owned()
    };
    acc.push(format!("purged {names}, {proof}"));
}
