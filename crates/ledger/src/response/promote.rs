//! Making an entity from a response.

use super::{
    promoted_entity::{Mapping, Promote, PromoteTo, values_of},
    promotion::{self, Ids},
};
use crate::{
    Error, Ledger, ResponseRecord, Result,
    entity::{self, NewEntity},
    guard::require,
    visibility::require_visible,
};
use domain::{
    Scope,
    criteria_set::evaluate_safety_gate,
    id::{EntityTypeId, SessionId},
    issue::Issue,
    role::Permission,
    view::{Answers, Field},
};
use serde_json::Value;
use store::{Promotion, ResponseState, WriteTx};

/// Makes an entity from a submitted response, in one transaction. The response names the entity, and a version of the
/// entity names the response's session, or the session of the task, which the response's session started. A repeat
/// returns what is recorded, also while the task waits for approval. A denied response can be promoted again.
///
/// # Errors
/// [`Error::NotFound`] if there is no such response, if the caller cannot see its session, or for an unknown type or
/// task; [`Error::HardBlock`] if a rating in the answers fails a safety dimension, or the task's safety rules block the
/// answers; [`Error::Invalid`] for a response that was not submitted, for a task that is archived or makes no single
/// entity, and for answers that the type or the task refuses.
pub async fn promote(ledger: &Ledger, scope: &Scope, id: SessionId, to: Promote) -> Result<ResponseRecord> {
    require(scope, Permission::WriteEntities)?;
    if matches!(to.to, PromoteTo::Action(_)) {
        require(scope, Permission::StartSession)?;
    }
    let (scope, ids) = (*scope, Ids::new(ledger));
    ledger
        .write((&scope).into(), async move |tx| {
            let tenant_id = scope.tenant_id;
            let found = store::response::find_locked(tx, tenant_id, id).await?;
            let response = found.ok_or(Error::NotFound("response"))?;
            let session = store::session::find(tx.conn(), tenant_id, id).await?;
            let session = require_visible(tx.conn(), &scope, session).await;
            let private_to = session.map_err(|_| Error::NotFound("response"))?.private_to;
            if response.promotion.is_some() || promotion::waits(tx.conn(), tenant_id, &response).await? {
                return Ok(response);
            }
            if response.state != ResponseState::Submitted {
                return Err(Error::invalid("id", "only a submitted response can become an entity"));
            }
            let version = store::view::version_of(tx.conn(), tenant_id, response.view_id, response.version).await?;
            let fields = version.map(|version| version.fields).unwrap_or_default();
            refuse_unsafe(&fields, &response.answers)?;
            match to.to {
                PromoteTo::Type(type_id) => {
                    make(tx, &scope, response, type_id, Mapping { to, questions: &fields }, ids).await
                }
                PromoteTo::Action(action_id) => {
                    let mapping = Mapping { to, questions: &fields };
                    promotion::begin(tx, &scope, (response, private_to), action_id, mapping, ids).await
                }
            }
        })
        .await
}

/// Makes an entity of a type at once.
async fn make(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    response: ResponseRecord,
    type_id: EntityTypeId,
    mapping: Mapping<'_>,
    ids: Ids,
) -> Result<ResponseRecord> {
    let (tenant_id, id, now) = (scope.tenant_id, response.session_id, ids.minter.at());
    let of_type = store::entity_type::find(tx.conn(), tenant_id, type_id).await?;
    let of_type = of_type.ok_or(Error::NotFound("entity type"))?;
    let (title, values) = values_of(&of_type, &response.answers, mapping)?;
    let title =
        title.ok_or_else(|| Error::invalid("title", "no answer has the key `title` or `name`; give a title"))?;
    let new = NewEntity { type_id, title, fields: values };
    let entity = entity::create_on(tx, scope, (ids.entity_id, now), new, Some(id)).await?;
    let promotion = Promotion { entity_id: entity.id, by: scope.caller.to_string(), at: now };
    store::response::promote(tx, tenant_id, id, &promotion).await?;
    Ok(ResponseRecord { promotion: Some(promotion), ..response })
}

/// Refuses answers with a rating that fails a safety dimension.
fn refuse_unsafe(fields: &[Field], answers: &Answers) -> Result<()> {
    for field in fields {
        let Some(dimensions) = field.kind.dimensions() else { continue };
        let Some(rating) = answers.get(&field.key).and_then(Value::as_object) else { continue };
        if let Some(message) = evaluate_safety_gate(rating, dimensions).refusal() {
            return Err(Error::HardBlock(Issue::new(field.key.as_str(), message)));
        }
    }
    Ok(())
}
