//! The fields that choose how fast sessions are run again.

use crate::{
    FormState,
    ui::field::{Field, Select},
};
use leptos::prelude::*;

/// Numbers of sessions at a time that the form offers.
const AT_A_TIME: [u32; 3] = [1, 5, 20];

/// The choices that a form offers.
#[derive(Debug, Clone, Default)]
pub struct PaceChoice {
    /// Times from which sessions can be started: the value of the option and its label.
    pub starts: Vec<(String, String)>,
    /// Key that makes the form start one paced run, however often it is sent.
    pub key: String,
}

/// The fields. Without a choice, all sessions are started at once.
pub(crate) fn pace_fields(choice: &PaceChoice) -> impl IntoView + use<> {
    let form = FormState::default();
    let mut numbers = vec![(String::new(), "All at once".to_owned())];
    numbers.extend(AT_A_TIME.map(|number| (number.to_string(), format!("{number} at a time"))));
    let mut starts = vec![(String::new(), "Now".to_owned())];
    starts.extend(choice.starts.clone());
    view! {
        <input type="hidden" name="idempotencyKey" value=choice.key.clone()/>
        <div class="cause-again">
            <Select scope="pace" field=Field::new("atATime", "How many") options=numbers form=&form/>
            <Select scope="pace" field=Field::new("startAt", "From when") options=starts form=&form/>
        </div>
    }
}
