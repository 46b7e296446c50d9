//! The turns that a proposal comes from, as the log has them now.

use crate::{
    Result,
    history::{self, HistoryTurn},
    visibility::can_see,
};
use domain::{
    Scope,
    event::{Event, Known},
    gate::{Gate, Task},
    id::{SessionId, UserId},
    memory_writer::{
        limit::WINDOW_TURNS_MAX,
        turn::{self, Participant, Taint},
    },
    thread::cut,
};
use std::collections::HashMap;
use store::Conn;

/// Most turns of one proposal that are quoted: as many as a run of the writer reads.
const TURNS_MAX: usize = WINDOW_TURNS_MAX;
/// Longest quote of a turn, characters.
const CHARS_MAX: usize = 200;

/// Returns the start of each turn that a proposal names: first those of its lines, then those of the change as a whole.
/// Empty for other gates. They are read from the log, so turns that retention erased are left out, as are those of
/// conversations that the caller may not see.
pub(super) async fn quoted_turns(conn: &mut Conn<'_>, scope: &Scope, gate: &Gate) -> Result<Vec<HistoryTurn>> {
    let Task::Memory(proposal) = &gate.task else { return Ok(Vec::new()) };
    let of_lines = proposal.evidence.iter().map(|line| (line.session, line.sequence));
    let of_change = proposal.turns.iter().map(|turn| (turn.session, turn.sequence));
    let mut named = Vec::new();
    for turn in of_lines.chain(of_change) {
        if !named.contains(&turn) && named.len() < TURNS_MAX {
            named.push(turn);
        }
    }
    let (mut sessions, mut names) = (HashMap::new(), HashMap::new());
    let mut quoted = Vec::new();
    for (id, sequence) in named {
        let session = match sessions.get(&id) {
            Some(known) => *known,
            None => {
                let found = seen(conn, scope, id).await?;
                sessions.insert(id, found);
                found
            }
        };
        let Some(Of { owner }) = session else { continue };
        let range = (sequence.saturating_sub(1), sequence);
        let found = store::event::after(conn, gate.tenant_id, id, range, &[], 1).await?;
        let Some(event) = found.items.first() else { continue };
        let said = if event.kind == Known::SessionCreated {
            request(conn, gate, event).await?
        } else {
            history::quoted(event)
        };
        let Some(mut turn) = said else { continue };
        if turn.taint == Taint::Person && turn.speaker.is_none() {
            let person = turn::member(&event.actor).or(owner);
            turn.speaker = name_of(conn, gate, person, &mut names).await?;
        }
        turn.text = cut(&turn.text, CHARS_MAX);
        quoted.push(turn);
    }
    Ok(quoted)
}

/// The request of a task, which has no event of its own: its turn is the event that records the session. `None` if no
/// member made it, and if the session repeats another one, whose request it is.
async fn request(conn: &mut Conn<'_>, gate: &Gate, event: &Event) -> Result<Option<HistoryTurn>> {
    let found = store::session::find(conn, gate.tenant_id, event.session_id).await?;
    let Some(session) = found.filter(|found| found.source.is_none() && found.retry_of.is_none()) else {
        return Ok(None);
    };
    let speaker = turn::member(&session.created_by);
    let speaker = speaker.map(|user_id| Participant { path: turn::own_path(user_id), name: String::new() });
    let said = speaker.zip(session.input).and_then(|(speaker, input)| turn::request(&input, speaker));
    Ok(said.map(|content| HistoryTurn {
        session_id: event.session_id,
        sequence: event.sequence,
        at: event.at,
        taint: content.taint,
        speaker: None,
        tool: None,
        text: content.text,
        channel: None,
    }))
}

/// A session of which turns are quoted.
#[derive(Clone, Copy)]
struct Of {
    /// The person to whom it belongs.
    owner: Option<UserId>,
}

/// Returns a session that the caller may see.
async fn seen(conn: &mut Conn<'_>, scope: &Scope, id: SessionId) -> Result<Option<Of>> {
    let Some(session) = store::session::find(conn, scope.tenant_id, id).await? else { return Ok(None) };
    let is_shown = can_see(conn, scope, &session).await?;
    Ok(is_shown.then_some(Of { owner: session.user_id }))
}

/// The name of a member of the workspace.
async fn name_of(
    conn: &mut Conn<'_>,
    gate: &Gate,
    person: Option<UserId>,
    names: &mut HashMap<UserId, Option<String>>,
) -> Result<Option<String>> {
    let Some(person) = person else { return Ok(None) };
    if let Some(known) = names.get(&person) {
        return Ok(known.clone());
    }
    let member = store::user::find_any_member(conn, gate.tenant_id, person).await?;
    let name = member.map(|member| member.display_name().to_owned());
    names.insert(person, name.clone());
    Ok(name)
}
