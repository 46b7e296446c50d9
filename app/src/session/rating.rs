//! The question whether a completed session helped. One click answers it, and the answer can be undone. Without scripts
//! the panel is a form; with scripts it calls the same server functions and changes in place.

use super::{DismissRating, RateSession, UndoRating};
use crate::{
    server_function::page_fields,
    ui::{
        button::{Button, IconButton},
        icon::Icon,
    },
};
#[cfg(feature = "ssr")]
use domain::session_feedback::Label;
use leptos::{ev::MouseEvent, html, prelude::*, server_fn::ServerFn as _};

/// What the panel of a session shows to the reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rating {
    /// Nothing: the session has not completed, the reader may not rate it, or has dismissed the question.
    #[default]
    Silent,
    /// The question, because the reader has not rated it.
    Ask,
    /// The reader's rating that it helped.
    Positive,
    /// The reader's rating that it did not help.
    Negative,
    /// That the reader skipped the question.
    Skip,
}

impl Rating {
    /// The value of `data-rating`; that of a label is the label's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Ask => "ask",
            Self::Positive => "positive",
            Self::Negative => "negative",
            Self::Skip => "skip",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Silent => "",
            Self::Ask => "Did this help?",
            Self::Positive => "Thank you. You said that this helped.",
            Self::Negative => "Thank you. You said that this did not help.",
            Self::Skip => "Thank you. You skipped the question.",
        }
    }
}

#[cfg(feature = "ssr")]
impl From<Label> for Rating {
    fn from(label: Label) -> Self {
        match label {
            Label::Positive => Self::Positive,
            Label::Negative => Self::Negative,
            Label::Skip => Self::Skip,
        }
    }
}

/// State of the panel. A copy is the same state.
#[derive(Clone, Copy)]
pub struct RatingState {
    /// UUID of the session.
    session_id: StoredValue<String>,
    /// What the panel shows.
    pub rating: RwSignal<Rating>,
    /// Why the last call was refused; empty if it was not.
    refused: RwSignal<String>,
    /// Whether the question went away on this page.
    is_closed: RwSignal<bool>,
    form: NodeRef<html::Form>,
    /// Whether a call is under way.
    #[cfg(feature = "hydrate")]
    is_calling: StoredValue<bool>,
    /// Number of calls that have ended.
    #[cfg(feature = "hydrate")]
    calls_ended: StoredValue<u32>,
    /// Whether a call has succeeded on this page.
    #[cfg(feature = "hydrate")]
    is_answered: StoredValue<bool>,
}

impl RatingState {
    /// The state of a page that shows this at first.
    pub fn new(session_id: &str, rating: Rating) -> Self {
        Self {
            session_id: StoredValue::new(session_id.to_owned()),
            rating: RwSignal::new(rating),
            refused: RwSignal::new(String::new()),
            is_closed: RwSignal::new(false),
            form: NodeRef::new(),
            #[cfg(feature = "hydrate")]
            is_calling: StoredValue::new(false),
            #[cfg(feature = "hydrate")]
            calls_ended: StoredValue::new(0),
            #[cfg(feature = "hydrate")]
            is_answered: StoredValue::new(false),
        }
    }

    /// What the panel says, after the reason if the last call was refused.
    fn words(self) -> String {
        let refused = self.refused.get();
        let gap = if refused.is_empty() { "" } else { " " };
        [refused.as_str(), gap, self.rating.get().words()].concat()
    }
}

/// What screen readers say once the question went away.
const CLOSED: &str = "You are no longer asked whether this helped.";

/// The rating panel; nothing to see if the reader is not asked. It is a part of the lazy island of its page. `place` is
/// the page to return to without scripts: `/sessions` or `/chat`.
#[component]
pub fn RatingPanel(state: RatingState, place: &'static str) -> impl IntoView {
    let is_shown = Memo::new(move |_| state.rating.get() != Rating::Silent);
    view! {
        {move || is_shown.get().then(|| form(state, place))}
        <p class="hidden-text" role="status">{move || if state.is_closed.get() { CLOSED } else { "" }}</p>
    }
}

fn form(state: RatingState, place: &'static str) -> impl IntoView {
    let session_id = state.session_id.get_value();
    let page = [place, "/", &session_id].concat();
    let is_asked = Memo::new(move |_| state.rating.get() == Rating::Ask);
    view! {
        <form
            class="rating" id="rating" method="post" aria-label="Rating" node_ref=state.form
            action=move || if is_asked.get() { RateSession::PATH } else { UndoRating::PATH }
        >
            {page_fields(page.clone(), page)}
            <input type="hidden" name="session_id" value=session_id/>
            <p class=move || if is_asked.get() { "rating-question" } else { "" } role="status">{move || state.words()}</p>
            {move || if is_asked.get() { question(state).into_any() } else { undo(state).into_any() }}
        </form>
    }
}

fn question(state: RatingState) -> impl IntoView {
    view! {
        <Button
            picture=Icon::ThumbUp small=true attr:data-key="helped" name="label" value="positive" title="It helped (y)"
            on:click=move |event| press(state, Rating::Positive, &event)
        >
            "Yes"
        </Button>
        <Button
            picture=Icon::ThumbDown small=true attr:data-key="unhelped" name="label" value="negative" title="It did not help (n)"
            on:click=move |event| press(state, Rating::Negative, &event)
        >
            "No"
        </Button>
        <Button
            small=true attr:data-key="unsaid" name="label" value="skip" title="Rather not say (s)"
            on:click=move |event| press(state, Rating::Skip, &event)
        >
            "Skip"
        </Button>
        <IconButton
            picture=Icon::Close label="Dismiss the question" title="Do not ask about this again (d)"
            attr:data-size="small" attr:data-key="unasked" attr:formaction=DismissRating::PATH
            on:click=move |event| press(state, Rating::Silent, &event)
        />
    }
}

fn undo(state: RatingState) -> impl IntoView {
    view! {
        <Button
            small=true attr:data-key="unrate" title="Undo your rating (z)"
            on:click=move |event| press(state, Rating::Ask, &event)
        >
            "Undo"
        </Button>
    }
}

/// Calls the server function that leads from the state shown to this one.
fn press(state: RatingState, to: Rating, event: &MouseEvent) {
    #[cfg(feature = "hydrate")]
    {
        event.prevent_default();
        state.call(to);
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = (state, to, event);
}

#[cfg(feature = "hydrate")]
mod calls {
    use super::{DismissRating, RateSession, Rating, RatingState, UndoRating};
    use crate::{
        browser::{
            dom::{self, HtmlElement},
            fetch,
            task::spawn_local,
        },
        server_function::{Refusal, call},
    };
    use leptos::prelude::*;

    /// The status of a refusal because no one is signed in.
    const SIGNED_OUT: u16 = 401;

    impl Rating {
        /// What an element of the server says in `data-rating`.
        pub fn of(element: &HtmlElement) -> Self {
            match element.get_attribute("data-rating").as_deref() {
                Some("ask") => Self::Ask,
                Some("positive") => Self::Positive,
                Some("negative") => Self::Negative,
                Some("skip") => Self::Skip,
                _ => Self::Silent,
            }
        }
    }

    impl RatingState {
        /// Number of calls that have ended. [`Self::read`] needs it as it was when the server was asked.
        pub fn calls_ended(self) -> u32 {
            self.calls_ended.get_value()
        }

        /// Shows what the server says in `data-rating` of this element. `asked_after` is the number of calls that had
        /// ended when the server was asked.
        ///
        /// It is ignored during a call, if a call has ended since, and once the reader has answered on this page,
        /// because the server may have read the rating before.
        pub fn read(self, answer: &HtmlElement, asked_after: u32) {
            let is_old = self.is_calling.get_value() || self.calls_ended() != asked_after;
            let rating = Rating::of(answer);
            if !is_old && !self.is_answered.get_value() && self.rating.get_untracked() != rating {
                self.show(rating);
            }
        }

        /// Calls the server function that leads to this state, and shows it. A press during a call is ignored.
        pub(super) fn call(self, to: Rating) {
            if self.is_calling.get_value() {
                return;
            }
            self.is_calling.set_value(true);
            spawn_local(async move {
                let session_id = self.session_id.get_value();
                let called = match to {
                    Rating::Silent => call(DismissRating { session_id }).await,
                    Rating::Ask => call(UndoRating { session_id }).await,
                    label => call(RateSession { session_id, label: label.as_str().to_owned() }).await,
                };
                self.is_calling.set_value(false);
                self.calls_ended.update_value(|ended| *ended += 1);
                match called {
                    Ok(()) => {
                        self.is_answered.set_value(true);
                        self.show(to);
                    }
                    Err(refusal) => self.refused.set(reason(&refusal)),
                }
            });
        }

        /// Shows a state. If a button of the panel had the focus, the first of the new ones gets it. If there is none,
        /// the heading of the page gets it, so that a reader with a keyboard does not start over.
        fn show(self, rating: Rating) {
            let focused = dom::document().active_element();
            let form = self.element().filter(|form| form.contains(focused.as_deref()));
            let page = form.and_then(|form| form.parent_element());
            self.refused.set(String::new());
            self.is_closed.set(rating == Rating::Silent);
            self.rating.set(rating);
            let Some(page) = page else { return };
            // The new buttons are there after this task.
            dom::after(0, move || {
                let next = match rating {
                    Rating::Silent => dom::find(&page, "h1"),
                    _ => self.element().and_then(|form| dom::find(&form, "button")),
                };
                if let Some(next) = next {
                    let _ = next.focus();
                }
            });
        }

        fn element(self) -> Option<HtmlElement> {
            self.form.get_untracked().map(Into::into)
        }
    }

    fn reason(refusal: &Refusal) -> String {
        if refusal.status == SIGNED_OUT { fetch::SIGNED_OUT.to_owned() } else { refusal.message() }
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn html(rating: Rating) -> String {
        Owner::new().with(|| to_html(view! { <RatingPanel state=RatingState::new("0189", rating) place="/sessions"/> }))
    }

    #[test]
    fn a_rating_is_asked_only_when_possible_and_every_answer_has_a_key() {
        let silent = html(Rating::Silent);
        assert!(!silent.contains("form") && silent.contains("role=\"status\""), "{silent}");
        let asked = html(Rating::Ask);
        for key in ["helped", "unhelped", "unsaid", "unasked"] {
            assert!(asked.contains(&format!("data-key=\"{key}\"")), "{key}: {asked}");
        }
        assert!(asked.contains("Did this help?") && asked.contains("/fn/session/rate"), "{asked}");
        for label in Label::ALL {
            let given = html(label.into());
            assert!(given.contains("Thank you.") && given.contains("/fn/session/undo-rating"), "{given}");
            assert!(!given.contains("Did this help?"), "{given}");
        }
    }

    #[test]
    fn the_name_of_a_rating_is_that_of_its_label() {
        for label in Label::ALL {
            assert_eq!(Rating::from(label).as_str(), label.as_str());
        }
    }
}
