//! The rule that says who may write which kinds of events, and in which status of the session.

use super::{
    kind::{Known, Writer},
    name::{Kind, Prefix},
};
use crate::session::{Status, Type};

/// The writer of an event, as far as the rule distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A worker with the session's current attempt.
    Worker,
    /// A person who is signed in, or a token of theirs.
    Person {
        /// Whether the session belongs to this person.
        owner: bool,
    },
    /// The server's own use cases.
    Server,
}

/// The reason for which an event is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WriteRefusal {
    /// This author may never write this kind.
    #[error("this caller is not allowed to write events of this type")]
    KindNotAllowed,
    /// The session belongs to another person.
    #[error("only the session's owner may write to it")]
    NotOwner,
    /// The session accepts no events of this author in its present status.
    #[error("the session is {0}; no events can be added now")]
    WrongStatus(Status),
}

/// Decides whether `author` may append an event of this kind to a session of this type and status.
///
/// # Errors
/// [`WriteRefusal`] with the reason. A wrong kind comes first, then a wrong owner, then a wrong status.
pub fn may_write(author: Author, session_type: Type, status: Status, kind: &Kind) -> Result<(), WriteRefusal> {
    match author {
        Author::Server => Ok(()),
        Author::Worker => {
            let allowed = match (kind.known().map(Known::writer), kind.prefix()) {
                (Some(writer), _) => matches!(writer, Writer::Worker | Writer::ServerAndWorker),
                (None, Prefix::Agent | Prefix::Tool | Prefix::External | Prefix::State | Prefix::Other) => true,
                (None, Prefix::Session | Prefix::User | Prefix::Human) => false,
            };
            if !allowed {
                return Err(WriteRefusal::KindNotAllowed);
            }
            if status == Status::Running { Ok(()) } else { Err(WriteRefusal::WrongStatus(status)) }
        }
        Author::Person { owner } => {
            if kind.known().map(Known::writer) != Some(Writer::Owner) || session_type != Type::Mixed {
                return Err(WriteRefusal::KindNotAllowed);
            }
            if !owner {
                return Err(WriteRefusal::NotOwner);
            }
            if status == Status::Running { Ok(()) } else { Err(WriteRefusal::WrongStatus(status)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authorship_table_is_as_reviewed() {
        let authors = [
            ("worker", Author::Worker),
            ("owner", Author::Person { owner: true }),
            ("other", Author::Person { owner: false }),
        ];
        let mut table = String::new();
        for kind in Known::ALL.map(Known::as_str).into_iter().chain(["acme.custom"]) {
            let kind = Kind::parse(kind).unwrap();
            for (name, author) in authors {
                let mut allowed = Vec::new();
                for session_type in Type::ALL {
                    for status in Status::ALL {
                        if may_write(author, session_type, status, &kind).is_ok() {
                            allowed.push(format!("{session_type}/{status}"));
                        }
                    }
                }
                if !allowed.is_empty() {
                    table.push_str(&format!("{:<32} {name:<7} {}\n", kind.as_str(), allowed.join(" ")));
                }
            }
        }
        insta::assert_snapshot!(table);
    }
}
