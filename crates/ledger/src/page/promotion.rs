//! The promotion of a response for the page of its session: its entity, and the types and tasks that can make one.

use crate::{Result, gate, response::promotion::waits};
use domain::{
    Scope, Timestamp,
    id::{ActionId, EntityId, EntityTypeId, GateId, SessionId},
    role::Permission,
    session::{Session, Type},
};
use store::{Conn, ResponseState};

/// Number of entity types, and number of tasks, that the form offers. The API takes the others.
const OFFERED_MAX: u32 = 200;

/// The promotion of a response: its entity, or how the reader can make one. Empty for other sessions.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PromotionState {
    /// The entity that was made from it, with its title.
    pub entity: Option<(EntityId, String)>,
    /// The session of a task that waits for approval before it makes the entity, and the gate at which it waits.
    pub waits: Option<(SessionId, Option<GateId>)>,
    /// How the reader can make an entity of it. `None` if nothing is offered, or if the reader may not do so.
    pub offer: Option<PromotionOffer>,
}

/// Entity types and tasks with which a reader can make an entity of a response.
#[derive(Debug, PartialEq, Eq)]
pub struct PromotionOffer {
    /// Entity types with their names, newest first.
    pub types: Vec<(EntityTypeId, String)>,
    /// Active tasks whose output is one entity, with their names, newest first. Empty if the reader may not start
    /// sessions.
    pub tasks: Vec<(ActionId, String)>,
    /// Whether there are more types or tasks.
    pub has_more: bool,
    /// Whether the response is private to one person, as those of incognito sessions are. An entity is not.
    pub is_private: bool,
}

/// Reads the promotion of a response. Entity types and tasks are read only if `offers`, and if the reader can promote
/// the response.
pub(super) async fn promotion(
    conn: &mut Conn<'_>,
    scope: &Scope,
    session: &Session,
    (now, offers): (Timestamp, bool),
) -> Result<PromotionState> {
    let tenant_id = session.tenant_id;
    let mut state = PromotionState::default();
    if session.session_type != Type::Response {
        return Ok(state);
    }
    let Some(response) = store::response::find(conn, tenant_id, session.id).await? else { return Ok(state) };
    if let Some(promotion) = &response.promotion {
        let entity = store::entity::find(conn, tenant_id, promotion.entity_id).await?;
        state.entity = entity.map(|entity| (entity.id, entity.title));
    } else if waits(conn, tenant_id, &response).await? {
        let gates = gate::of_sessions_on(conn, scope, response.promotion_session_id.as_slice(), now).await?;
        state.waits = response.promotion_session_id.map(|id| (id, gates.first().map(|item| item.gate.id)));
    } else if offers && response.state == ResponseState::Submitted && scope.may(Permission::WriteEntities) {
        state.offer = offer(conn, scope, session.private_to.is_some()).await?;
    }
    Ok(state)
}

async fn offer(conn: &mut Conn<'_>, scope: &Scope, is_private: bool) -> Result<Option<PromotionOffer>> {
    let types = store::entity_type::list(conn, scope.tenant_id, None, OFFERED_MAX).await?;
    let mut offer = PromotionOffer {
        types: types.items.into_iter().map(|of| (of.id, of.name)).collect(),
        tasks: Vec::new(),
        has_more: types.has_more,
        is_private,
    };
    if scope.may(Permission::StartSession) {
        let tasks = store::action::of_one_entity(conn, scope.tenant_id, OFFERED_MAX).await?;
        offer.tasks = tasks.items.into_iter().map(|task| (task.id, task.name)).collect();
        offer.has_more |= tasks.has_more;
    }
    Ok((!offer.types.is_empty() || !offer.tasks.is_empty()).then_some(offer))
}
