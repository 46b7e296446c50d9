//! Server-sent events of one address. The caller reconnects.

use super::dom;
use std::{cell::Cell, rc::Rc};
use web_sys::{Event, EventSource, MessageEvent};

/// What a stream reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// It is connected.
    Open,
    /// An event without a name, with its data.
    Message(String),
    /// An event of the name that the caller follows, with its data.
    Named(String),
    /// The event `end`, with its data. Nothing follows.
    End(String),
    /// The connection is lost, or the server closes it.
    Lost,
}

/// An open stream.
#[derive(Debug, Clone)]
pub struct Stream {
    source: EventSource,
    is_closed: Rc<Cell<bool>>,
}

impl Stream {
    /// Opens a stream, and follows the events of one name beside those without a name. It is closed after
    /// [`Report::End`] and [`Report::Lost`]. `None` if the browser has no streams.
    pub fn open(address: &str, name: &'static str, report: impl Fn(Report) + 'static) -> Option<Self> {
        let stream = Self { source: EventSource::new(address).ok()?, is_closed: Rc::default() };
        let report: Rc<dyn Fn(Report)> = Rc::new(report);
        let data = |event: &MessageEvent| event.data().as_string().unwrap_or_default();
        let (tell, open) = (report.clone(), stream.clone());
        dom::on(&stream.source, "open", move |_: Event| open.tell(&tell, Report::Open));
        let (tell, open) = (report.clone(), stream.clone());
        dom::on(&stream.source, "message", move |event: MessageEvent| {
            open.tell(&tell, Report::Message(data(&event)));
        });
        let (tell, open) = (report.clone(), stream.clone());
        dom::on(&stream.source, name, move |event: MessageEvent| open.tell(&tell, Report::Named(data(&event))));
        let (tell, open) = (report.clone(), stream.clone());
        dom::on(&stream.source, "end", move |event: MessageEvent| open.tell(&tell, Report::End(data(&event))));
        for lost in ["bye", "error"] {
            let (tell, open) = (report.clone(), stream.clone());
            dom::on(&stream.source, lost, move |_: Event| open.tell(&tell, Report::Lost));
        }
        Some(stream)
    }

    /// Closes the stream. Nothing is reported afterwards.
    pub fn close(&self) {
        self.is_closed.set(true);
        self.source.close();
    }

    /// Reports, unless the stream is closed: events that had arrived before come after it.
    fn tell(&self, report: &Rc<dyn Fn(Report)>, what: Report) {
        if self.is_closed.get() {
            return;
        }
        if matches!(what, Report::End(_) | Report::Lost) {
            self.close();
        }
        report(what);
    }
}
