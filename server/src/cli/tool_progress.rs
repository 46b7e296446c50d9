//! The progress of a run on standard error: a line that is redrawn on a terminal, else a line for each report.

use client::{EventStream, StreamItem};
use std::{
    future::Future,
    io::{IsTerminal, Write, stderr},
    pin::pin,
};
use tokio::select;
use wire::worker::Progress;

/// Characters of the bar.
const BAR_CHARS: u64 = 20;

/// Shows the reports of one run.
#[derive(Debug)]
pub(super) struct ProgressLine {
    is_terminal: bool,
    is_shown: bool,
}

impl ProgressLine {
    /// No report has been shown.
    pub fn new() -> Self {
        Self { is_terminal: stderr().is_terminal(), is_shown: false }
    }

    /// Shows reports until the answer has arrived. If the stream ends or fails, only the reports end.
    pub async fn show_until<T>(&mut self, stream: &mut EventStream, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        let mut is_open = true;
        loop {
            select! {
                biased;
                answered = &mut answer => return answered,
                item = stream.next_item(), if is_open => match item {
                    Ok(Some(StreamItem::Progress(progress))) => self.show(&progress),
                    Ok(Some(StreamItem::Event(_) | StreamItem::Delta(_))) => {}
                    Ok(None) | Err(_) => is_open = false,
                },
            }
        }
    }

    fn show(&mut self, progress: &Progress) {
        let text = text(progress);
        // A failure to write to standard error is ignored.
        let _ = match self.is_terminal {
            true => write!(stderr(), "\r\x1b[K{text}").and_then(|()| stderr().flush()),
            false => writeln!(stderr(), "{text}"),
        };
        self.is_shown = self.is_terminal;
    }

    /// Removes the line from a terminal, before other text is written.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn text(progress: &Progress) -> String {
    let note = progress.note.as_ref().map(|note| format!(" {note}")).unwrap_or_default();
    let Some(total) = progress.total.filter(|total| *total > 0) else { return format!("{} done{note}", progress.done) };
    let filled = u128::from(progress.done.min(total)) * u128::from(BAR_CHARS) / u128::from(total);
    let bar: String = (0..BAR_CHARS).map(|at| if u128::from(at) < filled { '#' } else { '-' }).collect();
    format!("[{bar}] {}/{total}{note}", progress.done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_bar_if_its_total_is_known() {
        let of = |done, total, note: Option<&str>| {
            text(&Progress { attempt: 1, done, total, note: note.map(str::to_owned) })
        };
        assert_eq!(of(5, Some(10), Some("reading")), "[##########----------] 5/10 reading");
        assert_eq!(of(u64::MAX, Some(u64::MAX), None).matches('#').count(), 20);
        assert_eq!([of(3, None, None), of(0, Some(0), None)], ["3 done", "0 done"]);
    }
}
