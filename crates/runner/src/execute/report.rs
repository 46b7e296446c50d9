//! Who is told how it goes.

use std::fmt::Debug;

/// Hears what an executor does.
pub trait Report: Debug + Send + Sync + 'static {
    /// A session was begun.
    fn began(&self);

    /// A session is out of our hands, completed or not.
    fn ended(&self, completed: bool);

    /// A session went elsewhere: neither done nor failed.
    fn left(&self);

    /// Events were acknowledged.
    fn appended(&self, count: usize);

    /// Something worth a line.
    fn say(&self, message: &str);
}

/// For the log of a server.
#[derive(Debug)]
pub struct Logged;

impl Report for Logged {
    fn began(&self) {}

    fn ended(&self, _completed: bool) {}

    fn left(&self) {}

    fn appended(&self, _count: usize) {}

    fn say(&self, message: &str) {
        tracing::info!("{message}");
    }
}
