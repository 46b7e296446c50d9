//! The page of one session: header, timeline and transcript.

mod api;
#[cfg(all(test, feature = "ssr"))]
mod coding_agent_tests;
mod island;
mod rating;
#[cfg(feature = "hydrate")]
mod tail;
#[cfg(feature = "hydrate")]
mod tail_state;
mod transcript;
#[cfg(feature = "hydrate")]
mod transcript_rows;

#[cfg(feature = "ssr")]
mod continuation;
#[cfg(feature = "ssr")]
mod decision;
#[cfg(feature = "ssr")]
mod describe;
#[cfg(feature = "ssr")]
mod failure;
#[cfg(feature = "ssr")]
mod find;
#[cfg(feature = "hydrate")]
mod find_keys;
#[cfg(all(test, feature = "ssr"))]
pub mod fixture;
#[cfg(feature = "ssr")]
mod forget;
#[cfg(feature = "ssr")]
mod group;
#[cfg(feature = "ssr")]
mod label;
#[cfg(feature = "ssr")]
mod mark;
#[cfg(feature = "ssr")]
mod opening;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod part;
#[cfg(feature = "ssr")]
mod promotion;
#[cfg(feature = "ssr")]
mod rate_memory;
#[cfg(feature = "ssr")]
mod row;
#[cfg(feature = "ssr")]
mod rows;
#[cfg(feature = "ssr")]
mod shared;
#[cfg(feature = "ssr")]
mod sidebar;
#[cfg(feature = "ssr")]
mod step;
#[cfg(feature = "ssr")]
mod summary;
#[cfg(feature = "ssr")]
mod timeline;
#[cfg(feature = "ssr")]
mod timeline_bar;
#[cfg(feature = "ssr")]
mod title;
#[cfg(feature = "ssr")]
mod tool;
#[cfg(feature = "ssr")]
mod turn_href;
#[cfg(feature = "ssr")]
mod usage;
#[cfg(feature = "ssr")]
mod value_text;
#[cfg(feature = "ssr")]
mod view_model;

#[cfg(feature = "ssr")]
pub use crate::result::picture_named;
#[cfg(feature = "ssr")]
pub use api::SessionBackend;
pub use api::{
    AcknowledgeFailure, CancelSession, DismissRating, PromoteResponse, RateSession, RetrySession, UndoRating,
    acknowledge_failure, cancel_session, dismiss_rating, promote_response, rate_session, retry_session, undo_rating,
};
#[cfg(feature = "ssr")]
pub use continuation::{MESSAGE_FORM, Offer, RESULTS_FORM, WaitingCall, name as result_field};
#[cfg(feature = "ssr")]
pub(crate) use decision::verdict_word;
#[cfg(feature = "ssr")]
pub(crate) use describe::kind_words;
#[cfg(feature = "ssr")]
pub use describe::{one_line, texts_of};
#[cfg(feature = "ssr")]
pub use failure::acknowledge;
#[cfg(feature = "ssr")]
pub use find::{Find, Place};
#[cfg(feature = "ssr")]
pub use forget::{ForgetProps, forget_page};
#[cfg(feature = "ssr")]
pub use group::types_of_groups;
pub use island::LiveTranscript;
#[cfg(feature = "ssr")]
pub use label::{LabelProps, SHOWN_ASSIGNEE, SHOWN_TAGS, label_page};
#[cfg(feature = "ssr")]
pub use page::{OpensAt, Props, moving_fragment, page};
#[cfg(feature = "ssr")]
pub use promotion::PromotionOffer;
#[cfg(feature = "ssr")]
pub(crate) use rate_memory::write_memory_forms;
pub use rating::{Rating, RatingPanel, RatingState};
#[cfg(feature = "ssr")]
pub use rows::{rateable_rows, rows_fragment};
#[cfg(feature = "ssr")]
pub(crate) use shared::{shared_input, shared_rows, shared_value};
#[cfg(feature = "ssr")]
pub use summary::{RunOutput, Summary, retry_fields};
#[cfg(feature = "ssr")]
pub(crate) use title::duration_ms;
#[cfg(feature = "ssr")]
pub use title::row_title;
#[cfg(feature = "ssr")]
pub(crate) use turn_href::turn_href;
#[cfg(feature = "ssr")]
pub(crate) use usage::{cost, tokens};
#[cfg(feature = "ssr")]
pub use value_text::Titles;
#[cfg(feature = "ssr")]
pub(crate) use value_text::named;
