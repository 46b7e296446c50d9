//! Responses: the answers of one respondent to one view. A response is a session of type `response`: a draft from the
//! first change, running once something is answered, completed when it is submitted.

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

pub(crate) use open::{ViewVersions, is_cancelled, published, view_versions};

pub use leads::{Lead, Leads, hide_lead, leads};
pub use list::{ListResponses, columns, get, list, record_download};
pub use promote::promote;
pub use promoted_entity::{Promote, PromoteTo};
pub use read::{Form, read, version};
pub use respondent::Respondent;
pub use save::{DraftSave, save_draft};
pub use submit::{Submission, Submitted, submit};

use crate::{
    Ledger, Result,
    left_open::{self, LeftOpen},
};
use chrono::TimeDelta;

/// Abandons drafts of forms that were not saved for `left_for`. Returns how many.
pub async fn sweep(ledger: &Ledger, left_for: TimeDelta) -> Result<u64> {
    left_open::sweep(ledger, LeftOpen::Response, left_for).await
}
