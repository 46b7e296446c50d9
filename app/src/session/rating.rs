//! The question whether a completed session helped. One click answers it, and the answer can be undone.

use super::{DismissRating, RateSession, UndoRating};
use crate::{
    server_function::page_fields,
    ui::{
        button::{Button, IconButton},
        icon::Icon,
    },
};
use domain::session_feedback::Label;
use leptos::{prelude::*, server_fn::ServerFn as _};

/// Whether the reader is asked to rate the session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rating {
    /// The session has not completed, or the reader may not rate it.
    #[default]
    Silent,
    /// The reader has not rated it.
    Ask,
    /// The reader's rating.
    Given(Label),
}

const fn words(label: Label) -> &'static str {
    match label {
        Label::Positive => "Thank you. You said that this helped.",
        Label::Negative => "Thank you. You said that this did not help.",
        Label::Skip => "Thank you. You skipped the question.",
    }
}

/// The rating panel; nothing if the reader is not asked. `place` is the page to return to: `/sessions` or `/chat`.
pub fn rating_view(session_id: &str, place: &'static str, rating: Rating) -> impl IntoView + use<> {
    let (target, inside) = match rating {
        Rating::Silent => return None,
        Rating::Ask => (RateSession::PATH, question().into_any()),
        Rating::Given(label) => {
            let given = view! {
                <p role="status">{words(label)}</p>
                <Button small=true attr:data-key="unrate" title="Undo your rating (z)">"Undo"</Button>
            };
            (UndoRating::PATH, given.into_any())
        }
    };
    let page = format!("{place}/{session_id}");
    Some(view! {
        <form class="rating" id="rating" method="post" action=target aria-label="Rating">
            {page_fields(page.clone(), page)}
            <input type="hidden" name="session_id" value=session_id.to_owned()/>
            {inside}
        </form>
    })
}

fn question() -> impl IntoView {
    view! {
        <p class="rating-question">"Did this help?"</p>
        <Button picture=Icon::ThumbUp small=true attr:data-key="helped" name="label" value="positive" title="It helped (y)">"Yes"</Button>
        <Button picture=Icon::ThumbDown small=true attr:data-key="unhelped" name="label" value="negative" title="It did not help (n)">"No"</Button>
        <Button small=true attr:data-key="unsaid" name="label" value="skip" title="Rather not say (s)">"Skip"</Button>
        <IconButton
            picture=Icon::Close label="Dismiss the question" title="Do not ask about this again (d)"
            attr:data-size="small" attr:data-key="unasked" attr:formaction=DismissRating::PATH
        />
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn a_rating_is_asked_only_when_possible_and_every_answer_has_a_key() {
        let html = |rating| to_html(rating_view("0189", "/sessions", rating));
        assert!(!html(Rating::Silent).contains("form"));
        let asked = html(Rating::Ask);
        for key in ["helped", "unhelped", "unsaid", "unasked"] {
            assert!(asked.contains(&format!("data-key=\"{key}\"")), "{key}: {asked}");
        }
        for label in Label::ALL {
            let given = html(Rating::Given(label));
            assert!(given.contains("Thank you.") && given.contains("/fn/session/undo-rating"), "{given}");
            assert!(!given.contains("Did this help?"), "{given}");
        }
    }
}
