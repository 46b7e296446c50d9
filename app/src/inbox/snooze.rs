//! Until when items are snoozed: the choices of a form, in the reader's time zone.

use crate::{
    FormState,
    ui::{
        button::Button,
        field::{Field, Input},
    },
};
use leptos::prelude::*;

/// Choices that a button makes, `(value, label)`.
const CHOICES: [(&str, &str); 3] =
    [("later", "In 3 hours"), ("tomorrow", "Tomorrow, 9:00"), ("monday", "Monday, 9:00")];

/// The fields of a form that snoozes items: a button for each choice, and a date and time. `formaction` is where the
/// buttons post to, if it is not the form's own action.
pub fn snooze_fields(
    timezone: &str,
    expires: bool,
    form: &FormState,
    formaction: Option<&str>,
) -> impl IntoView + use<> {
    let formaction = formaction.map(str::to_owned);
    let buttons = CHOICES.map(|(value, label)| {
        let formaction = formaction.clone();
        view! { <li><Button name="until" value=value attr:formaction=formaction>{label}</Button></li> }
    });
    let zone = if timezone.is_empty() { "UTC" } else { timezone };
    let expiry = if expires { " What expires before then returns an hour before it expires." } else { "" };
    let hint = format!("Times are in {zone}.{expiry}");
    let field = Field::new("at", "Date and time").hint(&hint);
    view! {
        <input type="hidden" name="timezone" value=zone.to_owned()/>
        <ul class="menu">{buttons.into_iter().collect::<Vec<_>>()}</ul>
        <Input scope="snooze" field=field kind="datetime-local" form=form/>
        <Button name="until" value="at" attr:formaction=formaction>"Until then"</Button>
    }
}
