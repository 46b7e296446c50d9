//! What a search line asks for of sessions, as conditions of the lists in [`super::list`].
//!
//! The conditions are a fixed text: parameters that are null ask for nothing. Lists of values are JSON arrays, so that
//! their number does not change the text. Both engines therefore compare by the same rules.

use super::due::hex_list;
use crate::engine::contains;
use domain::{Timestamp, clock::to_micros, id::SessionId};
use serde_json::Value;

/// The values of a JSON array of texts, as rows.
macro_rules! values {
    (sqlite, $json:literal) => {
        concat!("(SELECT value FROM json_each(", $json, "))")
    };
    (postgres, $json:literal) => {
        concat!("(SELECT jsonb_array_elements_text(CAST(CAST(", $json, " AS text) AS jsonb)) AS value)")
    };
}
/// The values of a JSON array of arrays, as rows.
macro_rules! groups {
    (sqlite, $json:literal) => {
        concat!("(SELECT value FROM json_each(", $json, "))")
    };
    (postgres, $json:literal) => {
        concat!("(SELECT jsonb_array_elements(CAST(CAST(", $json, " AS text) AS jsonb)) AS value)")
    };
}
/// The values of a row of [`groups`].
macro_rules! group_values {
    (sqlite) => {
        "(SELECT value FROM json_each(g.value))"
    };
    (postgres) => {
        "(SELECT jsonb_array_elements_text(g.value) AS value)"
    };
}
/// Whether a column is one of the values, and none of the others.
macro_rules! is_among {
    ($engine:ident, $column:literal, $any:literal, $none:literal) => {
        concat!(
            " AND (CAST(",
            $any,
            " AS text) IS NULL OR ",
            $column,
            " IN ",
            values!($engine, $any),
            ") AND (CAST(",
            $none,
            " AS text) IS NULL OR ",
            $column,
            " IS NULL OR ",
            $column,
            " NOT IN ",
            values!($engine, $none),
            ")"
        )
    };
}
/// Whether a text has one value of each group, and none of the others. `LIKE` ignores case on both engines only after
/// `lower`.
macro_rules! has {
    ($engine:ident, $text:expr, $all:literal, $none:literal) => {
        concat!(
            " AND (CAST(",
            $all,
            " AS text) IS NULL OR NOT EXISTS (SELECT 1 FROM ",
            groups!($engine, $all),
            " g WHERE NOT EXISTS (SELECT 1 FROM ",
            group_values!($engine),
            " v WHERE lower(",
            $text,
            ") LIKE lower(v.value) ESCAPE '\\'))) AND (CAST(",
            $none,
            " AS text) IS NULL OR NOT EXISTS (SELECT 1 FROM ",
            values!($engine, $none),
            " v WHERE lower(",
            $text,
            ") LIKE lower(v.value) ESCAPE '\\'))"
        )
    };
}
/// Whether a session has one tag of each group, and none of the others. A session without tags has NULL.
macro_rules! is_tagged {
    ($engine:ident) => {
        concat!(
            " AND (CAST($41 AS text) IS NULL OR NOT EXISTS (SELECT 1 FROM ",
            groups!($engine, "$41"),
            " g WHERE NOT EXISTS (SELECT 1 FROM ",
            group_values!($engine),
            " v WHERE v.value IN ",
            values!($engine, "tags"),
            "))) AND (CAST($42 AS text) IS NULL OR NOT EXISTS (SELECT 1 FROM ",
            values!($engine, "$42"),
            " v WHERE v.value IN ",
            values!($engine, "tags"),
            "))"
        )
    };
}
/// The names of the models in a session's usage, one after another; NULL or empty if there is none. Few usages name a
/// model, so only those that can are read as JSON.
macro_rules! models {
    (sqlite) => {
        "(SELECT group_concat(m.value, ' ') FROM json_tree(CASE WHEN usage LIKE '%\"model%' AND json_valid(usage) \
         THEN usage END) m WHERE m.type = 'text' \
         AND (m.fullkey = '$.model' OR m.path = '$.models' AND typeof(m.key) = 'integer'))"
    };
    (postgres) => {
        "CASE WHEN usage LIKE '%\"model%' THEN shiftbook_models(usage) END"
    };
}
/// Whether the names of a session's models have one value of each group, and none of the others.
macro_rules! is_of_models {
    (sqlite) => {
        has!(sqlite, models!(sqlite), "$43", "$44")
    };
    (postgres) => {
        has!(postgres, models!(postgres), "$43", "$44")
    };
}
/// The sessions whose ids are in a JSON array.
macro_rules! of_ids {
    (sqlite, $json:literal) => {
        concat!("id IN (SELECT unhex(value) FROM json_each(", $json, "))")
    };
    (postgres, $json:literal) => {
        concat!("id IN (SELECT CAST(value AS uuid) FROM ", values!(postgres, $json), " j)")
    };
}
/// Whether the words are in the title, or in an event of the session.
macro_rules! is_worded {
    ($engine:ident) => {
        concat!(
            " AND (CAST($36 AS text) IS NULL OR ",
            of_ids!($engine, "$36"),
            " OR (NOT EXISTS (SELECT 1 FROM ",
            values!($engine, "$37"),
            " v WHERE NOT lower(title) LIKE lower(v.value) ESCAPE '\\') AND NOT EXISTS (SELECT 1 FROM ",
            values!($engine, "$38"),
            " v WHERE lower(title) LIKE lower(v.value) ESCAPE '\\')))"
        )
    };
}
/// Conditions that begin with `AND`. Parameters: `$17` to `$44`, in the order of [`Binds`].
macro_rules! matching {
    ($engine:ident) => {
        concat!(
            is_among!($engine, "status", "$17", "$18"),
            is_among!($engine, "agent_slug", "$19", "$20"),
            is_among!($engine, "session_type", "$21", "$22"),
            is_among!($engine, "action_slug", "$23", "$24"),
            is_among!($engine, "created_by", "$25", "$26"),
            has!($engine, "title", "$27", "$28"),
            // The code and the message, of which either can be missing.
            has!($engine, "COALESCE(error_code || ' ', '') || COALESCE(error_message, '')", "$29", "$30"),
            " AND (cost_micros >= $31 OR $31 IS NULL) AND (cost_micros <= $32 OR $32 IS NULL) \
             AND (CAST($33 AS bigint) IS NULL OR COALESCE(completed_at, $35) - started_at >= $33) \
             AND (CAST($34 AS bigint) IS NULL OR COALESCE(completed_at, $35) - started_at <= $34)",
            is_worded!($engine),
            is_among!($engine, "COALESCE(assignee, 'none')", "$39", "$40"),
            is_tagged!($engine),
            is_of_models!($engine)
        )
    };
}
pub(super) use {is_of_models, is_tagged, is_worded, matching, models, of_ids};
// Other lists compare by the same rules.
pub(crate) use {group_values, groups, has, is_among, values};

/// Means no one among the assignees.
pub const UNASSIGNED: &str = "none";

/// The values of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Among {
    /// One of these; `None` for any.
    pub any_of: Option<Vec<String>>,
    /// None of these.
    pub none_of: Vec<String>,
}

/// Parts of a text, whatever their case; or whole tags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contains {
    /// Of each group one part.
    pub groups: Vec<Vec<String>>,
    /// None of these parts.
    pub none_of: Vec<String>,
}

impl Among {
    /// The parameter `$any` of [`is_among`].
    pub(crate) fn any(&self) -> Option<String> {
        self.any_of.as_ref().map(|values| Value::from(values.clone()).to_string())
    }

    /// The parameter `$none` of [`is_among`].
    pub(crate) fn none(&self) -> Option<String> {
        none_of(&self.none_of)
    }
}

impl Contains {
    /// The parameter `$all` of [`has`].
    pub(crate) fn all(&self) -> Option<String> {
        let groups: Vec<Value> = self.groups.iter().map(|values| Value::from(patterns(values))).collect();
        (!groups.is_empty()).then(|| Value::from(groups).to_string())
    }

    /// The parameter `$none` of [`has`].
    pub(crate) fn none(&self) -> Option<String> {
        none_of(&patterns(&self.none_of))
    }
}

fn none_of(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| Value::from(values.to_vec()).to_string())
}

fn patterns(values: &[String]) -> Vec<String> {
    values.iter().map(|value| contains(value)).collect()
}

/// The smallest and the largest number, both included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The smallest.
    pub min: Option<i64>,
    /// The largest.
    pub max: Option<i64>,
}

/// Sessions with words in an event or in the title.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worded {
    /// Sessions that have an event with the words.
    pub sessions: Vec<SessionId>,
    /// Parts that a title must have instead, all of them.
    pub in_title: Vec<String>,
    /// Parts that such a title must not have.
    pub not_in_title: Vec<String>,
}

/// What a search line asks for. The default asks for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matching {
    /// Statuses that sessions have now.
    pub statuses: Among,
    /// Slugs of agents.
    pub agents: Among,
    /// Types of sessions.
    pub types: Among,
    /// Slugs of actions.
    pub tasks: Among,
    /// Who created the session: `user:…`.
    pub creators: Among,
    /// Parts of the title.
    pub titles: Contains,
    /// Parts of the error's code and message.
    pub errors: Contains,
    /// Cost in millionths of a US dollar.
    pub cost: Bounds,
    /// Time from the first claim to the end, or to `now`, microseconds.
    pub lasted: Bounds,
    /// The time of the search (UTC).
    pub now: Option<Timestamp>,
    /// Words in events or in the title.
    pub words: Option<Worded>,
    /// Who the session is assigned to: `user:…`, or [`UNASSIGNED`].
    pub assignees: Among,
    /// Whole tags.
    pub tags: Contains,
    /// Parts of the names of the models that the session's usage names.
    pub models: Contains,
}

/// The parameters of [`matching`].
pub(super) struct Binds {
    pub(super) among: [Option<String>; 10],
    pub(super) texts: [Option<String>; 7],
    pub(super) numbers: [Option<i64>; 5],
    pub(super) labels: [Option<String>; 6],
}

impl Matching {
    /// Whether it asks for nothing.
    pub fn is_open(&self) -> bool {
        Self { now: None, ..self.clone() } == Self::default()
    }

    pub(super) fn binds(&self) -> Binds {
        let (any, none, groups, no_part) = (Among::any, none_of, Contains::all, Contains::none);
        let worded = self.words.as_ref();
        let in_title =
            |values: fn(&Worded) -> &Vec<String>| worded.map(|words| Value::from(patterns(values(words))).to_string());
        let [s, a, t, k, c] = [&self.statuses, &self.agents, &self.types, &self.tasks, &self.creators]
            .map(|among| [any(among), none(&among.none_of)]);
        let ([s1, s2], [a1, a2], [t1, t2], [k1, k2], [c1, c2]) = (s, a, t, k, c);
        let tags: Vec<Value> = self.tags.groups.iter().map(|group| Value::from(group.clone())).collect();
        Binds {
            labels: [
                any(&self.assignees),
                none(&self.assignees.none_of),
                (!tags.is_empty()).then(|| Value::from(tags).to_string()),
                none(&self.tags.none_of),
                groups(&self.models),
                no_part(&self.models),
            ],
            among: [s1, s2, a1, a2, t1, t2, k1, k2, c1, c2],
            texts: [
                groups(&self.titles),
                no_part(&self.titles),
                groups(&self.errors),
                no_part(&self.errors),
                worded.map(|words| hex_list(&words.sessions)),
                in_title(|words| &words.in_title),
                in_title(|words| &words.not_in_title),
            ],
            numbers: [self.cost.min, self.cost.max, self.lasted.min, self.lasted.max, self.now.map(to_micros)],
        }
    }
}
