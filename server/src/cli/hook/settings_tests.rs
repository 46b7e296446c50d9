use super::*;

const OTHERS: &str = r#"{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "~/audit.sh", "timeout": 7, "unknown": 1.10 }
        ]
      }
    ],
    "FutureEvent": [ { "hooks": [] } ]
  },
  "permissions": { "allow": [ "Bash(ls)" ] }
}
"#;

fn installed(text: &str) -> String {
    install(text, Source::ClaudeCode, "/usr/bin/shiftbook").unwrap()
}

#[test]
fn a_new_file_has_every_hook() {
    let all = [
        (Source::ClaudeCode, &CLAUDE_CODE[..], 5),
        (Source::Codex, &CODEX[..], 5),
        (Source::Gemini, &GEMINI[..], 5_000),
    ];
    for (source, events, timeout) in all {
        let made: Value = serde_json::from_str(&install("", source, "/usr/bin/shiftbook").unwrap()).unwrap();
        let hooks = made["hooks"].as_object().unwrap();
        assert_eq!((made.as_object().unwrap().len(), hooks.len()), (1, events.len()));
        for event in events {
            let command = &hooks[*event][0]["hooks"][0]["command"];
            assert_eq!(command, &format!("/usr/bin/shiftbook hook {} {event}", source.as_str()));
        }
        assert_eq!(hooks["SessionStart"][0]["hooks"][0]["timeout"], timeout, "in the unit of {source:?}");
    }
    insta::assert_snapshot!(install("", Source::Codex, "/usr/bin/shiftbook").unwrap());
}

#[test]
fn what_others_wrote_stays_as_it_is_written() {
    let made = installed(OTHERS);
    for kept in [
        r#"{ "type": "command", "command": "~/audit.sh", "timeout": 7, "unknown": 1.10 }"#,
        r#""permissions": { "allow": [ "Bash(ls)" ] }"#,
        r#""FutureEvent": [ { "hooks": [] } ]"#,
        "\n  \"model\": \"opus\",\n",
    ] {
        assert!(made.contains(kept), "{kept} is missing:\n{made}");
    }
    let read: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(read["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
    assert_eq!(read["hooks"]["PreToolUse"][0]["matcher"], "Bash");
}

#[test]
fn installing_twice_changes_nothing_and_uninstalling_gives_the_file_back() {
    let made = installed(OTHERS);
    assert_eq!(installed(&made), made);
    assert_eq!(uninstall(&made, Source::ClaudeCode).unwrap(), OTHERS);
    assert_eq!(uninstall(OTHERS, Source::ClaudeCode).unwrap(), OTHERS);
    assert_eq!(uninstall(&made, Source::Codex).unwrap(), made, "another agent's hooks are not ours to take");
    assert_eq!(uninstall(&installed("{}"), Source::ClaudeCode).unwrap(), "{}");
}

#[test]
fn indentation_and_blank_lines_of_the_whole_file_stay() {
    let spaced = "{\n    \"model\": \"opus\",\n\n    \"permissions\": {\n        \"allow\": [\"Bash(ls)\"]\n    }\n}\n";
    for written in [spaced.to_owned(), spaced.replace("    ", "\t"), spaced.replace('\n', "\r\n")] {
        let made = installed(&written);
        let kept = written.trim_end().trim_end_matches('}').trim_end();
        assert!(made.starts_with(kept), "{made}");
        assert_eq!(uninstall(&made, Source::ClaudeCode).unwrap(), written);
    }
}

#[test]
fn a_program_that_moved_is_followed() {
    let made = installed(OTHERS);
    let moved = install(&made, Source::ClaudeCode, "'/opt/my tools/shiftbook'").unwrap();
    assert_eq!(moved.matches("shiftbook").count(), made.matches("shiftbook").count());
    assert!(!moved.contains("/usr/bin/shiftbook"), "{moved}");
    assert_eq!(uninstall(&moved, Source::ClaudeCode).unwrap(), OTHERS);
}

#[test]
fn an_entry_beside_ours_in_one_group_is_kept() {
    let made = installed("");
    let shared = made.replacen(
        "\"hooks\": [\n          {",
        "\"hooks\": [\n          { \"type\": \"command\", \"command\": \"mine\" },\n          {",
        1,
    );
    let left: Value = serde_json::from_str(&uninstall(&shared, Source::ClaudeCode).unwrap()).unwrap();
    assert_eq!(left["hooks"]["SessionStart"][0]["hooks"][0]["command"], "mine");
    assert_eq!(left["hooks"].as_object().unwrap().len(), 1);
}

#[test]
fn what_is_no_settings_file_is_left_alone() {
    for bad in
        ["[]", "{", "// a comment\n{}", r#"{"hooks":[]}"#, r#"{"hooks":{"Stop":{}}}"#, r#"{"hooks":{"Stop":["x"]}}"#]
    {
        let refused = install(bad, Source::ClaudeCode, "shiftbook").unwrap_err();
        assert!(refused.contains("nothing was changed"), "{bad}: {refused}");
    }
}
