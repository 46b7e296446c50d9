//! What the API answers, as the types of the domain. The types of `wire` would bring a parser of times into the WASM.

use crate::canvas::json::{self, flag, list, number, operations, take, text};
use domain::{
    canvas::{Answer, Committed, Operation, Overwritten, ParticipantRole, Path, Reason, Rejected},
    event::kind::Known,
    session::Status,
};
use serde_json::Value;

/// A canvas as it is opened.
#[derive(Debug)]
pub struct OpenCanvas {
    /// Status of its session.
    pub status: Status,
    /// The newest version.
    pub version: u64,
    /// Content at that version.
    pub document: Value,
    /// The viewer's role; `None` for those who can only read.
    pub role: Option<ParticipantRole>,
}

impl OpenCanvas {
    /// Reads the answer; `None` if it is no canvas.
    pub fn read(mut answer: Value) -> Option<Self> {
        Some(Self {
            status: Status::parse(answer.get("status")?.as_str()?)?,
            version: number(&answer, "version")?,
            role: answer.get("role").and_then(Value::as_str).and_then(ParticipantRole::parse),
            document: take(&mut answer, "document"),
        })
    }
}

/// Patches after a version, oldest first.
#[derive(Debug)]
pub struct MissingPatches {
    /// In the order of the log.
    pub patches: Vec<Committed>,
    /// Whether there are more after the last one.
    pub has_more: bool,
}

impl MissingPatches {
    /// Reads the answer; `None` if it is none.
    pub fn read(answer: &Value) -> Option<Self> {
        Some(Self { patches: list(answer, "patches", committed)?, has_more: flag(answer, "hasMore")? })
    }
}

/// A suggestion that waits for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// Id that its author gave it.
    pub op_id: String,
    /// The operations.
    pub ops: Vec<Operation>,
    /// Its author.
    pub by: String,
    /// What it would change now, as the API names it. `None` if this person may not decide about it.
    pub digest: Option<String>,
}

/// Reads the suggestions that wait for a decision, oldest first; `None` if the answer has none.
pub fn suggestions(answer: &Value) -> Option<Vec<Suggestion>> {
    list(answer, "suggestions", |one| {
        let digest = text(one, "digest");
        Some(Suggestion { op_id: text(one, "opId")?, ops: operations(one)?, by: text(one, "by")?, digest })
    })
}

/// Reads the answer to a patch or to a decision about a suggestion; `None` if it cannot be read. Within it, `None` is a
/// patch that waits as a suggestion, or was declined.
pub fn answer(json: &str) -> Option<Option<Answer>> {
    let answer = json::read(json).filter(Value::is_object)?;
    let member = |name| answer.get(name).filter(|member| !member.is_null());
    Some(match (member("committed"), member("rejected")) {
        (Some(patch), _) => Some(Answer::Committed(committed(patch)?)),
        (None, Some(rejection)) => Some(Answer::Rejected(rejected(rejection)?)),
        (None, None) => None,
    })
}

fn committed(patch: &Value) -> Option<Committed> {
    Some(Committed {
        sequence: number(patch, "sequence")?,
        previous: number(patch, "previous")?,
        op_id: text(patch, "opId")?,
        by: text(patch, "by")?,
        ops: operations(patch)?,
        overwrote: list(patch, "overwrote", overwritten)?,
    })
}

fn path(object: &Value) -> Option<Path> {
    Path::parse(object.get("path")?.as_str()?).ok()
}

fn overwritten(change: &Value) -> Option<Overwritten> {
    let (op_id, by) = (text(change, "opId")?, text(change, "by")?);
    Some(Overwritten { path: path(change)?, sequence: number(change, "sequence")?, op_id, by })
}

fn rejected(rejection: &Value) -> Option<Rejected> {
    let because = rejection.get("because").filter(|change| !change.is_null());
    Some(Rejected {
        reason: Reason::parse(rejection.get("reason")?.as_str()?)?,
        at: usize::try_from(number(rejection, "operation")?).ok()?,
        path: path(rejection)?,
        kept: rejection.get("kept").filter(|kept| !kept.is_null()).cloned(),
        because: match because {
            Some(change) => Some(Box::new(overwritten(change)?)),
            None => None,
        },
    })
}

/// The patch that an event of the session's stream holds; `None` for other events.
pub fn patch_of(event: &str) -> Option<Committed> {
    let event = json::read(event)?;
    if event.get("type")?.as_str()? != Known::StatePatch.as_str() {
        return None;
    }
    let data = event.get("content")?.get(0)?.get("data")?;
    // An event of a patch that replaced no change of others has no such list.
    let overwrote = if data.get("overwrote").is_some() { list(data, "overwrote", overwritten)? } else { Vec::new() };
    Some(Committed {
        sequence: number(&event, "sequence")?,
        previous: number(data, "previous")?,
        op_id: text(data, "opId")?,
        by: text(data, "suggestedBy").or_else(|| text(&event, "actor"))?,
        ops: operations(data)?,
        overwrote,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::canvas::SuggestionState;
    use serde_json::json;
    use wire::canvas::{CanvasChange, CanvasPatch as WirePatch, CanvasRejection, PatchAnswer};

    fn change() -> CanvasChange {
        CanvasChange { path: path("/a"), sequence: 4, op_id: "b:1".into(), by: "user:x".into() }
    }

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    /// What the API writes is what this module reads.
    fn read(answer: &PatchAnswer) -> Option<Answer> {
        super::answer(&json!(answer).to_string()).unwrap()
    }

    #[test]
    fn the_answers_of_the_api_are_read() {
        let none = || PatchAnswer { committed: None, suggested: None, rejected: None, head: Some(5) };
        let ops = vec![Operation::Remove { path: path("/a") }];
        let committed = WirePatch {
            sequence: 5,
            previous: 4,
            op_id: "a:1".into(),
            by: "user:y".into(),
            ops: ops.clone(),
            overwrote: vec![change()],
            at: None,
        };
        let Some(Answer::Committed(found)) = read(&PatchAnswer { committed: Some(committed), ..none() }) else {
            panic!("it was committed")
        };
        assert_eq!((found.sequence, found.previous, found.ops, found.overwrote.len()), (5, 4, ops, 1));
        let rejected = CanvasRejection {
            reason: Reason::TargetGone,
            operation: 1,
            path: path("/a"),
            kept: Some(json!("kept")),
            because: Some(change()),
            errors: Vec::new(),
        };
        let Some(Answer::Rejected(found)) = read(&PatchAnswer { rejected: Some(rejected), ..none() }) else {
            panic!("it was rejected")
        };
        assert_eq!((found.at, found.kept, found.because.unwrap().sequence), (1, Some(json!("kept")), 4));
        assert_eq!(read(&PatchAnswer { suggested: Some(SuggestionState::Open), ..none() }), None);
        assert_eq!(super::answer("<html>"), None, "a proxy answered");
    }

    #[test]
    fn a_canvas_its_patches_and_its_suggestions_are_read() {
        let canvas = json!({ "id": "c", "title": "Plan", "status": "running", "version": 3, "document": { "a": 1 },
            "patches": 2, "role": "suggest", "createdBy": "user:y" });
        let canvas = OpenCanvas::read(canvas).unwrap();
        assert_eq!((canvas.status, canvas.version, canvas.role), (Status::Running, 3, Some(ParticipantRole::Suggest)));
        assert_eq!(canvas.document, json!({ "a": 1 }));
        let patch = WirePatch {
            sequence: 5,
            previous: 4,
            op_id: "a:1".into(),
            by: "user:y".into(),
            ops: vec![Operation::Remove { path: path("/a") }],
            overwrote: Vec::new(),
            at: None,
        };
        let found = json!(wire::canvas::CanvasPatches { patches: vec![patch], head: 5, has_more: true });
        let found = MissingPatches::read(&found).unwrap();
        assert!(found.has_more);
        assert_eq!(found.patches.iter().map(|patch| patch.sequence).collect::<Vec<_>>(), [5]);
        let one =
            json!({ "opId": "s:1", "base": 1, "ops": [{ "op": "remove", "path": "/a" }], "by": "user:y", "at": "" });
        let found = suggestions(&json!({ "suggestions": [one] })).unwrap();
        let first = &found[0];
        assert_eq!((first.op_id.as_str(), first.by.as_str(), first.ops.len()), ("s:1", "user:y", 1));
    }

    #[test]
    fn a_patch_is_read_from_an_event_and_other_events_are_not() {
        let data = json!({ "opId": "a:1", "base": 1, "previous": 2, "suggestedBy": "user:ann",
            "ops": [{ "op": "replace", "path": "/a", "value": 1 }] });
        let event = |kind: &str| {
            json!({ "id": "e", "sequence": 3, "type": kind, "role": "human", "actor": "user:ben", "metadata": {},
                "content": [{ "type": "data-canvas-patch", "data": data }] })
            .to_string()
        };
        let found = patch_of(&event("state.patch")).unwrap();
        assert_eq!((found.sequence, found.previous, found.by.as_str()), (3, 2, "user:ann"));
        assert_eq!(patch_of(&event("session.completed")), None);
        assert_eq!(patch_of("no event"), None);
    }
}
