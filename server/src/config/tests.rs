//! Where settings come from, and what is refused.

use super::*;

fn file(text: &str) -> File {
    parse(text, "shiftbook.toml").unwrap()
}

fn database(data_dir: Option<&str>, url: Option<&str>) -> DatabaseFlags {
    DatabaseFlags {
        data_dir: data_dir.map(PathBuf::from),
        database_url: url.map(str::to_owned),
        ..DatabaseFlags::default()
    }
}

fn listen(address: Option<&str>) -> ServeFlags {
    ServeFlags { listen: address.map(str::to_owned), ..ServeFlags::default() }
}

#[test]
fn with_nothing_said_it_is_sqlite_on_this_machine_alone() {
    let settings = merge(database(None, None), listen(None), File::default()).unwrap();
    assert_eq!(settings.database, Database::Sqlite("shiftbook-data".into()));
    assert_eq!(settings.listen.to_string(), "127.0.0.1:4210");
    assert_eq!(settings.public_url, None);
}

#[test]
fn a_flag_or_variable_outranks_the_file_and_the_file_outranks_the_default() {
    let text = "data_dir = \"/srv/a\"\nlisten = \"0.0.0.0:80\"\npublic_url = \"https://Log.example.org/\"\n";
    let from_file = merge(database(None, None), listen(None), file(text)).unwrap();
    assert_eq!(from_file.database, Database::Sqlite("/srv/a".into()));
    assert_eq!(from_file.listen.port(), 80);
    assert_eq!(from_file.public_url.as_ref().map(PublicUrl::origin), Some("https://log.example.org"));
    let from_flag = merge(database(Some("/srv/b"), None), listen(Some("127.0.0.1:0")), file(text)).unwrap();
    assert_eq!(from_flag.database, Database::Sqlite("/srv/b".into()));
    assert_eq!(from_flag.listen.port(), 0);
}

#[test]
fn an_empty_value_is_no_value() {
    let settings = merge(database(Some(""), Some(" ")), listen(Some("")), file("listen = \"\"")).unwrap();
    assert_eq!(settings.database, Database::Sqlite("shiftbook-data".into()));
}

#[test]
fn a_data_dir_on_the_command_line_outranks_a_database_url_of_the_file() {
    let url = "database_url = \"postgres://db/log\"";
    let settings = merge(database(Some("/srv/a"), None), listen(None), file(url)).unwrap();
    assert_eq!(settings.database, Database::Sqlite("/srv/a".into()));
    let settings = merge(database(None, None), listen(None), file(url)).unwrap();
    assert_eq!(settings.database, Database::Postgres { url: "postgres://db/log".into(), accept_data_loss: false });
}

#[test]
fn an_unknown_key_is_refused_with_file_and_line() {
    let error = parse("# shiftbook\n\nlisten = \"127.0.0.1:1\"\nlissten = \"x\"\n", "shiftbook.toml").unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("shiftbook.toml:4: unknown field `lissten`"), "{text}");
}

#[test]
fn agents_are_described_by_their_names_and_can_be_left_to_workers() {
    let example = include_str!("../../../examples/agents.toml");
    let settings = merge(database(None, None), listen(None), file(example)).unwrap();
    assert_eq!(settings.agents.keys().collect::<Vec<_>>(), ["clerk", "coder", "scribe"]);
    assert!(settings.runs_agents);
    let memory = settings.memory.unwrap();
    assert!(memory.terms("clerk").is_some() && memory.terms("coder").is_none());
    let flags = ServeFlags { no_agents: true, ..ServeFlags::default() };
    assert!(!merge(database(None, None), flags, file(example)).unwrap().runs_agents);
    let off = merge(database(None, None), listen(None), file("[agents]\nenabled = false")).unwrap();
    assert!(!off.runs_agents && off.agents.is_empty());
}

/// The sample with its settings in force.
fn uncommented_sample() -> String {
    let is_setting = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
    let lines = include_str!("../../../examples/shiftbook.toml").lines();
    lines.filter(is_setting).map(|line| line.trim_start_matches('#')).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_sample_has_every_setting_and_changes_nothing_as_it_is() {
    let sample = include_str!("../../../examples/shiftbook.toml");
    let defaults = merge(database(None, None), listen(None), File::default()).unwrap();
    assert_eq!(merge(database(None, None), listen(None), file(sample)).unwrap(), defaults);
    let settings = uncommented_sample();
    file(&settings);
    let table: toml::Table = toml::from_str(&settings).unwrap();
    for section in [
        None,
        Some("backup"),
        Some("outbound"),
        Some("forms"),
        Some("canvas"),
        Some("smtp"),
        Some("otlp"),
        Some("predictor"),
        Some("embedding"),
        Some("memory"),
    ] {
        let here = section.map_or(&table, |section| table[section].as_table().unwrap());
        let head = section.map(|section| format!("[{section}]\n")).unwrap_or_default();
        // The error names every key that there is.
        let error = parse(&format!("{head}zzz = 1"), "f.toml").unwrap_err().to_string();
        let known: Vec<_> = error.split('`').skip(3).step_by(2).collect();
        assert!(known.len() > 1 || matches!(section, Some("outbound" | "canvas")), "{error}");
        for key in known {
            assert!(here.contains_key(key), "{section:?} of the sample has no {key}");
        }
    }
}

#[test]
fn what_is_wrong_with_an_agent_has_its_line() {
    let text = "[agents.a]\nadapter = \"command\"\ncommand = [\"x\"]\nmodell = \"m\"\n";
    let said = parse(text, "f.toml").unwrap_err().to_string();
    assert!(said.starts_with("f.toml:4: unknown field `modell`"), "{said}");
}

#[test]
fn a_wrong_type_and_broken_syntax_name_their_line() {
    for (bad, line) in [("listen = 1", 1), ("\nlisten = ", 2), ("listen = \"a\"\nlisten = \"b\"", 2)] {
        let text = parse(bad, "f.toml").unwrap_err().to_string();
        assert!(text.starts_with(&format!("f.toml:{line}: ")), "{text}");
    }
}

#[test]
fn a_host_for_redirects_is_a_name_without_a_scheme() {
    let settings = |text: &str| merge(database(None, None), listen(None), file(text));
    let allowed = settings("[forms]\nredirect_hosts = [\"www.example.org\", \"a.example:8443\"]").unwrap();
    assert_eq!(allowed.redirect_hosts, ["www.example.org", "a.example:8443"]);
    for wrong in ["https://example.org", "Example.org", "*"] {
        let refused = settings(&format!("[forms]\nredirect_hosts = [{wrong:?}]")).unwrap_err().to_string();
        assert!(refused.starts_with("forms.redirect_hosts: "), "{refused}");
    }
}

#[test]
fn private_networks_are_opened_by_name_and_nothing_else_is() {
    let settings = |text: &str| merge(database(None, None), listen(None), file(text));
    let opened = settings("[outbound]\nallow_private = [\"10.1.2.0/24\"]").unwrap().outbound;
    assert_eq!(opened.check([10, 1, 2, 3].into()), Ok(()));
    assert!(settings("").unwrap().outbound.check([10, 1, 2, 3].into()).is_err());
    let refused = settings("[outbound]\nallow_private = [\"169.254.0.0/16\"]").unwrap_err().to_string();
    assert!(refused.starts_with("outbound.allow_private: `169.254.0.0/16` is not within"), "{refused}");
}

#[test]
fn values_that_cannot_work_are_refused() {
    assert!(merge(database(None, Some("mysql://x")), listen(None), File::default()).is_err());
    assert!(merge(database(None, None), listen(Some("localhost")), File::default()).is_err());
    for bad in ["log.example.org", "ftp://x", "https://", "https://a/b", "https://a b"] {
        assert!(PublicUrl::parse(bad).is_err(), "{bad}");
    }
}
