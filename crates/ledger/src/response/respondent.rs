//! Who answers a form.

use crate::{Error, Result, guard::require};
use domain::{
    Caller, Scope,
    id::{EntityId, RespondentId, TenantId, ViewId, ViewLinkId},
    response::RespondentKind,
    role::{Permission, Role},
};
use store::response::ResponseKey;
use uuid::Uuid;

/// The party that answers a form. Members have one by their scope, people without an account by the cookies of a link
/// ([`crate::view_link::respondent`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Respondent {
    scope: Scope,
    kind: RespondentKind,
    id: Uuid,
    link_id: Option<ViewLinkId>,
    lead_entity_id: Option<EntityId>,
}

impl Respondent {
    /// Returns the caller as a respondent: a person, or a program by its token.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for worker tokens and for agents of the server.
    pub fn member(scope: &Scope) -> Result<Self> {
        require(scope, Permission::Converse)?;
        let (kind, id) = match scope.caller {
            Caller::User(id) => (RespondentKind::User, id.0),
            Caller::Token(id) => (RespondentKind::Token, id.0),
            Caller::Agent(_) | Caller::Respondent(_) | Caller::Rule(_) | Caller::System => {
                return Err(Error::Forbidden("forms are answered by people and by their programs"));
            }
        };
        Ok(Self { scope: *scope, kind, id, link_id: None, lead_entity_id: None })
    }

    /// Returns the respondent of a browser that holds the cookies of a link. The role is the least one; no use case
    /// but those of this module gets the scope.
    pub(crate) fn stranger(tenant_id: TenantId, id: RespondentId, link_id: ViewLinkId, lead: Option<EntityId>) -> Self {
        let caller = Caller::Respondent(id);
        let scope = Scope { tenant_id, caller, role: Role::Member, token_scope: None, on_behalf_of: None };
        let kind = if lead.is_some() { RespondentKind::Lead } else { RespondentKind::Browser };
        Self { scope, kind, id: id.0, link_id: Some(link_id), lead_entity_id: lead }
    }

    /// The same respondent after giving a name and an e-mail address, to ask whether the form is open then.
    pub(super) const fn as_lead(self) -> Self {
        Self { kind: RespondentKind::Lead, ..self }
    }

    /// How the server knows the respondent.
    pub const fn kind(&self) -> RespondentKind {
        self.kind
    }

    /// The workspace of the form.
    pub const fn tenant_id(&self) -> TenantId {
        self.scope.tenant_id
    }

    /// The party that events name as their writer.
    pub(crate) const fn caller(&self) -> Caller {
        self.scope.caller
    }

    pub(super) const fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(super) const fn id(&self) -> Uuid {
        self.id
    }

    pub(super) const fn link_id(&self) -> Option<ViewLinkId> {
        self.link_id
    }

    pub(super) const fn lead_entity_id(&self) -> Option<EntityId> {
        self.lead_entity_id
    }

    /// Whether the respondent has no account.
    pub(super) const fn is_stranger(&self) -> bool {
        matches!(self.kind, RespondentKind::Browser | RespondentKind::Lead)
    }

    pub(super) const fn response_key(&self, view_id: ViewId, request_id: Option<Uuid>) -> ResponseKey {
        ResponseKey { tenant_id: self.scope.tenant_id, view_id, request_id, respondent: self.id }
    }
}
