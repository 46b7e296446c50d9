//! Uses of memories that the server sees in a turn that ended.

use crate::Result;
use domain::{
    event::{
        Body, Event, Known,
        kind::{Context, ContextInjected},
    },
    id::{SessionId, TenantId},
    memory_writer::block::items,
    relevance::uses,
    session::Session,
    thread::text_of,
};
use store::{Conn, WriteTx};

/// Messages of the person that count as the prompt: the newest before the memories.
const PROMPTS_MAX: usize = 3;

/// How often each memory of a prompt was used.
#[derive(Debug, Clone)]
pub(crate) struct MemoryUses {
    /// Sequence of the event with the block.
    turn: u64,
    /// Ids of the memories that were used, with the number of messages and calls that use them.
    uses: Vec<(String, u32)>,
}

/// Looks for uses of the newest memories of a session up to `upto`: in the messages and in the arguments of calls that
/// follow them, and in the result of the session. `events` are messages and calls in the order of the log. `None` if
/// the session was given no memories, or none was used.
pub(crate) async fn seen(
    conn: &mut Conn<'_>,
    session: &Session,
    upto: u64,
    events: &[Event],
) -> Result<Option<MemoryUses>> {
    let (tenant_id, id) = (session.tenant_id, session.id);
    let Some(turn) = store::relevance::newest_prompt(conn, tenant_id, id, upto).await? else { return Ok(None) };
    let Some(block) = block_at(conn, tenant_id, (id, turn)).await? else { return Ok(None) };
    let memories = items(&block);
    let before = events.iter().rev().filter(|event| event.sequence < turn && event.kind == Known::UserMessage);
    let prompts: Vec<String> = before.take(PROMPTS_MAX).map(|event| text_of(&event.content)).collect();
    let prompt = match prompts.as_slice() {
        [] => format!("{}\n{}", session.title, session.input.as_deref().unwrap_or_default()),
        said => said.join("\n"),
    };
    let said = events.iter().filter(|event| event.sequence > turn).filter_map(|event| match event.known() {
        Some(Known::AgentMessage) => Some(text_of(&event.content)),
        // The arguments, in JSON. What the tool answered does not come from the agent.
        Some(Known::AgentToolCall) => Some(event.content.clone()),
        _ => None,
    });
    let said: Vec<String> = said.chain(session.result().map(str::to_owned)).collect();
    let texts: Vec<&str> = memories.iter().map(|(_, text)| text.as_str()).collect();
    let counts = uses(&texts, &prompt, &said.iter().map(String::as_str).collect::<Vec<_>>());
    let used: Vec<(String, u32)> =
        memories.into_iter().zip(counts).filter(|(_, count)| *count > 0).map(|((id, _), count)| (id, count)).collect();
    Ok((!used.is_empty()).then_some(MemoryUses { turn, uses: used }))
}

/// The block of memories that the event with this sequence records.
async fn block_at(conn: &mut Conn<'_>, tenant_id: TenantId, (id, turn): (SessionId, u64)) -> Result<Option<String>> {
    let kinds = [Known::SessionContextInjected.as_str().to_owned()];
    let found = store::event::after(conn, tenant_id, id, (turn.saturating_sub(1), turn), &kinds, 1).await?;
    Ok(found.items.first().and_then(|event| match event.body() {
        Body::SessionContextInjected(ContextInjected { text, context: Context::Memory { .. } }) => Some(text),
        _ => None,
    }))
}

/// Stores the uses of a turn.
pub(crate) async fn save_on(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, seen: &MemoryUses) -> Result<()> {
    for (memory_id, uses) in &seen.uses {
        store::relevance::save_uses(tx, tenant_id, (id, seen.turn), (memory_id.as_str(), *uses)).await?;
    }
    Ok(())
}
