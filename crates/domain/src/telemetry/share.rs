//! The numbers that a workspace shares: whole numbers in few steps, which identify nothing.

use crate::relevance::{Kind, Row};
use serde::Serialize;

/// Most that a number of a shared row can be.
const MOST: u8 = 64;

/// One candidate, as steps. It has no id, no text and no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedMemory {
    /// Number of its prompt in the session, from 0, at most 64.
    pub prompt: u8,
    /// Relevance of the text: half steps of its binary logarithm.
    pub bm25: u8,
    /// Age: 0 for less than a day, then 7, 30, 90 and 365 days.
    pub age: u8,
    /// Importance, tenths.
    pub importance: u8,
    /// Uses in 30 days: 0; 1 for 1 and 2; 2 for 3 to 6; 3 for 7 to 14 and so on.
    pub uses: u8,
    /// Whether it was about the person who spoke.
    pub same_person: bool,
    /// Whether it came from their channel.
    pub same_channel: bool,
    /// Number of its folder: people, topics, sessions, other.
    pub kind: u8,
    /// Size: steps of 32 tokens.
    pub tokens: u8,
    /// Rank among the candidates, at most 64.
    pub rank: u8,
    /// Place in the block, at most 64.
    pub slot: Option<u8>,
    /// Whether it was injected.
    pub injected: bool,
    /// Whether it was withheld at random.
    pub holdout: bool,
    /// Mean of the ratings, tenths.
    pub rating: Option<i8>,
    /// Uses that were seen, in the steps of `uses`.
    pub used: u8,
    /// Score of the session, tenths.
    pub continuity: Option<i8>,
    /// Label, tenths.
    pub label: Option<i8>,
}

/// The candidates of one session, and how many there were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedSession {
    /// Candidates, in the steps of `uses`.
    pub candidates: u8,
    /// Those that were injected, in the same steps.
    pub injected: u8,
    /// Each of them.
    pub memories: Vec<SharedMemory>,
}

/// Returns what is shared of the rows of one session.
pub fn share(rows: &[Row]) -> SharedSession {
    let count = |count: usize| doubling(u32::try_from(count).unwrap_or(u32::MAX));
    let (mut prompt, mut memories) = (0_u8, Vec::with_capacity(rows.len()));
    for (at, row) in rows.iter().enumerate() {
        if at > 0 && rows[at - 1].query_group != row.query_group {
            prompt = prompt.saturating_add(1).min(MOST);
        }
        memories.push(shared(row, prompt));
    }
    SharedSession {
        candidates: count(rows.len()),
        injected: count(rows.iter().filter(|row| row.injected).count()),
        memories,
    }
}

fn shared(row: &Row, prompt: u8) -> SharedMemory {
    SharedMemory {
        prompt,
        bm25: step(2.0 * row.bm25.max(0.0).ln_1p() / std::f64::consts::LN_2),
        age: [1.0, 7.0, 30.0, 90.0, 365.0].iter().map(|days| u8::from(row.recency_d >= *days)).sum(),
        importance: step(row.importance * 10.0).min(10),
        uses: doubling(row.uses_30d),
        same_person: row.same_person,
        same_channel: row.same_channel,
        kind: match row.kind {
            Kind::People => 0,
            Kind::Topics => 1,
            Kind::Sessions => 2,
            Kind::Other => 3,
        },
        tokens: whole(row.tokens / 32),
        rank: whole(row.rank),
        slot: row.slot.map(whole),
        injected: row.injected,
        holdout: row.holdout,
        rating: row.agent_mean.map(tenths),
        used: doubling(row.use_hits),
        continuity: row.continuity.map(tenths),
        label: row.label.map(tenths),
    }
}

fn whole(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(MOST).min(MOST)
}

/// The binary logarithm of a count and 1: 0; 1 for 1 and 2; 2 for 3 to 6.
fn doubling(count: u32) -> u8 {
    whole(count.saturating_add(1).ilog2())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; no number becomes 0")]
fn step(value: f64) -> u8 {
    value.clamp(0.0, f64::from(MOST)) as u8
}

#[expect(clippy::cast_possible_truncation, reason = "clamped; no number becomes 0")]
fn tenths(value: f64) -> i8 {
    (value.clamp(-1.0, 1.0) * 10.0).round() as i8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TenantId;
    use proptest::prelude::*;
    use serde_json::Value;
    use uuid::Uuid;

    prop_compose! {
        fn rows()(
            text in "(secret|people/ann-1.md|/home/ann|[a-z]{4,12}){1,3}",
            all in prop::collection::vec(
                (any::<(u128, u128, u64)>(), any::<(f64, f64, f64)>(), any::<(u32, u32, u32, u32)>(), any::<[bool; 4]>(),
                 proptest::option::of(any::<f64>()), 0_usize..4),
                0..30,
            )
        ) -> (String, Vec<Row>) {
            let rows: Vec<Row> = all.into_iter().map(|(ids, reals, counts, flags, label, kind)| Row {
                id: Uuid::from_u128(ids.0),
                tenant: TenantId(Uuid::from_u128(ids.1)),
                session_hmac: text.clone(),
                turn: ids.2,
                memory_version: ids.2,
                query_group: Uuid::from_u128(ids.0 ^ ids.1),
                bm25: reals.0,
                recency_d: reals.1,
                importance: reals.2,
                uses_30d: counts.0,
                same_person: flags[0],
                same_channel: flags[1],
                kind: Kind::ALL[kind],
                tokens: counts.1,
                rank: counts.2,
                slot: flags[2].then_some(counts.3),
                injected: flags[2],
                propensity: reals.1,
                holdout: flags[3],
                similarity: label,
                agent_mean: label,
                agent_n: counts.3,
                use_hits: counts.3,
                continuity: label,
                label,
                weight: reals.0,
                ranker_version: text.clone(),
            }).collect();
            (text, rows)
        }
    }

    /// Whether a value has nothing but flags and whole numbers from -10 to 64, in the members of the two structs.
    fn says_nothing(value: &Value) -> bool {
        const NAMES: [&str; 19] = [
            "candidates",
            "injected",
            "memories",
            "prompt",
            "bm25",
            "age",
            "importance",
            "uses",
            "samePerson",
            "sameChannel",
            "kind",
            "tokens",
            "rank",
            "slot",
            "holdout",
            "rating",
            "used",
            "continuity",
            "label",
        ];
        match value {
            Value::Null | Value::Bool(_) => true,
            Value::Number(number) => number.as_i64().is_some_and(|number| (-10..=64).contains(&number)),
            Value::String(_) => false,
            Value::Array(all) => all.iter().all(says_nothing),
            Value::Object(all) => all.iter().all(|(name, value)| NAMES.contains(&name.as_str()) && says_nothing(value)),
        }
    }

    proptest! {
        #[test]
        fn no_text_and_no_id_of_any_workspace_is_shared((text, rows) in rows()) {
            let shared = serde_json::to_value(share(&rows)).unwrap();
            prop_assert!(says_nothing(&shared), "{}", shared);
            let quoted = serde_json::to_string(&text).unwrap();
            prop_assert!(!shared.to_string().contains(&quoted));
        }
    }

    #[test]
    fn numbers_become_steps() {
        assert_eq!([0, 1, 2, 3, 6, 7, 14, 15, u32::MAX].map(doubling), [0, 1, 1, 2, 2, 3, 3, 4, 31]);
        assert_eq!([-2.0, -0.24, 0.0, 0.25, 7.0].map(tenths), [-10, -2, 0, 3, 10]);
        assert_eq!((step(f64::NAN), step(-3.0), step(2.9), step(1e9)), (0, 0, 2, 64));
        assert_eq!((whole(3), whole(300)), (3, 64));
    }
}
