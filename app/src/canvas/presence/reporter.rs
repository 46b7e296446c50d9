//! Tells the server where this person is: at most each 100 ms, again before it expires, and when they leave.

use crate::browser::{dom, fetch, task::spawn_local};
use domain::limit::{CANVAS_PRESENCE_MS_MAX, CANVAS_PRESENCE_PAUSE_MS};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// Time after which a report is repeated: three in the time for which one counts, milliseconds.
const REPEAT_MS: i32 = (CANVAS_PRESENCE_MS_MAX / 3) as i32;
/// Pause between two reports. A little longer than the server asks for, because requests do not take the same time.
const PAUSE_MS: i32 = CANVAS_PRESENCE_PAUSE_MS as i32 + 20;

/// The place of a person whose cursor is in no block.
const NOWHERE: &str = "{}";

/// Where this person is. A copy is the same.
#[derive(Clone)]
pub struct Reporter(Rc<Inner>);

struct Inner {
    address: String,
    /// As JSON.
    place: RefCell<String>,
    /// Whether this person takes part. The server refuses the reports of others.
    has_begun: Cell<bool>,
    /// Whether a report was sent within the pause.
    is_pausing: Cell<bool>,
    /// Whether the place has changed since the last report, or the last report was not sent to others.
    is_due: Cell<bool>,
    /// Takes the server's answer as JSON. Returns whether the report was sent to the others.
    answered: Box<dyn Fn(&str) -> bool>,
}

impl Reporter {
    /// For a canvas that is open in this tab. Reports nothing before [`Reporter::begin`].
    pub fn new(canvas: &str, answered: impl Fn(&str) -> bool + 'static) -> Self {
        Self(Rc::new(Inner {
            address: ["/api/canvases/", canvas, "/presence"].concat(),
            place: RefCell::new(NOWHERE.to_owned()),
            has_begun: Cell::new(false),
            is_pausing: Cell::new(false),
            is_due: Cell::new(false),
            answered: Box::new(answered),
        }))
    }

    /// Begins to report, once: this person takes part in the canvas.
    pub fn begin(&self) {
        if self.0.has_begun.replace(true) {
            return;
        }
        self.report();
        let repeated = self.clone();
        dom::every(REPEAT_MS, move || {
            if !dom::document().hidden() {
                repeated.report();
            }
        });
        let left = self.clone();
        dom::when(&dom::window(), "pagehide", move || left.leave());
        let back = self.clone();
        dom::on_restored(move || back.report());
    }

    /// The cursor is in a block, with this selection in UTF-16 units.
    pub fn mark(&self, block: &str, (start, end): (usize, usize)) {
        let (start, end) = (start.min(end).to_string(), start.max(end).to_string());
        let block = serde_json::to_string(block).unwrap_or_default();
        self.place([r#"{"block":"#, &block, r#","selection":{"start":"#, &start, r#","end":"#, &end, "}}"].concat());
    }

    /// The cursor is in no block.
    pub fn unmark(&self) {
        self.place(NOWHERE.to_owned());
    }

    fn place(&self, place: String) {
        if *self.0.place.borrow() != place {
            *self.0.place.borrow_mut() = place;
            self.report();
        }
    }

    /// Reports now, or at the end of the pause.
    fn report(&self) {
        if !self.0.has_begun.get() {
            return;
        }
        self.0.is_due.set(true);
        if self.0.is_pausing.get() {
            return;
        }
        self.0.is_pausing.set(true);
        self.0.is_due.set(false);
        let reporter = self.clone();
        spawn_local(async move {
            let body = reporter.0.place.borrow().clone();
            if let Some(answer) = reporter.send(&body).await
                && !(reporter.0.answered)(&answer)
            {
                reporter.0.is_due.set(true);
            }
            dom::pause(PAUSE_MS).await;
            reporter.0.is_pausing.set(false);
            if reporter.0.is_due.get() {
                reporter.report();
            }
        });
    }

    /// Sends a report. `None` if the server does not take it: the next one is sent all the same.
    async fn send(&self, body: &str) -> Option<String> {
        let request = fetch::build("POST", &self.0.address, Some(body), "application/json", "application/json")?;
        let response = fetch::send(&request).await.ok().filter(|response| response.ok() && !response.redirected())?;
        fetch::text(&response).await.ok()
    }

    /// Says that this person leaves. The request outlives the page.
    fn leave(&self) {
        let reporter = self.clone();
        spawn_local(async move { drop(reporter.send(r#"{"leaves":true}"#).await) });
    }
}
