//! Installs a group of a bundle.

use super::{Context, member};
use crate::{GroupRecord, Result, audit::Act, group, guard::Fields};
use domain::{
    audit::{Kind, TargetKind},
    bundle::{BundledGroup, Comparison, PlannedItem, PlannedKind},
    id::{GroupId, UserId},
};
use serde_json::Value;
use store::WriteTx;

pub(super) async fn install(tx: &mut WriteTx<'_>, context: &mut Context, wanted: &BundledGroup) -> Result<PlannedItem> {
    let tenant_id = context.tenant_id;
    let before = match store::group::find_by_slug(tx.conn(), tenant_id, &wanted.slug).await? {
        Some(found) => store::group::find_locked(tx, tenant_id, found.id).await?,
        None => None,
    };
    let members = members(tx, context, wanted).await?;
    let mut comparison = Comparison::new(before.is_some());
    let was = |value: Option<Value>| value.unwrap_or_default();
    comparison.field("name", was(before.as_ref().map(|b| b.name.as_str().into())), wanted.name.as_str().into());
    if let Some(members) = &members {
        let emails = |people: &[(UserId, String)]| Value::from_iter(people.iter().map(|(_, email)| email.as_str()));
        comparison.field("members", was(before.as_ref().map(|b| emails(&b.members))), emails(members));
    }
    if comparison.differs() {
        write(tx, context, wanted, before, members).await?;
    }
    Ok(comparison.into_item(PlannedKind::Group, &wanted.slug))
}

/// Returns the members that the bundle lists, without duplicates and sorted by address, as groups list them.
/// `None` if the bundle does not mention members.
async fn members(
    tx: &mut WriteTx<'_>,
    context: &Context,
    wanted: &BundledGroup,
) -> Result<Option<Vec<(UserId, String)>>> {
    let Some(emails) = &wanted.members else { return Ok(None) };
    let (mut people, mut fields) = (Vec::new(), Fields::default());
    for (index, email) in emails.iter().enumerate() {
        match member(tx.conn(), context.tenant_id, email).await? {
            Some(id) => people.push((id, email.trim().to_lowercase())),
            None => fields.refuse(&format!("members[{index}]"), format!("no one in this workspace is `{email}`")),
        }
    }
    fields.check()?;
    people.sort_by(|a, b| a.1.cmp(&b.1));
    people.dedup();
    Ok(Some(people))
}

async fn write(
    tx: &mut WriteTx<'_>,
    context: &mut Context,
    wanted: &BundledGroup,
    before: Option<GroupRecord>,
    members: Option<Vec<(UserId, String)>>,
) -> Result<()> {
    let (tenant_id, now) = (context.tenant_id, context.now);
    let exists = before.is_some();
    let record = GroupRecord {
        name: wanted.name.clone(),
        updated_at: now,
        ..before.unwrap_or_else(|| GroupRecord {
            id: GroupId(context.new_id()),
            slug: wanted.slug.clone(),
            name: String::new(),
            members: Vec::new(),
            created_by: context.actor.clone(),
            created_at: now,
            updated_at: now,
        })
    };
    group::check(&record)?;
    if exists {
        store::group::update(tx, tenant_id, &record).await?;
    } else {
        group::insert(tx, tenant_id, &record).await?;
    }
    let kind = if exists { Kind::GroupChanged } else { Kind::GroupCreated };
    let act = Act::new(kind, context.scope.caller, now).on(TargetKind::Group, record.id.0);
    let act = if let Some(members) = members {
        let ids = |people: &[(UserId, String)]| people.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let (is, will_be) = (ids(&record.members), ids(&members));
        let gone: Vec<_> = is.iter().copied().filter(|id| !will_be.contains(id)).collect();
        group::move_members(tx, tenant_id, &record, (&will_be, &gone), (&context.actor, now)).await?;
        let new: Vec<_> = will_be.into_iter().filter(|id| !is.contains(id)).collect();
        act.with_moves(&new, &gone)
    } else {
        act
    };
    context.acts.push(act);
    Ok(())
}
