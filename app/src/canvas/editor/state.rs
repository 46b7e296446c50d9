//! The state of the editor: the client of the canvas, and what the components show of it.

use super::{
    answer::{OpenCanvas, Suggestion},
    model::{Arrival, Drag, DropPlace, Need, Slash, Step, Typing, block_of},
    notice::Notice,
    peers::Peers,
    sender::{Delivery, Sender},
    status::{Connection, Mode, author},
};
use crate::{
    browser::{dom, field::TextArea, id::new_id, task::spawn_local, view::memo},
    canvas::{offline::Outbox, presence::Presence, rejected_words},
};
use domain::canvas::{
    Answer, Client, Document, Operation, Patch, Received, UndoRefusal,
    edit::{self, Edit, Focus, Kind, Spot, position_after},
};
use leptos::{html, prelude::*, task::tick};
use std::rc::Rc;

/// Time without a key after which a typed text is sent, milliseconds.
const QUIET_MS: i32 = 300;

type Reader = Rc<dyn Fn(Need)>;

/// The editor of one page. A copy is the same state.
#[derive(Clone, Copy)]
pub struct Editor {
    /// UUID of the canvas.
    pub id: StoredValue<String>,
    /// What the ids of this client's patches begin with.
    own: StoredValue<String>,
    client: StoredValue<Client>,
    sender: StoredValue<Option<Sender>, LocalStorage>,
    /// What waits, as the browser keeps it.
    outbox: StoredValue<Option<Outbox>, LocalStorage>,
    /// Reads from the server.
    reader: StoredValue<Option<Reader>, LocalStorage>,
    /// What the keyboard is in the middle of.
    pub typing: StoredValue<Typing>,
    /// Grows with each change of the shown document.
    revision: RwSignal<u64>,
    /// Whether the document is there.
    pub is_open: RwSignal<bool>,
    /// Ids and types of the blocks in their order.
    pub blocks: RwSignal<Vec<(String, Option<Kind>)>>,
    /// What the person may do.
    pub mode: RwSignal<Mode>,
    /// The connection to the server.
    pub connection: RwSignal<Connection>,
    /// Number of changes without an answer.
    pub waiting: RwSignal<usize>,
    /// Notices that are shown beside the blocks.
    pub notices: RwSignal<Vec<Notice>>,
    /// The menu that a slash opens.
    pub slash: RwSignal<Option<Slash>>,
    /// The handle that is held.
    pub drag: StoredValue<Option<Drag>>,
    /// Where a dragged block would be dropped.
    pub drop: RwSignal<Option<DropPlace>>,
    /// Suggestions that wait for a decision.
    pub suggestions: RwSignal<Vec<Suggestion>>,
    /// Whether the suggestions are about to be read.
    pub are_suggestions_due: StoredValue<bool>,
    /// Authors of changes, and what is read out.
    pub peers: Peers,
    /// Who else has the canvas open, and where.
    pub presence: Presence,
    /// The element around the blocks.
    pub root: NodeRef<html::Div>,
}

impl Editor {
    /// The editor of a canvas that is not open yet.
    pub fn new(id: String) -> Self {
        let own = ["e", &random()].concat();
        Self {
            presence: Presence::start(&id),
            id: StoredValue::new(id),
            client: StoredValue::new(Client::new(&own, Document::default(), 0)),
            own: StoredValue::new(own),
            sender: StoredValue::new_local(None),
            outbox: StoredValue::new_local(None),
            reader: StoredValue::new_local(None),
            typing: StoredValue::new(Typing::default()),
            revision: RwSignal::new(0),
            is_open: RwSignal::new(false),
            blocks: RwSignal::new(Vec::new()),
            mode: RwSignal::new(Mode::View),
            connection: RwSignal::new(Connection::Live),
            waiting: RwSignal::new(0),
            notices: RwSignal::new(Vec::new()),
            slash: RwSignal::new(None),
            drag: StoredValue::new(None),
            drop: RwSignal::new(None),
            suggestions: RwSignal::new(Vec::new()),
            are_suggestions_due: StoredValue::new(false),
            peers: Peers::new(),
            root: NodeRef::new(),
        }
    }

    /// An address of the API below the canvas.
    pub fn address(self, rest: &str) -> String {
        self.id.with_value(|id| ["/api/canvases/", id, rest].concat())
    }

    /// Shows the canvas as the server has it, for the first time or again. Changes that wait stay. `kept` is what the
    /// browser has of earlier pages; only the first time needs it.
    pub fn open(self, canvas: OpenCanvas, kept: Option<Outbox>) {
        let Some(document) = Document::of(canvas.document) else { return };
        self.mode.set(Mode::of(canvas.role, canvas.status));
        if canvas.role.is_some() && !canvas.status.is_final() {
            self.presence.report();
        }
        let mut rejected = Vec::new();
        if self.is_open.get_untracked() {
            self.client.update_value(|client| client.reset(document, canvas.version));
        } else {
            let own = self.own.get_value();
            let mut client = Client::new(&own, document, canvas.version).of_author(Presence::me());
            client.restore(kept.as_ref().map(Outbox::pending).unwrap_or_default());
            self.own.set_value(client.id().to_owned());
            self.client.set_value(client);
            let id = self.id.get_value();
            let sender = Sender::new(&id, move |patch, delivery| self.deliver(patch, delivery));
            self.sender.set_value(Some(sender));
            rejected = kept.as_ref().map(Outbox::rejected).unwrap_or_default();
            self.outbox.set_value(kept);
        }
        self.refresh();
        rejected.into_iter().for_each(|one| self.tell(Notice::earlier(one)));
        // A signal notifies when it gets the same value too: the view would be made anew, and the cursor lost.
        if !self.is_open.get_untracked() {
            self.is_open.set(true);
        }
        self.flush();
    }

    /// Reads the shown document.
    pub fn read<T>(self, read: impl FnOnce(&Document) -> T) -> T {
        self.client.with_value(|client| read(client.document()))
    }

    /// Reads the shown document, and again after each change of it.
    pub fn watch<T: PartialEq + Send + Sync + 'static>(
        self,
        read: impl Fn(&Document) -> T + Send + Sync + 'static,
    ) -> Memo<T> {
        memo(move || {
            self.revision.track();
            self.read(&read)
        })
    }

    /// Reads the newest confirmed document, and again after each change of it.
    pub fn watch_confirmed(self, read: impl Fn(&Document) -> String + Send + Sync + 'static) -> Memo<String> {
        memo(move || {
            self.revision.track();
            self.client.with_value(|client| read(client.confirmed()))
        })
    }

    /// Version of the newest confirmed document.
    pub fn version(self) -> u64 {
        self.client.with_value(Client::version)
    }

    /// Version up to which every patch was read.
    pub fn read_to(self) -> u64 {
        self.client.with_value(Client::read_to)
    }

    /// Gives up the patches that were skipped.
    pub fn skip_unread(self) {
        self.client.update_value(Client::skip_unread);
    }

    /// Whether the person can type.
    pub fn can_type(self) -> bool {
        self.mode.get_untracked().can_type()
    }

    /// Makes a change, shows it and sends it.
    pub fn apply(self, edit: Edit) {
        if !edit.ops.is_empty() && !self.change(edit.ops) {
            return;
        }
        if let Some(Focus { spot, at }) = edit.focus {
            self.focus(spot, at);
        }
        self.flush();
    }

    /// Makes a change and shows it. Returns whether it could be made.
    pub fn change(self, ops: Vec<Operation>) -> bool {
        let patch = Patch { op_id: "unsent".to_owned(), base: 0, ops, is_strict: false };
        if patch.check().is_err() {
            self.say("This is too large for one change. Divide it into smaller parts.");
            return false;
        }
        let is_made = self.client.try_update_value(|client| client.edit(patch.ops).is_ok()).unwrap_or_default();
        if is_made {
            self.refresh();
        } else {
            self.say("This could not be changed: it is not there any more, or too many changes wait.");
        }
        is_made
    }

    /// Sends what waits, unless a patch has no answer yet. Suggestions are sent by a press.
    pub fn flush(self) {
        if self.mode.get_untracked() == Mode::Edit
            && let Some(patch) = self.client.try_update_value(Client::next_patch).flatten()
        {
            self.push(patch);
        }
    }

    fn push(self, patch: Patch) {
        self.sender.with_value(|sender| sender.iter().for_each(|sender| sender.push(patch.clone())));
    }

    /// What the browser keeps, if the canvas is open.
    pub fn outbox(self) -> Option<Outbox> {
        self.outbox.get_value()
    }

    /// Whether closing the tab would lose what waits: the browser does not keep it.
    pub fn would_lose(self) -> bool {
        self.waiting.get_untracked() > 0 && self.outbox().is_none_or(|kept| kept.is_failing())
    }

    /// The changes that were not sent, as one suggestion.
    pub fn take_suggestion(self) -> Option<Patch> {
        let taken = self.client.try_update_value(Client::take_suggestion).flatten();
        self.refresh();
        taken
    }

    /// Undoes or makes again a change of this person. While changes wait for an answer, it waits for it too.
    pub fn step(self, step: Step) {
        if self.mode.get_untracked() == Mode::Suggest {
            if step == Step::Undo {
                self.client.update_value(|client| _ = client.take_back());
                self.refresh();
            }
            return;
        }
        let result = self.client.try_update_value(|client| match step {
            Step::Undo => client.undo(),
            Step::Redo => client.redo(),
        });
        match result {
            Some(Ok(())) => {
                self.refresh();
                self.flush();
            }
            Some(Err(UndoRefusal::Waits)) => {
                self.typing.update_value(|typing| typing.wanted = Some(step));
                self.flush();
            }
            Some(Err(UndoRefusal::Nothing)) => self.peers.announcement.set("There is nothing to undo.".to_owned()),
            None => {}
        }
    }

    /// Takes what arrives. Patches that arrive within one frame are shown together; an answer is taken at once, after
    /// the patches before it. While characters are composed, all of it is kept until they are written.
    pub fn receive(self, arrival: Arrival) {
        let is_answer = matches!(arrival, Arrival::Answer(..));
        let is_due = self.typing.try_update_value(|typing| {
            typing.held.push(arrival);
            std::mem::replace(&mut typing.is_frame_due, true)
        });
        if is_answer || dom::document().hidden() {
            self.release();
        } else if is_due == Some(false) {
            dom::frame(move || self.release());
        }
    }

    /// Takes and shows what has arrived, unless an input method composes characters.
    pub fn release(self) {
        let held = self.typing.try_update_value(|typing| {
            if typing.is_composing {
                return Vec::new();
            }
            typing.is_frame_due = false;
            std::mem::take(&mut typing.held)
        });
        let held = held.unwrap_or_default();
        if held.is_empty() {
            return;
        }
        let (mut notices, mut need) = (Vec::new(), None);
        for arrival in held {
            let op_id = match &arrival {
                Arrival::Patch(_) => None,
                Arrival::Answer(op_id, _) => Some(op_id.clone()),
            };
            match self.take(arrival) {
                Some(Received::Taken(found)) => {
                    let notice = |one| Notice::of(one, op_id.clone(), |by| self.name_of(by));
                    notices.extend(found.into_iter().map(notice));
                }
                Some(Received::Gap(_)) => need = need.or(Some(Need::Patches)),
                Some(Received::Differs) => need = Some(Need::Document),
                Some(Received::Known) | None => {}
            }
        }
        self.refresh();
        notices.into_iter().for_each(|notice| self.tell(notice));
        need.into_iter().for_each(|need| self.need(need));
        self.go_on();
    }

    /// Gives the client what arrived.
    fn take(self, arrival: Arrival) -> Option<Received> {
        if let Arrival::Patch(patch) = &arrival
            && !self.own.with_value(|own| patch.op_id.starts_with(own.as_str()))
        {
            let block = patch.ops.iter().rev().filter(|op| op.writes()).find_map(|op| block_of(op.path()));
            block.into_iter().for_each(|block| self.peers.wrote((&patch.by, self.name_of(&patch.by)), block));
        }
        self.client.try_update_value(|client| match arrival {
            Arrival::Patch(patch) => client.receive(&patch),
            Arrival::Answer(op_id, answer) => client.answer(&op_id, answer),
        })
    }

    /// What an author is called: the name, if they take part or were here since the page was opened.
    pub fn name_of(self, actor: &str) -> String {
        self.presence.name_of(actor).unwrap_or_else(|| author(actor))
    }

    /// Sends what waits, or undoes what was asked for while something waited.
    fn go_on(self) {
        self.flush();
        if self.waiting.get_untracked() == 0
            && let Some(step) = self.typing.try_update_value(|typing| typing.wanted.take()).flatten()
        {
            self.step(step);
        }
    }

    fn deliver(self, patch: &Patch, delivery: Delivery) {
        match delivery {
            Delivery::Decided(answer) => {
                self.connect(Connection::Live);
                if let (Answer::Rejected(rejected), Some(kept)) = (&answer, self.outbox()) {
                    kept.reject(patch.clone(), rejected_words(rejected.reason));
                }
                self.receive(Arrival::Answer(patch.op_id.clone(), answer));
            }
            Delivery::Suggested => {
                self.mode.set(Mode::Suggest);
                self.discard(&patch.op_id);
                self.say("You can only suggest changes now. Your last change was sent as a suggestion.");
                self.need(Need::Suggestions);
            }
            Delivery::Refused(reason) => {
                let ops = self.discard(&patch.op_id);
                self.tell(Notice::about(ops, reason));
                self.need(Need::Document);
            }
            Delivery::Unreachable => self.connect(Connection::Reconnecting),
            Delivery::SignedOut => self.connect(Connection::SignedOut),
        }
    }

    /// Drops a patch that the server does not take.
    fn discard(self, op_id: &str) -> Vec<Operation> {
        let ops = self.client.try_update_value(|client| client.discard(op_id)).flatten();
        self.refresh();
        ops.unwrap_or_default()
    }

    /// Tells the person something that belongs to no block.
    pub fn say(self, words: &str) {
        self.tell(Notice::about(Vec::new(), words.to_owned()));
    }

    /// Tells the person something beside the block that it is about. A block that is gone has no place for it.
    pub fn tell(self, notice: Notice) {
        let is_there = |id: &String| self.blocks.with_untracked(|blocks| blocks.iter().any(|(other, _)| other == id));
        let block = notice.block.clone().filter(is_there);
        self.notices.update(|notices| Notice { block, ..notice }.add_to(notices));
    }

    /// Shows the state of the connection.
    pub fn connect(self, connection: Connection) {
        let is_offline = connection != Connection::Live && !dom::window().navigator().on_line();
        let connection = if is_offline { Connection::Offline } else { connection };
        if self.connection.get_untracked() != connection {
            self.connection.set(connection);
        }
    }

    /// Sets what reads from the server.
    pub fn set_reader(self, reader: impl Fn(Need) + 'static) {
        self.reader.set_value(Some(Rc::new(reader)));
    }

    /// Reads something from the server.
    fn need(self, need: Need) {
        if let Some(reader) = self.reader.get_value() {
            reader(need);
        }
    }

    /// Gives a text of the document what was typed, and sends it after a pause.
    pub fn write(self, spot: &Spot, text: &str) {
        let ops = self.read(|document| spot.typed(document, text));
        if ops.is_empty() || !self.change(ops) {
            return;
        }
        let change = self.typing.try_update_value(|typing| {
            typing.changes = typing.changes.wrapping_add(1);
            typing.changes
        });
        dom::after(QUIET_MS, move || {
            if self.typing.with_value(|typing| Some(typing.changes) == change) {
                self.flush();
            }
        });
    }

    /// Shows the document as it is now.
    fn refresh(self) {
        let (blocks, waiting) = self.client.with_value(|client| (edit::kinds(client.document()), client.waiting()));
        if let Some(kept) = self.outbox() {
            self.client.with_value(|client| kept.keep(client.waiting_patches()));
        }
        self.keep_focus();
        if self.blocks.with_untracked(|shown| *shown != blocks) {
            self.blocks.set(blocks);
        }
        if self.waiting.get_untracked() != waiting {
            self.waiting.set(waiting);
        }
        self.revision.update(|revision| *revision += 1);
    }

    /// Puts the focus back into its field after the change: a browser takes it from an element that moves. An element
    /// that has got the focus meanwhile keeps it.
    fn keep_focus(self) {
        let Some(field) = self.root.get_untracked().and_then(|root| TextArea::focused_in(&root)) else { return };
        dom::after(0, move || {
            if dom::has_no_focus() {
                field.focus_again();
            }
        });
    }

    /// Moves the cursor into a text, once it is shown. The changed view is there before the next key arrives, and so
    /// is the cursor: a key that follows at once belongs to the new place.
    pub fn focus(self, spot: Spot, at: usize) {
        let later = spot.clone();
        spawn_local(async move {
            tick().await;
            self.enter(&spot, at);
        });
        // The element can have been made anew since.
        dom::after(0, move || {
            if dom::has_no_focus() {
                self.enter(&later, at);
            }
        });
    }

    /// Puts the cursor into the field of a text, if it is shown.
    fn enter(self, spot: &Spot, at: usize) {
        if let Some(field) = self.field(spot) {
            let text = self.read(|document| spot.text(document));
            field.show(&text, |old, at| position_after(old, &text, at));
            field.focus(at);
        }
    }

    /// The field of a text.
    pub fn field(self, spot: &Spot) -> Option<TextArea> {
        let root = self.root.get_untracked()?;
        let path = spot.path().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        dom::find(&root, &["[data-path=\"", &path, "\"]"].concat()).and_then(TextArea::of)
    }

    /// An id for a new block or item.
    pub fn new_id() -> String {
        ["b", &random()].concat()
    }
}

/// Twelve random hexadecimal digits.
fn random() -> String {
    new_id().rsplit('-').next().unwrap_or_default().to_owned()
}
