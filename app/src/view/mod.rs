//! Forms (views): the list, the page of a form with its versions, and the editor with its preview.

mod live_preview;

#[cfg(feature = "ssr")]
mod answer_chart;
#[cfg(feature = "ssr")]
mod editor;
#[cfg(feature = "ssr")]
mod links;
#[cfg(feature = "ssr")]
mod list_page;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod preview;
#[cfg(feature = "ssr")]
mod response_filter;
#[cfg(feature = "ssr")]
mod responses_page;
#[cfg(feature = "ssr")]
mod row;

#[cfg(feature = "ssr")]
pub use editor::{Draft, EditorProps, editor_page};
#[cfg(feature = "ssr")]
pub use links::{LinksProps, NewFormLink};
#[cfg(feature = "ssr")]
pub use list_page::{Entry, ListProps, list_page};
pub use live_preview::LivePreview;
#[cfg(feature = "ssr")]
pub use page::{Props, page};
#[cfg(feature = "ssr")]
pub use preview::preview_fragment;
#[cfg(feature = "ssr")]
pub use responses_page::{ResponseFilter, ResponseRow, ResponsesProps, answer_text, responses_page};
#[cfg(feature = "ssr")]
pub use row::{Row, Unreadable, control_of};

#[cfg(feature = "ssr")]
use crate::ui::{badge::Badge, icon::Icon};
#[cfg(feature = "ssr")]
use domain::{session::Status, view::State};
#[cfg(feature = "ssr")]
use leptos::prelude::*;

/// The badge of the state of a view or tool.
#[cfg(feature = "ssr")]
pub(crate) fn state_badge(state: State) -> impl IntoView + use<> {
    let (picture, word, colour) = match state {
        State::Draft => (Icon::Draft, "Draft", Status::Draft),
        State::Published => (Icon::Completed, "Published", Status::Completed),
        State::Unpublished => (Icon::Abandoned, "Unpublished", Status::Abandoned),
    };
    view! { <Badge picture=picture word=word colour=colour/> }
}

/// The label of a kind of field.
#[cfg(feature = "ssr")]
fn kind_word(kind: &str) -> &'static str {
    KINDS.iter().find(|(name, _)| *name == kind).map_or("Short text", |(_, word)| *word)
}

/// Every kind of field with its label, in the order in which the editor offers them.
#[cfg(feature = "ssr")]
const KINDS: [(&str, &str); 15] = [
    ("short_text", "Short text"),
    ("long_text", "Long text"),
    ("single_choice", "One choice"),
    ("multiple_choice", "Several choices"),
    ("text_list", "Several texts"),
    ("yes_no", "Yes or no"),
    ("scale", "Scale"),
    ("number", "Number"),
    ("integer", "Whole number"),
    ("date", "Day"),
    ("date_time", "Date and time"),
    ("email", "E-mail address"),
    ("url", "Web address"),
    ("rating", "Rating by a criteria set"),
    ("entity", "Reference to an entity"),
];

#[cfg(all(test, feature = "ssr"))]
#[cfg(feature = "ssr")]
mod tests {
    use super::KINDS;

    #[test]
    fn the_editor_offers_every_kind_of_field() {
        for (kind, _) in KINDS {
            let row = super::Row { kind: kind.to_owned(), ..super::Row::default() };
            assert_eq!(row.field(&[]).0.kind.name(), kind);
        }
    }
}
