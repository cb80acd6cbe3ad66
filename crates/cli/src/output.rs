//! Output: stdout carries data, stderr messages. Colour depends on the terminal and `NO_COLOR`: the crate
//! `anstream` removes styles where they are not wanted.
//!
//! Texts of memories and files are untrusted and could control the terminal: everything printed for people
//! is escaped here, except the escape sequences of our own styles. `"\u{1b}[2Jhi"` (clear the screen) is
//! printed as `␛[2Jhi`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};

use anstyle::{AnsiColor, Style};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::GlobalArgs;
use crate::failure::FailureKind;
use crate::layout;

/// Version of the JSON schema; incremented when a field changes its meaning or is removed.
pub(crate) const SCHEMA_VERSION: u32 = 2;

pub(crate) const BOLD_STYLE: Style = Style::new().bold();
pub(crate) const DIM_STYLE: Style = Style::new().dimmed();
pub(crate) const GOOD_STYLE: Style = AnsiColor::Green.on_default();
pub(crate) const WARN_STYLE: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD_STYLE: Style = AnsiColor::Red.on_default().bold();

/// Colours of memory types, see `shared::kind_style`.
pub(crate) const RED_STYLE: Style = AnsiColor::Red.on_default();
pub(crate) const BLUE_STYLE: Style = AnsiColor::Blue.on_default();
pub(crate) const MAGENTA_STYLE: Style = AnsiColor::Magenta.on_default();
pub(crate) const CYAN_STYLE: Style = AnsiColor::Cyan.on_default();

/// The escape sequences that the styles above produce, the only ones that may reach a terminal: reset,
/// bold, dimmed, red, green, yellow, blue, magenta, cyan.
const STYLE_SEQUENCES: [&str; 9] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[34m",
    "\u{1b}[35m",
    "\u{1b}[36m",
];

/// Blanks before the continuation of a wrapped line, in addition to those before its first one.
const CONTINUATION_INDENT: usize = 2;

/// One call of [`Output`], before it is fitted to a terminal. The daemon records these for a command that it
/// runs, and the process of the user prints them: only that one knows its terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputPiece {
    Line(String),
    Row {
        hang: usize,
        text: String,
    },
    Cut(String),
    Verbatim(String),
    /// A JSON document, as text.
    Json(String),
    Message(String),
    Announcement(String),
    Progress(String),
    Warning(String),
    Error(String),
    ErrorDetail(String),
}

pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    /// The pieces printed so far, if they are recorded instead of printed.
    recording: Option<Mutex<Vec<OutputPiece>>>,
    /// The first error of writing to stdout. Commands go on; [`Output::finish`] reports it.
    write_error: OnceLock<std::io::Error>,
}

impl Output {
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        Self::with_modes(global.json, global.quiet)
    }

    pub(crate) const fn with_modes(json: bool, quiet: bool) -> Self {
        Self { json, quiet, recording: None, write_error: OnceLock::new() }
    }

    /// An output that records everything instead of printing it.
    pub(crate) fn recorder(global: &GlobalArgs) -> Self {
        Self { recording: Some(Mutex::default()), ..Self::new(global) }
    }

    /// Takes what was recorded.
    pub(crate) fn take_recording(&self) -> Vec<OutputPiece> {
        let Some(recording) = &self.recording else { return Vec::new() };
        std::mem::take(&mut *recording.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The exit code of the process: that of the command, unless its data could not be written.
    pub(crate) fn finish(&self, code: u8) -> ExitCode {
        let Some(error) = self.write_error.get() else {
            return ExitCode::from(code);
        };
        self.error(&format!("the output could not be written completely: {error}"));
        ExitCode::from(FailureKind::Environment as u8)
    }

    /// Keeps the error of a write to stdout. A reader that went away (`| head`) ends the output, not the
    /// program, and is not an error.
    pub(crate) fn keep_write_error(&self, written: std::io::Result<()>) {
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            // Only the first one counts.
            let _ = self.write_error.set(error);
        }
    }

    /// Prints a piece, or records it.
    fn put(&self, piece: OutputPiece) {
        match &self.recording {
            Some(recording) => {
                recording.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
            }
            None => self.print_piece(&piece),
        }
    }

    /// Prints a piece to the streams of this process, fitted to its terminal.
    pub(crate) fn print_piece(&self, piece: &OutputPiece) {
        match piece {
            OutputPiece::Line(text) => {
                let text = escape_except_styles(text);
                self.write_wrapped(&text, continuation_column(&text));
            }
            OutputPiece::Row { hang, text } => {
                self.write_wrapped(&escape_except_styles(text), *hang);
            }
            OutputPiece::Cut(text) => {
                let text = escape_except_styles(text);
                let text = match layout::stdout_columns() {
                    Some(columns) => layout::cut_line(&text, columns),
                    None => text,
                };
                self.keep_write_error(writeln!(anstream::stdout(), "{text}"));
            }
            OutputPiece::Verbatim(text) => {
                let text = escape_except_styles(text);
                self.keep_write_error(writeln!(anstream::stdout(), "{text}"));
            }
            // Written without `anstream`: JSON has no styles, and texts in it must stay as they are.
            OutputPiece::Json(document) => {
                self.keep_write_error(writeln!(std::io::stdout(), "{document}"));
            }
            OutputPiece::Message(text) => self.print_message(text),
            OutputPiece::Announcement(text) => {
                if std::io::stderr().is_terminal() {
                    self.print_message(&format!("{DIM_STYLE}{text} …{DIM_STYLE:#}"));
                }
            }
            OutputPiece::Progress(text) => {
                if std::io::stderr().is_terminal() && !self.quiet && !self.json {
                    let mut stderr = anstream::stderr();
                    // Back to the start of the line, the text, then clear the rest of the line.
                    let _ = write!(stderr, "\r{}\u{1b}[K", escape_controls(text));
                    let _ = stderr.flush();
                }
            }
            OutputPiece::Warning(text) => {
                print_labelled(&format!("{WARN_STYLE}warning:{WARN_STYLE:#}"), text);
            }
            OutputPiece::Error(text) => {
                print_labelled(&format!("{BAD_STYLE}error:{BAD_STYLE:#}"), text);
            }
            OutputPiece::ErrorDetail(text) => print_labelled(" ", text),
        }
    }

    fn print_message(&self, text: &str) {
        if self.quiet || self.json {
            return;
        }
        let text = escape_except_styles(text);
        write_fitted(&text, continuation_column(&text));
    }

    fn write_wrapped(&self, text: &str, hang: usize) {
        let written = match layout::stdout_columns() {
            Some(columns) => {
                writeln!(anstream::stdout(), "{}", layout::wrap_text(text, columns, hang))
            }
            None => writeln!(anstream::stdout(), "{text}"),
        };
        self.keep_write_error(written);
    }

    /// Prints a line of data.
    pub(crate) fn print_line(&self, text: &str) {
        self.put(OutputPiece::Line(text.to_owned()));
    }

    /// Prints a row of a table whose last column begins after `hang` columns: on a terminal that column is
    /// wrapped.
    pub(crate) fn print_row(&self, hang: usize, text: &str) {
        self.put(OutputPiece::Row { hang, text: text.to_owned() });
    }

    /// Prints a row of a long list: on a terminal it is cut to one line.
    pub(crate) fn print_cut(&self, text: &str) {
        self.put(OutputPiece::Cut(text.to_owned()));
    }

    /// Prints a text with its own line breaks, such as source code or the notes for an agent.
    pub(crate) fn print_verbatim(&self, text: &str) {
        self.put(OutputPiece::Verbatim(text.to_owned()));
    }

    /// Prints a whole document. Unlike for a line, a write error is reported, unless the reader
    /// closed the pipe. Documents are never recorded: the commands that print them work alone.
    #[expect(clippy::unused_self, reason = "all output goes through one value")]
    pub(crate) fn print_document(&self, text: &[u8]) -> std::io::Result<()> {
        let mut out = std::io::stdout();
        match out.write_all(text).and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Prints the result of a command as JSON: `{"v":2,"kind":…}` and the fields of `body`.
    pub(crate) fn print_json(&self, kind: &str, body: Value) {
        let mut document = json!({ "v": SCHEMA_VERSION, "kind": kind });
        if let (Some(fields), Value::Object(body_fields)) = (document.as_object_mut(), body) {
            fields.extend(body_fields);
        }
        self.put(OutputPiece::Json(document.to_string()));
    }

    /// Prints a message on stderr: side effects, next steps. Not with `--quiet` or `--json`.
    pub(crate) fn say(&self, text: &str) {
        self.put(OutputPiece::Message(text.to_owned()));
    }

    /// Announces long work, only on a terminal.
    pub(crate) fn announce(&self, text: &str) {
        self.put(OutputPiece::Announcement(text.to_owned()));
    }

    /// Prints a line that the next one overwrites, only on a terminal. An empty text clears it.
    pub(crate) fn print_progress(&self, text: &str) {
        self.put(OutputPiece::Progress(text.to_owned()));
    }

    /// Prints a next step for the user.
    pub(crate) fn hint(&self, text: &str) {
        self.say(&format!("{DIM_STYLE}→ {text}{DIM_STYLE:#}"));
    }

    /// Prints a warning; the command goes on. Also printed with `--quiet`.
    pub(crate) fn warn(&self, text: &str) {
        self.put(OutputPiece::Warning(text.to_owned()));
    }

    pub(crate) fn error(&self, text: &str) {
        self.put(OutputPiece::Error(text.to_owned()));
    }

    pub(crate) fn error_detail(&self, text: &str) {
        self.put(OutputPiece::ErrorDetail(text.to_owned()));
    }
}

/// Prints a text on stderr behind a label, also with `--quiet`.
fn print_labelled(label: &str, text: &str) {
    write_fitted(&format!("{label} {}", escape_controls(text)), CONTINUATION_INDENT);
}

/// Writes a line to stderr; on a terminal it is wrapped, with `hang` blanks before continued lines.
fn write_fitted(text: &str, hang: usize) {
    let _ = match layout::stderr_columns() {
        Some(columns) => {
            writeln!(anstream::stderr(), "{}", layout::wrap_text(text, columns, hang))
        }
        None => writeln!(anstream::stderr(), "{text}"),
    };
}

/// The column where the continuation of a wrapped text begins.
fn continuation_column(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len() + CONTINUATION_INDENT
}

/// Keeps our own styles and escapes everything else.
fn escape_except_styles(text: &str) -> String {
    let mut res = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\u{1b}') {
        res.push_str(&escape_controls(&rest[..start]));
        let sequence = &rest[start..];
        if let Some(style) = STYLE_SEQUENCES.iter().find(|it| sequence.starts_with(**it)) {
            res.push_str(style);
            rest = &sequence[style.len()..];
        } else {
            // A foreign sequence: its escape character is replaced, so it is printed as text.
            let escape = "\u{1b}";
            res.push_str(&escape_controls(escape));
            rest = &sequence[escape.len()..];
        }
    }
    res + &escape_controls(rest)
}

/// Escapes untrusted text for a terminal: no cursor movement, titles or bidi controls. Control
/// characters become their Unicode pictures.
pub(crate) fn escape_controls(text: &str) -> String {
    // Unicode block "Control Pictures": U+2400 shows NUL, U+2401 the next one, and so on.
    const FIRST_CONTROL_PICTURE: u32 = 0x2400;
    const DELETE_PICTURE: char = '\u{2421}';
    let picture = |it: char| match it {
        // Layout, and joiners: they combine characters (emoji) and hide nothing, unlike other invisible ones.
        '\n' | '\t' | '\u{200c}' | '\u{200d}' => it,
        '\0'..='\u{1f}' => char::from_u32(FIRST_CONTROL_PICTURE + u32::from(it))
            .unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => DELETE_PICTURE,
        it if it.is_control() || model::is_invisible(it) => char::REPLACEMENT_CHARACTER,
        it => it,
    };
    text.chars().map(picture).collect()
}

/// True if the user can be asked: questions go to stderr, answers come from stdin.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on the terminal; returns the answer without its line break.
pub(crate) fn ask_line(question: &str) -> std::io::Result<String> {
    // On stderr, because stdout may be redirected.
    let mut stderr = anstream::stderr();
    write!(stderr, "{} ", escape_except_styles(question))?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Formats bytes for people; MiB with one decimal, rounded down.
pub(crate) fn format_size(bytes: u64) -> String {
    const KIB_BYTES: u64 = 1024;
    const MIB_BYTES: u64 = 1024 * KIB_BYTES;
    if bytes < KIB_BYTES {
        format!("{bytes} B")
    } else if bytes < MIB_BYTES {
        format!("{} KiB", bytes / KIB_BYTES)
    } else {
        let tenths = bytes % MIB_BYTES * 10 / MIB_BYTES;
        format!("{}.{tenths} MiB", bytes / MIB_BYTES)
    }
}

pub(crate) use engine::format_count;
