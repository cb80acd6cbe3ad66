//! How statements find their rows. A wrong plan gives the right answer a thousand times too late.

use expect_test::expect;
use rusqlite::Connection;
use waylore_store::tape;

use crate::kit::Bench;

fn plan(conn: &Connection, sql: &str) -> Vec<String> {
    // The function is only there on connections of the store; it changes no plan.
    let sql = sql.replace("occurrences(", "bm25(");
    let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let n_params = statement.parameter_count();
    let nothing = vec![rusqlite::types::Null; n_params];
    let rows = statement.query_map(rusqlite::params_from_iter(nothing), |row| row.get(3)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn opened(bench: &Bench) -> Connection {
    bench.add(&bench.open(), 1, "something");
    Connection::open(bench.home().database()).unwrap()
}

#[test]
fn search_asks_the_words_first_and_fetches_rows_by_number() {
    let bench = Bench::new();
    let conn = opened(&bench);
    let all = tape::statements();
    let (_, sql, _) = all.iter().find(|it| it.0 == "search").unwrap();
    let steps = plan(&conn, sql);
    assert!(steps[0].contains("memories_fts VIRTUAL TABLE"), "{steps:?}");
    assert!(steps[1].contains("SEARCH m USING INTEGER PRIMARY KEY"), "{steps:?}");
}

#[test]
fn matches_ask_the_words_alone() {
    let bench = Bench::new();
    let conn = opened(&bench);
    let all = tape::statements();
    let (_, sql, _) = all.iter().find(|it| it.0 == "holders").unwrap();
    let steps = plan(&conn, sql);
    assert!(
        matches!(&steps[..], [only] if only.contains("memories_fts VIRTUAL TABLE")),
        "{steps:?}"
    );
}

#[test]
fn lookups_go_through_their_index() {
    let bench = Bench::new();
    let conn = opened(&bench);
    let expected = [
        ("by_id", "SEARCH memories USING INDEX sqlite_autoindex_memories_1"),
        ("current", "SEARCH memories USING INDEX sqlite_autoindex_memories_1"),
        ("by_short", "SEARCH memories USING INDEX memories_short"),
        ("list_by_file", "SEARCH memory_files USING PRIMARY KEY"),
        ("list_by_tag", "SEARCH memory_tags USING PRIMARY KEY"),
        ("list_by_module", "SEARCH memory_modules USING PRIMARY KEY"),
        ("pointing_at", "SEARCH memory_relations USING PRIMARY KEY"),
        ("seen_key", "SEARCH audit USING COVERING INDEX sqlite_autoindex_audit_1"),
        ("entries_of", "SEARCH c USING INDEX changes_id"),
        ("steps", "SEARCH changes USING INDEX changes_batch"),
        ("changed_ids", "SEARCH changes USING INDEX changes_batch"),
        ("versions", "SEARCH memory_versions USING INDEX sqlite_autoindex_memory_versions_1"),
        ("before", "SEARCH memory_versions USING INDEX sqlite_autoindex_memory_versions_1"),
        ("meta", "SEARCH meta USING PRIMARY KEY"),
        ("recent_changes", "SEARCH changes USING INTEGER PRIMARY KEY"),
        ("vectors_of_owner", "SEARCH embeddings USING INDEX sqlite_autoindex_embeddings_1"),
        ("vector_codes", "SEARCH embeddings USING INDEX embeddings_model"),
        ("vector_codes_of_owner", "SEARCH embeddings USING INDEX sqlite_autoindex_embeddings_1"),
        ("last_vector", "SEARCH embeddings USING COVERING INDEX embeddings_model"),
        ("outline", "SEARCH memories USING INDEX sqlite_autoindex_memories_1"),
        ("changed_since", "SEARCH changes USING INTEGER PRIMARY KEY"),
        ("erased_since", "SEARCH audit USING INTEGER PRIMARY KEY"),
        ("numbered", "SEARCH memories USING INTEGER PRIMARY KEY"),
        ("about_file", "SEARCH memory_files USING PRIMARY KEY"),
        ("warnings", "SEARCH memory_files USING PRIMARY KEY"),
        ("editors_in", "SEARCH session_files USING INDEX session_files_path"),
        ("touching", "SEARCH session_files USING COVERING INDEX session_files_path"),
        ("touched_with", "SEARCH session_files USING INDEX session_files_path"),
        ("in_module", "SEARCH memory_modules USING PRIMARY KEY"),
        ("tagged", "SEARCH memory_tags USING PRIMARY KEY"),
        ("place_at", "SEARCH l USING INDEX sqlite_autoindex_project_places_1"),
    ];
    let all = tape::statements();
    for (name, step) in expected {
        let (_, sql, _) = all.iter().find(|it| it.0 == name).unwrap();
        let steps = plan(&conn, sql);
        assert!(steps.iter().any(|it| it.contains(step)), "{name}: {steps:?}");
    }
}

/// Whole tables are read only by what is about the whole.
#[test]
fn the_statements_that_read_whole_tables_are_known() {
    let bench = Bench::new();
    let conn = opened(&bench);
    let mut lines = Vec::new();
    for (name, sql, _) in tape::statements() {
        if sql.starts_with("PRAGMA") {
            continue;
        }
        let scans = plan(&conn, sql).into_iter().filter(|it| it.starts_with("SCAN"));
        lines.extend(scans.map(|it| format!("{name}: {it}\n")));
    }
    lines.sort();
    expect![[r"
        all_rows: SCAN memories
        all_session_files: SCAN f
        drop_other_models: SCAN embeddings
        drop_quiet: SCAN quiet_spans
        editing_sessions: SCAN session_files USING INDEX sqlite_autoindex_session_files_1
        erase_ids: SCAN memories USING COVERING INDEX sqlite_autoindex_memories_1
        erase_owners: SCAN embeddings USING COVERING INDEX sqlite_autoindex_embeddings_1
        erase_version_ids: SCAN memory_versions USING COVERING INDEX sqlite_autoindex_memory_versions_1
        every_outline: SCAN memories USING COVERING INDEX memories_outline
        every_row: SCAN memories
        every_version: SCAN memory_versions
        has_experience: SCAN sqlite_schema
        has_lessons: SCAN sqlite_schema
        has_registry: SCAN sqlite_schema
        holders: SCAN memories_fts VIRTUAL TABLE INDEX 0:M3
        judged: SCAN m
        last_undoable: SCAN audit
        ledger_hashes: SCAN erase_ledger
        lengths: SCAN memories_fts_docsize
        list: SCAN m
        milestones: SCAN milestones
        n_matches: SCAN memories_fts VIRTUAL TABLE INDEX 0:M3
        n_versions: SCAN memory_versions USING COVERING INDEX memory_versions_batch
        open_losses: SCAN losses
        orphans: SCAN CONSTANT ROW
        orphans: SCAN memories_fts_docsize
        orphans: SCAN memory_text
        places: SCAN l
        quiet_spans: SCAN quiet_spans
        recent: SCAN audit
        recount_memories: SCAN memories USING COVERING INDEX memories_type
        recount_versions: SCAN memory_versions USING COVERING INDEX memory_versions_batch
        refresh: SCAN memories_fts VIRTUAL TABLE INDEX 0:=
        scrub_actors: SCAN audit
        scrub_beginnings: SCAN stumbles
        scrub_commits: SCAN projects USING INDEX sqlite_autoindex_projects_1
        scrub_details: SCAN audit
        scrub_drops: SCAN sightings
        scrub_evidence: SCAN sightings
        scrub_externals: SCAN sessions
        scrub_heads: SCAN stumbles
        scrub_keys: SCAN sightings
        scrub_milestones: SCAN milestones
        scrub_names: SCAN projects USING INDEX sqlite_autoindex_projects_1
        scrub_places: SCAN project_places
        scrub_remotes: SCAN projects USING INDEX sqlite_autoindex_projects_1
        scrub_rows: SCAN memories
        scrub_session_paths: SCAN session_files
        scrub_settings: SCAN settings
        scrub_tasks: SCAN sessions
        scrub_version_rows: SCAN memory_versions
        search: SCAN memories_fts VIRTUAL TABLE INDEX 0:M3
        sessions: SCAN sessions USING INDEX sessions_ended
        settings: SCAN settings
        take_note: SCAN losses
        tally: SCAN memories USING INDEX memories_type
        total: SCAN memories USING COVERING INDEX memories_type
        touched: SCAN session_files USING INDEX sqlite_autoindex_session_files_1
        touched_with: SCAN a
        traces: SCAN CONSTANT ROW
        trim_quiet: SCAN quiet_spans
        twins: SCAN memories
        witness_file: SCAN CONSTANT ROW
        witness_file: SCAN memory_files USING COVERING INDEX memory_files_n
        witness_module: SCAN CONSTANT ROW
        witness_module: SCAN memory_modules USING COVERING INDEX memory_modules_n
        witness_short: SCAN memories USING COVERING INDEX sqlite_autoindex_memories_1
        witness_tag: SCAN CONSTANT ROW
        witness_tag: SCAN memory_tags USING COVERING INDEX memory_tags_n
    "]].assert_eq(&lines.concat());
}
