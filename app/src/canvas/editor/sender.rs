//! Sends changes to the server, in order and each until it is answered. `canvas::offline` keeps them meanwhile.

use super::answer::answer;
use crate::browser::{dom, fetch, task::spawn_local};
use domain::canvas::{Answer, Operation, Patch};
use serde::Serialize;
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

/// First pause after a failure, milliseconds. It doubles with each further one.
const PAUSE_MS_MIN: i32 = 300;
/// Longest pause between two tries, milliseconds.
const PAUSE_MS_MAX: i32 = 5_000;
/// Longest pause that a server can ask for, seconds.
const RETRY_SECONDS_MAX: i32 = 60;
const SIGNED_OUT: u16 = 401;
const TOO_MANY: u16 = 429;

/// What became of a patch.
#[derive(Debug, Clone, PartialEq)]
pub enum Delivery {
    /// The server decided about it.
    Decided(Answer),
    /// It waits as a suggestion, because the author may only suggest changes now.
    Suggested,
    /// The server refuses it for this reason, and would refuse it again.
    Refused(String),
    /// The server cannot be reached. It is sent again.
    Unreachable,
    /// The person is signed out. It is sent again.
    SignedOut,
}

/// Called with each patch and what became of it.
type Deliver = dyn Fn(&Patch, Delivery);

/// The queue. A copy is the same queue.
#[derive(Clone)]
pub struct Sender(Rc<Inner>);

struct Inner {
    address: String,
    queue: RefCell<VecDeque<Patch>>,
    is_sending: Cell<bool>,
    failures: Cell<u32>,
    deliver: Box<Deliver>,
}

impl Sender {
    /// An empty queue for a canvas. `deliver` is called with each patch and what became of it.
    pub fn new(canvas_id: &str, deliver: impl Fn(&Patch, Delivery) + 'static) -> Self {
        Self(Rc::new(Inner {
            address: ["/api/canvases/", canvas_id, "/patches"].concat(),
            queue: RefCell::default(),
            is_sending: Cell::new(false),
            failures: Cell::new(0),
            deliver: Box::new(deliver),
        }))
    }

    /// Adds a patch at the end, and sends the queue.
    pub fn push(&self, patch: Patch) {
        self.0.queue.borrow_mut().push_back(patch);
        if !self.0.is_sending.replace(true) {
            spawn_local(self.clone().send_all());
        }
    }

    async fn send_all(self) {
        loop {
            let Some(first) = self.0.queue.borrow().front().cloned() else { break };
            match send(&self.0.address, &first).await {
                Ok(Delivery::Unreachable) => self.fail(&first, Delivery::Unreachable).await,
                Ok(Delivery::SignedOut) => self.fail(&first, Delivery::SignedOut).await,
                Ok(decided) => {
                    self.0.failures.set(0);
                    self.0.queue.borrow_mut().pop_front();
                    (self.0.deliver)(&first, decided);
                }
                Err(seconds) => dom::pause(seconds * 1_000).await,
            }
        }
        self.0.is_sending.set(false);
    }

    async fn fail(&self, first: &Patch, why: Delivery) {
        let failures = self.0.failures.get();
        self.0.failures.set(failures.saturating_add(1));
        (self.0.deliver)(first, why);
        let longest = PAUSE_MS_MIN.saturating_mul(2_i32.saturating_pow(failures.min(8))).min(PAUSE_MS_MAX);
        // Browsers that lost one server do not all come back in the same moment.
        dom::pause((f64::from(longest) * (0.5 + js_sys::Math::random() / 2.0)) as i32).await;
    }
}

/// A patch as the API takes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    op_id: &'a str,
    base: u64,
    ops: &'a [Operation],
    strict: bool,
}

/// Sends one patch.
///
/// # Errors
/// The seconds after which it is to be sent again, if the author has sent too many.
pub async fn send(address: &str, patch: &Patch) -> Result<Delivery, i32> {
    let Patch { op_id, base, ops, is_strict } = patch;
    let body = serde_json::to_string(&Body { op_id, base: *base, ops, strict: *is_strict }).unwrap_or_default();
    let request = fetch::build("POST", address, Some(&body), "application/json", "application/json");
    let Some(request) = request else { return Ok(Delivery::Refused("The browser cannot send it.".to_owned())) };
    let Ok(response) = fetch::send(&request).await else { return Ok(Delivery::Unreachable) };
    let status = response.status();
    let Ok(text) = fetch::text(&response).await else { return Ok(Delivery::Unreachable) };
    Ok(match status {
        SIGNED_OUT => Delivery::SignedOut,
        TOO_MANY => return Err(retry_seconds(fetch::header(&response, "retry-after").as_deref())),
        500.. => Delivery::Unreachable,
        400..500 => Delivery::Refused(reason(&text)),
        _ => match answer(&text) {
            Some(answer) => answer.map_or(Delivery::Suggested, Delivery::Decided),
            // A proxy answered.
            None => Delivery::Unreachable,
        },
    })
}

/// The pause that a server asks for, seconds. One that names no number of seconds asks for a second.
fn retry_seconds(header: Option<&str>) -> i32 {
    header.and_then(|text| text.parse::<i32>().ok()).unwrap_or(1).clamp(1, RETRY_SECONDS_MAX)
}

/// The reason in a problem of the API.
fn reason(problem: &str) -> String {
    let problem = js_sys::JSON::parse(problem).unwrap_or_default();
    dom::text(&problem, "detail")
        .or_else(|| dom::text(&problem, "title"))
        .unwrap_or_else(|| "The server refuses it.".to_owned())
}
