//! Forms that are made from a JSON Schema: the input of a tool or a task, and the answer to a question.
//!
//! They work without scripts. Buttons that change a form, such as those of rows, send it with the field [`STEP`], and
//! the page that answers shows the form again. [`domain::schema_form`] has what the controls are and what they hold.

mod draw;
mod sent;

pub use draw::{Drawn, Place, draw_fields, draw_member};
pub use sent::{STEP, sent_fields, shown_fields};
