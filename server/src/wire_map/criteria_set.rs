//! Converts criteria sets and groups.

use domain::id::UserId;
use ledger::{CriteriaSetRecord, GroupRecord, criteria_set, group};
use wire::{criteria_set as wired, group as wired_group};

/// Converts a criteria set to its JSON type.
pub fn criteria_set(record: CriteriaSetRecord) -> wired::CriteriaSet {
    wired::CriteriaSet {
        id: record.id,
        slug: record.slug,
        name: record.name,
        description: record.description,
        dimensions: record.dimensions,
        version: record.version,
        newest_version: record.newest_version,
        created_by: record.created_by,
        updated_by: record.updated_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Converts the body of a request that creates a criteria set.
pub fn new_criteria_set(body: wired::CreateCriteriaSet) -> criteria_set::NewCriteriaSet {
    let wired::CreateCriteriaSet { name, slug, description, dimensions } = body;
    criteria_set::NewCriteriaSet { name, slug, description, dimensions }
}

/// Converts the body of a request that changes a criteria set.
pub fn criteria_set_change(body: wired::UpdateCriteriaSet) -> criteria_set::CriteriaSetChange {
    let wired::UpdateCriteriaSet { version, name, description, dimensions } = body;
    criteria_set::CriteriaSetChange { version, name, description, dimensions }
}

/// Converts a group to its JSON type, with the e-mail addresses of its members.
pub fn group(record: GroupRecord) -> wired_group::Group {
    let member = |(id, email): (UserId, String)| wired_group::GroupMember { id, email };
    wired_group::Group {
        id: record.id,
        slug: record.slug,
        name: record.name,
        members: record.members.into_iter().map(member).collect(),
        created_by: record.created_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Converts the body of a request that creates a group.
pub fn new_group(body: wired_group::CreateGroup) -> group::NewGroup {
    group::NewGroup { name: body.name, slug: body.slug, members: body.members }
}

/// Converts the body of a request that changes a group.
pub fn group_change(body: wired_group::UpdateGroup) -> group::GroupChange {
    group::GroupChange { name: body.name, add_members: body.add_members, remove_members: body.remove_members }
}
