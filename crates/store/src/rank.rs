//! BM25 with constants of our own, as a function of the full-text index.
//!
//! The index's own `bm25` has its constants built in (k1 1.2, b 0.75), which suit articles. Memories
//! are a sentence or two: a word said twice says little more, and a long one is not worse for being
//! long. What is needed for that, the occurrences of each term in a row, only a function inside the
//! index can see. It also gives the weight of the terms a row holds, which tells a question that
//! meets its subject from one that meets a common word. A server does not have this function; there,
//! `bm25` takes its place.
#![expect(unsafe_code, reason = "functions of the full-text index can only be added through C")]

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use model::words;
use rusqlite::Connection;
use rusqlite::ffi::{
    self, Fts5Context, Fts5ExtensionApi, SQLITE_ERROR, SQLITE_OK, fts5_api, sqlite3,
    sqlite3_context, sqlite3_value,
};

/// How soon another occurrence of a term stops to matter.
const K1: f64 = 0.8;
/// How much the length of a row counts against it.
const B: f64 = 0.5;
/// What an occurrence counts in each column: content, tags, files.
const COLUMNS: [f64; 3] = [1.0, 0.6, 0.8];
/// The name under which statements call it: `closeness(memories_fts)`.
const NAME: &[u8] = b"closeness\0";

/// What a row says about the terms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Closeness {
    pub(crate) score: f64,
    /// The weight of the terms it holds.
    pub(crate) mass: f64,
    /// The weight of all terms.
    pub(crate) whole: f64,
}

impl Closeness {
    pub(crate) fn read(blob: &[u8]) -> Option<Self> {
        let (numbers, []) = blob.as_chunks::<8>() else { return None };
        let [score, mass, whole] = <[[u8; 8]; 3]>::try_from(numbers).ok()?.map(f64::from_le_bytes);
        Some(Self { score, mass, whole })
    }

    fn write(self) -> [u8; 24] {
        let mut res = [0; 24];
        for (to, from) in res.chunks_mut(8).zip([self.score, self.mass, self.whole]) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        res
    }
}

/// Adds the function to a connection.
pub(crate) fn install(conn: &Connection) -> rusqlite::Result<()> {
    let failed = |code: c_int| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
    // SAFETY: the handle is that of an open connection, and is only used while it is borrowed.
    let code = unsafe {
        let api = api(conn.handle());
        match api.as_ref().and_then(|it| it.xCreateFunction) {
            Some(create) => {
                create(api, NAME.as_ptr().cast(), ptr::null_mut(), Some(closeness), None)
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

/// What is the same for all rows of a question.
struct Terms {
    /// How telling each term is.
    weights: Vec<f64>,
    average: f64,
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
    fn terms(&self) -> Option<Terms> {
        let (mut n_rows, mut n_tokens) = (0, 0);
        ask!(self, xRowCount, &raw mut n_rows);
        ask!(self, xColumnTotalSize, -1, &raw mut n_tokens);
        // SAFETY: as in `ask`; it returns a number, not a code.
        let n_terms = unsafe { ((*self.api).xPhraseCount?)(self.fts) };
        let mut weights = Vec::new();
        for term in 0..n_terms {
            let mut n_holding: i64 = 0;
            ask!(self, xQueryPhrase, term, (&raw mut n_holding).cast(), Some(count));
            weights.push(words::weight(n_rows.unsigned_abs(), n_holding.unsigned_abs()));
        }
        let average = number(n_tokens) / number(n_rows.max(1));
        Some(Terms { weights, average: average.max(1.0) })
    }

    /// What the row at hand says.
    fn closeness(&self, terms: &Terms) -> Option<Closeness> {
        let mut counts = vec![0.0; terms.weights.len()];
        let mut n_instances = 0;
        ask!(self, xInstCount, &raw mut n_instances);
        for at in 0..n_instances {
            let (mut term, mut column, mut offset) = (0, 0, 0);
            ask!(self, xInst, at, &raw mut term, &raw mut column, &raw mut offset);
            let (term, column) = (usize::try_from(term).ok()?, usize::try_from(column).ok()?);
            *counts.get_mut(term)? += COLUMNS.get(column)?;
        }
        let mut length = 0;
        ask!(self, xColumnSize, -1, &raw mut length);
        let norm = K1 * (1.0 - B + B * f64::from(length) / terms.average);
        let scored = counts.iter().zip(&terms.weights);
        let score = scored.clone().map(|(n, weight)| weight * n * (K1 + 1.0) / (n + norm)).sum();
        let mass = scored.filter(|it| *it.0 > 0.0).map(|it| it.1).sum();
        Some(Closeness { score, mass, whole: terms.weights.iter().sum() })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows and tokens are far below 2^53")]
fn number(count: i64) -> f64 {
    count as f64
}

/// Called for every row that holds a term.
unsafe extern "C" fn count(
    _: *const Fts5ExtensionApi,
    _: *mut Fts5Context,
    acc: *mut c_void,
) -> c_int {
    // SAFETY: `acc` is the counter that `terms` passed along and still holds.
    unsafe { *acc.cast::<i64>() += 1 };
    SQLITE_OK
}

/// Called when a question is over.
unsafe extern "C" fn forget(terms: *mut c_void) {
    // SAFETY: it was made by `Box::into_raw` below, and the index calls this once.
    drop(unsafe { Box::from_raw(terms.cast::<Terms>()) });
}

/// Called for every row of the answer.
unsafe extern "C" fn closeness(
    api: *const Fts5ExtensionApi,
    fts: *mut Fts5Context,
    context: *mut sqlite3_context,
    _: c_int,
    _: *mut *mut sqlite3_value,
) {
    let question = Question { api, fts };
    // A panic must not cross into C.
    let scored = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: what is kept for this function is what it kept itself.
        let kept = unsafe { ((*api).xGetAuxdata?)(fts, 0) };
        let terms = if kept.is_null() {
            let terms = Box::into_raw(Box::new(question.terms()?));
            // SAFETY: the index owns it from here on and forgets it, also when this call fails.
            let code = unsafe { ((*api).xSetAuxdata?)(fts, terms.cast(), Some(forget)) };
            (code == SQLITE_OK).then_some(())?;
            terms
        } else {
            kept.cast::<Terms>()
        };
        // SAFETY: it lives as long as the question, which is longer than this call.
        question.closeness(unsafe { &*terms })
    }));
    // SAFETY: the context is the one of this call; the blob is copied.
    unsafe {
        match scored.ok().flatten() {
            Some(closeness) => {
                let blob = closeness.write();
                let length = c_int::try_from(blob.len()).unwrap_or(0);
                let copied = ffi::SQLITE_TRANSIENT();
                ffi::sqlite3_result_blob(context, blob.as_ptr().cast(), length, copied);
            }
            None => ffi::sqlite3_result_error_code(context, SQLITE_ERROR),
        }
    }
}
