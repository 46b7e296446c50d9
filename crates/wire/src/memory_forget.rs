//! Forgetting a person in the memories of all agents.

use domain::{
    id::{EntityId, SessionId},
    memory_forget::RemovalReason,
};
use serde::{Deserialize, Serialize};

/// `POST /api/memory/forget`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForgetPerson {
    /// Platform and id of the person, such as `discord-1234`, or the path of their document.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub person: String,
    /// Names that are looked for. Left out: the title and aliases of their documents, the names under which they wrote,
    /// and those of a member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::schema::Name>>, max_items = 50))]
    pub names: Option<Vec<String>>,
    /// Erase, instead of listing what would be erased.
    #[serde(default)]
    pub apply: bool,
}

/// What is erased, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ForgottenPerson {
    /// Whether it is erased.
    pub applied: bool,
    /// Path of the person's document.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// Names that are looked for.
    pub names: Vec<String>,
    /// Names that are too short to be looked for.
    pub short_names: Vec<String>,
    /// Documents that are erased or lose lines.
    pub documents: Vec<ForgottenDocument>,
    /// Proposals whose texts are erased, decided or not.
    pub proposals: Vec<ForgottenProposal>,
    /// Number of denied lines that are deleted.
    pub denials: u64,
    /// Leads who gave one of the names, or an address among them, before a form. They are erased with their responses.
    /// At most 1,000.
    #[serde(default)]
    pub leads: Vec<ForgottenLead>,
    /// Entities that were made from responses of the person. They are kept and can hold what the person typed; each can
    /// be erased. At most 100.
    #[serde(default)]
    pub promoted: Vec<PromotedEntity>,
    /// Number of captured prompts with answers that are deleted from the training data.
    #[serde(default)]
    pub interactions: u64,
    /// What is not touched or cannot be found, as sentences.
    pub kept: Vec<String>,
}

/// A document about the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ForgottenDocument {
    /// Slug of the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub agent: String,
    /// Folder and name at its newest version.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// Whether nothing is left of it.
    pub is_whole: bool,
    /// Lines of its newest version that go. All documents together list at most 1,000.
    pub lines: Vec<ForgottenLine>,
    /// Number of versions whose text goes: every one that there is.
    pub versions: u64,
}

/// A line that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ForgottenLine {
    /// Number of the line, from 1.
    pub line: u32,
    /// What it says, without its line end.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub text: String,
    /// `said`: it comes from a turn of the person. `named`: it names them. `below`: the heading above it names them.
    /// `whole`: the document goes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RemovalReason))]
    pub why: RemovalReason,
}

/// A proposal about the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ForgottenProposal {
    /// Slug of the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub agent: String,
    /// Document that it would change.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// UUID of the session that waits for the decision, or ended with it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Whether it waits for a decision. It is withdrawn.
    pub waits: bool,
}

/// Someone without an account who gave a name and an address before a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ForgottenLead {
    /// UUID of the entity with the name and the address.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub entity_id: EntityId,
    /// Name that they gave.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub name: String,
    /// E-mail address that they gave.
    #[cfg_attr(feature = "openapi", schema(max_length = 10_000))]
    pub email: Option<String>,
    /// Number of their responses that have their content.
    pub responses: u64,
}

/// An entity that was made from a response of the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromotedEntity {
    /// UUID of the entity.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub entity_id: EntityId,
    /// Its present title.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
}

/// A person who may be remembered again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RememberedPerson {
    /// Path of the person's document.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// Whether others whom earlier versions gave the same path may be remembered again too.
    pub is_shared: bool,
}

/// `POST /api/memory/remember`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RememberPerson {
    /// Platform and id of the person, such as `discord-1234`, or the path of their document.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub person: String,
}
