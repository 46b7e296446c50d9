//! Where this server keeps captured turns, and how they come back out: on SQLite in files beside the database too, on
//! PostgreSQL in the database alone.

use crate::config::{Database, Settings};
use datalake::{Collector, Feedback, InteractionRecord, Layout};
use domain::{Entropy, id::SessionId, interaction::of_ratings, session_feedback::Label};
use ledger::{
    Ledger, feedback,
    interaction::{Stream, page_by_operator},
};
use runner::capture::TurnCapture;
use std::{
    cell::RefCell,
    collections::HashMap,
    fmt::Write as _,
    io::{self, BufWriter, Write as _},
    path::Path,
};
use tokio::runtime::Handle;
use uuid::Uuid;

/// Random bytes in the name of a writer's files.
const WRITER_BYTES: usize = 4;
/// Lines read from the database at once.
const PAGE: u32 = 500;
/// Sessions whose ratings are remembered while an export runs.
const RATINGS_REMEMBERED: usize = 10_000;

/// Returns the rating of a session. It is called on another thread.
pub type Rated = Box<dyn Fn(&InteractionRecord) -> Result<Option<Feedback>, String> + Send>;

/// Opens the capture of turns as the settings require: with files on SQLite, without on PostgreSQL.
pub fn open(settings: &Settings, entropy: &dyn Entropy) -> TurnCapture {
    let Database::Sqlite(data_dir) = &settings.database else { return TurnCapture::default() };
    let mut random = [0; WRITER_BYTES];
    entropy.fill(&mut random);
    let mut writer = String::new();
    for byte in random {
        // Writing to a string cannot fail.
        let _ = write!(writer, "{byte:02x}");
    }
    TurnCapture::with_files(Collector::new(Layout::below(data_dir), &writer))
}

/// Why the streams could not be written out.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The streams cannot be read.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// A file cannot be written.
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
    /// The caller stopped the dump.
    #[error("it was stopped")]
    Stopped,
}

/// Writes the three streams of a workspace below `out`, page by page while it `goes_on`; how many lines.
pub async fn dump(ledger: &Ledger, workspace: &str, out: &Path, goes_on: impl Fn() -> bool) -> Result<u64, DumpError> {
    let layout = Layout::below(out);
    let files = [
        (Stream::Interactions, layout.interactions().join(format!("interactions_{workspace}.jsonl"))),
        (Stream::Feedback, layout.feedback().join(format!("{workspace}_feedback.jsonl"))),
        (Stream::Outcomes, layout.outcomes().join(format!("{workspace}_outcomes.jsonl"))),
    ];
    let mut lines = 0;
    for (stream, path) in files {
        let failed = |error: io::Error| DumpError::Io(path.display().to_string(), error);
        if let Some(folder) = path.parent() {
            private::create_dir_all(folder).map_err(failed)?;
        }
        let mut file = BufWriter::new(private::create_new(&path).map_err(failed)?);
        let mut after = Uuid::nil();
        loop {
            if !goes_on() {
                return Err(DumpError::Stopped);
            }
            let page = page_by_operator(ledger, workspace, stream, after, PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            for (_, record) in &page {
                writeln!(file, "{record}").map_err(failed)?;
                lines += 1;
            }
        }
        file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all()).map_err(failed)?;
    }
    Ok(lines)
}

/// Returns a function that looks up the rating of a whole session: the label that most people gave, without skips. A
/// session whose ratings cannot be read is not looked up again. The function blocks, so call it outside of the
/// runtime's threads.
pub fn rating(ledger: &Ledger) -> Rated {
    // Without the instance's key nobody can have rated.
    if feedback::opaque(ledger, SessionId(Uuid::nil())).is_err() {
        return Box::new(|_| Ok(None));
    }
    let (ledger, runtime) = (ledger.clone(), Handle::current());
    let known: RefCell<HashMap<SessionId, Result<Option<Feedback>, String>>> = RefCell::default();
    Box::new(move |record| {
        let Ok(id) = record.session_id.parse::<SessionId>() else { return Ok(None) };
        if let Some(rated) = known.borrow().get(&id) {
            return rated.clone();
        }
        let rated = match runtime.block_on(feedback::list_by_operator(&ledger, id)) {
            Ok(ratings) => {
                let count = |label| ratings.iter().filter(|rating| rating.label == label).count() as u64;
                Ok(of_ratings(count(Label::Positive), count(Label::Negative)))
            }
            Err(error) => {
                tracing::warn!(session = %id, %error, "its ratings cannot be read; the export counts them");
                Err(error.to_string())
            }
        };
        let mut known = known.borrow_mut();
        if known.len() >= RATINGS_REMEMBERED {
            known.clear();
        }
        known.insert(id, rated.clone());
        rated
    })
}
