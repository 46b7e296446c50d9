//! Views, responses to them, links to them, failures of sessions and webhooks.

use super::pool::{Pool, pool, received};
use crate::wire_map;
use domain::{
    criteria_set::{BlockReason, SafetyGate},
    failure::remediation,
    id::{
        ActionId, EntityId, EventId, FeedbackRequestId, MessageId, SessionId, ShareLinkId, TenantId, ToolId,
        ToolLinkId, ViewId, ViewLinkId, WebhookId,
    },
    notification::{DeliveryMethod, Topic},
    respondent::RespondentKind,
    response::{DraftEvents, ResponseStatus},
    session::Status,
    share_link::Audience,
    view::State,
};
use ledger::{
    FailureRecord, MessageRecord, Promotion, ResponseRecord, ResponseState, ShareLinkRecord, ToolLinkRecord,
    ViewLinkRecord, ViewRecord, ViewVersionRecord, WebhookRecord,
    response::{Lead, Leads},
};
use proptest::prelude::*;
use wire::{
    failure::Failure,
    response::{Response, ViewLink},
    share_link::ShareLink,
    tool_link::ToolLink,
    view::{View, ViewVersion},
    webhook::{Delivery, DeliveryState, Webhook},
};

fn view_record(pool: &mut Pool) -> ViewRecord {
    ViewRecord {
        id: ViewId(pool.id()),
        slug: pool.text(),
        title: pool.text(),
        introduction: pool.text(),
        fields: pool.two(Pool::field),
        publication: pool.publication(),
        state: pool.one_of(&State::ALL),
        version: pool.maybe(Pool::number),
        revision: pool.number() % 2,
        published_revision: pool.maybe(|pool| pool.number() % 2),
        listed: pool.flag(),
        created_by: pool.text(),
        updated_by: pool.text(),
        created_at: pool.time(),
        updated_at: pool.time(),
    }
}

fn response_record(pool: &mut Pool) -> ResponseRecord {
    let scores = [
        SafetyGate::Passed { score: pool.maybe(Pool::fraction), flags: pool.two(Pool::text) },
        SafetyGate::Blocked {
            dimension: pool.text(),
            option: pool.maybe(Pool::text),
            reason: pool.one_of(&[BlockReason::HardBlock, BlockReason::Missing, BlockReason::Unknown]),
        },
    ];
    ResponseRecord {
        session_id: SessionId(pool.id()),
        view_id: ViewId(pool.id()),
        version: pool.number(),
        request_id: pool.maybe(Pool::id),
        link_id: pool.maybe(|pool| ViewLinkId(pool.id())),
        respondent_kind: pool.one_of(&RespondentKind::OF_FORMS),
        respondent: pool.id(),
        lead_entity_id: pool.maybe(|pool| EntityId(pool.id())),
        state: pool.one_of(&[ResponseState::Draft, ResponseState::Submitted, ResponseState::Abandoned]),
        rev: pool.number(),
        answers: pool.object(),
        submission_id: pool.maybe(Pool::text),
        once: pool.flag(),
        late: pool.flag(),
        draft_events: DraftEvents { count: pool.small(), last_at: pool.maybe(Pool::time) },
        created_at: pool.time(),
        saved_at: pool.time(),
        submitted_at: pool.maybe(Pool::time),
        promotion: pool.maybe(|pool| Promotion { entity_id: EntityId(pool.id()), by: pool.text(), at: pool.time() }),
        scores: scores.into_iter().map(|score| (pool.text(), score)).collect(),
        promotion_session_id: pool.maybe(|pool| SessionId(pool.id())),
    }
}

fn message_record(pool: &mut Pool) -> MessageRecord {
    MessageRecord {
        tenant_id: TenantId(pool.id()),
        id: MessageId(pool.id()),
        method: DeliveryMethod::Webhook,
        target_id: pool.id(),
        topic: pool.one_of(&Topic::ALL),
        payload: pool.text(),
        created_at: pool.time(),
        due_at: pool.time(),
        attempts: pool.small(),
        last_error: pool.maybe(Pool::text),
        delivered_at: pool.maybe(Pool::time),
        dead_at: pool.maybe(Pool::time),
    }
}

proptest! {
    #[test]
    fn a_view_says_what_its_record_holds(mut pool in pool()) {
        let record = view_record(&mut pool);
        let View {
            id, slug, title, introduction, fields, publish_config: publication, state, version, revision, changed,
            created_by, updated_by, created_at, updated_at,
        } = received(&wire_map::view(record.clone()));
        prop_assert_eq!(changed, record.is_changed());
        let read = ViewRecord {
            id, slug, title, introduction, fields, publication, state, version, revision, created_by, updated_by,
            created_at, updated_at,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_version_of_a_view_says_what_its_record_holds(mut pool in pool()) {
        let record = ViewVersionRecord {
            view_id: ViewId(pool.id()),
            version: pool.number(),
            title: pool.text(),
            introduction: pool.text(),
            fields: pool.two(Pool::field),
            publication: pool.publication(),
            published_by: pool.text(),
            published_at: pool.time(),
        };
        let ViewVersion { view_id, version, title, introduction, fields, publish_config, published_by, published_at } =
            received(&wire_map::view_version(record.clone()));
        let publication = publish_config;
        let read = ViewVersionRecord {
            view_id, version, title, introduction, fields, publication, published_by, published_at,
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_response_says_what_its_record_holds(mut pool in pool()) {
        let record = response_record(&mut pool);
        let known = Lead { name: pool.text(), email: pool.maybe(Pool::text) };
        let leads: Leads = record.lead_entity_id.into_iter().map(|id| (id, known.clone())).collect();
        let Response {
            id: session_id, view_id, version, request_id, status, respondent_kind, respondent_id: respondent,
            lead_entity_id, rev, answers, late, created_at, saved_at, submitted_at, lead, scores, promoted_entity_id,
            promotion_session_id,
        } = received(&wire_map::response_with(record.clone(), &leads));
        let lead = lead.map(|lead| (lead.name, lead.email));
        prop_assert_eq!(lead, record.lead_entity_id.map(|_| (known.name, known.email)));
        prop_assert_eq!(promoted_entity_id, record.promotion.as_ref().map(|promotion| promotion.entity_id));
        let state = match status {
            ResponseStatus::Draft => ResponseState::Draft,
            ResponseStatus::Submitted | ResponseStatus::Promoted => ResponseState::Submitted,
            ResponseStatus::Abandoned => ResponseState::Abandoned,
        };
        let is_promoted = state == ResponseState::Submitted && promoted_entity_id.is_some();
        prop_assert_eq!(status == ResponseStatus::Promoted, is_promoted);
        let request_id = request_id.map(|FeedbackRequestId(id)| id);
        let read = ResponseRecord {
            session_id, view_id, version, request_id, respondent_kind, respondent, lead_entity_id, state, rev, answers,
            late, created_at, saved_at, submitted_at, scores, promotion_session_id,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_link_to_a_form_says_what_its_record_holds(mut pool in pool()) {
        let record = ViewLinkRecord {
            tenant_id: TenantId(pool.id()),
            id: ViewLinkId(pool.id()),
            view_id: ViewId(pool.id()),
            request_id: pool.maybe(Pool::id),
            hint: pool.text(),
            created_by: pool.text(),
            created_at: pool.time(),
            expires_at: pool.time(),
            revoked_at: pool.maybe(Pool::time),
            uses: pool.number(),
            note: pool.text(),
            last_used_at: pool.maybe(Pool::time),
        };
        let ViewLink {
            id, view_id, hint, created_by, created_at, expires_at, uses, note, last_used_at, revoked_at,
        } = received(&wire_map::view_link(record.clone()));
        let read = ViewLinkRecord {
            id, view_id, hint, created_by, created_at, expires_at, uses, note, last_used_at, revoked_at,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_link_to_a_session_says_what_its_record_holds(mut pool in pool()) {
        let record = ShareLinkRecord {
            tenant_id: TenantId(pool.id()),
            id: ShareLinkId(pool.id()),
            session_id: SessionId(pool.id()),
            audience: pool.one_of(&Audience::ALL),
            hint: pool.text(),
            created_by: pool.text(),
            created_at: pool.time(),
            expires_at: pool.time(),
            revoked_at: pool.maybe(Pool::time),
            uses: pool.number(),
            last_used_at: pool.maybe(Pool::time),
        };
        let ShareLink {
            id, session_id, audience, hint, created_by, created_at, expires_at, uses, last_used_at, revoked_at,
        } = received(&wire_map::share_link(record.clone()));
        let read = ShareLinkRecord {
            id, session_id, audience, hint, created_by, created_at, expires_at, uses, last_used_at, revoked_at,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_link_to_a_tool_says_what_its_record_holds(mut pool in pool()) {
        let record = ToolLinkRecord {
            tenant_id: TenantId(pool.id()),
            id: ToolLinkId(pool.id()),
            tool_id: ToolId(pool.id()),
            hint: pool.text(),
            created_by: pool.text(),
            created_at: pool.time(),
            expires_at: pool.time(),
            revoked_at: pool.maybe(Pool::time),
            uses: pool.number(),
            last_used_at: pool.maybe(Pool::time),
            runs: pool.number(),
        };
        let ToolLink {
            id, tool_id, hint, created_by, created_at, expires_at, uses, last_used_at, runs, revoked_at,
        } = received(&wire_map::tool_link(record.clone()));
        let read = ToolLinkRecord {
            id, tool_id, hint, created_by, created_at, expires_at, uses, last_used_at, runs, revoked_at,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn the_failure_of_a_session_says_what_its_record_holds(mut pool in pool()) {
        let code = pool.text();
        let record = FailureRecord {
            id: EventId(pool.id()),
            session_id: SessionId(pool.id()),
            title: pool.text(),
            status: pool.one_of(&Status::ALL),
            agent_slug: pool.maybe(Pool::text),
            action_id: pool.maybe(|pool| ActionId(pool.id())),
            remediation: remediation(&code),
            code,
            message: pool.text(),
            at: pool.time(),
            acknowledged_by: pool.maybe(Pool::text),
            acknowledged_at: pool.maybe(Pool::time),
        };
        let Failure {
            session_id, title, status, agent_slug, action_id, code, message, remediation, at, acknowledged_by,
            acknowledged_at,
        } = received(&wire_map::session_failure(record.clone()));
        prop_assert_eq!(remediation, record.remediation);
        let read = FailureRecord {
            session_id, title, status, agent_slug, action_id, code, message, at, acknowledged_by, acknowledged_at,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_webhook_says_what_its_record_holds(mut pool in pool()) {
        let record = WebhookRecord {
            id: WebhookId(pool.id()),
            url: pool.text(),
            topics: pool.two(|pool| pool.one_of(&Topic::ALL)),
            created_by: pool.text(),
            created_at: pool.time(),
            disabled_at: pool.maybe(Pool::time),
            disabled_reason: pool.maybe(Pool::text),
        };
        let Webhook { id, url, events: topics, created_by, created_at, disabled_at, disabled_reason } =
            received(&wire_map::webhook(record.clone()));
        let read = WebhookRecord { id, url, topics, created_by, created_at, disabled_at, disabled_reason };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_message_to_a_webhook_says_what_its_record_holds(mut pool in pool()) {
        let record = message_record(&mut pool);
        let Delivery { id, event: topic, state, attempts, last_error, created_at, due_at, ended_at } =
            received(&wire_map::delivery(record.clone()));
        let (delivered_at, dead_at, waits) = match state {
            DeliveryState::Delivered => (ended_at, record.dead_at, false),
            DeliveryState::Dead => (None, ended_at, false),
            DeliveryState::Waiting => (None, None, true),
        };
        prop_assert_eq!(due_at, waits.then_some(record.due_at));
        let read = MessageRecord {
            id, topic, attempts, last_error, created_at, delivered_at, dead_at,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }
}
