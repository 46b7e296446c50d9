//! The names of the others: all of them above the canvas, and each at their block.

use super::{
    model::{Model, Peer},
    reporter::Reporter,
};
use crate::browser::{
    dom,
    view::{browser_view, reactive},
};
use leptos::prelude::*;
use std::{cell::RefCell, rc::Rc};

/// Time after which those who have said nothing are looked for, milliseconds.
const LOOK_MS: i32 = 5_000;
/// Most people of whom the letters are shown; the others are counted.
const LETTERS_MAX: usize = 6;

/// The presence at one canvas. A copy is the same.
#[derive(Clone, Copy)]
pub struct Presence {
    others: RwSignal<Vec<Peer>>,
    inner: StoredValue<Inner, LocalStorage>,
}

#[derive(Clone)]
struct Inner {
    model: Rc<RefCell<Model>>,
    reporter: Reporter,
}

impl Presence {
    /// This person as the actor of events (`user:…`).
    pub fn me() -> String {
        ["user:", dom::owner().rsplit('/').next().unwrap_or_default()].concat()
    }

    /// For a canvas that is open in this tab. The others learn nothing of this person before [`Presence::report`].
    pub fn start(canvas: &str) -> Self {
        let others = RwSignal::new(Vec::new());
        let model = Rc::new(RefCell::new(Model::new(&Self::me(), &names())));
        let known = model.clone();
        let reporter = Reporter::new(canvas, move |answer| {
            let is_sent = known.borrow_mut().answer(answer, now_ms());
            show(&known, others);
            is_sent
        });
        let looked_at = model.clone();
        dom::every(LOOK_MS, move || show(&looked_at, others));
        Self { others, inner: StoredValue::new_local(Inner { model, reporter }) }
    }

    /// Begins to report where this person is, who takes part in the canvas.
    pub fn report(self) {
        self.inner.with_value(|inner| inner.reporter.begin());
    }

    /// The cursor of this person is in a block, with this selection in UTF-16 units of its text.
    pub fn mark(self, block: &str, selection: (usize, usize)) {
        self.inner.with_value(|inner| inner.reporter.mark(block, selection));
    }

    /// The cursor is in no block.
    pub fn unmark(self) {
        self.inner.with_value(|inner| inner.reporter.unmark());
    }

    /// Takes the data of a `presence` event of the session's stream.
    pub fn receive(self, json: &str) {
        self.inner.with_value(|inner| {
            inner.model.borrow_mut().receive(json, now_ms());
            show(&inner.model, self.others);
        });
    }

    /// The name of someone who takes part as the page says, or who was here since it was opened.
    pub fn name_of(self, by: &str) -> Option<String> {
        self.inner.with_value(|inner| inner.model.borrow().name_of(by).map(str::to_owned))
    }

    /// The names of the others at a block, or nothing.
    pub fn names_at(self, block: &str) -> String {
        self.others.with(|others| {
            let names = others.iter().filter(|one| one.block.as_deref() == Some(block)).map(|one| one.name.as_str());
            names.collect::<Vec<_>>().join(", ")
        })
    }
}

/// The names of those who take part, as the page has them.
fn names() -> String {
    let page = dom::root().and_then(|root| dom::find(&root, "[data-names]"));
    page.and_then(|page| page.get_attribute("data-names")).unwrap_or_default()
}

fn now_ms() -> i64 {
    js_sys::Date::now() as i64
}

/// Shows the others, if someone came, left or moved.
fn show(model: &Rc<RefCell<Model>>, others: RwSignal<Vec<Peer>>) {
    let now = model.borrow_mut().others(now_ms());
    if others.with_untracked(|before| *before != now) {
        others.set(now);
    }
}

/// Who else is on the canvas: their letters, and their names for screen readers and as tooltips.
#[component]
pub fn WhoIsHere(
    /// The others on the canvas, and the block of each.
    presence: Presence,
) -> impl IntoView {
    let one = |peer: &Peer| {
        view! {
            <li class="canvas-peer" data-colour=peer.colour.to_string() title=peer.name.clone()>
                <span aria-hidden="true">{peer.initials.clone()}</span>
                <span class="hidden-text">{peer.name.clone()}</span>
            </li>
        }
    };
    let people = reactive(move || {
        presence.others.with(|others| {
            let more = others.len().saturating_sub(LETTERS_MAX);
            let more =
                (more > 0).then(|| view! { <li class="canvas-peer-more">{["+", &more.to_string()].concat()}</li> });
            let shown = others.iter().take(LETTERS_MAX).map(one).collect::<Vec<_>>();
            let list = move || view! { <ul class="canvas-peers" aria-label="Also here">{shown}{more}</ul> };
            (!others.is_empty()).then(|| browser_view(list))
        })
    });
    view! { <div class="canvas-here">{people}</div> }
}

/// The names of the others at a block.
#[component]
pub fn AtBlock(
    /// The others on the canvas, and the block of each.
    presence: Presence,
    /// Id of the block.
    block: String,
) -> impl IntoView {
    let colour = {
        let block = block.clone();
        move || {
            presence.others.with(|others| {
                let first = others.iter().find(|one| one.block.as_ref() == Some(&block));
                first.map(|one| one.colour.to_string())
            })
        }
    };
    let names = reactive(move || presence.names_at(&block));
    view! { <span class="canvas-at" data-colour=reactive(colour)>{names}</span> }
}
