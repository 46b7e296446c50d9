//! Values from which the tests of conversions make records.

use domain::{
    Timestamp,
    chain::Digest,
    clock::from_micros,
    evidence::{Evidence, LineEvidence},
    gate::{MemoryProposal, PausedToolCall, Question, Staged, Task},
    id::{FeedbackRequestId, SessionId},
    view::{Choice, Condition, Field, Gate, Kind, Publication, Responses, Test},
};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use uuid::Uuid;

/// What a client reads of what the server sends.
pub fn received<T: Serialize + DeserializeOwned>(sent: &T) -> T {
    serde_json::from_str(&serde_json::to_string(sent).unwrap()).unwrap()
}

/// Numbers and texts. Each is given out once, so that two fields of a record rarely have the same value.
#[derive(Debug, Clone)]
pub struct Pool {
    numbers: Vec<u64>,
    texts: Vec<String>,
}

prop_compose! {
    pub fn pool()(
        numbers in prop::collection::vec(any::<u64>(), 160),
        texts in prop::collection::vec(".{0,12}", 48),
    ) -> Pool {
        Pool { numbers, texts }
    }
}

impl Pool {
    pub fn number(&mut self) -> u64 {
        self.numbers.pop().unwrap_or_default()
    }

    pub fn small(&mut self) -> u32 {
        u32::try_from(self.number() % 1_000_000).unwrap_or_default()
    }

    pub fn signed(&mut self) -> i64 {
        i64::from(self.small()) - 500_000
    }

    /// A number that JSON keeps exactly.
    pub fn fraction(&mut self) -> f64 {
        f64::from(self.small()) / 8.0
    }

    pub fn flag(&mut self) -> bool {
        self.number().is_multiple_of(2)
    }

    pub fn text(&mut self) -> String {
        self.texts.pop().unwrap_or_default()
    }

    pub fn id(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.number(), self.number())
    }

    pub fn digest(&mut self) -> Digest {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.number().to_be_bytes());
        Digest(bytes)
    }

    pub fn time(&mut self) -> Timestamp {
        from_micros(i64::try_from(self.number() % 4_000_000_000_000_000).unwrap_or_default())
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.small() as usize % of.len()]
    }

    pub fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let value = make(self);
        self.flag().then_some(value)
    }

    /// Two values.
    pub fn two<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        vec![make(self), make(self)]
    }

    pub fn object(&mut self) -> Map<String, Value> {
        Map::from_iter([
            (self.text(), Value::from(self.text())),
            (self.text(), Value::from(self.fraction())),
            (self.text(), Value::from(self.flag())),
        ])
    }

    fn choice(&mut self) -> Choice {
        Choice { value: self.text(), label: self.text() }
    }

    fn kind(&mut self) -> Kind {
        match self.number() % 15 {
            0 => Kind::ShortText { min_length: self.maybe(Self::small), max_length: self.maybe(Self::small) },
            1 => Kind::LongText { min_length: self.maybe(Self::small), max_length: self.maybe(Self::small) },
            2 => Kind::Number { minimum: self.maybe(Self::fraction), maximum: self.maybe(Self::fraction) },
            3 => Kind::Integer { minimum: self.maybe(Self::signed), maximum: self.maybe(Self::signed) },
            4 => Kind::YesNo,
            5 => Kind::Date,
            6 => Kind::DateTime,
            7 => Kind::SingleChoice { options: self.two(Self::choice) },
            8 => Kind::MultipleChoice {
                options: self.two(Self::choice),
                min_items: self.maybe(Self::small),
                max_items: self.maybe(Self::small),
            },
            9 => Kind::Scale {
                minimum: self.signed(),
                maximum: self.signed(),
                low_label: self.text(),
                high_label: self.text(),
            },
            10 => Kind::Rating { criteria_set: self.text(), dimensions: Vec::new() },
            11 => Kind::Entity { entity_type: self.text() },
            12 => Kind::Email,
            13 => Kind::TextList { min_items: self.maybe(Self::small), max_items: self.maybe(Self::small) },
            _ => Kind::Url,
        }
    }

    fn condition(&mut self) -> Condition {
        let field = self.text();
        let test = match self.number() % 3 {
            0 => Test::Equals(Value::from(self.text())),
            1 => Test::In(self.two(|pool| Value::from(pool.signed()))),
            _ => Test::Filled(self.flag()),
        };
        Condition { field, test }
    }

    pub fn field(&mut self) -> Field {
        Field {
            key: self.text(),
            label: self.text(),
            help: self.text(),
            required: self.flag(),
            default: self.maybe(|pool| Value::from(pool.text())),
            show_if: self.maybe(Self::condition),
            hidden: self.flag(),
            prefill: self.flag(),
            kind: self.kind(),
        }
    }

    pub fn publication(&mut self) -> Publication {
        Publication {
            gate: self.one_of(&Gate::ALL),
            audience: self.maybe(Self::text),
            responses: self.one_of(&Responses::ALL),
            max_responses: self.maybe(Self::small),
            opens_at: self.maybe(Self::time),
            closes_at: self.maybe(Self::time),
            thanks: self.text(),
            redirect_url: self.maybe(Self::text),
            embed_origins: self.two(Self::text),
            notify: self.flag(),
        }
    }

    fn staged(&mut self) -> Staged {
        Staged {
            staged_output: self.object(),
            text_only: self.flag(),
            criteria_score: self.maybe(Self::fraction),
            safety_flags: self.two(Self::text),
        }
    }

    fn proposal(&mut self) -> MemoryProposal {
        MemoryProposal {
            path: self.text(),
            base_version: self.number(),
            base: self.text(),
            values: self.object(),
            evidence: self.two(|pool| LineEvidence {
                line: pool.small(),
                session: SessionId(pool.id()),
                sequence: pool.number(),
            }),
            turns: self.two(|pool| Evidence { session: SessionId(pool.id()), sequence: pool.number() }),
            reason: self.text(),
            run_id: self.text(),
            ratings: None,
        }
    }

    /// What a gate asks, of any kind; a proposal of the memory writer is one of them.
    pub fn task(&mut self) -> Task {
        match self.number() % 5 {
            0 => Task::Tool(PausedToolCall {
                tool_call_id: self.text(),
                tool_name: self.text(),
                tool_input: self.object(),
            }),
            1 => Task::Output(self.staged()),
            2 => Task::Fields(self.staged()),
            3 => Task::Question(Question {
                message: self.text(),
                schema: self.maybe(|pool| Value::Object(pool.object())),
                fields: vec![self.field()],
                request_id: self.maybe(|pool| FeedbackRequestId(pool.id())),
            }),
            _ => Task::Memory(self.proposal()),
        }
    }
}
