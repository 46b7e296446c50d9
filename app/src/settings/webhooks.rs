//! Webhooks. Adding posts `url` and one field per event to /settings/webhooks; removing and testing post to
//! /settings/webhooks/{id}/delete and /settings/webhooks/{id}/test.

use crate::{
    FormState,
    text::number,
    ui::{
        button::{Button, CopyLine, Look},
        field::{Choice, Field, Input},
        notice::Refused,
        popover::Sheet,
        section::Section,
        table::{Column, Table},
        time::{due, moment},
    },
};
use domain::notification::Topic;
use leptos::prelude::*;
use wire::webhook::{Delivery, DeliveryState, Webhook};

/// Prefix of the form fields that select events.
pub const EVENT_FIELD: &str = "event:";

/// A webhook with its latest deliveries.
#[derive(Debug, Clone)]
pub struct WebhookEntry {
    /// The webhook without its secret.
    pub webhook: Webhook,
    /// Its deliveries, newest first.
    pub deliveries: Vec<Delivery>,
}

const fn event_words(topic: Topic) -> &'static str {
    match topic {
        Topic::ApprovalRequested => "Something needs approval",
        Topic::ApprovalReminder => "It still needs approval",
        Topic::ApprovalEscalated => "Other reviewers are asked",
        Topic::ApprovalDecided => "A decision was made",
        Topic::ApprovalUndone => "A decision was undone",
        Topic::SessionFailed => "A session failed",
        Topic::SessionEnded => "A session ended for any reason",
        Topic::SessionAssigned => "A session was assigned to someone",
        Topic::CauseOpened => "A new cause of failures appeared, or a resolved one came back",
        Topic::FormSubmitted => "A form with notifications was answered",
        Topic::RuleSuspended => "A rule was suspended",
        Topic::Test => "Test message",
    }
}

/// The list, the form, and the secret of a webhook that was just created.
pub fn webhooks_section(
    webhooks: Vec<WebhookEntry>,
    new_webhook: Option<String>,
    form: &FormState,
) -> impl IntoView + use<> {
    let none = webhooks.is_empty();
    let secret = new_webhook.map(|secret| {
        view! {
            <div class="secret" id="new-webhook" role="group" aria-labelledby="new-webhook-title" tabindex="-1">
                <p><strong id="new-webhook-title">"Copy the signing secret now. It is not shown again."</strong></p>
                <CopyLine text=secret what="the secret"/>
                <p class="meta">"The receiver uses it to verify messages, as the Standard Webhooks specification says."</p>
            </div>
        }
    });
    let events = Topic::SUBSCRIBABLE.map(|topic| {
        let name = format!("{EVENT_FIELD}{topic}");
        let checked = if form.is_refused() { form.value(&name).is_some() } else { topic == Topic::ApprovalRequested };
        view! {
            <Choice name=name value="yes" checked=checked>{event_words(topic)}" "<code>{topic.as_str()}</code></Choice>
        }
    });
    let entries = webhooks.into_iter().map(entry).collect::<Vec<_>>();
    view! {
        <Section name="webhooks" id="webhooks" title="Webhooks">
            {secret}
            {none.then(|| view! { <p class="meta">"There are no webhooks yet. A webhook tells another system what happens here."</p> })}
            {entries}
            <Sheet summary="New webhook" open=form.is_refused()>
                <form class="form" method="post" action="/settings/webhooks">
                    <Refused messages=form.general(&["url"])/>
                    <Input scope="webhook" field=Field::new("url", "URL").hint("Shiftbook posts signed JSON to this address. Addresses inside your network are refused.").required() kind="url" form=form/>
                    <fieldset>
                        <legend class="field-label">"Send a message when"</legend>
                        <div class="choices">{events.into_iter().collect::<Vec<_>>()}</div>
                    </fieldset>
                    <div class="form-actions"><Button look=Look::Primary>"Add webhook"</Button></div>
                </form>
            </Sheet>
        </Section>
    }
}

fn entry(WebhookEntry { webhook, deliveries }: WebhookEntry) -> impl IntoView + use<> {
    let Webhook { id, url, events, disabled_reason, .. } = webhook;
    let events: Vec<_> = events.into_iter().map(Topic::as_str).collect();
    let disabled = disabled_reason.is_some();
    let test = (!disabled).then(|| {
        view! { <form method="post" action=format!("/settings/webhooks/{id}/test")><Button small=true about=url.clone()>"Send a test"</Button></form> }
    });
    let rows = deliveries.into_iter().map(row).collect::<Vec<_>>();
    let listed = (!rows.is_empty()).then(|| {
        view! {
            <details>
                <summary>"Messages"</summary>
                <Table caption="Messages, newest first" columns=vec![Column::text("Event"), Column::text("When"), Column::text("State")]>{rows}</Table>
            </details>
        }
    });
    view! {
        <div class="sheet">
            <p><code>{url.clone()}</code></p>
            <p class="meta">{events.join(", ")}</p>
            {disabled_reason.map(|reason| view! { <Refused messages=vec![format!("Disabled: {reason}")]/> })}
            {listed}
            <div class="form-actions">
                {test}
                <form method="post" action=format!("/settings/webhooks/{id}/delete")><Button small=true about=url>"Remove"</Button></form>
            </div>
        </div>
    }
}

fn row(delivery: Delivery) -> impl IntoView + use<> {
    let tries = number::counted(delivery.attempts.into(), "try");
    let state = match (delivery.state, delivery.due_at.or(delivery.ended_at)) {
        (DeliveryState::Delivered, Some(at)) => view! { "delivered " {moment(at)} }.into_any(),
        (DeliveryState::Dead, Some(at)) => view! { "failed " {moment(at)} }.into_any(),
        (DeliveryState::Waiting, Some(at)) => view! { "next try " {due(at)} }.into_any(),
        (_, None) => ().into_any(),
    };
    view! {
        <tr>
            <td class="table-main"><code>{delivery.event.as_str()}</code></td>
            <td class="meta">{moment(delivery.created_at)}</td>
            <td class="meta">{state}", "{tries}{delivery.last_error.map(|error| format!(": {error}"))}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn delivery(state: DeliveryState) -> Delivery {
        let (created_at, later) = ("2026-11-21T07:00:00Z".parse().unwrap(), "2026-11-21T13:00:00Z".parse().unwrap());
        let waits = state == DeliveryState::Waiting;
        Delivery {
            id: "01935f00-0000-7000-8000-0000000000a1".parse().unwrap(),
            event: Topic::SessionFailed,
            state,
            attempts: 4,
            last_error: None,
            created_at,
            due_at: waits.then_some(later),
            ended_at: (!waits).then_some(later),
        }
    }

    #[test]
    fn the_next_try_is_a_time_to_come_and_an_ended_delivery_is_in_the_past() {
        let html = to_html(row(delivery(DeliveryState::Waiting)));
        let next = html.split("next try ").nth(1).unwrap_or_else(|| panic!("{html}"));
        assert!(next.contains("data-time=\"due\"") && next.contains("13:00 UTC"), "{html}");
        let html = to_html(row(delivery(DeliveryState::Delivered)));
        assert!(html.contains("delivered ") && !html.contains("data-time=\"due\""), "{html}");
    }
}
