//! `user.form_draft`: the answers of an unfinished response were saved.

use super::{form_answers::FormAnswers, payload::same_as};

same_as! {
    /// A saved draft.
    #[derive(Debug, Clone, PartialEq)]
    FormDraft(FormAnswers)
}
