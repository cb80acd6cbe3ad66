//! How often each term of a question occurs in a row, as a function of the full-text index.
//!
//! The index's own `bm25` has its constants built in, and reads the length of every row it weighs
//! from disk, which is most of what a search costs. What it sees, only a function inside the index
//! can see; this one hands it out, and whoever ranks does the sums. A server does not have this
//! function; there, `bm25` takes its place.
#![expect(unsafe_code, reason = "functions of the full-text index can only be added through C")]

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use rusqlite::Connection;
use rusqlite::ffi::{
    self, Fts5Context, Fts5ExtensionApi, SQLITE_ERROR, SQLITE_OK, fts5_api, sqlite3,
    sqlite3_context, sqlite3_value,
};

/// The columns in which a term can occur: content, tags, files.
pub(crate) const COLUMNS: usize = 3;
/// The name under which statements call it: `occurrences(memories_fts)`.
const NAME: &[u8] = b"occurrences\0";

/// Adds the function to a connection.
pub(crate) fn install(conn: &Connection) -> rusqlite::Result<()> {
    let failed = |code: c_int| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
    // SAFETY: the handle is that of an open connection, and is only used while it is borrowed.
    let code = unsafe {
        let api = api(conn.handle());
        match api.as_ref().and_then(|it| it.xCreateFunction) {
            Some(create) => {
                create(api, NAME.as_ptr().cast(), ptr::null_mut(), Some(occurrences), None)
            }
            None => SQLITE_ERROR,
        }
    };
    if code == SQLITE_OK { Ok(()) } else { Err(failed(code)) }
}

/// The interface of the index, which it hands out through a pointer bound to a statement.
///
/// # Safety
/// `db` is an open connection.
unsafe fn api(db: *mut sqlite3) -> *mut fts5_api {
    let mut res: *mut fts5_api = ptr::null_mut();
    let mut statement = ptr::null_mut();
    // SAFETY: the statement is finalised here, and the pointer is bound under the name that the
    // index documents for it.
    unsafe {
        let sql = c"SELECT fts5(?1)";
        if ffi::sqlite3_prepare_v2(db, sql.as_ptr(), -1, &raw mut statement, ptr::null_mut())
            == SQLITE_OK
        {
            let slot: *mut c_void = (&raw mut res).cast();
            ffi::sqlite3_bind_pointer(statement, 1, slot, c"fts5_api_ptr".as_ptr(), None);
            ffi::sqlite3_step(statement);
        }
        ffi::sqlite3_finalize(statement);
    }
    res
}

/// The interface and the question it speaks of.
struct Question {
    api: *const Fts5ExtensionApi,
    fts: *mut Fts5Context,
}

/// Calls a function of the interface; a missing one or an error code ends the caller.
macro_rules! ask {
    ($question:expr, $name:ident $(, $argument:expr)*) => {{
        // SAFETY: the interface is the one the index called us with, and outlives the call.
        let function = unsafe { (*$question.api).$name }?;
        // SAFETY: arguments are those the interface documents; pointers are to our own locals.
        let code = unsafe { function($question.fts $(, $argument)*) };
        (code == SQLITE_OK).then_some(())?;
    }};
}

impl Question {
    /// Per term, how often it occurs in each column of the row at hand; more than 255 times is 255.
    fn occurrences(&self) -> Option<Vec<u8>> {
        // SAFETY: as in `ask`; it returns a number, not a code.
        let n_terms = unsafe { ((*self.api).xPhraseCount?)(self.fts) };
        let mut res = vec![0_u8; usize::try_from(n_terms).ok()? * COLUMNS];
        let mut n_instances = 0;
        ask!(self, xInstCount, &raw mut n_instances);
        for at in 0..n_instances {
            let (mut term, mut column, mut offset) = (0, 0, 0);
            ask!(self, xInst, at, &raw mut term, &raw mut column, &raw mut offset);
            let (term, column) = (usize::try_from(term).ok()?, usize::try_from(column).ok()?);
            let count = res.get_mut(term * COLUMNS + column)?;
            *count = count.saturating_add(1);
        }
        Some(res)
    }
}

/// Called for every row of the answer.
unsafe extern "C" fn occurrences(
    api: *const Fts5ExtensionApi,
    fts: *mut Fts5Context,
    context: *mut sqlite3_context,
    _: c_int,
    _: *mut *mut sqlite3_value,
) {
    let question = Question { api, fts };
    // A panic must not cross into C.
    let counted = catch_unwind(AssertUnwindSafe(|| question.occurrences()));
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
