//! The words for the state of the editor, and for other authors.

use domain::{canvas::ParticipantRole, session::Status};

/// The connection to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Changes of others arrive.
    Live,
    /// It was lost, and is tried again.
    Reconnecting,
    /// The browser is offline.
    Offline,
    /// The person is signed out.
    SignedOut,
}

/// What the person may do here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Change the document.
    Edit,
    /// Suggest changes, which an editor accepts or declines.
    Suggest,
    /// Read it.
    View,
    /// Read what it was at its end.
    Ended(Status),
}

impl Mode {
    /// The mode of a role in a canvas with a status.
    pub const fn of(role: Option<ParticipantRole>, status: Status) -> Self {
        match role {
            _ if status.is_final() => Self::Ended(status),
            Some(ParticipantRole::Edit) => Self::Edit,
            Some(ParticipantRole::Suggest) => Self::Suggest,
            Some(ParticipantRole::View) | None => Self::View,
        }
    }

    /// Whether the person can type.
    pub const fn can_type(self) -> bool {
        matches!(self, Self::Edit | Self::Suggest)
    }
}

/// The state as a sentence. `waiting` is the number of changes that the server has not confirmed.
pub fn words(mode: Mode, connection: Connection, waiting: usize) -> String {
    let kept = match waiting {
        0 => String::new(),
        1 => " 1 change waits in this tab.".to_owned(),
        many => [" ", &many.to_string(), " changes wait in this tab."].concat(),
    };
    let kept = if mode == Mode::Suggest { String::new() } else { kept };
    match (mode, connection) {
        (Mode::Ended(Status::Completed), _) => "Completed. No one can change it any more.".to_owned(),
        (Mode::Ended(Status::Abandoned), _) => "Abandoned. No one can change it any more.".to_owned(),
        (Mode::Ended(_), _) => "Ended. No one can change it any more.".to_owned(),
        (_, Connection::Offline) => ["Offline.", &kept].concat(),
        (_, Connection::Reconnecting) => ["Reconnecting.", &kept].concat(),
        (_, Connection::SignedOut) => ["You are signed out. Sign in on another tab.", &kept].concat(),
        (Mode::View, Connection::Live) => "You can only read this canvas.".to_owned(),
        (Mode::Suggest, Connection::Live) => match waiting {
            0 => "Your changes are suggestions. An editor accepts or declines them.".to_owned(),
            1 => "1 change is not sent yet.".to_owned(),
            many => [&many.to_string(), " changes are not sent yet."].concat(),
        },
        (Mode::Edit, Connection::Live) if waiting > 0 => "Saving…".to_owned(),
        (Mode::Edit, Connection::Live) => "Saved".to_owned(),
    }
}

/// Who an author is, without the name: names of people are not in the log.
pub fn author(actor: &str) -> String {
    match actor.split_once(':') {
        Some(("agent", slug)) => ["The agent ", slug].concat(),
        Some(("token", _)) => "A program".to_owned(),
        Some(("user", _)) => "Another person".to_owned(),
        _ => "Someone".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_says_what_is_kept_and_who_can_type() {
        for (mode, connection, waiting, expected) in [
            (Mode::Edit, Connection::Live, 0, "Saved"),
            (Mode::Edit, Connection::Live, 2, "Saving…"),
            (Mode::Edit, Connection::Offline, 0, "Offline."),
            (Mode::Edit, Connection::Offline, 1, "Offline. 1 change waits in this tab."),
            (Mode::Edit, Connection::Reconnecting, 40, "Reconnecting. 40 changes wait in this tab."),
            (Mode::Edit, Connection::SignedOut, 0, "You are signed out. Sign in on another tab."),
            (Mode::Suggest, Connection::Live, 1, "1 change is not sent yet."),
            (Mode::View, Connection::Live, 0, "You can only read this canvas."),
            (Mode::Ended(Status::Abandoned), Connection::Offline, 0, "Abandoned. No one can change it any more."),
        ] {
            assert_eq!(words(mode, connection, waiting), expected);
        }
        let editor = Some(ParticipantRole::Edit);
        assert_eq!(Mode::of(editor, Status::Running), Mode::Edit);
        assert!(!Mode::of(editor, Status::Completed).can_type());
        assert!(!Mode::of(None, Status::Running).can_type());
    }

    #[test]
    fn an_author_is_a_person_a_program_or_an_agent() {
        for (actor, expected) in [
            ("user:018f", "Another person"),
            ("token:018f", "A program"),
            ("agent:scout", "The agent scout"),
            ("system", "Someone"),
        ] {
            assert_eq!(author(actor), expected);
        }
    }
}
