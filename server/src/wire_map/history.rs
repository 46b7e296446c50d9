//! Converts the turns of an agent's conversations.

use super::thread::wire_channel;
use ledger::history;
use wire::history as to;

/// Converts turns.
pub fn history(found: history::History) -> to::History {
    to::History { items: found.turns.into_iter().map(history_turn).collect(), has_more: found.has_more }
}

/// Converts one turn.
pub fn history_turn(turn: history::HistoryTurn) -> to::HistoryTurn {
    to::HistoryTurn {
        session_id: turn.session_id,
        sequence: turn.sequence,
        at: turn.at,
        taint: turn.taint,
        speaker: turn.speaker,
        tool: turn.tool,
        text: turn.text,
        channel: turn.channel.map(wire_channel),
    }
}
