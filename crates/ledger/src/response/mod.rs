//! Responses: the answers of one respondent to one view. A response is a session of type `response`: a draft from the
//! first change, running once something is answered, completed when it is submitted.

mod columns;
mod download;
mod get;
mod leads;
mod list;
mod notify;
mod of_request;
mod open;
mod promote;
mod promoted_entity;
pub(crate) mod promotion;
mod read;
mod respondent;
mod save;
mod submit;
mod sweep;

pub(crate) use open::{ViewVersions, is_cancelled, published, view_versions};

pub use columns::columns;
pub use download::record_download;
pub use get::get;
pub use leads::{Lead, Leads, hide_lead, leads};
pub use list::{ListResponses, list};
pub use promote::promote;
pub use promoted_entity::{Promote, PromoteTo};
pub use read::{Form, read, version};
pub use respondent::Respondent;
pub use save::{DraftSave, save_draft};
pub use submit::{Submission, Submitted, submit};
pub use sweep::sweep;
