//! How useful the lines of a memory document were, as its page shows it.

use app::memory as ui;
use ledger::page::memory_usefulness::{Figure, PassageFigure, Prompt, Usefulness};

pub(super) fn usefulness(of: Usefulness) -> ui::Usefulness {
    let Usefulness { passages, earlier, is_cut } = of;
    ui::Usefulness { passages: passages.into_iter().map(passage).collect(), earlier, is_cut }
}

fn passage(of: PassageFigure) -> ui::PassageFigure {
    let PassageFigure { headings, text, line, given, used, rated, mean, worth } = of;
    let (given, used, rated) = (figure(given), figure(used), figure(rated));
    ui::PassageFigure { headings, text, line, given, used, rated, mean, worth }
}

fn figure(of: Figure) -> ui::Figure {
    let prompt = |Prompt { session_id, turn, at }| ui::Prompt { session_id, turn, at };
    ui::Figure { count: of.count, sessions: of.sessions, newest: of.newest.into_iter().map(prompt).collect() }
}
