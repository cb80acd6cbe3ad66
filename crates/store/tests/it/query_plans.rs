//! Query plans of the statements. A wrong plan gives the right result a thousand times slower.
//!
//! A step of `SQLite`'s plan begins with `SEARCH` if it looks rows up through an index, and with
//! `SCAN` if it reads all of them. `sqlite_autoindex_memories_1` is the index that `SQLite` makes
//! for the first unique column of `memories`.

use expect_test::expect;
use rusqlite::Connection;
use waylore_store::recorder;

use crate::kit::TestBench;

/// The steps of `SQLite`'s plan for a statement.
fn plan(conn: &Connection, sql: &str) -> Vec<String> {
    // `occurrences` exists only on connections of the store; it does not affect the plan.
    let sql = sql.replace("occurrences(", "bm25(");
    let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    // The text of a step is in the fourth column of its row.
    let n_params = statement.parameter_count();
    let nothing = vec![rusqlite::types::Null; n_params];
    let rows = statement.query_map(rusqlite::params_from_iter(nothing), |row| row.get(3)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The SQL of a statement of the store.
fn sql_of(name: &str) -> &'static str {
    recorder::list_statements().iter().find(|it| it.name == name).unwrap().sql
}

/// A plain connection to a database of the store.
fn connect(bench: &TestBench) -> Connection {
    bench.add(&bench.open(), 1, "something");
    Connection::open(bench.user_paths().database()).unwrap()
}

#[test]
fn search_reads_the_full_text_index_first() {
    let bench = TestBench::new();
    let conn = connect(&bench);
    let steps = plan(&conn, sql_of("search"));
    assert!(steps[0].contains("memories_fts VIRTUAL TABLE"), "{steps:?}");
    assert!(steps[1].contains("SEARCH m USING INTEGER PRIMARY KEY"), "{steps:?}");
}

#[test]
fn term_matches_read_only_the_full_text_index() {
    let bench = TestBench::new();
    let conn = connect(&bench);
    let steps = plan(&conn, sql_of("term_matches"));
    assert!(
        matches!(&steps[..], [only] if only.contains("memories_fts VIRTUAL TABLE")),
        "{steps:?}"
    );
}

#[test]
fn lookups_go_through_their_index() {
    let bench = TestBench::new();
    let conn = connect(&bench);
    let expected = [
        // statement, step that its plan must contain
        ("by_id", "SEARCH memories USING INDEX sqlite_autoindex_memories_1"),
        ("current_memory", "SEARCH memories USING INDEX sqlite_autoindex_memories_1"),
        ("ids_by_part", "SCAN memories USING COVERING INDEX sqlite_autoindex_memories_1"),
        ("by_short_id", "SEARCH memories USING INDEX memories_short"),
        ("list_by_file", "SEARCH memory_files USING PRIMARY KEY"),
        ("list_by_tag", "SEARCH memory_tags USING PRIMARY KEY"),
        ("list_by_type", "SEARCH m USING INDEX memories_type"),
        ("list_pinned", "SCAN m USING INDEX memories_pinned"),
        ("last_batch", "SEARCH audit USING INTEGER PRIMARY KEY"),
        ("last_change", "SEARCH changes USING INTEGER PRIMARY KEY"),
        ("from_number", "SEARCH memories USING INTEGER PRIMARY KEY"),
        ("memories_with_signal", "SEARCH sightings USING INDEX"),
        ("distinct_files", "SEARCH memory_files USING PRIMARY KEY"),
        ("list_by_module", "SEARCH memory_modules USING PRIMARY KEY"),
        ("related_to", "SEARCH memory_relations USING PRIMARY KEY"),
        ("batch_by_key", "SEARCH audit USING COVERING INDEX sqlite_autoindex_audit_1"),
        ("entries_of", "SEARCH c USING INDEX changes_id"),
        ("changed_versions", "SEARCH changes USING INDEX changes_batch"),
        ("changed_ids", "SEARCH changes USING INDEX changes_batch"),
        ("versions", "SEARCH memory_versions USING INDEX sqlite_autoindex_memory_versions_1"),
        ("version_before", "SEARCH memory_versions USING INDEX sqlite_autoindex_memory_versions_1"),
        ("meta_value", "SEARCH meta USING PRIMARY KEY"),
        ("recent_changes", "SEARCH changes USING INTEGER PRIMARY KEY"),
        ("vectors_of_owner", "SEARCH embeddings USING INDEX sqlite_autoindex_embeddings_1"),
        ("vector_codes", "SEARCH embeddings USING INDEX embeddings_model"),
        ("vector_codes_of_owner", "SEARCH embeddings USING INDEX sqlite_autoindex_embeddings_1"),
        ("index_position", "SEARCH embeddings USING COVERING INDEX embeddings_model"),
        ("outline", "SEARCH memories USING INDEX sqlite_autoindex_memories_1"),
        ("changed_since", "SEARCH changes USING INTEGER PRIMARY KEY"),
        ("erased_since", "SEARCH audit USING INTEGER PRIMARY KEY"),
        ("by_number", "SEARCH memories USING INTEGER PRIMARY KEY"),
        ("numbers_by_file", "SEARCH memory_files USING PRIMARY KEY"),
        ("warnings", "SEARCH memory_files USING PRIMARY KEY"),
        ("count_editors_in", "SEARCH session_files USING INDEX session_files_path"),
        ("count_touching", "SEARCH session_files USING COVERING INDEX session_files_path"),
        ("co_accessed", "SEARCH session_files USING INDEX session_files_path"),
        ("numbers_by_module", "SEARCH memory_modules USING PRIMARY KEY"),
        ("numbers_by_tag", "SEARCH memory_tags USING PRIMARY KEY"),
        ("location_at", "SEARCH l USING INDEX sqlite_autoindex_project_places_1"),
    ];
    for (name, step) in expected {
        let steps = plan(&conn, sql_of(name));
        assert!(steps.iter().any(|it| it.contains(step)), "{name}: {steps:?}");
    }
}

/// Each line is `statement: step`. A new line in this list is a statement that gets slower with
/// every memory. It belongs here only if it really is about all rows.
#[test]
fn the_statements_that_read_whole_tables_are_known() {
    let bench = TestBench::new();
    let conn = connect(&bench);
    let mut lines = Vec::new();
    for statement in recorder::list_statements() {
        // A pragma has no plan.
        if statement.sql.starts_with("PRAGMA") {
            continue;
        }
        let scans = plan(&conn, statement.sql).into_iter().filter(|it| it.starts_with("SCAN"));
        lines.extend(scans.map(|it| format!("{}: {it}\n", statement.name)));
    }
    lines.sort();
    expect![[r"
        acknowledge_losses: SCAN losses
        all_memories: SCAN memories
        all_outlines: SCAN memories USING COVERING INDEX memories_outline
        all_session_files: SCAN f
        all_versions: SCAN memory_versions
        co_accessed: SCAN a
        count_active_memories: SCAN memories USING COVERING INDEX memories_outline
        count_judged: SCAN CONSTANT ROW
        count_judged: SCAN a
        count_judged: SCAN memories USING COVERING INDEX memories_outline
        count_matches: SCAN memories_fts VIRTUAL TABLE INDEX 0:M3
        count_matches_up_to: SCAN (subquery-1)
        count_matches_up_to: SCAN memories_fts VIRTUAL TABLE INDEX 0:M3
        count_memories: SCAN memories USING COVERING INDEX memories_type
        count_orphaned_texts: SCAN CONSTANT ROW
        count_orphaned_texts: SCAN memories_fts_docsize
        count_orphaned_texts: SCAN memory_text
        count_traces: SCAN CONSTANT ROW
        count_versions: SCAN memory_versions USING COVERING INDEX memory_versions_batch
        cross_check_file: SCAN CONSTANT ROW
        cross_check_file: SCAN memory_files USING COVERING INDEX memory_files_n
        cross_check_module: SCAN CONSTANT ROW
        cross_check_module: SCAN memory_modules USING COVERING INDEX memory_modules_n
        cross_check_short: SCAN memories USING COVERING INDEX sqlite_autoindex_memories_1
        cross_check_tag: SCAN CONSTANT ROW
        cross_check_tag: SCAN memory_tags USING COVERING INDEX memory_tags_n
        delete_empty_quiet_spans: SCAN quiet_spans
        distinct_files: SCAN files
        distinct_files: SCAN files
        drop_excess_injections: SCAN injections
        drop_other_models: SCAN embeddings
        drop_project_injections: SCAN injections
        erase_ids: SCAN memories USING COVERING INDEX sqlite_autoindex_memories_1
        erase_owners: SCAN embeddings USING COVERING INDEX sqlite_autoindex_embeddings_1
        erase_text_actors: SCAN audit
        erase_text_commits: SCAN projects USING INDEX sqlite_autoindex_projects_1
        erase_text_details: SCAN audit
        erase_text_drops: SCAN sightings
        erase_text_evidence: SCAN sightings
        erase_text_externals: SCAN sessions
        erase_text_failed_calls: SCAN failed_calls
        erase_text_failed_outputs: SCAN failed_calls
        erase_text_injections: SCAN injections
        erase_text_keys: SCAN sightings
        erase_text_milestones: SCAN milestones
        erase_text_names: SCAN projects USING INDEX sqlite_autoindex_projects_1
        erase_text_places: SCAN project_places
        erase_text_remotes: SCAN projects USING INDEX sqlite_autoindex_projects_1
        erase_text_rows: SCAN memories
        erase_text_session_paths: SCAN session_files
        erase_text_settings: SCAN settings
        erase_text_tasks: SCAN sessions
        erase_text_version_rows: SCAN memory_versions
        erase_version_ids: SCAN memory_versions USING COVERING INDEX sqlite_autoindex_memory_versions_1
        files_of_all: SCAN f USING COVERING INDEX memory_files_n
        forgotten_texts: SCAN memories
        has_failed_calls: SCAN sqlite_schema
        has_injections: SCAN sqlite_schema
        has_learning: SCAN sqlite_schema
        has_registry: SCAN sqlite_schema
        ids_by_part: SCAN memories USING COVERING INDEX sqlite_autoindex_memories_1
        index_position: SCAN CONSTANT ROW
        injection_totals: SCAN injections
        last_undoable: SCAN audit
        ledger_hashes: SCAN erase_ledger
        list: SCAN m
        list_injections: SCAN injections USING INDEX injections_at
        list_pinned: SCAN m USING INDEX memories_pinned
        locations: SCAN l
        milestones: SCAN milestones
        modules_of_all: SCAN f USING COVERING INDEX memory_modules_n
        numbered_rows: SCAN memories
        open_losses: SCAN losses
        quiet_spans: SCAN quiet_spans
        recent: SCAN audit
        recount_memories: SCAN memories USING COVERING INDEX memories_type
        recount_versions: SCAN memory_versions USING COVERING INDEX memory_versions_batch
        refresh_fts: SCAN memories_fts VIRTUAL TABLE INDEX 0:=
        same_rows: SCAN memories
        search: SCAN memories_fts VIRTUAL TABLE INDEX 0:M3
        sessions: SCAN sessions USING INDEX sessions_ended
        settings: SCAN settings
        status_counts: SCAN memories USING INDEX memories_type
        term_matches: SCAN memories_fts VIRTUAL TABLE INDEX 0:M3
        text_lengths: SCAN memories_fts_docsize
        touched_files: SCAN session_files USING INDEX sqlite_autoindex_session_files_1
        trim_quiet_spans: SCAN quiet_spans
    "]].assert_eq(&lines.concat());
}
