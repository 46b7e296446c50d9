//! The API against its own OpenAPI document: Schemathesis sends what the document allows and what it forbids, as each
//! kind of caller, to a server with objects of every kind. Its settings, and what it must not do, are in
//! `xtask/schemathesis/`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::build::Build;
use crate::prerequisites::schemathesis_program;
use crate::process::{pause, run_logged};
use crate::progress::{say, seconds};
use crate::served::{Admin, Client, Served, text};
use crate::steps::Count;
use crate::workspace::{command, root};

/// Generated requests of one operation in one phase, beside those of the phase `coverage`, which follow from the
/// document.
const EXAMPLES_MAX: u32 = 8;
/// One run's time, with room for machines at work on other things: on two idle cores the longest takes a quarter of it.
const RUN_SECONDS_MAX: u64 = 1_200;
/// Lines of what a run has found that the summary of all steps repeats.
const FOUND_LINES_MAX: usize = 40;
/// Until the answer of a turn is listed as an interaction.
const CAPTURE_SECONDS_MAX: u64 = 30;
const TENANT: &str = "schemathesis";
const AGENT: &str = "scout";

/// The person who is signed in.
const EMAIL: &str = "ada@schemathesis.localhost";
const PASSWORD: &str = "schemathesis signs in";

/// A kind of caller: what it may do, and how it calls.
struct Identity {
    name: &'static str,
    credentials: Credentials,
    /// The phases of every run.
    phases: &'static str,
    /// The phases on the binary that ships.
    phases_of_release: &'static str,
}

impl Identity {
    /// A caller that goes through the same phases in every run.
    const fn always(name: &'static str, credentials: Credentials, phases: &'static str) -> Self {
        Self { name, credentials, phases, phases_of_release: phases }
    }

    /// A caller whose answers differ from the admin's only in what it may not do. `coverage` takes one or two minutes
    /// for each such caller, so it is left to the run before a release.
    const fn with_less(name: &'static str, credentials: Credentials) -> Self {
        Self { name, credentials, phases: "fuzzing", phases_of_release: "coverage,fuzzing" }
    }

    fn phases(&self, build: Build) -> &'static str {
        if build == Build::Release { self.phases_of_release } else { self.phases }
    }
}

/// What requests carry.
enum Credentials {
    None,
    Token {
        role: &'static str,
        scope: Option<&'static str>,
    },
    /// The cookie of a signed-in person, and the header by which a browser says that the request is of our own pages.
    Cookie {
        role: &'static str,
    },
}

const fn token(role: &'static str) -> Credentials {
    Credentials::Token { role, scope: None }
}

/// The longest run first. Not every caller goes through every phase, because that would take minutes. `stateful`, which
/// follows what one request made into the next, has the caller that may do everything.
static IDENTITIES: [Identity; 6] = [
    Identity::always("admin", token("admin"), "coverage,fuzzing,stateful"),
    Identity::always("worker", Credentials::Token { role: "operator", scope: Some("worker") }, "fuzzing"),
    Identity::with_less("operator", token("operator")),
    Identity::always("person", Credentials::Cookie { role: "reviewer" }, "fuzzing"),
    Identity::with_less("member", token("member")),
    Identity::with_less("nobody", Credentials::None),
];
/// Runs side by side.
const AT_ONCE: usize = 2;

/// The file below a run's folder in which the hooks say which of their rules were needed, and how many requests of
/// each operation succeeded.
const RULES_FILE: &str = "rules.json";

/// Names of the rules of the hooks, which excuse refusals of valid data.
#[derive(Default)]
struct Rules {
    /// All of them.
    rules: BTreeSet<String>,
    /// Those that an answer needed.
    needed: BTreeSet<String>,
}

impl Rules {
    /// Adds what the hooks of one run have written. Returns the number of operations of which a request succeeded.
    fn add(&mut self, folder: &Path) -> Result<usize> {
        const OTHER_SHAPE: &str = "the hooks' file of rules has another shape";
        let text =
            std::fs::read_to_string(folder.join(RULES_FILE)).context("the hooks have written no file of rules")?;
        let of_run: Value = serde_json::from_str(&text)?;
        for (names, list) in [(&mut self.rules, "rules"), (&mut self.needed, "needed")] {
            let listed = of_run[list].as_array().context(OTHER_SHAPE)?;
            names.extend(listed.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        Ok(of_run["succeeded"].as_object().context(OTHER_SHAPE)?.len())
    }

    /// The rules that no run needed.
    fn unused(&self) -> Vec<&str> {
        self.rules.difference(&self.needed).map(String::as_str).collect()
    }

    /// Names the rules that no run needed. Which are needed depends on what is generated, so it is no failure.
    fn report(&self) {
        let unused = self.unused();
        if !unused.is_empty() {
            say(&format!("    rules of xtask/schemathesis/hooks.py that no request needed: {}", unused.join(", ")));
        }
    }
}

/// A header of a request: its name and its value.
type Header = (&'static str, String);

/// Ids of objects, by the dictionary of the settings that they belong to.
type Objects = Vec<(&'static str, Vec<String>)>;

pub fn check(build: Build, tests: &mut Option<Count>) -> Result<()> {
    // Two at a time, one for each core; each has a server of its own, so that its requests and their answers are the
    // same in every run.
    let waiting = Mutex::new(IDENTITIES.iter());
    let total = Mutex::new(Count::default());
    let rules = Mutex::new(Rules::default());
    let found = Mutex::new(Vec::new());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(identity) = next() {
                    let outcome = report(identity, Instant::now(), examine(build, identity, &rules));
                    let count = Count { passed: outcome.is_ok().into(), failed: outcome.is_err().into() };
                    total.lock().unwrap_or_else(PoisonError::into_inner).add(count);
                    found.lock().unwrap_or_else(PoisonError::into_inner).extend(outcome.err());
                }
            });
        }
    });
    let total = *total.lock().unwrap_or_else(PoisonError::into_inner);
    *tests = Some(total);
    rules.lock().unwrap_or_else(PoisonError::into_inner).report();
    if total.failed > 0 {
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner).join("\n");
        bail!("as {} of {} callers, the API is not what its document says\n{found}", total.failed, IDENTITIES.len());
    }
    Ok(())
}

/// Says how a run ended, and returns what it has found. `outcome` is the number of operations of which a request
/// succeeded. The run began at `started`.
fn report(identity: &Identity, started: Instant, outcome: Result<usize>) -> Result<(), String> {
    let (line, outcome) = match outcome {
        Ok(succeeded) => {
            let took = seconds(started.elapsed());
            (format!("    {}: nothing found in {took}, 2xx from {succeeded} operations", identity.name), Ok(()))
        }
        Err(error) => {
            let line = format!("    {}: {error:#}", identity.name);
            (line.clone(), Err(line))
        }
    };
    say(&line);
    outcome
}

/// A server with objects of every kind, and one run before it. Returns the number of operations of which a request
/// succeeded. 401 and 403 are expected answers of every operation, so it is checked that the caller is known to the
/// server before the run and after it, and that something succeeded.
fn examine(build: Build, identity: &Identity, rules: &Mutex<Rules>) -> Result<usize> {
    let folder = tempfile::tempdir_in(crate::scratch::folder())?;
    let data = folder.path().join("data");
    let admin = Admin::new(build, &data, TENANT);
    let mut run = command(schemathesis_program());
    run.args(["--config-file", "schemathesis.toml", "run", "--no-color", "--continue-on-failure"]);
    let mut headers = Vec::new();
    match identity.credentials {
        Credentials::None => {}
        Credentials::Token { role, scope } => {
            let token = admin.add_token(identity.name, role, scope)?;
            headers.push(("Authorization", format!("Bearer {token}")));
        }
        Credentials::Cookie { role } => admin.add_user(EMAIL, role, PASSWORD)?,
    }
    let maker = admin.add_token("maker", "admin", None)?;
    let server = Served::start(build, &data, "127.0.0.1:0")?;
    let client = server.client(&maker);
    write_settings(folder.path(), &objects(&client)?)?;
    if matches!(identity.credentials, Credentials::Cookie { .. }) {
        headers.extend(sign_in(&mut run, &client)?);
    }
    for (name, value) in &headers {
        run.args(["--header", &format!("{name}: {value}")]);
    }
    expect_known(&server, &headers).context("before the run")?;
    let outcome = call(run, folder.path(), &server.url, identity.phases(build));
    let added = rules.lock().unwrap_or_else(PoisonError::into_inner).add(folder.path());
    outcome?;
    let succeeded = added?;
    expect_known(&server, &headers).context("after the run")?;
    if succeeded == 0 && !headers.is_empty() {
        bail!("no request was answered with 2xx");
    }
    Ok(succeeded)
}

/// Fails unless the server takes these headers for a caller's, or for no one's if there are none.
fn expect_known(server: &Served, headers: &[Header]) -> Result<()> {
    let expected = if headers.is_empty() { 401 } else { 200 };
    let status = server.status("/api/me", headers)?;
    if status != expected {
        bail!("/api/me answered the caller with {status} instead of {expected}");
    }
    Ok(())
}

/// The headers of a browser's request. Gives the hooks what belongs to its sign-in.
fn sign_in(run: &mut Command, client: &Client) -> Result<[Header; 2]> {
    let cookie = client.sign_in(EMAIL, PASSWORD)?;
    let (name, _) = cookie.split_once('=').context("a cookie without a name")?;
    let listed = client.get_as(&cookie, "/api/sign-ins")?;
    run.env("SHIFTBOOK_COOKIE_NAME", name).env("SHIFTBOOK_SIGN_IN", text(&listed["signIns"][0], "id")?);
    Ok([("Cookie", cookie), ("Sec-Fetch-Site", "same-origin".to_owned())])
}

/// One run with all checks. What it says is shown only if it finds something.
fn call(mut run: Command, folder: &Path, url: &str, phases: &str) -> Result<()> {
    run.current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1").env("SHIFTBOOK_RULES_FILE", folder.join(RULES_FILE));
    run.args(["--phases", phases, "--max-examples", &EXAMPLES_MAX.to_string()]);
    run.arg(format!("{url}/api/openapi.json"));
    let path = folder.join("output.txt");
    let log = std::fs::File::options().read(true).write(true).create_new(true).open(&path)?;
    let outcome = run_logged(&mut run, Some(Duration::from_secs(RUN_SECONDS_MAX)), &log);
    let found = findings(&String::from_utf8_lossy(&std::fs::read(&path)?));
    if found.is_empty() { outcome } else { outcome.context(found) }
}

/// The beginning of what a run has found, from its output. The summary needs it: of a long log often only the end is
/// kept.
fn findings(output: &str) -> String {
    let is_before = |line: &&str| !line.starts_with('=') || !(line.contains("FAILURES") || line.contains("ERRORS"));
    output.lines().skip_while(is_before).take(FOUND_LINES_MAX).collect::<Vec<_>>().join("\n")
}

/// The settings of the repository, with the path of the hooks and the ids of the created objects.
fn write_settings(folder: &Path, objects: &Objects) -> Result<()> {
    let own = root().join("xtask/schemathesis");
    let settings = std::fs::read_to_string(own.join("schemathesis.toml"))?;
    let hooks = json!(own.join("hooks.py").to_string_lossy());
    let mut all = format!("hooks = {hooks}\n{settings}");
    for (name, ids) in objects {
        all.push_str(&format!("\n[dictionaries.{name}]\nvalues = {}\n", json!(ids)));
    }
    Ok(std::fs::write(folder.join("schemathesis.toml"), all)?)
}

/// One object of each kind at least, so that requests get past "not found".
fn objects(client: &Client) -> Result<Objects> {
    let fields = json!([{ "slug": "stage", "name": "Stage", "type": "select", "options": ["Lead", "Won"] }]);
    let entity_type = create(client, "/api/entity-types", &json!({ "name": "Company", "fields": fields }))?;
    let entity = create(client, "/api/entities", &json!({ "typeId": entity_type, "title": "Acme" }))?;
    let action = json!({ "name": "Look at it", "agentSlug": AGENT, "targetEntityId": entity });
    let action = create(client, "/api/actions", &action)?;
    let dimensions = json!([{ "slug": "tone", "type": "select", "options": ["kind", "sharp"] }]);
    let criteria = create(client, "/api/criteria-sets", &json!({ "name": "Tone", "dimensions": dimensions }))?;
    let group = create(client, "/api/groups", &json!({ "name": "Legal" }))?;
    let webhook = json!({ "url": "https://hooks.invalid/", "events": ["session.ended"] });
    let webhook = client.post("/api/webhooks", &webhook)?;
    let webhook = text(webhook.get("webhook").context("no webhook in the answer")?, "id")?.to_owned();
    let import = client.post_csv(&format!("/api/entity-types/{entity_type}/imports"), "Name,Stage\nBeta,Lead\n")?;

    let sessions = sessions(client, &action)?;
    let (thread, interaction) = conversation(client)?;
    let approvals = client.get("/api/approvals?assignedTo=all")?;
    let approvals = approvals["items"].as_array().context("no list of approvals")?;
    let approvals = approvals.iter().map(|item| text(item, "id").map(str::to_owned)).collect::<Result<_>>()?;
    Ok(vec![
        ("actions", vec![action]),
        ("approvals", approvals),
        ("criteria-sets", vec![criteria]),
        ("entities", vec![entity]),
        ("entity-types", vec![entity_type]),
        ("groups", vec![group]),
        ("imports", vec![text(&import, "id")?.to_owned()]),
        ("interactions", vec![interaction]),
        ("sessions", sessions),
        ("threads", vec![thread]),
        ("webhooks", vec![webhook]),
    ])
}

/// Sessions in different places: queued, held, ended, failed, and two that wait for a person.
fn sessions(client: &Client, action: &str) -> Result<Vec<String>> {
    let trigger = || create(client, &format!("/api/actions/{action}/trigger"), &json!({ "input": { "n": 1 } }));
    let mut ids = Vec::new();
    let outcomes = [
        None,
        Some(("complete", json!({ "attempt": 1, "result": "done" }))),
        Some(("fail", json!({ "attempt": 1, "error": { "message": "It broke." } }))),
        Some(("yield", json!({ "attempt": 1, "status": "waiting_human", "question": { "message": "Which one?" } }))),
        Some((
            "yield",
            json!({ "attempt": 1, "status": "awaiting_tool",
                "pausedToolCall": { "toolCallId": "c1", "toolName": "send", "toolInput": { "to": "ada" } } }),
        )),
    ];
    for outcome in outcomes {
        let id = trigger()?;
        client.post("/api/sessions/claim", &json!({ "agentSlugs": [AGENT], "leaseSeconds": 3600 }))?;
        if let Some((verb, body)) = outcome {
            client.post(&format!("/api/sessions/{id}/{verb}"), &body)?;
        }
        ids.push(id);
    }
    ids.push(trigger()?);
    Ok(ids)
}

/// A conversation with one turn, and that turn as an interaction.
fn conversation(client: &Client) -> Result<(String, String)> {
    let thread = create(client, "/api/threads", &json!({ "agent": "clerk", "message": "Hello" }))?;
    client.post("/api/sessions/claim", &json!({ "agentSlugs": ["clerk"] }))?;
    let reply = json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": "Good day." }] });
    client.post(&format!("/api/sessions/{thread}/events"), &reply)?;
    client.post(&format!("/api/sessions/{thread}/yield"), &json!({ "attempt": 1, "status": "idle" }))?;
    let started = Instant::now();
    loop {
        let listed = client.get(&format!("/api/interactions?sessionId={thread}"))?;
        if let Some(item) = listed["items"].as_array().and_then(|items| items.first()) {
            return Ok((thread, text(item, "id")?.to_owned()));
        }
        if started.elapsed() > Duration::from_secs(CAPTURE_SECONDS_MAX) {
            bail!("no interaction was listed within {CAPTURE_SECONDS_MAX} s");
        }
        pause(Duration::from_millis(100))?;
    }
}

fn create(client: &Client, path: &str, body: &Value) -> Result<String> {
    Ok(text(&client.post(path, body)?, "id")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_caller_is_examined_in_every_run_and_more_before_a_release() {
        for identity in &IDENTITIES {
            let (usual, of_release) = (identity.phases(Build::Tests), identity.phases(Build::Release));
            assert!(usual.contains("fuzzing") && of_release.contains(usual), "{}", identity.name);
        }
        assert!(IDENTITIES.iter().any(|identity| identity.phases(Build::Tests) == "coverage,fuzzing,stateful"));
    }

    #[test]
    fn the_summary_repeats_the_beginning_of_what_was_found() {
        let lines = (0..100).map(|n| format!("{n}. Test Case")).collect::<Vec<_>>().join("\n");
        let output = format!("Schemathesis\n=== FAILURES ===\n{lines}\n=== SUMMARY ===");
        let found = findings(&output);
        assert!(found.starts_with("=== FAILURES ===\n0. Test Case\n"), "{found}");
        assert_eq!(found.lines().count(), FOUND_LINES_MAX);
        assert_eq!(findings("Schemathesis\nNo failures"), "");
    }

    #[test]
    fn a_rule_is_needed_if_one_of_the_runs_needed_it() {
        let mut rules = Rules::default();
        for needed in [json!(["slug"]), json!(["note", "slug"])] {
            let folder = tempfile::tempdir().unwrap();
            let succeeded = json!({ "GET /api/me": 3, "POST /api/groups": 1 });
            let written = json!({ "rules": ["kind", "note", "slug"], "needed": needed, "succeeded": succeeded });
            std::fs::write(folder.path().join(RULES_FILE), written.to_string()).unwrap();
            assert_eq!(rules.add(folder.path()).unwrap(), 2);
        }
        assert_eq!(rules.unused(), ["kind"]);
    }

    #[test]
    fn a_run_whose_hooks_have_written_nothing_has_failed() {
        let folder = tempfile::tempdir().unwrap();
        let error = Rules::default().add(folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "the hooks have written no file of rules");
    }
}
