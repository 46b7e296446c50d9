//! Checks that many use cases share: permissions, text lengths and JSON documents.

use crate::error::{Error, Result};
use domain::{
    Scope,
    event::json_depth,
    issue::Issue,
    limit::{DOCUMENT_BYTES_MAX, JSON_DEPTH_MAX},
    line::{is_line, label_problem, name_problem},
    role::Permission,
    slug::{is_slug, slugify},
    tool::run::is_agent,
};
use serde_json::Value;

/// Refuses a caller whose role or token scope does not have the permission.
pub(crate) fn require(scope: &Scope, permission: Permission) -> Result<()> {
    if scope.may(permission) {
        return Ok(());
    }
    Err(Error::Forbidden(match permission {
        Permission::Read => "reading is not allowed with these credentials",
        Permission::StartSession => "starting sessions is not allowed with these credentials",
        Permission::ManageSessions => "only operators and admins can manage sessions that others started",
        Permission::Converse => "conversations and ratings are for people and their programs, not for worker tokens",
        Permission::Work => "claiming and writing sessions needs a worker token, an operator or an admin",
        Permission::Decide => "only reviewers, operators and admins can decide",
        Permission::ManageActions => "only operators and admins can change tasks",
        Permission::WriteMemory => "writing an agent's memory is not allowed with these credentials",
        Permission::WriteEntities => "writing entities is not allowed with these credentials",
        Permission::ManageCriteriaSets => "only operators and admins can change criteria sets",
        Permission::ManageGroups => "only operators and admins can change groups",
        Permission::ManageViews => "only operators and admins can change views",
        Permission::ManageTools => "only operators and admins can change tools",
        Permission::ReadLeads => "only reviewers, operators and admins can read the names and addresses of respondents",
        Permission::ManageEntityTypes => "only operators and admins can change entity types",
        Permission::Administer => "only admins can manage members, tokens and settings",
    }))
}

/// Like [`require`], with the reason of a refusal. For permissions that several different things need.
pub(crate) fn require_for(scope: &Scope, permission: Permission, reason: &'static str) -> Result<()> {
    if scope.may(permission) { Ok(()) } else { Err(Error::Forbidden(reason)) }
}

/// Returns the given slug, or one derived from the name.
pub(crate) fn slug_or_of_name(slug: Option<String>, name: &str) -> Result<String> {
    slug.or_else(|| slugify(name)).ok_or_else(|| Error::invalid("slug", "cannot be created from this name; enter one"))
}

/// Refuses a write if the caller has not read the newest version.
pub(crate) fn require_version(given: u64, current: u64) -> Result<()> {
    if given == current { Ok(()) } else { Err(Error::StaleVersion { given, current }) }
}

/// Refuses a change of a working copy if the caller has not read its newest revision.
pub(crate) fn require_revision(given: u64, current: u64) -> Result<()> {
    if given == current { Ok(()) } else { Err(Error::StaleRevision { given, current }) }
}

/// Collects field errors, so that a caller gets all of them at once.
#[derive(Default)]
pub(crate) struct Fields(Vec<Issue>);

impl Fields {
    pub(crate) fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(Issue::new(field, message));
    }

    /// Requires a name: 1 to `max` characters without control characters and without those that change the direction of
    /// text.
    pub(crate) fn name(&mut self, field: &str, text: &str, max: usize) {
        if let Some(problem) = name_problem(text, max) {
            self.refuse(field, problem);
        }
    }

    /// Requires a title: 1 to `max` characters without control characters and without those that override the direction
    /// of text. Titles quote texts of people, which can have marks.
    pub(crate) fn title(&mut self, field: &str, text: &str, max: usize) {
        if let Some(problem) = label_problem(text, max) {
            self.refuse(field, problem);
        }
    }

    /// Requires 1 to `max` characters without control characters. Names in other systems are not chosen here, so they
    /// can have characters that change the direction of text.
    pub(crate) fn line(&mut self, field: &str, text: &str, max: usize) {
        if !is_line(text, max) {
            self.refuse(field, format!("1 to {max} characters on one line"));
        }
    }

    /// Requires at most `max` characters and no NUL.
    pub(crate) fn text(&mut self, field: &str, text: Option<&str>, max: usize) {
        if text.is_some_and(|text| text.chars().count() > max) {
            self.refuse(field, format!("at most {max} characters"));
        }
        if text.is_some_and(|text| text.contains('\0')) {
            self.refuse(field, "no NUL characters");
        }
    }

    /// Requires a slug, unless `text` is `None`.
    pub(crate) fn slug(&mut self, field: &str, text: Option<&str>) {
        if text.is_some_and(|text| !is_slug(text)) {
            self.refuse(field, "lower-case letters, digits and single hyphens, at most 64 characters");
        }
    }

    /// Requires the slug of an agent, or the agent of a tool, unless `text` is `None`.
    pub(crate) fn agent(&mut self, field: &str, text: Option<&str>) {
        if text.is_some_and(|text| !is_agent(text)) {
            self.refuse(field, "a slug, or `tool:` and the slug of a tool");
        }
    }

    /// Requires a client-made key: 1 to `max` characters without control characters.
    pub(crate) fn key(&mut self, field: &str, text: Option<&str>, max: usize) {
        if text.is_some_and(|t| t.is_empty() || t.chars().count() > max || t.chars().any(char::is_control)) {
            self.refuse(field, format!("1 to {max} characters, no control characters"));
        }
    }

    /// Limits size and depth of a JSON document.
    pub(crate) fn document(&mut self, field: &str, json: Option<&str>) {
        self.document_within(field, json, DOCUMENT_BYTES_MAX);
    }

    /// Limits the depth of a JSON document, and its size to `bytes_max`.
    pub(crate) fn document_within(&mut self, field: &str, json: Option<&str>, bytes_max: usize) {
        let Some(json) = json else { return };
        if json.len() > bytes_max {
            self.refuse(field, format!("at most {bytes_max} bytes"));
        }
        if json_depth(json) > JSON_DEPTH_MAX {
            self.refuse(field, format!("at most {JSON_DEPTH_MAX} levels deep"));
        }
    }

    /// Limits size and depth of JSON that is parsed already. Its size is that of its shortest text.
    pub(crate) fn value(&mut self, field: &str, value: Option<&Value>) {
        self.document(field, value.map(Value::to_string).as_deref());
    }

    /// Requires a JSON object and limits its size and depth.
    pub(crate) fn object(&mut self, field: &str, json: Option<&str>) {
        if json.is_some_and(|json| !json.trim_start().starts_with('{')) {
            self.refuse(field, "an object");
        }
        self.document(field, json);
    }

    /// Returns the collected errors, if there are any.
    pub(crate) fn check(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Invalid(self.0)) }
    }
}
