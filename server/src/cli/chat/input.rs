//! Reads lines from standard input: from a terminal with editing and history, or from a pipe.
//!
//! The history is kept in memory only, because messages are private.

use super::output::print;
use crate::cli::common::Failure;
use rustyline::{Config, DefaultEditor, error::ReadlineError};
use std::io::{IsTerminal as _, Write as _};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines, Stdin},
    select,
    signal::ctrl_c,
};

/// What the person typed.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
}

/// The prompt before a line.
#[derive(Debug, Clone, Copy)]
pub enum Prompt<'a> {
    /// Prompt of a message, shown only on terminals.
    Turn(&'a str),
    /// A question, always shown. Its answer is not added to the history.
    Question(&'a str),
}

/// Reads lines from a terminal or a pipe.
pub enum LineReader {
    /// The terminal's editor; `None` while a thread waits for a line.
    Terminal(Option<Box<DefaultEditor>>),
    /// Standard input that is not a terminal.
    Pipe(Lines<BufReader<Stdin>>),
}

impl LineReader {
    /// Opens standard input.
    ///
    /// # Errors
    /// If the terminal cannot be used.
    pub fn open() -> Result<Self, Failure> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Pipe(BufReader::new(tokio::io::stdin()).lines()));
        }
        let config = Config::builder().auto_add_history(false).build();
        let editor = DefaultEditor::with_config(config);
        let editor = editor.map_err(|error| Failure::Failed(format!("the terminal cannot be used: {error}")))?;
        Ok(Self::Terminal(Some(Box::new(editor))))
    }

    /// Shows the prompt and waits for a line.
    ///
    /// # Errors
    /// If standard input cannot be read.
    pub async fn read(&mut self, prompt: Prompt<'_>) -> Result<Input, Failure> {
        match self {
            Self::Terminal(editor) => {
                let gone = || Failure::Failed("the terminal is gone".into());
                let mut typing = editor.take().ok_or_else(gone)?;
                let (shown, remembers) = match prompt {
                    Prompt::Turn(text) => (text.to_owned(), true),
                    Prompt::Question(text) => (format!("{text} "), false),
                };
                // Reading blocks, so it runs in a thread of its own.
                let typed = tokio::task::spawn_blocking(move || {
                    let typed = typing.readline(&shown);
                    (typing, typed)
                });
                let (mut typing, typed) = typed.await.map_err(|_| gone())?;
                if let (Ok(line), true) = (&typed, remembers) {
                    // A failure to add to the history is ignored.
                    let _ = typing.add_history_entry(line.trim());
                }
                *editor = Some(typing);
                input(typed)
            }
            Self::Pipe(lines) => {
                if let Prompt::Question(text) = prompt {
                    print(&format!("{text}\n"))?;
                }
                select! {
                    line = lines.next_line() => match line {
                        Ok(Some(line)) => Ok(Input::Line(line)),
                        Ok(None) => Ok(Input::End),
                        Err(error) => Err(Failure::io("cannot read standard input")(error)),
                    },
                    _ = ctrl_c() => Ok(Input::Interrupted),
                }
            }
        }
    }
}

fn input(typed: Result<String, ReadlineError>) -> Result<Input, Failure> {
    match typed {
        Ok(line) => Ok(Input::Line(line)),
        Err(ReadlineError::Interrupted) => Ok(Input::Interrupted),
        Err(ReadlineError::Eof) => {
            // The cursor is still on the line of the prompt.
            let _ = writeln!(std::io::stdout());
            Ok(Input::End)
        }
        Err(ReadlineError::Io(error)) => Err(Failure::io("cannot read the terminal")(error)),
        Err(error) => Err(Failure::Failed(format!("cannot read the terminal: {error}"))),
    }
}
