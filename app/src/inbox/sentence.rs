//! The sentence at the top of an item: which agent wants to do what to which record.

use super::{
    item_text::{agent_name, proposed_document, task},
    values::{Row, record},
};
use crate::{
    session::Titles,
    text::{number::counted, shorten::one_line},
};
use domain::gate::{GateKind, GateState, Task};
use leptos::prelude::*;
use wire::approval::ApprovalDetail;

/// Longest value in the sentence, characters.
const VALUE_CHARS_MAX: usize = 80;
/// Longest question, characters; the transcript has all of it.
const QUESTION_CHARS_MAX: usize = 2_000;

/// A piece of the sentence, by how it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Plain text.
    Words(String),
    /// The name of a field, or a value; emphasized.
    Field(String),
    /// The name of a record or tool; strong.
    Name(String),
}

/// The sentence: in the present tense while the item is open, else in the past tense.
pub fn sentence(detail: &ApprovalDetail, rows: &[Row], titles: &Titles) -> Vec<Piece> {
    let words = |text: &str| Piece::Words(text.to_owned());
    let approval = &detail.approval;
    let who = agent_name(approval);
    let is_open = approval.state == GateState::Open;
    let (wants, asks) = if is_open { ("wants", "asks") } else { ("wanted", "asked") };
    let title = record(detail).map(|(title, _)| title.to_owned()).or_else(|| approval.entity_title.clone());
    let about = title.map(|title| Piece::Name(one_line(&title, VALUE_CHARS_MAX)));
    match (approval.kind, about) {
        (GateKind::Tool, about) => {
            let mut pieces = vec![Piece::Words(format!("{who} {wants} to call ")), Piece::Name(approval.title.clone())];
            pieces.extend(about.into_iter().flat_map(|name| [words(" for "), name]));
            pieces
        }
        (GateKind::Question, _) => {
            let message = match task(approval) {
                Some(Task::Question(question)) => question.message,
                _ => approval.title.clone(),
            };
            vec![Piece::Words(format!("{who} {asks}: {}", one_line(&message, QUESTION_CHARS_MAX)))]
        }
        (GateKind::Memory, _) => {
            let path = proposed_document(approval, titles).unwrap_or_else(|| approval.title.clone());
            let verb = if is_open { "wants to remember in " } else { "wanted to remember in " };
            vec![Piece::Words(format!("{who} {verb}")), Piece::Name(path)]
        }
        (_, None) => {
            let name = approval.action_name.clone().unwrap_or_else(|| approval.title.clone());
            vec![Piece::Words(format!("{who} {asks} you to approve ")), Piece::Name(name)]
        }
        (_, Some(name)) if rows.iter().all(|row| row.now.is_none()) => {
            vec![Piece::Words(format!("{who} {asks} you to approve its output about ")), name]
        }
        (_, Some(name)) => {
            let changes: Vec<&Row> = rows.iter().filter(|row| row.changes && row.now.is_some()).collect();
            match changes.as_slice() {
                [] => {
                    let as_it_is = if is_open { " as it is" } else { " as it was" };
                    vec![Piece::Words(format!("{who} {wants} to leave ")), name, words(as_it_is)]
                }
                [one] => set(&format!("{who} {wants}"), one, name),
                many => vec![
                    Piece::Words(format!("{who} {wants} to change {} of ", counted(many.len() as u64, "field"))),
                    name,
                ],
            }
        }
    }
}

fn set(who_wants: &str, row: &Row, name: Piece) -> Vec<Piece> {
    let value = |text: &str| match text.trim() {
        "" => Piece::Words("nothing".to_owned()),
        text => Piece::Field(one_line(text, VALUE_CHARS_MAX)),
    };
    let words = |text: &str| Piece::Words(text.to_owned());
    let mut pieces =
        vec![Piece::Words(format!("{who_wants} to set ")), Piece::Field(row.label.clone()), words(" of "), name];
    if let Some(now) = row.now.as_deref().filter(|now| !now.trim().is_empty()) {
        pieces.extend([words(" from "), value(now)]);
    }
    pieces.extend([words(" to "), value(&row.display)]);
    pieces
}

/// Renders the pieces.
pub fn sentence_view(pieces: Vec<Piece>) -> impl IntoView {
    let shown = pieces.into_iter().map(|piece| match piece {
        Piece::Words(text) => text.into_any(),
        Piece::Field(text) => view! { <em>{text}</em> }.into_any(),
        Piece::Name(text) => view! { <strong>{text}</strong> }.into_any(),
    });
    shown.collect::<Vec<_>>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{
        fixture::{detail, output, question, raw, tool},
        values::rows,
    };
    use serde_json::{Value, json};

    fn sentence_of(detail: &ApprovalDetail) -> String {
        let pieces = sentence(detail, &rows(detail), &Titles::default()).into_iter();
        pieces
            .map(|piece| match piece {
                Piece::Words(text) => text,
                Piece::Field(text) => format!("*{text}*"),
                Piece::Name(text) => format!("**{text}**"),
            })
            .collect()
    }

    fn about_acme(values: Value, now: Value) -> ApprovalDetail {
        let at = "2026-11-21T07:00:00Z".parse().unwrap();
        let mut detail = detail(output(1, values));
        detail.fields = ["stage", "amount"].map(|slug| raw(&json!({"slug": slug, "type": "text"}))).into();
        detail.entity = Some(wire::entity::Entity {
            id: "01935f00-0000-7000-8000-0000000000e1".parse().unwrap(),
            type_id: "01935f00-0000-7000-8000-000000000071".parse().unwrap(),
            type_slug: "deals".into(),
            title: "Acme Corp".into(),
            fields: now.as_object().unwrap().clone(),
            version: 1,
            created_by: "system".into(),
            updated_by: "system".into(),
            created_at: at,
            updated_at: at,
            erased_at: None,
        });
        detail
    }

    #[test]
    fn the_sentence_says_who_wants_what() {
        let one = about_acme(json!({"stage": "Won", "risk": "low"}), json!({"stage": "Lead"}));
        assert_eq!(sentence_of(&one), "scout wants to set *Stage* of **Acme Corp** from *Lead* to *Won*");
        let first = about_acme(json!({"stage": "Won"}), json!({}));
        assert_eq!(sentence_of(&first), "scout wants to set *Stage* of **Acme Corp** to *Won*");
        let cleared = about_acme(json!({"stage": null}), json!({"stage": "Lead"}));
        assert_eq!(sentence_of(&cleared), "scout wants to set *Stage* of **Acme Corp** from *Lead* to nothing");
        let two = about_acme(json!({"stage": "Won", "amount": "2"}), json!({}));
        assert_eq!(sentence_of(&two), "scout wants to change 2 fields of **Acme Corp**");
        let same = about_acme(json!({"stage": "Won"}), json!({"stage": "Won"}));
        assert_eq!(sentence_of(&same), "scout wants to leave **Acme Corp** as it is");
        let decided = |then: Option<Value>| {
            let mut decided = about_acme(json!({"stage": "Won"}), json!({"stage": "Won"}));
            decided.approval.state = GateState::Settled;
            decided.entity_then = then.map(|fields| wire::entity::EntityVersion {
                version: 1,
                title: "Acme".into(),
                fields: fields.as_object().unwrap().clone(),
                actor: "system".into(),
                session_id: None,
                at: decided.approval.opened_at,
            });
            sentence_of(&decided)
        };
        assert_eq!(
            decided(Some(json!({"stage": "Lead"}))),
            "scout wanted to set *Stage* of **Acme** from *Lead* to *Won*"
        );
        assert_eq!(decided(Some(json!({"stage": "Won"}))), "scout wanted to leave **Acme** as it was");
        assert_eq!(decided(None), "scout asked you to approve its output about **Acme Corp 1**");
        assert_eq!(sentence_of(&detail(tool(1, json!({})))), "scout wants to call **send_mail**");
        let mut run = detail(tool(1, json!({})));
        run.approval.agent_slug = Some("http:send-mail".into());
        assert_eq!(sentence_of(&run), "Tool run wants to call **send_mail**", "the title is the name of the tool");
        assert_eq!(sentence_of(&detail(question(1))), "scout asks: Which region?");
        let unknown = detail(output(1, json!({"text": "x"})));
        assert_eq!(sentence_of(&unknown), "scout asks you to approve its output about **Acme Corp 1**");
        let mut free = detail(output(1, json!({"text": "x"})));
        free.approval.entity_title = None;
        assert_eq!(sentence_of(&free), "scout asks you to approve **Qualify leads**");
    }
}
