//! The live tail: appends new rows by sequence and keeps the reader's scroll position. Only in the WASM build.

use super::{
    find_keys,
    tail_state::TailState,
    transcript::{BEYOND_TARGET, Transcript},
    transcript_rows,
};
use crate::browser::{
    address,
    dom::{self, HtmlElement},
    element, fetch,
    live::{self, Signal},
    patch,
    reads::REPEAT_MS,
    task::spawn_local,
    viewport,
};
use leptos::prelude::*;

/// A reader within this distance of the end of the page follows new rows, pixels.
const FOLLOWING_PX: f64 = 96.0;
/// Signals within this time cause one reading of the header, in milliseconds.
const GATHER_MS: i32 = 400;

/// Starts the live tail of a page's transcript.
pub fn start(transcript: Transcript, opens_at_end: bool) {
    transcript_rows::start(transcript);
    find_keys::start();
    if let Some(page) = transcript.page() {
        patch::remember(&page);
        // A part of the header with an open popover was not updated.
        element::on_toggle(&page, ".popover:not([open])", move |_| transcript.read_summary());
    }
    live::subscribe(move |signal| match signal {
        Signal::Session { id, head_sequence, .. } if transcript.session_id.with_value(|own| own == id) => {
            transcript.tail(|tail| tail.head_sequence = tail.head_sequence.max(*head_sequence));
            transcript.read();
            transcript.read_summary();
        }
        Signal::Resync | Signal::Opened => {
            transcript.tail(|tail| tail.is_head_unknown = true);
            transcript.read();
            transcript.read_summary();
        }
        _ => {}
    });
    let arrived = transcript.arrived;
    viewport::on_scroll(move || {
        if arrived.get_untracked() > 0 && is_following() {
            arrived.set(0);
        }
    });
    // Unless the address or the reader has chosen a position.
    if opens_at_end && address::fragment().is_empty() && !viewport::is_scrolled() {
        viewport::scroll_to_end();
    }
    open_target(transcript);
    address::on_fragment(move || open_target(transcript));
}

impl Transcript {
    fn tail<T: Default>(self, with: impl FnOnce(&mut TailState) -> T) -> T {
        self.tail.try_update_value(with).unwrap_or_default()
    }

    fn page(self) -> Option<HtmlElement> {
        self.page.get_untracked().map(Into::into)
    }

    /// Reads the rows after the last one, page by page, one request at a time. Signals that arrive during a request
    /// are handled after it. A request that fails is repeated once, because no signal may follow.
    fn read(self) {
        if !self.at_head || self.tail(|tail| tail.is_reading || !tail.is_behind()) {
            return;
        }
        self.tail(|tail| tail.is_reading = true);
        spawn_local(async move {
            let mut has_failed = false;
            loop {
                let was_unknown = self.tail(|tail| std::mem::take(&mut tail.is_head_unknown));
                match self.read_page().await {
                    Ok(has_more) if has_more || self.tail(|tail| tail.is_behind()) => {}
                    Ok(_) => break,
                    Err(_) => {
                        self.tail(|tail| tail.is_head_unknown |= was_unknown);
                        if std::mem::replace(&mut has_failed, true) {
                            break;
                        }
                        dom::pause(REPEAT_MS).await;
                    }
                }
            }
            self.tail(|tail| tail.is_reading = false);
        });
    }

    /// Reads one page of rows. Returns whether there are more.
    async fn read_page(self) -> Result<bool, fetch::Failed> {
        let after = self.tail(|tail| tail.last_sequence);
        let from = ["/rows?afterSequence=", &dom::integer_text(after), &self.kinds_query()].concat();
        let response = fetch::get(&self.address(&from)).await?;
        let figure = |name: &str| fetch::header(&response, name).and_then(|text| dom::figure(&text));
        let last = figure("x-last-sequence").unwrap_or(after);
        let head = figure("x-head-sequence").unwrap_or(last);
        let has_more = fetch::header(&response, "x-has-more").as_deref() == Some("true");
        let is_final = fetch::header(&response, "x-status")
            .is_some_and(|s| matches!(s.as_str(), "completed" | "failed" | "abandoned" | "expired"));
        let html = fetch::text(&response).await?;
        let follow = is_following();
        let added = transcript_rows::append(self, &html);
        // With a filter, the head moves past rows that are not shown.
        let read = if has_more { last.max(after) } else { head.max(last).max(after) };
        self.tail(|tail| tail.last_sequence = read);
        if added > 0 {
            if follow {
                viewport::scroll_to_end();
            } else {
                self.arrived.update(|n| *n += added);
            }
        }
        transcript_rows::show_end(self, is_final && !has_more);
        Ok(has_more)
    }

    /// Reads the header again. Signals within [`GATHER_MS`] cause one request.
    fn read_summary(self) {
        if self.tail(|tail| std::mem::replace(&mut tail.is_summary_due, true)) {
            return;
        }
        dom::after(GATHER_MS, move || {
            self.tail(|tail| tail.is_summary_due = false);
            spawn_local(async move {
                let calls = self.rating.calls_ended();
                let Some(html) = self.summaries.text(&self.address("/summary")).await else { return };
                if let (Some(page), Some(new)) = (self.page(), patch::parse(&html)) {
                    for new in patch::children(&new) {
                        patch::parts(&page, &new);
                        show_forms(&page, &new);
                        self.rating.read(&new, calls);
                    }
                }
            });
        });
    }

    /// The row or part of the page that the fragment of an address names.
    fn named(self, fragment: &str) -> Option<HtmlElement> {
        self.page().and_then(|page| dom::target(&page, fragment))
    }
}

/// Shows the forms for what the session waits for now. Forms in which something was typed stay as they are.
fn show_forms(page: &HtmlElement, new: &HtmlElement) {
    let find = |root| dom::find(root, "[data-awaits]");
    let (Some(old), Some(new)) = (find(page), find(new)) else { return };
    let awaits = |forms: &HtmlElement| forms.get_attribute("data-awaits");
    let is_typed = |field: &HtmlElement| dom::text(field, "value").is_some_and(|text| !text.is_empty());
    let fields = dom::find_all(&old, "textarea, input[type=text]");
    if awaits(&old) != awaits(&new) && !fields.iter().any(is_typed) {
        patch::update(&old, &new);
    }
}

fn is_following() -> bool {
    viewport::distance_to_end() < FOLLOWING_PX
}

/// Scrolls to the newest event, or opens the page that has it.
pub fn jump_to_newest(transcript: Transcript) {
    if transcript.at_head {
        viewport::scroll_to_end();
    } else {
        address::open(&transcript.address("?at=end"));
    }
}

/// Follows the fragment of the address: unfolds the row that it names, or loads the page that has its event.
fn open_target(transcript: Transcript) {
    let name = address::fragment();
    let Some(target) = transcript.named(&name) else {
        if let Some(sequence) = name.strip_prefix("seq-").and_then(dom::figure) {
            let wanted = ["?before=", &dom::integer_text(sequence + BEYOND_TARGET as f64)].concat();
            if address::query() != wanted {
                address::replace(&[transcript.address(&wanted).as_str(), "#", &name].concat());
            }
        }
        return;
    };
    if let Some(around) = element::closest(&target, "details") {
        let _ = around.set_attribute("open", "");
        target.scroll_into_view();
    }
}
