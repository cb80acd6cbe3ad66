//! The FTS5 function `occurrences`: how often each term of a query occurs in each column of a row.
//!
//! FTS5's own `bm25` has fixed constants and reads the length of every row from disk, which is most
//! of the cost of a search. Only a function inside FTS5 sees the occurrences; this one returns
//! them, and the ranking happens outside. A server does not have the function and uses `bm25`.
#![expect(unsafe_code, reason = "functions of the full-text index can only be added through C")]

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use rusqlite::Connection;
use rusqlite::ffi::{
    self, Fts5Context, Fts5ExtensionApi, SQLITE_ERROR, SQLITE_OK, fts5_api, sqlite3,
    sqlite3_context, sqlite3_value,
};

/// Columns in which a term can occur: content, tags, files.
pub(crate) const FTS_COLUMNS: usize = 3;
/// Name of the function in SQL: `occurrences(memories_fts)`.
const FUNCTION_NAME: &[u8] = b"occurrences\0";

/// Installs the function on a connection.
pub(crate) fn install_function(conn: &Connection) -> rusqlite::Result<()> {
    let failed = |code: c_int| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
    // SAFETY: the handle is that of an open connection, and is only used while it is borrowed.
    let code = unsafe {
        let api = fts5_api_of(conn.handle());
        match api.as_ref().and_then(|it| it.xCreateFunction) {
            Some(create) => {
                create(api, FUNCTION_NAME.as_ptr().cast(), ptr::null_mut(), Some(occurrences), None)
            }
            None => SQLITE_ERROR,
        }
    };
    if code == SQLITE_OK { Ok(()) } else { Err(failed(code)) }
}

/// Returns the FTS5 interface, which FTS5 hands out through a pointer bound to a statement.
///
/// # Safety
/// `db` is an open connection.
unsafe fn fts5_api_of(db: *mut sqlite3) -> *mut fts5_api {
    let mut api: *mut fts5_api = ptr::null_mut();
    let mut statement = ptr::null_mut();
    // SAFETY: the statement is finalised here, and the pointer is bound under the name that FTS5
    // documents for it.
    unsafe {
        let sql = c"SELECT fts5(?1)";
        if ffi::sqlite3_prepare_v2(db, sql.as_ptr(), -1, &raw mut statement, ptr::null_mut())
            == SQLITE_OK
        {
            let slot: *mut c_void = (&raw mut api).cast();
            ffi::sqlite3_bind_pointer(statement, 1, slot, c"fts5_api_ptr".as_ptr(), None);
            ffi::sqlite3_step(statement);
        }
        ffi::sqlite3_finalize(statement);
    }
    api
}

/// The FTS5 interface for the row that is being matched.
struct FtsMatch {
    api: *const Fts5ExtensionApi,
    fts: *mut Fts5Context,
}

/// Calls a function of the interface. A missing function or an error code returns `None` from the
/// caller.
macro_rules! call_fts5 {
    ($row_match:expr, $name:ident $(, $argument:expr)*) => {{
        // SAFETY: FTS5 called us with this interface, and it outlives the call.
        let function = unsafe { (*$row_match.api).$name }?;
        // SAFETY: arguments are those the interface documents; pointers are to our own locals.
        let code = unsafe { function($row_match.fts $(, $argument)*) };
        (code == SQLITE_OK).then_some(())?;
    }};
}

impl FtsMatch {
    /// Counts how often each term occurs in each column of the current row, up to 255 times.
    fn count_occurrences(&self) -> Option<Vec<u8>> {
        // SAFETY: as in `call_fts5`; it returns a number, not a code.
        let n_terms = unsafe { ((*self.api).xPhraseCount?)(self.fts) };
        let mut counts = vec![0_u8; usize::try_from(n_terms).ok()? * FTS_COLUMNS];
        let mut n_instances = 0;
        call_fts5!(self, xInstCount, &raw mut n_instances);
        // An instance is one place in the row where one term occurs.
        for instance in 0..n_instances {
            let (mut term, mut column, mut offset) = (0, 0, 0);
            call_fts5!(self, xInst, instance, &raw mut term, &raw mut column, &raw mut offset);
            let (term, column) = (usize::try_from(term).ok()?, usize::try_from(column).ok()?);
            let count = counts.get_mut(term * FTS_COLUMNS + column)?;
            *count = count.saturating_add(1);
        }
        Some(counts)
    }
}

/// Called by `SQLite` for every matching row. The result is a blob of one byte per term and column.
unsafe extern "C" fn occurrences(
    api: *const Fts5ExtensionApi,
    fts: *mut Fts5Context,
    context: *mut sqlite3_context,
    _: c_int,
    _: *mut *mut sqlite3_value,
) {
    let row_match = FtsMatch { api, fts };
    // A panic must not cross into C.
    let counted = catch_unwind(AssertUnwindSafe(|| row_match.count_occurrences()));
    // SAFETY: the context is the one of this call; the blob is copied.
    unsafe {
        match counted.ok().flatten().map(|it| (c_int::try_from(it.len()), it)) {
            Some((Ok(length), blob)) => {
                let copied = ffi::SQLITE_TRANSIENT();
                ffi::sqlite3_result_blob(context, blob.as_ptr().cast(), length, copied);
            }
            _ => ffi::sqlite3_result_error_code(context, SQLITE_ERROR),
        }
    }
}
