//! The tag or the member of a bulk change: the page that asks for it, what forms and addresses say of it, and its undo.

use super::{form::Form, shell::Viewer};
use crate::state::AppState;
use app::{FormState, label::NO_ONE, sessions::ChoiceProps};
use domain::{id::UserId, member::MemberStatus, session::BulkVerb, slug::slugify};
use ledger::{
    Error,
    bulk::BulkChange,
    page::{self as pages, People},
};
use serde::Deserialize;
use std::collections::BTreeSet;

/// How the names of the check boxes of a cause begin.
const ITEM: &str = "items[";
/// Fields of the form that the page of the choice has itself.
const OWN_FIELDS: [&str; 5] = ["verb", "step", "tag", "userId", "session"];

/// The change that a form asks for. `None` if its tag or member is not chosen yet. A tag can be typed as any words.
///
/// # Errors
/// [`Error::Invalid`] for an id of no member.
pub fn change_of(verb: BulkVerb, form: &Form) -> Result<Option<BulkChange>, Error> {
    let tag = form.optional("tag").map(|typed| slugify(&typed).unwrap_or(typed));
    Ok(match verb {
        BulkVerb::RunAgain => Some(BulkChange::RunAgain),
        BulkVerb::Cancel => Some(BulkChange::Cancel),
        BulkVerb::Acknowledge => Some(BulkChange::Acknowledge),
        BulkVerb::Tag => tag.map(BulkChange::Tag),
        BulkVerb::Untag => tag.map(BulkChange::Untag),
        BulkVerb::Unassign => Some(BulkChange::Assign(None)),
        BulkVerb::AssignBack => Some(BulkChange::AssignBack(assignee(form.optional("userId"))?)),
        BulkVerb::Assign => match form.optional("userId") {
            None => None,
            chosen => Some(BulkChange::Assign(assignee(chosen)?)),
        },
    })
}

/// The member whom a form names; `None` for no one.
fn assignee(text: Option<String>) -> Result<Option<UserId>, Error> {
    let Some(id) = text.filter(|id| id != NO_ONE) else { return Ok(None) };
    id.parse().map(Some).map_err(|_| Error::invalid("userId", "no active member of this workspace"))
}

/// The page that asks for the tag or the member. It sends the selection of the form again.
///
/// # Errors
/// As [`pages::people`].
pub async fn choice(
    state: &AppState,
    viewer: &Viewer,
    (verb, form): (BulkVerb, &Form),
    next: String,
) -> Result<ChoiceProps, Error> {
    let (fields, count) = selection_fields(form);
    let members = match verb {
        BulkVerb::Assign => members(&pages::people(&state.ledger, &viewer.scope).await?),
        _ => Vec::new(),
    };
    Ok(ChoiceProps { verb, fields, count, next, members, form: FormState::default() })
}

/// The fields by which a form selects sessions, and the number of ticked check boxes unless it selects all that match.
fn selection_fields(form: &Form) -> (Vec<(String, String)>, Option<usize>) {
    let mut fields = form.typed();
    fields.retain(|(name, _)| !OWN_FIELDS.contains(&name.as_str()) && !name.starts_with(ITEM));
    if form.has("all") {
        return (fields, None);
    }
    let chosen = ticked(form);
    let count = chosen.len();
    fields.extend(chosen.into_iter().map(|id| ("session".to_owned(), id)));
    (fields, Some(count))
}

/// The ids of the ticked check boxes: of a list of sessions, or of the failures of a cause.
pub fn ticked(form: &Form) -> Vec<String> {
    let text = form.text("session");
    let of_list = text.lines().map(str::to_owned);
    let of_cause = form.below(ITEM).map(|(id, _)| id.strip_suffix(']').unwrap_or(id).to_owned());
    let mut ids: Vec<String> = of_list.chain(of_cause).collect();
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    ids
}

/// The active members: `(id, name)`.
pub fn members(people: &People) -> Vec<(String, String)> {
    let active = people.members.iter().filter(|member| member.status == MemberStatus::Active);
    active.map(|member| (member.user_id.to_string(), member.display_name().to_owned())).collect()
}

/// A change, as addresses and pages say it.
pub struct Label {
    /// What is done to each session.
    pub change: BulkChange,
}

/// What pages say and send of a change.
pub struct Labels {
    /// The tag, or the name of the member.
    pub word: String,
    /// Fields of a form that does it.
    pub fields: Vec<(&'static str, String)>,
    /// Verb and fields of a form that undoes it.
    pub undo: Option<(BulkVerb, Vec<(&'static str, String)>)>,
}

/// What an address says of it. What cannot be read is ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelQuery {
    verb: Option<String>,
    tag: Option<String>,
    user_id: Option<String>,
}

impl Label {
    /// The label of a change.
    pub fn of(change: &BulkChange) -> Self {
        Self { change: change.clone() }
    }

    /// Reads an address; `None` if it names no change.
    pub fn read(query: &LabelQuery) -> Option<Self> {
        let id = |text: &Option<String>| text.as_deref().and_then(|id| id.parse::<UserId>().ok());
        let change = match query.verb.as_deref().and_then(BulkVerb::parse)? {
            BulkVerb::RunAgain => BulkChange::RunAgain,
            BulkVerb::Cancel => BulkChange::Cancel,
            BulkVerb::Acknowledge => BulkChange::Acknowledge,
            BulkVerb::Tag => BulkChange::Tag(query.tag.clone()?),
            BulkVerb::Untag => BulkChange::Untag(query.tag.clone()?),
            BulkVerb::Assign => BulkChange::Assign(Some(id(&query.user_id)?)),
            BulkVerb::Unassign => BulkChange::Assign(None),
            BulkVerb::AssignBack => BulkChange::AssignBack(id(&query.user_id)),
        };
        Some(Self { change })
    }

    /// The query of an address, without a question mark. Tags and ids need no encoding.
    pub fn query(&self) -> String {
        let verb = self.change.verb();
        let value: String =
            fields_of(&self.change).into_iter().map(|(name, value)| format!("&{name}={value}")).collect();
        format!("verb={verb}{value}")
    }

    /// What undoes the change: a tag that was added is removed, and each session is assigned to whom it was
    /// assigned before.
    fn undo(&self) -> Option<BulkChange> {
        match &self.change {
            BulkChange::RunAgain | BulkChange::Cancel | BulkChange::Acknowledge | BulkChange::AssignBack(_) => None,
            BulkChange::Tag(tag) => Some(BulkChange::Untag(tag.clone())),
            BulkChange::Untag(tag) => Some(BulkChange::Tag(tag.clone())),
            BulkChange::Assign(to) => Some(BulkChange::AssignBack(*to)),
        }
    }

    /// What pages say and send of it.
    ///
    /// # Errors
    /// As [`pages::people`].
    pub async fn labels(&self, state: &AppState, viewer: &Viewer) -> Result<Labels, Error> {
        let word = match &self.change {
            BulkChange::Tag(tag) | BulkChange::Untag(tag) => tag.clone(),
            BulkChange::Assign(Some(id)) => name_of(&pages::people(&state.ledger, &viewer.scope).await?, *id),
            _ => String::new(),
        };
        let undo = self.undo().map(|change| (change.verb(), fields_of(&change)));
        Ok(Labels { word, fields: fields_of(&self.change), undo })
    }
}

fn name_of(people: &People, id: UserId) -> String {
    people.name(&format!("user:{id}")).unwrap_or_else(|| "a former member".to_owned())
}

/// The fields of a form or an address that carry the tag or the member.
fn fields_of(change: &BulkChange) -> Vec<(&'static str, String)> {
    match change {
        BulkChange::Tag(tag) | BulkChange::Untag(tag) => vec![("tag", tag.clone())],
        BulkChange::Assign(Some(id)) | BulkChange::AssignBack(Some(id)) => vec![("userId", id.to_string())],
        BulkChange::AssignBack(None) => vec![("userId", NO_ONE.to_owned())],
        BulkChange::RunAgain | BulkChange::Cancel | BulkChange::Acknowledge | BulkChange::Assign(None) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(number: u128) -> UserId {
        UserId(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn an_address_says_what_was_done_and_what_undoes_it() {
        for (change, undo) in [
            (BulkChange::Tag("acme".into()), Some(BulkChange::Untag("acme".into()))),
            (BulkChange::Untag("acme".into()), Some(BulkChange::Tag("acme".into()))),
            (BulkChange::Assign(Some(user(1))), Some(BulkChange::AssignBack(Some(user(1))))),
            (BulkChange::Assign(None), Some(BulkChange::AssignBack(None))),
            (BulkChange::AssignBack(Some(user(2))), None),
            (BulkChange::AssignBack(None), None),
            (BulkChange::Cancel, None),
        ] {
            let label = Label::of(&change);
            let query: LabelQuery = serde_urlencoded::from_str(&label.query()).unwrap();
            let read = Label::read(&query).unwrap();
            assert_eq!((read.change.clone(), read.undo()), (change, undo));
        }
        for query in ["", "verb=delete", "verb=tag", "verb=assign", "verb=assign&userId=x"] {
            let query: LabelQuery = serde_urlencoded::from_str(query).unwrap();
            assert!(Label::read(&query).is_none(), "{query:?}");
        }
    }
}
