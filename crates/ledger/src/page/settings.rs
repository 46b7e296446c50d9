//! The page /settings: the caller's account, members, groups, tokens, webhooks, approvals and notifications.

use crate::{
    AccessLinkRecord, GroupRecord, Ledger, MemberRecord, MessageRecord, Result, SignInRecord, TokenRecord,
    WebhookRecord, auth,
    guard::require,
    telemetry::{TelemetryState, state_on},
    token,
};
use domain::{Scope, Timestamp, id::TenantId, limit::GROUPS_MAX, role::Permission};
use std::collections::HashMap;
use store::Conn;

/// Number of messages shown of one webhook.
const DELIVERIES: u32 = 8;

/// A webhook with its newest messages.
#[derive(Debug)]
pub struct Webhook {
    /// Address, topics and state of the webhook.
    pub webhook: WebhookRecord,
    /// The messages, newest first.
    pub deliveries: Vec<MessageRecord>,
}

/// What only admins see.
#[derive(Debug)]
pub struct Administered {
    /// Invitations that are still valid, newest first.
    pub invitations: Vec<AccessLinkRecord>,
    /// Webhooks, oldest first.
    pub webhooks: Vec<Webhook>,
}

/// Settings that only people have. Tokens have none of them.
#[derive(Debug)]
pub struct PersonalSettings {
    /// The caller's sign-ins to all workspaces, last used first.
    pub sign_ins: Vec<SignInRecord>,
    /// Tokens, newest first: all for admins, otherwise the caller's own.
    pub tokens: Vec<TokenRecord>,
    /// Whether the caller wants e-mails from this workspace.
    pub wants_email: bool,
}

/// The settings of the workspace, and what the caller may see besides.
#[derive(Debug)]
pub struct Page {
    /// All present and former members, ordered by address.
    pub members: Vec<MemberRecord>,
    /// Groups, ordered by name.
    pub groups: Vec<GroupRecord>,
    /// Time in which a decision can be undone, in seconds.
    pub undo_seconds: u32,
    /// Whether numbers are shared for training.
    pub telemetry: TelemetryState,
    /// `None` unless the caller is an admin.
    pub administered: Option<Administered>,
    /// `None` for a token.
    pub own: Option<PersonalSettings>,
}

/// Reads the page. `secret` is the cookie of the present sign-in.
///
/// Sign-ins are read apart from the snapshot: they reach across workspaces, and the snapshot sees only the caller's.
pub async fn read(ledger: &Ledger, scope: &Scope, secret: &str) -> Result<Page> {
    require(scope, Permission::Read)?;
    let person = match scope.user_id() {
        Some(user_id) => Some((user_id, token::whose(scope)?, auth::list_sign_ins(ledger, scope, secret).await?)),
        None => None,
    };
    let may_share = ledger.relevance().telemetry;
    let (tenant_id, administers, now) = (scope.tenant_id, scope.may(Permission::Administer), ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        Ok(Page {
            members: store::user::members(conn, tenant_id).await?,
            groups: store::group::list(conn, tenant_id, GROUPS_MAX).await?,
            undo_seconds: store::tenant::undo_seconds(conn, tenant_id).await?,
            telemetry: state_on(conn, tenant_id, now, may_share).await?,
            administered: match administers {
                true => Some(administered(conn, tenant_id, now).await?),
                false => None,
            },
            own: match person {
                Some((user_id, whose, sign_ins)) => Some(PersonalSettings {
                    sign_ins,
                    tokens: store::token::list(conn, tenant_id, whose).await?,
                    wants_email: store::user::wants_email(conn, tenant_id, user_id).await?,
                }),
                None => None,
            },
        })
    });
    read.await
}

async fn administered(conn: &mut Conn<'_>, tenant_id: TenantId, now: Timestamp) -> Result<Administered> {
    let mut messages: HashMap<_, Vec<_>> = HashMap::new();
    for message in store::outbox::of_webhooks(conn, tenant_id, DELIVERIES).await? {
        messages.entry(message.target_id).or_default().push(message);
    }
    let listed = store::webhook::list(conn, tenant_id).await?.into_iter();
    let webhooks = listed.map(|webhook| {
        let deliveries = messages.remove(&webhook.id.0).unwrap_or_default();
        Webhook { webhook, deliveries }
    });
    let webhooks = webhooks.collect();
    let invitations = auth::open_invitations(conn, tenant_id, now).await?;
    Ok(Administered { invitations, webhooks })
}
