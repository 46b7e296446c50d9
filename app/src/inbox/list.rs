//! Data of the inbox list, and how long its items can be snoozed.

use crate::{FormState, session::Titles, sessions::SessionEntry};
use domain::Timestamp;
use std::collections::BTreeMap;
use wire::approval::Approval;

/// Snooze durations: seconds and label.
pub const SNOOZES: [(i64, &str); 4] =
    [(3_600, "For 1 hour"), (4 * 3_600, "For 4 hours"), (86_400, "For 1 day"), (7 * 86_400, "For 1 week")];

/// Which items the list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shown {
    /// Items that wait for a decision.
    #[default]
    Open,
    /// Items that the viewer has snoozed.
    Snoozed,
    /// Items that were decided, have expired or were withdrawn.
    Settled,
}

impl Shown {
    /// The value of `?state=`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Snoozed => "snoozed",
            Self::Settled => "settled",
        }
    }

    /// Parses `?state=`; an unknown value means open items.
    pub fn parse(text: &str) -> Self {
        match text {
            "snoozed" => Self::Snoozed,
            "settled" => Self::Settled,
            _ => Self::Open,
        }
    }
}

/// Data of the inbox list.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// `?state=`: which items are listed.
    pub shown: Shown,
    /// `?assignedTo=all`: also lists items that only other people may decide.
    pub everyone: bool,
    /// The items of this page, most urgent first. Closed ones: closed last first.
    pub items: Vec<Approval>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Cursor of this page; absent on the first page.
    pub cursor: Option<String>,
    /// The viewer's held decisions, which can still be undone.
    pub held: Vec<Approval>,
    /// Sessions of the viewer that wait for an answer in a terminal.
    pub terminal_sessions: Vec<SessionEntry>,
    /// Questions that the viewer may answer and for which no session waits, as items. They follow the others.
    pub questions: Vec<Approval>,
    /// Titles of the records that the items' values refer to, by id.
    pub titles: Titles,
    /// The server's clock when the page was rendered (UTC).
    pub now: Timestamp,
    /// Id of the open item.
    pub current: Option<String>,
    /// `?open=`: key of the unfolded group.
    pub unfolded: Option<String>,
    /// `?select=`: key of the group whose items are selected.
    pub selected: Option<String>,
    /// Why items of a batch were refused, by item id. An empty id stands for the batch.
    pub refused: BTreeMap<String, String>,
    /// What was typed into the form of a batch that was refused.
    pub batch: FormState,
}

impl List {
    /// The address of the list; `more` is added to its query.
    pub(super) fn href(&self, more: &str) -> String {
        let everyone = if self.everyone { "&assignedTo=all" } else { "" };
        format!("/inbox?state={}{everyone}{more}", self.shown.as_str())
    }
}
