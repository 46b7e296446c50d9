//! Search in memory has one order on both engines, and the memory tool has the texts of Anthropic's SDK.

use crate::memory::{AGENT, put};
use domain::memory::ToolCommand;
use ledger::{
    memory::{self, Change},
    session,
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    both_engines_find_the_same_documents_in_the_same_order,
    queries_are_words_and_never_syntax,
    of_a_long_text_the_rarest_words_are_looked_for,
    the_memory_tool_answers_with_the_texts_of_the_sdk,
    the_memory_tool_stays_inside_the_memory,
);

const DOCUMENTS: [(&str, &str); 7] = [
    ("topics/garden.md", "# Garden\n\nTomatoes and cucumbers grow behind the house.\n"),
    ("topics/kitchen.md", "# Kitchen\n\nInés cooks tomatoes. Tomatoes again, and tomatoes.\n"),
    ("people/discord-1.md", "# Inés\n\n- likes tomatoes\n\n## Aliases\n\n- INES\n- 東京のイネス\n"),
    ("people/discord-2.md", "# Max\n\n- allergic to nuts\n"),
    ("sessions/2026-11-25-night.md", "---\ntags: [garden]\n---\nTalked about the weather, v1.2 and user_id.\n"),
    ("self/description.md", "A gardener.\n"),
    ("topics/empty.md", "\n"),
];

async fn filled(f: &Fixture) {
    for (path, text) in DOCUMENTS {
        put(f, &f.operator, path, 0, text).await.unwrap();
    }
}

async fn found(f: &Fixture, query: &str) -> Vec<String> {
    let found = memory::search(&f.ledger, &f.member, Some(AGENT), query, 0).await.unwrap();
    found.into_iter().map(|one| one.document.path).collect()
}

async fn both_engines_find_the_same_documents_in_the_same_order(f: Fixture) {
    filled(&f).await;
    // The same expectations on both engines.
    assert_eq!(found(&f, "tomatoes").await, ["topics/kitchen.md", "topics/garden.md", "people/discord-1.md"]);
    // The last one has another form of it, by the stems of one of the languages.
    let garden = ["topics/garden.md", "sessions/2026-11-25-night.md", "self/description.md"];
    assert_eq!(found(&f, "garden").await, garden);
    assert_eq!(found(&f, "ines tomatoes").await[..1], ["people/discord-1.md"]);
    assert_eq!(found(&f, "INÉS").await.len(), 2);
    assert_eq!(found(&f, "東").await, ["people/discord-1.md"]);
    assert_eq!(found(&f, "user id v1").await, ["sessions/2026-11-25-night.md"]);
    assert_eq!(found(&f, "nuts allergic").await, ["people/discord-2.md"]);
    let one = memory::search(&f.ledger, &f.member, None, "cucumbers", 1).await.unwrap();
    assert_eq!((one[0].line, one[0].excerpt.as_str()), (3, "Tomatoes and cucumbers grow behind the house."));
    // A changed document is found by its new words alone.
    put(&f, &f.operator, "people/discord-2.md", 1, "# Max\n\n- likes pears\n").await.unwrap();
    assert_eq!(found(&f, "nuts").await, Vec::<String>::new());
    assert_eq!(found(&f, "pears").await, ["people/discord-2.md"]);
    let to = memory::path("people/discord-3.md").unwrap();
    let from = memory::path("people/discord-2.md").unwrap();
    let change = Change { base_version: 2, ..Change::default() };
    memory::rename(&f.ledger, &f.operator, AGENT, from, to, change).await.unwrap();
    assert_eq!(found(&f, "3").await, ["people/discord-3.md"]);
    f.done().await;
}

async fn queries_are_words_and_never_syntax(f: Fixture) {
    filled(&f).await;
    for query in ["", "   ", "\"", "'", "* OR *", "NEAR(", "a) OR terms:(b", "' | '", "!!&|", "\\", "scope:x", "%"] {
        found(&f, query).await;
    }
    assert_eq!(found(&f, "NOT tomatoes").await.len(), 3);
    let refused = memory::search(&f.ledger, &f.member, Some(AGENT), &"x".repeat(2_001), 0).await;
    assert!(refused.is_err());
    assert!(memory::search(&f.ledger, &f.member, Some(AGENT), "x", 51).await.is_err());
    f.done().await;
}

async fn of_a_long_text_the_rarest_words_are_looked_for(f: Fixture) {
    filled(&f).await;
    assert_eq!(found(&f, &format!("{}cucumbers", "the ".repeat(99))).await[0], "topics/garden.md");
    // Words that no document has take no room.
    let unknown: String = (100..250).map(|number| format!("unheard{number} ")).collect();
    assert_eq!(found(&f, &format!("{unknown}cucumbers")).await, ["topics/garden.md"]);
    // Nor do words that more documents have, although they are longer.
    let common: String = (100..160).map(|number| format!("commonplace{number} ")).collect();
    for name in ["a", "b", "c"] {
        put(&f, &f.operator, &format!("topics/{name}.md"), 0, &format!("# Note\n\n{common}\n")).await.unwrap();
    }
    let found = found(&f, &format!("{common}nuts")).await;
    assert!(found.contains(&"people/discord-2.md".to_owned()), "{found:?}");
    f.done().await;
}

async fn tool(f: &Fixture, command: serde_json::Value) -> (bool, String) {
    let command: ToolCommand = serde_json::from_value(command).unwrap();
    let answer = memory::tool(&f.ledger, &f.operator, AGENT, None, None, command).await.unwrap();
    (answer.is_error, answer.text)
}

async fn the_memory_tool_answers_with_the_texts_of_the_sdk(f: Fixture) {
    use serde_json::json;
    let path = "/memories/topics/garden.md";
    let ok = |text: &str| (false, text.to_owned());
    let refused = |text: &str| (true, text.to_owned());
    let missing = format!("The path {path} does not exist. Please provide a valid path.");
    assert_eq!(tool(&f, json!({"command": "view", "path": path})).await, refused(&missing));
    // Folders are shown although they are empty, with what may be in them.
    let listing = |root: &str, topics: &str| {
        format!(
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n{root}\t/memories\n\
             0B\t/memories/people/\n0B\t/memories/self/\n0B\t/memories/sessions/\n{topics}\n\
             (Files are /memories/people/NAME.md, /memories/sessions/NAME.md and /memories/topics/NAME.md. \
             There are no other folders. Agents cannot change /memories/self.)"
        )
    };
    let empty = tool(&f, json!({"command": "view", "path": "/memories"})).await;
    assert_eq!(empty, ok(&listing("0B", "0B\t/memories/topics/")));
    let create = json!({"command": "create", "path": path, "file_text": "a\nb\na\n"});
    assert_eq!(tool(&f, create.clone()).await, ok(&format!("File created successfully at: {path}")));
    assert_eq!(tool(&f, create).await, refused(&format!("File {path} already exists")));
    let (_, viewed) = tool(&f, json!({"command": "view", "path": path, "view_range": [2, -1]})).await;
    assert_eq!(viewed, format!("Here's the content of {path} with line numbers:\n     2\tb\n     3\ta\n     4\t"));
    let (_, folder) = tool(&f, json!({"command": "view", "path": "/memories"})).await;
    assert_eq!(folder, listing("6B", &format!("6B\t/memories/topics/\n6B\t{path}")));
    let (_, folder) = tool(&f, json!({"command": "view", "path": "/memories/topics"})).await;
    let header = "Here're the files and directories up to 2 levels deep in /memories/topics, excluding hidden items:";
    assert_eq!(folder, format!("{header}\n6B\t/memories/topics\n6B\t{path}"));
    let replace = |old: &str| json!({"command": "str_replace", "path": path, "old_str": old, "new_str": "c"});
    assert_eq!(
        tool(&f, replace("a")).await,
        refused(
            "No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 3. Please ensure it is unique"
        )
    );
    let not_found = format!("No replacement was performed, old_str `z` did not appear verbatim in {path}.");
    assert_eq!(tool(&f, replace("z")).await, refused(&not_found));
    let edited = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
    let shown = "     1\ta\n     2\tc\n     3\ta\n     4\t";
    assert_eq!(tool(&f, replace("b")).await, ok(&format!("{edited}\n{shown}")));
    let remove = json!({"command": "str_replace", "path": path, "old_str": "c\n", "new_str": null});
    assert_eq!(tool(&f, remove).await, ok(&format!("{edited}\n     1\ta\n     2\ta\n     3\t")));
    let put_back = json!({"command": "insert", "path": path, "insert_line": 1, "insert_text": "c\n"});
    assert_eq!(tool(&f, put_back).await, ok(&format!("The file {path} has been edited.")));
    let insert = |line: i64| json!({"command": "insert", "path": path, "insert_line": line, "insert_text": "d\n"});
    assert_eq!(
        tool(&f, insert(4)).await,
        refused("Invalid `insert_line` parameter: 4. It should be within the range [0, 3].")
    );
    assert_eq!(tool(&f, insert(0)).await, ok(&format!("The file {path} has been edited.")));
    let to = "/memories/topics/yard.md";
    let rename = json!({"command": "rename", "old_path": path, "new_path": to});
    assert_eq!(tool(&f, rename.clone()).await, ok(&format!("Successfully renamed {path} to {to}")));
    assert_eq!(tool(&f, rename).await, refused(&format!("The path {path} does not exist")));
    tool(&f, json!({"command": "create", "path": path, "file_text": "x"})).await;
    let taken = tool(&f, json!({"command": "rename", "old_path": path, "new_path": to})).await;
    assert_eq!(taken, refused(&format!("The destination {to} already exists")));
    assert_eq!(tool(&f, json!({"command": "delete", "path": to})).await, ok(&format!("Successfully deleted {to}")));
    // No document can have these paths.
    for path in ["/memories/x.md", "/memories/other/x.md", "/memories/topics/a b.md", "/memories/notes"] {
        for command in [
            json!({"command": "view", "path": path}),
            json!({"command": "delete", "path": path}),
            json!({"command": "str_replace", "path": path, "old_str": "a", "new_str": "b"}),
            json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "a"}),
            json!({"command": "rename", "old_path": path, "new_path": to}),
        ] {
            let is_named = ["delete", "rename"].contains(&command["command"].as_str().unwrap());
            let more = if is_named { "" } else { ". Please provide a valid path." };
            let missing = format!("The path {path} does not exist{more}");
            assert_eq!(tool(&f, command.clone()).await, refused(&missing), "{command}");
        }
    }
    for (command, says) in [
        (json!({"command": "delete", "path": "/memories/topics"}), "Error: the folder /memories/topics stays as it is"),
        (json!({"command": "delete", "path": "/memories"}), "Cannot delete the /memories directory itself"),
        (
            json!({"command": "rename", "old_path": "/memories", "new_path": to}),
            "Cannot rename the /memories directory itself",
        ),
        (
            json!({"command": "insert", "path": "/memories/topics", "insert_line": 0, "insert_text": "a"}),
            "The path /memories/topics is not a file.",
        ),
        (json!({"command": "view", "path": "/etc"}), "Path must start with /memories, got: /etc"),
        (json!({"command": "view", "path": "/memories/../x"}), "Path /memories/../x would escape /memories directory"),
    ] {
        assert_eq!(tool(&f, command.clone()).await, refused(says), "{command}");
    }
    f.done().await;
}

async fn the_memory_tool_stays_inside_the_memory(f: Fixture) {
    use serde_json::json;
    for path in ["/etc/passwd", "/memories/../x", "/memories/topics/../../x.md", "/memories/x.md", "topics/a.md"] {
        let (is_error, _) = tool(&f, json!({"command": "create", "path": path, "file_text": "x"})).await;
        assert!(is_error, "{path}");
        let (is_error, _) = tool(&f, json!({"command": "view", "path": path})).await;
        assert!(is_error, "{path}");
    }
    // The caller is a person here; for an agent its card is read-only.
    let command: ToolCommand =
        serde_json::from_value(json!({"command": "create", "path": "/memories/self/a.md", "file_text": "x"})).unwrap();
    let session = f.running().await;
    let answer = memory::tool(&f.ledger, &f.worker, AGENT, Some(session.id), Some(1), command).await.unwrap();
    assert!(answer.is_error && answer.text.contains("self/"), "{answer:?}");
    let command: ToolCommand =
        serde_json::from_value(json!({"command": "create", "path": "/memories/topics/a.md", "file_text": "x\ny\n"}))
            .unwrap();
    let answer = memory::tool(&f.ledger, &f.worker, AGENT, Some(session.id), Some(1), command).await.unwrap();
    assert_eq!((answer.is_error, answer.version), (false, Some(1)));
    let lines = memory::blame(&f.ledger, &f.member, AGENT, memory::path("topics/a.md").unwrap()).await.unwrap();
    assert!(lines.iter().all(|line| line.evidence[0].session == session.id && line.evidence[0].sequence == 1));
    // Without a sequence it is the newest event of the session.
    let command = json!({"command": "create", "path": "/memories/topics/b.md", "file_text": "x\n"});
    let command: ToolCommand = serde_json::from_value(command).unwrap();
    memory::tool(&f.ledger, &f.worker, AGENT, Some(session.id), None, command).await.unwrap();
    let head = session::get(&f.ledger, &f.admin, session.id).await.unwrap().head_sequence;
    let lines = memory::blame(&f.ledger, &f.member, AGENT, memory::path("topics/b.md").unwrap()).await.unwrap();
    let origin = lines[0].evidence[0];
    assert_eq!((origin.session, origin.sequence), (session.id, head));
    f.done().await;
}
