//! The inbox: items that wait for a decision, and the forms that decide them.
//!
//! One tree of components over one [`store`] shows list, selection, detail and undo notice, on the server and in the
//! browser. Every decision is a plain form that posts to a server function. The browser calls the same functions, shows
//! the next item before the server has answered, and restores items whose decision was refused.
//!
//! What depends on the kind of an item is rendered on the server alone: [`row`] (what a row says), [`detail`] (the item
//! beside the list) and [`bar`] (what can be done with it).

mod api;
mod content;
mod events;
mod island;
mod item;
mod list_view;
mod store;
mod undo_notice;

#[cfg(feature = "hydrate")]
mod countdown;
#[cfg(feature = "hydrate")]
mod item_element;
#[cfg(any(feature = "hydrate", test))]
mod reading;
#[cfg(feature = "hydrate")]
mod refusal;
#[cfg(feature = "hydrate")]
mod selecting;
#[cfg(feature = "hydrate")]
mod send;
#[cfg(feature = "hydrate")]
mod sent;
#[cfg(feature = "hydrate")]
mod shown_item;
#[cfg(feature = "hydrate")]
mod tab_draft;
#[cfg(feature = "hydrate")]
mod triage;

#[cfg(feature = "ssr")]
mod answer_all;
#[cfg(feature = "ssr")]
mod answer_form;
#[cfg(feature = "ssr")]
mod bar;
#[cfg(feature = "ssr")]
mod control_name;
#[cfg(feature = "ssr")]
mod decided;
#[cfg(feature = "ssr")]
mod decided_filter;
#[cfg(feature = "ssr")]
mod detail;
#[cfg(feature = "ssr")]
mod draft;
#[cfg(feature = "ssr")]
mod drafted;
#[cfg(feature = "ssr")]
mod error_control;
#[cfg(feature = "ssr")]
mod evidence;
#[cfg(all(test, feature = "ssr"))]
mod fixture;
#[cfg(feature = "ssr")]
mod group_words;
#[cfg(feature = "ssr")]
mod hand_over;
#[cfg(feature = "ssr")]
mod item_state;
#[cfg(feature = "ssr")]
mod item_text;
#[cfg(feature = "ssr")]
mod list;
#[cfg(feature = "ssr")]
mod list_content;
#[cfg(feature = "ssr")]
mod memory;
#[cfg(feature = "ssr")]
mod outdated;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod parts;
#[cfg(feature = "ssr")]
mod patches;
#[cfg(feature = "ssr")]
pub mod review;
#[cfg(feature = "ssr")]
mod row;
#[cfg(feature = "ssr")]
mod search;
#[cfg(feature = "ssr")]
mod selection;
#[cfg(feature = "ssr")]
mod sentence;
#[cfg(feature = "ssr")]
mod similar;
#[cfg(feature = "ssr")]
mod snooze;
#[cfg(feature = "ssr")]
mod spread;
#[cfg(feature = "ssr")]
mod terminal_sessions;
#[cfg(feature = "ssr")]
mod undo_offer;
#[cfg(feature = "ssr")]
mod value_table;
#[cfg(feature = "ssr")]
mod values;

#[cfg(feature = "ssr")]
pub use answer_all::are_alike;
#[cfg(feature = "ssr")]
pub use answer_form::{ANSWER, AnswerForm, typed_answer, typed_answers};
pub use api::{
    Decide, DecideMany, Fields, Items, QuestionsOff, SnoozeItems, Typed, UndoDecisions, UndoOffer, item_field,
    item_of_field,
};
#[cfg(feature = "ssr")]
pub use api::{InboxBackend, TypedDecision, TypedSnooze};
#[cfg(feature = "ssr")]
pub use decided_filter::DecidedFilter;
#[cfg(feature = "ssr")]
pub use detail::{Detail, detail_fragment};
#[cfg(feature = "ssr")]
pub use draft::undone_form;
#[cfg(feature = "ssr")]
pub use error_control::place_of_error;
#[cfg(feature = "ssr")]
pub use hand_over::{HandOverProps, hand_over_page};
#[cfg(feature = "ssr")]
pub use item_text::{notification, summary};
#[cfg(feature = "ssr")]
pub use list::{ItemFilter, List};
#[cfg(feature = "ssr")]
pub use list_content::list_fragment;
#[cfg(feature = "ssr")]
pub use page::{Props, page};
#[cfg(feature = "ssr")]
pub use parts::{VALUE, edited_parts};
#[cfg(feature = "ssr")]
pub use patches::{DecidedPatch, PATCH, PATCH_BATCH, PatchItem, PatchRefusal, PatchesProps, patch_form, patches_page};
#[cfg(feature = "ssr")]
pub use selection::{CONFIRMED, ONE_PRESS_MAX, selection_fragment};
#[cfg(feature = "ssr")]
pub use undo_offer::undo_offer;
