//! `shiftbook chat` with typed input, through pipes and on a real terminal.

use crate::app::{App, Who};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};
use testkit::model::{ScriptedModel, ScriptedReply};

const QUESTION: &str = "Quick check — did today feel helpful? [y/n/s] (or Enter to skip without recording)";
/// Longest wait for output. It only passes if the test fails.
const WAIT_MAX: Duration = Duration::from_secs(60);
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

async fn serve(script: impl IntoIterator<Item = ScriptedReply>) -> (App, ScriptedModel) {
    let model = ScriptedModel::start(script).await;
    let settings = format!(
        "[agents.clerk]\nadapter = \"chat\"\nworkspace = \"acme\"\nwire = \"openai\"\nbase_url = \"{}\"\nmodel = \"m-1\"\n\
         tools = [\"note\", \"ask_person\"]\n",
        model.base_url
    );
    (App::start_with(&settings, &[], &[]), model)
}

async fn get(app: &App, path: &str) -> Value {
    app.request(Who::Operator, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

/// Returns the newest conversation and its ratings, as the operator's command lists them.
async fn newest(app: &App) -> (Value, Vec<Value>) {
    let thread = get(app, "/api/threads").await["items"][0].clone();
    let list = app.cli().args(["feedback", "list", "--thread", thread["id"].as_str().unwrap()]).output().unwrap();
    let lines = String::from_utf8(list.stdout).unwrap();
    (thread, lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The running command and what it has printed so far.
struct Typing {
    child: Child,
    printed: Arc<(Mutex<String>, Condvar)>,
    reader: Option<std::thread::JoinHandle<()>>,
    read: usize,
}

impl Typing {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let printed: Arc<(Mutex<String>, Condvar)> = Arc::default();
        let (sink, mut out) = (Arc::clone(&printed), child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut buffer = [0; 1024];
            while let Ok(n) = out.read(&mut buffer) {
                if n == 0 {
                    return;
                }
                bytes.extend_from_slice(&buffer[..n]);
                *sink.0.lock().unwrap() = String::from_utf8_lossy(&bytes).into_owned();
                sink.1.notify_all();
            }
        });
        Self { child, printed, reader: Some(reader), read: 0 }
    }

    /// Starts the chat command on a pseudo-terminal.
    fn on_a_terminal(app: &App, args: &str) -> Self {
        let mut command = app.cli();
        let environment: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command = Command::new("script");
        let line = format!("exec {} chat --url {} {args}", env!("CARGO_BIN_EXE_shiftbook"), app.url);
        command.args(["-qefc", &line, "/dev/null"]).env("TERM", "xterm");
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("SHIFTBOOK_TOKEN", app.token(Who::Operator).unwrap());
        Self::start(command)
    }

    /// Starts the chat command with pipes as its standard streams.
    fn through_a_pipe(app: &App, args: &[&str]) -> Self {
        let mut command = app.cli();
        command.args(["chat", "--url", &app.url]).args(args);
        command.env("SHIFTBOOK_TOKEN", app.token(Who::Operator).unwrap());
        Self::start(command)
    }

    fn types(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Waits until the command has printed this text, after the text of the previous call.
    fn shows(&mut self, wanted: &str) {
        let (text, changed) = &*self.printed;
        let mut text = text.lock().unwrap();
        loop {
            if let Some(at) = text.get(self.read..).and_then(|new| new.find(wanted)) {
                self.read += at + wanted.len();
                return;
            }
            let (next, timeout) = changed.wait_timeout(text, WAIT_MAX).unwrap();
            text = next;
            assert!(!timeout.timed_out(), "never printed {wanted:?}, but: {text}");
        }
    }

    /// Waits for the end of the command. Returns whether it succeeded, its output, and its standard error.
    fn ends(mut self) -> (bool, String, String) {
        let mut notes = String::new();
        // On a terminal the standard input stays open: the command must end by itself, which closes this pipe.
        self.child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
        let status = self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        let printed = self.printed.0.lock().unwrap().clone();
        (status.success(), printed, notes)
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_a_pipe_are_messages_and_the_end_asks_rates_sums_up_and_says_goodbye() {
    let (app, _model) = serve([ScriptedReply::Text("Hello, guest."), ScriptedReply::Text("Still here.")]).await;
    let mut typing = Typing::through_a_pipe(&app, &["--agent", "clerk"]);
    typing.types("Hello\nAnd now?\n/memory status\n/dance\n/end\nmaybe\ny\n");
    let (went_well, printed, notes) = blocking(move || typing.ends()).await;
    assert!(went_well, "{printed}{notes}");
    let order = ["Hello, guest.", "Still here.", "session feedback records", QUESTION, "Summary: Hello", "Goodbye."];
    let places: Vec<_> =
        order.iter().map(|part| printed.find(part).unwrap_or_else(|| panic!("{part}: {printed}"))).collect();
    assert!(places.is_sorted(), "{printed}");
    assert!(printed.contains("2 turns") && printed.contains("Last reply: Still here."), "{printed}");
    // The script of the model has no reply for the summary.
    assert!(printed.contains("because the agent gave no summary: the model's service answered 400"), "{printed}");
    assert!(
        notes.contains("/dance: there is no such command") && notes.contains("type y for yes, n for no"),
        "{notes}"
    );
    let (thread, ratings) = newest(&app).await;
    assert_eq!((&thread["status"], &thread["title"]), (&json!("completed"), &json!("Hello")));
    let [rating] = ratings.as_slice() else { panic!("{ratings:?}") };
    assert_eq!((&rating["label"], &rating["source"]), (&json!("positive"), &json!("cli_end")));
    assert_eq!(rating["turn_count_at_end"], 2);
    // The log contains neither the question about the rating nor its answer.
    let log = get(&app, &format!("/api/sessions/{}/events", thread["id"].as_str().unwrap())).await.to_string();
    assert!(!log.contains("helpful") && !log.contains("positive"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaving_asks_to_save_first_and_without_that_nothing_is_asked_or_kept() {
    // Replies for each turn and for each summary that is asked for.
    let (app, _model) = serve((0..5).map(|_| ScriptedReply::Text("Yes."))).await;
    for (typed, label, summed_up) in [
        ("Hello\n/exit\n\nn\n", Some("negative"), true),
        ("Hello\n/exit\ny\ns\n", Some("skip"), true),
        ("Hello\n/exit\nn\n", None, false),
    ] {
        let mut typing = Typing::through_a_pipe(&app, &["--agent", "clerk"]);
        typing.types(typed);
        let (went_well, printed, notes) = blocking(move || typing.ends()).await;
        assert!(went_well && printed.contains("Save a summary of this conversation? [Y/n]"), "{printed}{notes}");
        assert_eq!(printed.contains(QUESTION), summed_up, "{printed}");
        assert_eq!(printed.contains("Summary: Hello\n  1 turn in"), summed_up, "{printed}");
        assert_eq!(printed.contains("\n  Yes.\n"), summed_up, "{printed}");
        assert!(printed.ends_with("Goodbye.\n"), "{printed}");
        let (thread, ratings) = newest(&app).await;
        assert_eq!(thread["status"], "completed");
        let labels: Vec<_> =
            ratings.iter().map(|one| (one["label"].as_str().unwrap(), one["source"].as_str().unwrap())).collect();
        assert_eq!(labels, label.map(|label| (label, "cli_exit")).into_iter().collect::<Vec<_>>());
        let session = get(&app, &format!("/api/sessions/{}", thread["id"].as_str().unwrap())).await;
        assert_eq!(session["result"]["summary"].is_object(), summed_up);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn enter_ctrl_c_and_the_end_of_input_record_nothing_and_go_on_to_the_summary() {
    let (app, _model) = serve((0..6).map(|_| ScriptedReply::Text("Hello, guest."))).await;
    for key in ["\r", CTRL_C, CTRL_D] {
        let mut typing = Typing::on_a_terminal(&app, "--agent clerk");
        let (went_well, printed, _) = blocking(move || {
            typing.shows("you> ");
            typing.types("Hello\r");
            typing.shows("clerk> Hello, guest.");
            typing.shows("you> ");
            typing.types("/end\r");
            typing.shows(QUESTION);
            typing.types(key);
            typing.shows("Summary: Hello");
            typing.shows("Goodbye.");
            typing.ends()
        })
        .await;
        assert!(went_well, "{printed}");
        let (thread, ratings) = newest(&app).await;
        assert_eq!((&thread["status"], ratings.len()), (&json!("completed"), 0), "{key:?}");
    }
    assert_eq!(String::from_utf8(app.cli().args(["feedback", "count"]).output().unwrap().stdout).unwrap().trim(), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_stops_a_turn_and_not_the_chat() {
    let (app, model) = serve([ScriptedReply::NoAnswer]).await;
    let mut typing = Typing::on_a_terminal(&app, "--agent clerk");
    let mut typing = blocking(move || {
        typing.shows("you> ");
        typing.types("Think for a long time\r");
        typing
    })
    .await;
    while model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    model.then([ScriptedReply::Text("Here I am.")]);
    let (went_well, printed, _) = blocking(move || {
        typing.types(CTRL_C);
        typing.shows("Stopped.");
        typing.shows("you> ");
        // At the prompt, Ctrl-C prints the commands, and the conversation continues.
        typing.types(CTRL_C);
        typing.shows("/end ends the conversation");
        typing.shows("you> ");
        typing.types("Are you there?\r");
        typing.shows("Here I am.");
        typing.shows("you> ");
        typing.types("/end\r");
        typing.shows(QUESTION);
        typing.types("n\r");
        typing.shows("Goodbye.");
        typing.ends()
    })
    .await;
    assert!(went_well, "{printed}");
    let (thread, ratings) = newest(&app).await;
    assert_eq!((&thread["status"], &ratings[0]["label"]), (&json!("completed"), &json!("negative")));
    assert_eq!(ratings[0]["turn_count_at_end"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_is_read_while_it_is_given_and_shown_once() {
    let (app, model) =
        serve([ScriptedReply::Text("All of it at once, or in pieces."), ScriptedReply::Unfinished("This takes me a")])
            .await;
    let mut typing = Typing::on_a_terminal(&app, "--agent clerk");
    let (went_well, printed, _) = blocking(move || {
        typing.shows("you> ");
        typing.types("Say it\r");
        typing.shows("you> ");
        typing.types("Say more\r");
        // The model has begun an answer that never ends.
        typing.shows("This takes me a");
        model.then([ScriptedReply::Text("Here I am.")]);
        typing.types(CTRL_C);
        typing.shows("Stopped.");
        typing.shows("you> ");
        typing.types("And now?\r");
        typing.shows("Here I am.");
        typing.shows("you> ");
        typing.types(CTRL_D);
        typing.ends()
    })
    .await;
    assert!(went_well, "{printed}");
    for reply in ["All of it at once, or in pieces.", "This takes me a", "Here I am."] {
        assert_eq!(printed.matches(reply).count(), 1, "{reply}: {printed}");
    }
    let (thread, _) = newest(&app).await;
    let log = get(&app, &format!("/api/sessions/{}/events", thread["id"].as_str().unwrap())).await.to_string();
    assert!(log.contains("Here I am.") && !log.contains("This takes me a"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_can_be_continued_and_a_question_of_the_agent_is_answered_in_it() {
    let ask = ScriptedReply::tool("c1", "ask_person", &json!({ "message": "Which company?" }));
    let (app, _model) = serve([ScriptedReply::Text("Hello."), ask, ScriptedReply::Text("Acme, then.")]).await;
    let mut typing = Typing::through_a_pipe(&app, &["--agent", "clerk"]);
    typing.types("Hello\n");
    drop(typing.child.stdin.take());
    let (went_well, _, notes) = blocking(move || typing.ends()).await;
    let (thread, _) = newest(&app).await;
    let id = thread["id"].as_str().unwrap().to_owned();
    assert!(went_well && notes.contains(&format!("shiftbook chat --thread {id}")), "{notes}");
    assert_eq!(thread["status"], "idle");
    let mut typing = Typing::through_a_pipe(&app, &["--thread", &id]);
    let (went_well, printed, notes) = blocking(move || {
        typing.types("Find it\n");
        typing.shows("Which company?");
        typing.types("Acme\n/end\ny\n");
        typing.ends()
    })
    .await;
    assert!(went_well && printed.contains("Acme, then.") && printed.contains("2 turns"), "{printed}{notes}");
    // A conversation that has ended cannot be continued. One without messages leaves no open session.
    let output = app
        .cli()
        .args(["chat", "--url", &app.url, "--thread", &id])
        .env("SHIFTBOOK_TOKEN", app.token(Who::Operator).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let mut typing = Typing::through_a_pipe(&app, &["--agent", "clerk"]);
    drop(typing.child.stdin.take());
    assert!(blocking(move || typing.ends()).await.0);
    assert_eq!(newest(&app).await.0["status"], "abandoned");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_that_waits_for_an_answer_is_continued_with_it() {
    let ask = ScriptedReply::tool("c1", "ask_person", &json!({ "message": "Which company?" }));
    let (app, _model) = serve([ask, ScriptedReply::Text("Acme, then.")]).await;
    let mut typing = Typing::through_a_pipe(&app, &["--agent", "clerk"]);
    let (went_well, _, notes) = blocking(move || {
        typing.types("Find it\n");
        typing.shows("Which company?");
        drop(typing.child.stdin.take());
        typing.ends()
    })
    .await;
    let (thread, _) = newest(&app).await;
    assert!(went_well && thread["status"] == "waiting_human", "{thread}{notes}");
    let mut typing = Typing::through_a_pipe(&app, &["--thread", thread["id"].as_str().unwrap()]);
    let (went_well, printed, notes) = blocking(move || {
        typing.shows("Which company?");
        typing.types("Acme\n/end\ny\n");
        typing.ends()
    })
    .await;
    assert!(went_well && printed.contains("Acme, then."), "{printed}{notes}");
    assert!(notes.contains("The agent waits for an answer."), "{notes}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_after_a_question_that_was_answered_elsewhere_is_a_message() {
    let ask = ScriptedReply::tool("c1", "ask_person", &json!({ "message": "Which company?" }));
    let script = [ask, ScriptedReply::Text("Acme, then."), ScriptedReply::Text("You are welcome.")];
    let (app, _model) = serve(script).await;
    let mut typing = Typing::through_a_pipe(&app, &["--agent", "clerk"]);
    let mut typing = blocking(move || {
        typing.types("Find it\n");
        typing.shows("Which company?");
        typing
    })
    .await;
    let id = newest(&app).await.0["id"].as_str().unwrap().to_owned();
    app.post(Who::Operator, &format!("/api/sessions/{id}/elicitation-reply"), json!({ "content": "Acme" })).await;
    let path = format!("/api/threads/{id}");
    let idle = async { while get(&app, &path).await["status"] != "idle" {} };
    tokio::time::timeout(WAIT_MAX, idle).await.expect("the agent has not gone on");
    let (went_well, printed, notes) = blocking(move || {
        typing.types("Thanks\n");
        typing.shows("Acme, then.");
        typing.shows("You are welcome.");
        typing.types("/end\ny\n");
        typing.ends()
    })
    .await;
    assert!(went_well && printed.contains("2 turns"), "{printed}{notes}");
    assert!(notes.contains("The question is no longer open. Your line is sent as a message."), "{notes}");
}
