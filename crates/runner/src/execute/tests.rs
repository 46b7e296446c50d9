//! Tests of a worker with real commands and a test server.

use super::{
    adapter::Phase,
    command::{ApiAccess, CommandAdapter, Format},
    event, event_queue,
    fake::{Fake, Fault, SESSION_ID, claimed, stamp},
    limit,
    notes::Notes,
    observer::LogObserver,
    session::{End, Worker},
};
use serde_json::{Value, json};
use std::{future::poll_fn, sync::Arc, task::Poll, time::Duration};
use tokio::{sync::watch, time::timeout};

/// A lease that is longer than any test.
const LONG: Duration = Duration::from_secs(120);

/// Runs a script for a session with this input.
async fn work(fake: &Fake, script: &str, input: Value) -> End {
    let (mut worker, _stop) = fake.worker(script);
    worker.lease = LONG;
    worker.run(claimed(input)).await
}

fn logged(kind: &str, text: &str) -> (String, String) {
    (kind.into(), text.into())
}

/// Whether the process has ended. One that was not waited for stays as a zombie.
fn is_gone(process: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}

/// A signal takes effect some time after it is sent.
async fn ends(process: &str) {
    let look = async {
        while !is_gone(process) {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(10), look).await.expect("the process lives on");
}

#[tokio::test]
async fn a_command_gets_its_input_and_its_lines_become_events_in_order() {
    let fake = Fake::start().await;
    let script = r#"cat; echo "$SHIFTBOOK_SESSION_ID $SHIFTBOOK_ATTEMPT $SHIFTBOOK_TOKEN $SHIFTBOOK_ACTION_SLUG $SHIFTBOOK_AGENT_SLUG"
        echo '{"type":"agent.thinking","content":"hm"}'; printf 'no line end'
        echo '{"type":"result","result":{"n":1},"usage":{"inputTokens":5}}' >&2
        printf '\n{"type":"result","result":{"n":2},"usage":{"inputTokens":7}}'"#;
    assert_eq!(work(&fake, script, json!({"q": "x"})).await, End::Completed);
    let mut log = fake.log();
    let remark = log.iter().position(|(kind, _)| kind == "external.event").unwrap();
    assert_eq!(log.remove(remark).1, r#"{"type":"result","result":{"n":1},"usage":{"inputTokens":5}}"#);
    let expected = [
        logged("agent.message", r#"{"q":"x"}"#),
        logged("agent.message", &format!("{SESSION_ID} 1 sbk_test report tester")),
        logged("agent.thinking", "hm"),
        logged("agent.message", "no line end"),
    ];
    assert_eq!(log, expected);
    let report = json!({"attempt": 1, "result": {"n": 2}, "usage": {"inputTokens": 7}, "ifStatus": "running"});
    assert_eq!(fake.calls("complete"), [report]);
}

#[tokio::test]
async fn a_session_without_input_gives_null() {
    let fake = Fake::start().await;
    assert_eq!(work(&fake, "cat", Value::Null).await, End::Completed);
    assert_eq!(fake.log(), [logged("agent.message", "null")]);
}

#[tokio::test]
async fn answers_that_get_lost_and_servers_that_are_busy_change_nothing_in_the_log() {
    let fake = Fake::start().await;
    fake.with(|m| {
        m.faults = vec![
            ("events", Fault::LostAnswer),
            ("events", Fault::Busy),
            ("events", Fault::Broken),
            ("events", Fault::LostAnswer),
            ("complete", Fault::LostAnswer),
            ("complete", Fault::Broken),
        ];
    });
    assert_eq!(work(&fake, "seq 1 950", json!(null)).await, End::Completed);
    let expected: Vec<_> = (1..=950).map(|n| logged("agent.message", &n.to_string())).collect();
    assert_eq!(fake.log(), expected);
    assert_eq!(fake.calls("complete").len(), 1);
}

#[tokio::test]
async fn an_event_that_the_server_refuses_is_kept_as_text_in_its_place() {
    let fake = Fake::start().await;
    fake.with(|m| m.refused_text = Some("poison"));
    let script = r#"for n in 1 2 3; do echo $n; done; echo '{"type":"a.b","content":"poison"}'; echo 4; echo 5"#;
    assert_eq!(work(&fake, script, json!(null)).await, End::Completed);
    let log = fake.log();
    let texts: Vec<_> = log.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!((&texts[..3], &texts[4..]), (&["1", "2", "3"][..], &["4", "5"][..]));
    assert!(texts[3].contains(r#""type":"a.b""#));
    assert!(fake.with(|m| m.events[3]["metadata"]["notAnEvent"].as_str().unwrap().contains("not valid")));
}

#[tokio::test]
async fn an_event_for_which_the_server_is_never_available_is_kept_as_text_in_its_place() {
    let fake = Fake::start().await;
    fake.with(|m| m.stuck_text = Some("poison"));
    let script = r#"for n in 1 2 3; do echo $n; done; echo '{"type":"a.b","content":"poison"}'; echo 4; echo 5"#;
    assert_eq!(work(&fake, script, json!(null)).await, End::Completed);
    let log = fake.log();
    let texts: Vec<_> = log.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!((&texts[..3], &texts[4..]), (&["1", "2", "3"][..], &["4", "5"][..]));
    assert!(texts[3].contains(r#""type":"a.b""#));
    assert!(fake.with(|m| m.events[3]["metadata"]["notAnEvent"].is_string()));
}

#[tokio::test]
async fn a_worker_that_stops_does_not_wait_for_a_server_that_takes_no_events() {
    let fake = Fake::start().await;
    fake.with(|m| m.faults = vec![("events", Fault::Busy); 1_000]);
    let (worker, stop) = fake.worker_of(fake.command("echo late"));
    let worker = Worker { lease: NEVER, ..worker };
    let running = tokio::spawn(async move { worker.run(claimed(json!(null))).await });
    fake.until(|m| m.faults.len() < 1_000).await;
    stop.send_replace(Phase::Releasing);
    assert_eq!(timeout(4 * limit::RELEASE_TIME, running).await.expect("it waits").unwrap(), End::Released);
    assert!(fake.log().is_empty());
}

#[tokio::test]
async fn a_command_that_fails_says_so_with_the_tail_of_its_stderr() {
    let fake = Fake::start().await;
    let script = r#"echo '{"type":"result","result":1}'; seq 1 2000 >&2; echo "no such host" >&2; exit 3"#;
    assert_eq!(work(&fake, script, json!(null)).await, End::Failed("exit_3".into()));
    let fail = fake.calls("fail").remove(0);
    let message = fail["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("the command ended with exit code 3:\n") && message.ends_with("2000\nno such host"));
    assert!(message.len() < 4_000);
    let unused = fake.with(|m| m.events.iter().filter(|e| e["metadata"]["unusedResult"] == true).count());
    assert_eq!((fake.log().len(), unused), (2_002, 1));
}

#[tokio::test]
async fn a_command_ended_by_a_signal_fails_with_its_number() {
    let fake = Fake::start().await;
    assert_eq!(work(&fake, "kill -9 $$", json!(null)).await, End::Failed("signal_9".into()));
}

#[tokio::test]
async fn heartbeats_keep_the_lease_while_the_command_runs() {
    let fake = Fake::start().await;
    let pipe = tempfile::tempdir().unwrap().keep().join("pipe");
    std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    let (worker, _stop) = fake.worker(&format!("read -r line < {}", pipe.display()));
    let running = tokio::spawn(async move { worker.run(claimed(json!(null))).await });
    // Five heartbeats take longer than the first lease.
    fake.until(|m| m.calls.iter().filter(|(call, _)| call == "heartbeat").count() >= 5).await;
    tokio::fs::write(&pipe, "go\n").await.unwrap();
    assert_eq!(running.await.unwrap(), End::Completed);
    std::fs::remove_dir_all(pipe.parent().unwrap()).unwrap();
}

/// Starts a command that prints the id of its background process, and returns that id.
async fn long_running(fake: &Fake) -> (tokio::task::JoinHandle<End>, tokio::sync::watch::Sender<Phase>, String) {
    let (worker, stop) = fake.worker("sleep 1000 & echo $!; wait");
    let running = tokio::spawn(async move { worker.run(claimed(json!(null))).await });
    fake.until(|m| !m.events.is_empty()).await;
    (running, stop, fake.log()[0].1.clone())
}

#[tokio::test]
async fn a_lost_lease_ends_the_whole_process_group_and_reports_nothing() {
    let fake = Fake::start().await;
    let (running, _stop, process) = long_running(&fake).await;
    assert!(!is_gone(&process));
    fake.with(|m| m.attempt = 2);
    assert_eq!(running.await.unwrap(), End::Lost("another attempt holds it".into()));
    ends(&process).await;
    assert!(fake.calls("complete").is_empty() && fake.calls("fail").is_empty() && fake.calls("release").is_empty());
}

#[tokio::test]
async fn a_cancelled_session_ends_its_command() {
    let fake = Fake::start().await;
    let (running, _stop, process) = long_running(&fake).await;
    fake.with(|m| m.status = "abandoned".into());
    assert_eq!(running.await.unwrap(), End::Lost("it has ended".into()));
    ends(&process).await;
}

#[tokio::test]
async fn a_session_that_its_command_yielded_is_left_alone() {
    let fake = Fake::start().await;
    let (running, _stop, process) = long_running(&fake).await;
    fake.with(|m| m.status = "waiting_human".into());
    assert_eq!(running.await.unwrap(), End::Lost("it was yielded".into()));
    ends(&process).await;
    assert_eq!(fake.with(|m| m.status.clone()), "waiting_human");
}

#[tokio::test]
async fn a_server_out_of_reach_for_the_length_of_the_lease_ends_the_command() {
    let fake = Fake::start().await;
    let (running, _stop, process) = long_running(&fake).await;
    fake.with(|m| m.is_unreachable = true);
    let End::Lost(why) = running.await.unwrap() else { panic!() };
    assert!(why.contains("its lease ran out"), "{why}");
    ends(&process).await;
}

#[tokio::test]
async fn draining_lets_a_command_finish_and_its_end_releases_the_session() {
    let fake = Fake::start().await;
    let (running, stop, process) = long_running(&fake).await;
    let beats = fake.calls("heartbeat").len();
    stop.send_replace(Phase::Draining);
    fake.until(|m| m.calls.iter().filter(|(call, _)| call == "heartbeat").count() >= beats + 2).await;
    assert!(!is_gone(&process));
    stop.send_replace(Phase::Releasing);
    assert_eq!(running.await.unwrap(), End::Released);
    ends(&process).await;
    assert_eq!(fake.calls("release"), [json!({"attempt": 1})]);
}

#[tokio::test]
async fn a_second_signal_ends_a_stubborn_command() {
    let fake = Fake::start().await;
    let (worker, stop) = fake.worker("trap '' TERM; echo ready; sleep 1000; sleep 1000");
    let running = tokio::spawn(async move { worker.run(claimed(json!(null))).await });
    fake.until(|m| !m.events.is_empty()).await;
    stop.send_replace(Phase::Aborting);
    assert_eq!(running.await.unwrap(), End::Released);
    assert_eq!(fake.calls("release"), [json!({"attempt": 1})]);
}

#[tokio::test]
async fn a_remaining_process_with_open_pipes_delays_nothing() {
    let fake = Fake::start().await;
    assert_eq!(work(&fake, "sleep 1000 & echo $!", json!(null)).await, End::Completed);
    ends(&fake.log()[0].1).await;
}

/// Prints its own id and ends. Its background process writes for ever, from when the command was waited for.
const NOISY: &str = "(while kill -0 $$ 2>/dev/null; do sleep 0.05; done
    while echo tick; do sleep 0.1; done) & echo $!";

/// Longer than a test may take: what is waited for this long is not waited for at all.
const NEVER: Duration = Duration::from_secs(86_400);

/// Starts [`NOISY`] and waits until its background process writes. Returns the id of that process too.
async fn noisy(fake: &Fake) -> (tokio::task::JoinHandle<End>, watch::Sender<Phase>, String) {
    let (worker, stop) = fake.worker_of(CommandAdapter { output_time: NEVER, ..fake.command(NOISY) });
    let running = tokio::spawn(async move { worker.run(claimed(json!(null))).await });
    fake.until(|m| m.events.len() >= 2).await;
    (running, stop, fake.log()[0].1.clone())
}

#[tokio::test]
async fn a_remaining_process_that_writes_for_ever_is_ended() {
    let fake = Fake::start().await;
    let end = timeout(4 * limit::OUTPUT_TIME_MAX, work(&fake, NOISY, json!(null))).await;
    assert_eq!(end.expect("the session is held by a background process"), End::Completed);
    assert!(fake.log().contains(&logged("agent.message", "tick")));
    ends(&fake.log()[0].1).await;
}

#[tokio::test]
async fn a_worker_that_stops_does_not_wait_for_a_remaining_process() {
    let fake = Fake::start().await;
    let (running, stop, process) = noisy(&fake).await;
    stop.send_replace(Phase::Releasing);
    // The command had ended by itself, so its result counts.
    assert_eq!(running.await.unwrap(), End::Completed);
    ends(&process).await;
}

#[tokio::test]
async fn a_lost_lease_ends_a_remaining_process() {
    let fake = Fake::start().await;
    let (running, _stop, process) = noisy(&fake).await;
    fake.with(|m| m.status = "abandoned".into());
    assert_eq!(running.await.unwrap(), End::Lost("it has ended".into()));
    ends(&process).await;
}

#[tokio::test]
async fn a_remaining_process_is_ended_when_the_time_is_over() {
    let fake = Fake::start().await;
    let command = CommandAdapter { seconds: Some(2), output_time: NEVER, ..fake.command(NOISY) };
    let (mut worker, _stop) = fake.worker_of(command);
    worker.lease = LONG;
    assert_eq!(worker.run(claimed(json!(null))).await, End::Completed);
    ends(&fake.log()[0].1).await;
}

#[tokio::test]
async fn a_full_queue_makes_the_command_wait() {
    let fake = Fake::start().await;
    let (events, _outbox) = event_queue::channel(fake.lease(Duration::from_secs(60)), Arc::new(LogObserver), stamp());
    let mut taken = 0;
    loop {
        let event = event::texts("agent.message", &"x".repeat(10_000), &Notes::default()).remove(0);
        let mut push = Box::pin(events.push(event));
        if poll_fn(|context| Poll::Ready(push.as_mut().poll(context).is_pending())).await {
            break;
        }
        taken += 10_000;
    }
    assert!((limit::QUEUE_BYTES_MAX / 2..=limit::QUEUE_BYTES_MAX).contains(&taken), "{taken}");
}

#[tokio::test]
async fn a_line_longer_than_an_event_arrives_whole_in_parts() {
    let fake = Fake::start().await;
    let script = "head -c 3000000 /dev/zero | tr '\\0' 'x'; echo; echo end";
    assert_eq!(work(&fake, script, json!(null)).await, End::Completed);
    let log = fake.log();
    let (end, parts) = log.split_last().unwrap();
    assert_eq!(end, &logged("agent.message", "end"));
    assert_eq!(parts.iter().map(|(_, text)| text.len()).sum::<usize>(), 3_000_000);
    assert!(fake.with(|m| m.events[parts.len() - 1]["metadata"]["lastPart"] == true));
}

/// A worker whose command is a script that prints what a coding agent would.
fn coding_agent(fake: &Fake, format: Format, script: &str, seconds: Option<u64>) -> (Worker, watch::Sender<Phase>) {
    let (mut worker, stop) = fake.worker_of(CommandAdapter {
        format,
        api_access: ApiAccess { url: fake.url.clone(), token: None },
        instructions: Some("Be brief.".into()),
        seconds,
        ..fake.command(script)
    });
    worker.lease = LONG;
    (worker, stop)
}

#[tokio::test]
async fn a_command_inherits_the_environment_without_what_is_withheld() {
    let fake = Fake::start().await;
    // Cargo sets both variables for tests.
    let script = "echo ${CARGO_PKG_NAME-withheld} ${CARGO_MANIFEST_DIR+inherited}";
    let (mut worker, _stop) = fake.worker_of(CommandAdapter {
        api_access: ApiAccess { url: fake.url.clone(), token: None },
        withheld: vec!["CARGO_PKG_NAME".into()],
        ..fake.command(script)
    });
    worker.lease = LONG;
    assert_eq!(worker.run(claimed(json!(null))).await, End::Completed);
    assert_eq!(fake.log(), [logged("agent.message", "withheld inherited")]);
}

#[tokio::test]
async fn a_coding_agent_gets_its_task_and_its_output_becomes_events_result_and_cost() {
    let fake = Fake::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (prompt, printed) = (folder.path().join("told"), folder.path().join("printed"));
    std::fs::write(&printed, include_str!("command/fixtures/claude.jsonl")).unwrap();
    let script = format!("cat > {}; cat {}", prompt.display(), printed.display());
    let (worker, _stop) = coding_agent(&fake, Format::ClaudeCode, &script, None);
    assert_eq!(worker.run(claimed(json!({"folder": "crates"}))).await, End::Completed);
    let prompt = std::fs::read_to_string(prompt).unwrap();
    assert_eq!(prompt, "Be brief.\n\nTask: t\n\nInput:\n{\"folder\":\"crates\"}");
    assert_eq!(fake.log().len(), 5);
    let complete = fake.calls("complete").remove(0);
    assert_eq!((&complete["result"], &complete["usage"]["costUsd"]), (&json!("It says hello."), &json!(0.002375)));
}

#[tokio::test]
async fn a_coding_agent_that_reports_an_error_fails_although_its_exit_code_is_zero() {
    let fake = Fake::start().await;
    let line = r#"{"type":"turn.failed","error":{"message":"no such model"}}"#;
    let (worker, _stop) = coding_agent(&fake, Format::Codex, &format!("echo '{line}'"), None);
    assert_eq!(worker.run(claimed(json!(null))).await, End::Failed("agent_error".into()));
    assert_eq!(fake.calls("fail")[0]["error"], json!({"message": "no such model", "code": "agent_error"}));
}

#[tokio::test]
async fn a_command_whose_time_is_over_is_ended_and_its_session_fails() {
    let fake = Fake::start().await;
    let (worker, _stop) = coding_agent(&fake, Format::Lines, "sleep 1000 & echo $!; wait", Some(1));
    assert_eq!(worker.run(claimed(json!(null))).await, End::Failed("budget_seconds".into()));
    ends(&fake.log()[0].1).await;
}

#[tokio::test]
async fn an_output_that_breaks_its_contract_is_given_back_once_and_then_fails() {
    // A server that gets the same wrong result again does not fail the session: that is left to the worker.
    for (second, end) in [
        ("2", End::Completed),
        ("3", End::Failed("output_invalid".into())),
        ("1", End::Failed("output_invalid".into())),
    ] {
        let fake = Fake::start().await;
        fake.with(|m| m.contract = Some(json!({"n": 2})));
        let script = format!(
            r#"usage='"usage":{{"costUsd":1,"model":"m"}}'
            if [ -z "$SHIFTBOOK_OUTPUT_ERRORS" ]; then echo '{{"type":"result","result":{{"n":1}},'"$usage"'}}'
            else echo "$SHIFTBOOK_OUTPUT_ERRORS"; echo '{{"type":"result","result":{{"n":{second}}},'"$usage"'}}'; fi"#
        );
        assert_eq!(work(&fake, &script, json!(null)).await, end);
        let log = fake.log();
        assert!(log[0].1.contains("Your output does not fit") && log[0].1.contains("- result.n: 2 is what fits"));
        assert_eq!(log[1], logged("agent.message", r#"[{"field":"result.n","message":"2 is what fits"}]"#));
        let ended = fake.calls(if second == "2" { "complete" } else { "fail" }).remove(0);
        assert_eq!(ended["usage"], json!({"costUsd": 2, "model": "m"}), "the usage of both runs");
    }
}

#[tokio::test]
async fn the_run_after_a_refused_output_has_only_the_time_that_is_left() {
    let fake = Fake::start().await;
    fake.with(|m| m.contract = Some(json!({"n": 2})));
    // Each run alone ends in time, and both together do not.
    let script = r#"sleep 2.7; if [ -z "$SHIFTBOOK_OUTPUT_ERRORS" ]; then n=1; else n=2; fi
        echo '{"type":"result","result":{"n":'$n'},"usage":{"costUsd":1}}'"#;
    let (mut worker, _stop) = fake.worker_of(CommandAdapter { seconds: Some(3), ..fake.command(script) });
    worker.lease = LONG;
    assert_eq!(worker.run(claimed(json!(null))).await, End::Failed("budget_seconds".into()));
    assert!(fake.calls("complete").is_empty());
}

#[tokio::test]
async fn a_result_in_utf_16_with_a_number_that_json_lacks_is_the_sessions_result() {
    let fake = Fake::start().await;
    // What a script of PowerShell prints.
    let script = r#"printf '\377\376'; printf '%s\r\n' '{"type":"result","result":{"score":NaN},"usage":{"inputTokens":5}}' | sed 's/./&\x00/g; s/$/\n/' | tr -d '\n' | sed 's/$/\n\x00/'"#;
    assert_eq!(work(&fake, script, json!(null)).await, End::Completed);
    let complete = fake.calls("complete").remove(0);
    assert_eq!((&complete["result"], &complete["usage"]), (&json!({"score": null}), &json!({"inputTokens": 5})));
    let warning = fake.with(|m| m.events.last().unwrap().clone());
    assert_eq!((&warning["type"], &warning["metadata"]["line"]), (&json!("external.event"), &json!(1)));
}

#[tokio::test]
async fn a_result_that_the_server_refuses_fails_the_session_and_is_kept() {
    let fake = Fake::start().await;
    fake.with(|m| m.faults = vec![("complete", Fault::Refused)]);
    let script = r#"echo '{"type":"result","result":[[["deep"]]]}'"#;
    assert_eq!(work(&fake, script, json!(null)).await, End::Failed("result_refused".into()));
    let kept = fake.with(|m| m.events.last().unwrap().clone());
    assert_eq!(kept["content"][0]["text"], r#"[[["deep"]]]"#);
    assert!(kept["metadata"]["notAnEvent"].as_str().unwrap().contains("refused"), "{kept}");
}

#[tokio::test]
async fn a_result_that_cannot_be_read_fails_the_session_and_is_kept() {
    let fake = Fake::start().await;
    let script = r#"printf '%s\n' '{"type":"result","result":{"answer":"Two' 'lines"}}'"#;
    assert_eq!(work(&fake, script, json!(null)).await, End::Failed("result_refused".into()));
    assert_eq!(fake.log()[0].1, r#"{"type":"result","result":{"answer":"Two"#);
}

#[tokio::test]
async fn a_command_changes_a_canvas_and_a_rejected_change_is_a_warning_in_its_log() {
    let fake = Fake::start().await;
    let rejected = json!({"reason": "target_gone", "operation": 0, "path": "/n"});
    fake.with(|m| {
        m.faults.push(("canvas-patch", Fault::LostAnswer));
        m.patch_answer = json!({"rejected": rejected, "head": 5});
    });
    let id = "0193b0a0-0000-7000-8000-0000000000ca";
    let patch = json!({"opId": "w:1", "base": 3, "ops": [{"op": "remove", "path": "/n"}], "strict": true});
    let mut line = patch.clone();
    (line["type"], line["canvasId"]) = ("state.patch".into(), id.into());
    assert_eq!(work(&fake, &format!("printf '%s\\n' '{line}' text"), json!(null)).await, End::Completed);
    assert_eq!(fake.calls("canvas-patch"), [patch.clone(), patch]);
    let warning = format!("The change w:1 of the canvas {id} was not applied: target_gone at \"/n\"");
    assert_eq!(fake.log(), [logged("external.event", &warning), logged("agent.message", "text")]);
    assert_eq!(fake.with(|m| m.events[0]["metadata"].clone()), json!({"patchRefused": true}));
}
