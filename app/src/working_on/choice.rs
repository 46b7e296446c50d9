//! The rows of the picker's list: which ones match the typed text, and where arrow keys move the selection.

use super::Task;
use crate::lowercase::lowercase;

/// One row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// Works on this task.
    Task(Task),
    /// Creates a task with this name and works on it; an empty name asks for one first.
    Create(String),
    /// Ends the working session.
    Stop,
}

/// The rows for the typed text: tasks whose names contain every word of it, then creating a task, then stopping.
/// While the picker asks for a name, creating is the only row.
pub fn rows(tasks: &[Task], typed: &str, may_create: bool, naming: bool, active: bool) -> Vec<Row> {
    let typed = typed.trim();
    let create = Row::Create(typed.to_owned());
    if naming {
        return vec![create];
    }
    let words: Vec<String> = lowercase(typed).split_whitespace().map(str::to_owned).collect();
    let fits = |task: &&Task| {
        let title = lowercase(&task.title);
        words.iter().all(|word| title.contains(word.as_str()))
    };
    let found = tasks.iter().filter(fits).take(ROWS_MAX).cloned().map(Row::Task);
    found.chain(may_create.then_some(create)).chain(active.then_some(Row::Stop)).collect()
}

/// Most tasks listed at once; typing finds the others.
const ROWS_MAX: usize = 50;

/// The index that a key moves the selection to; `None` if the key does not move it.
pub fn moved(key: &str, at: usize, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(match key {
        "ArrowDown" if at >= last => 0,
        "ArrowDown" => at + 1,
        "ArrowUp" if at == 0 => last,
        "ArrowUp" => (at - 1).min(last),
        "Home" => 0,
        "End" => last,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks() -> Vec<Task> {
        ["Q2 portfolio review", "Call Acme", "Review contract"]
            .into_iter()
            .map(|title| Task { id: title.to_lowercase(), title: title.to_owned() })
            .collect()
    }

    fn titles(rows: &[Row]) -> Vec<&str> {
        rows.iter()
            .map(|row| match row {
                Row::Task(task) => task.title.as_str(),
                Row::Create(_) => "create",
                Row::Stop => "stop",
            })
            .collect()
    }

    #[test]
    fn typing_filters_the_tasks_and_names_the_new_one() {
        let all = rows(&tasks(), "", true, false, true);
        assert_eq!(titles(&all), ["Q2 portfolio review", "Call Acme", "Review contract", "create", "stop"]);
        let found = rows(&tasks(), " review Q ", true, false, false);
        assert_eq!(titles(&found), ["Q2 portfolio review", "create"]);
        assert_eq!(found[1], Row::Create("review Q".to_owned()));
        assert!(rows(&tasks(), "zebra", false, false, false).is_empty());
    }

    #[test]
    fn asking_for_a_name_shows_nothing_else() {
        assert_eq!(rows(&tasks(), "call", true, true, true), [Row::Create("call".to_owned())]);
    }

    #[test]
    fn arrow_keys_wrap_around_and_other_keys_do_nothing() {
        assert_eq!(moved("ArrowDown", 2, 3), Some(0));
        assert_eq!(moved("ArrowUp", 0, 3), Some(2));
        assert_eq!((moved("Home", 2, 3), moved("End", 0, 3)), (Some(0), Some(2)));
        assert_eq!(moved("ArrowUp", 9, 3), Some(2), "the list has shrunk meanwhile");
        assert_eq!((moved("a", 1, 3), moved("ArrowDown", 0, 0)), (None, None));
    }
}
