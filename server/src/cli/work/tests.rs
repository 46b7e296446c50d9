//! Tests of mistakes on the command line.

use super::WorkArgs;
use std::process::ExitCode;

fn args(more: &[&str]) -> WorkArgs {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        work: WorkArgs,
    }
    let line = ["work", "--agent", "tester", "--url", "http://127.0.0.1:1", "--token", "sbk_test"];
    <Line as clap::Parser>::try_parse_from(line.iter().chain(more)).unwrap().work
}

#[tokio::test]
async fn a_typing_error_in_the_command_is_said_before_the_server_is_asked() {
    assert_eq!(super::run(args(&["--", "no-such-program"])).await, ExitCode::from(2));
}
