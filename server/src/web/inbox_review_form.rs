//! The form of the table of alike items: what it decides, and what a refusal says at which cell.

use super::form::{Form, unreadable};
use crate::{problem::Problem, wire_map};
use app::{
    FormState,
    inbox::{CONFIRMED, List, ONE_PRESS_MAX, item_field, review as ui},
};
use domain::{gate::Verdict, id::GateId};
use ledger::{
    gate::{GateItem, NewDecision},
    page::inbox::ITEMS,
};
use serde_json::{Map, Value};
use wire::{Code, FieldProblem, approval::Approval};

/// What a form without selected rows says.
const NOTHING: &str = "No item was selected, so nothing was decided. Select items first.";

/// The decision on each selected item.
pub type Decisions = Vec<Result<(GateId, NewDecision), Problem>>;

/// The form as it was typed, without a confirmation.
pub fn typed_state(form: &Form) -> FormState {
    let mut typed = form.state_without_errors(ui::FORM);
    typed.values.remove(CONFIRMED);
    typed
}

/// A form that decides the selected rows.
pub struct Batch<'a> {
    form: &'a Form,
    /// The form as it was typed, without a confirmation.
    typed: FormState,
    verdict: Verdict,
    /// The selected items, with the digests of the proposals that were shown.
    items: Vec<(GateId, String)>,
    note: Option<String>,
}

/// Why nothing was decided, and the form as it is shown again.
pub struct Refused {
    /// What is wrong, or what is asked.
    pub problem: Problem,
    /// The form with what was typed.
    pub form: FormState,
}

/// What became of the selected items.
pub struct Results {
    /// Items that are decided or closed now, or that have an approval of the viewer.
    pub closed_ids: Vec<GateId>,
    /// Why the first item was refused that still waits, or that others decided, with the errors of all that wait.
    pub problem: Option<Problem>,
    /// The form as it is shown again.
    pub form: FormState,
    /// Items that others had decided, or that were closed, if an approval was sent for them. Their edits were not used.
    pub late_ids: Vec<GateId>,
    /// Whether items were refused that still wait.
    has_waiting: bool,
    /// Whether a reason was typed that no decision has.
    is_note_unused: bool,
}

impl Results {
    /// Whether no item waits because it was refused, and a typed reason was used.
    pub const fn is_complete(&self) -> bool {
        !self.has_waiting && !self.is_note_unused
    }
}

impl<'a> Batch<'a> {
    /// Reads the form.
    ///
    /// # Errors
    /// For an unknown decision, an id that is none, and more items than a batch has.
    pub fn read(form: &'a Form) -> Result<Self, Problem> {
        let verdict = match Verdict::parse(&form.text("decision")) {
            Some(verdict @ (Verdict::Approve | Verdict::Deny)) => verdict,
            _ => return Err(Problem::field(Code::InvalidRequest, "decision", "approve or deny")),
        };
        let mut items: Vec<(GateId, String)> = Vec::new();
        for (name, digest) in form.below("items[") {
            let id = name.strip_suffix(']').unwrap_or(name);
            items.push((wire_map::parse_id(&item_field(id), id)?, digest.to_owned()));
        }
        if items.len() > ITEMS as usize {
            return Err(Problem::detailed(Code::TooLarge, format!("at most {ITEMS} items at once")));
        }
        Ok(Self {
            form,
            typed: typed_state(form),
            verdict,
            items,
            note: form.optional("note").filter(|_| verdict == Verdict::Deny),
        })
    }

    /// Ids of the selected items.
    pub fn ids(&self) -> Vec<GateId> {
        self.items.iter().map(|(id, _)| *id).collect()
    }

    /// The decisions. `shown` has the selected items as they are now.
    ///
    /// # Errors
    /// If nothing is selected, if a cell cannot be read, or if a second press is needed. Nothing is decided then, and
    /// the state of the form says why.
    pub fn checked(&self, shown: &List) -> Result<Decisions, Box<Refused>> {
        if self.items.is_empty() {
            return Err(Box::new(self.refused(Problem::detailed(Code::InvalidRequest, NOTHING))));
        }
        let decisions = self.decisions(&shown.items).map_err(|problem| Box::new(self.refused(problem)))?;
        match self.second_press(shown) {
            Some(asked) => Err(Box::new(asked)),
            None => Ok(decisions.into_iter().map(Ok).collect()),
        }
    }

    fn refused(&self, problem: Problem) -> Refused {
        let errors = self.form.refused(ui::FORM, &problem).errors;
        Refused { problem, form: FormState { errors, ..self.typed.clone() } }
    }

    fn decisions(&self, items: &[Approval]) -> Result<Vec<(GateId, NewDecision)>, Problem> {
        let (mut decisions, mut wrong) = (Vec::with_capacity(self.items.len()), Vec::new());
        for (id, digest) in &self.items {
            let item = items.iter().find(|item| item.id == *id).filter(|_| self.verdict == Verdict::Approve);
            let edit = match item.map(|item| (item, ui::edited_cells(item, digest, &self.typed))) {
                None => Map::new(),
                Some((_, Ok(edit))) => edit,
                Some((item, Err(errors))) => {
                    // Of an item that others have decided, the decision is refused, and not the text.
                    if item.may_decide {
                        wrong.extend(errors);
                    }
                    Map::new()
                }
            };
            let value = (!edit.is_empty()).then_some(Value::Object(edit));
            let (note, digest) = (self.note.clone(), Some(digest.clone()));
            decisions.push((*id, NewDecision { verdict: self.verdict, value, note, digest }));
        }
        if wrong.is_empty() { Ok(decisions) } else { Err(unreadable(wrong)) }
    }

    /// What is asked before many items are decided, or before items are decided at once. `None` if it was answered:
    /// the same button was pressed for as many items.
    fn second_press(&self, shown: &List) -> Option<Refused> {
        let count = self.items.len();
        let confirmed = format!("{} {count}", self.verdict);
        let needs_one = count > ONE_PRESS_MAX || shown.undo_seconds == 0;
        if !needs_one || self.form.text(CONFIRMED) == confirmed {
            return None;
        }
        let edited = |item: &Approval| match self.verdict {
            Verdict::Approve => ui::with_edits(item, &self.typed),
            _ => item.clone(),
        };
        let items: Vec<Approval> = shown.items.iter().map(edited).collect();
        let message = ui::confirm_words(self.verdict, &items, &shown.labels, shown.undo_seconds);
        let mut asked = self.refused(Problem::field(Code::InvalidRequest, CONFIRMED, message));
        asked.form.values.insert(CONFIRMED.to_owned(), confirmed);
        Some(asked)
    }

    /// What became of the items. `shown` has them as they were before.
    pub fn results(&self, shown: &List, decided: Vec<Result<GateItem, Problem>>) -> Results {
        let mut form = self.typed.clone();
        let (mut closed_ids, mut late_ids, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        let (mut closed, mut has_decided) = (None, false);
        for ((id, _), decided) in self.items.iter().zip(decided) {
            match decided {
                Err(problem) if !is_closed(&problem) => {
                    waiting.push((*id, problem));
                    continue;
                }
                Err(problem) => {
                    closed = closed.or(Some(problem));
                    late_ids.push(*id);
                }
                Ok(_) => has_decided = true,
            }
            form.values.remove(&item_field(&id.to_string()));
            closed_ids.push(*id);
        }
        if self.verdict != Verdict::Approve {
            late_ids.clear();
        }
        let problem = refusal(&waiting, &shown.items);
        if let Some(problem) = &problem {
            form.errors = self.form.refused(ui::FORM, problem).errors;
        }
        let is_note_unused = self.note.is_some() && !has_decided;
        let (has_waiting, problem) = (problem.is_some(), problem.or(closed));
        Results { closed_ids, problem, form, late_ids, has_waiting, is_note_unused }
    }
}

/// Whether an item was refused because it does not wait for a decision any more.
const fn is_closed(problem: &Problem) -> bool {
    matches!(problem.code(), Code::AlreadyDecided | Code::GateClosed)
}

/// The problem of the items that were refused, with each error at its cell or row. It has the code of the first.
fn refusal(refused: &[(GateId, Problem)], items: &[Approval]) -> Option<Problem> {
    let (_, first) = refused.first()?;
    let errors = refused.iter().flat_map(|(id, problem)| at_cells(*id, problem, items));
    Some(Problem::fields(first.code(), Some(format!("refused items: {}", refused.len())), errors.collect()))
}

fn at_cells(id: GateId, problem: &Problem, items: &[Approval]) -> Vec<FieldProblem> {
    let wire = problem.to_wire(String::new());
    let row = item_field(&id.to_string());
    if wire.errors.is_empty() {
        return vec![FieldProblem { field: row, message: wire.detail.unwrap_or(wire.title) }];
    }
    let item = items.iter().find(|item| item.id == id);
    let at_cell = |error: FieldProblem| {
        let field = item.map_or_else(|| row.clone(), |item| ui::cell_of(item, &error.field));
        FieldProblem { field, message: error.message }
    };
    wire.errors.into_iter().map(at_cell).collect()
}
