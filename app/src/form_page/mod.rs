//! Forms that people answer: a light page without the shell, without islands and without a stream. It works without
//! scripts; a small script saves drafts and hides questions that do not apply.

mod control;
mod document;
mod page;
mod words;

pub use document::Frame;
pub use page::{
    Asker, ClosedProps, DoneProps, LeadProps, Link, Props, SignedOutProps, TabProps, closed_page, done_page, lead_page,
    page, signed_out_page, tab_page, wait_page,
};
pub use words::{Note, control_id};

use crate::render::static_html;
use domain::{
    issue::Issue,
    view::{Answers, Field},
};
use leptos::tachys::html::InertElement;
use std::collections::BTreeMap;

/// Entities that can be chosen, `(id, title)`, by the key of the field.
pub type EntityOptions = BTreeMap<String, Vec<(String, String)>>;

/// Renders the questions of a form, without the form around them. The names of the controls begin with `prefix`;
/// `issues` are named by the key of the field.
pub fn questions(
    prefix: &str,
    fields: &[Field],
    answers: &Answers,
    issues: &[Issue],
    entities: &EntityOptions,
) -> InertElement {
    let shown = fields.iter().filter(|field| !field.hidden);
    let all: Vec<_> = shown.map(|field| control::question(prefix, field, fields, answers, issues, entities)).collect();
    static_html(all)
}
