//! The examples of `docs/command.md`: each command is run in the repository's root, and prints what stands below it.

use std::path::Path;
use std::process::Command;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/command.md");

/// Commands of console blocks, each with the output below it.
fn examples(guide: &str) -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => examples.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => {
                    output.push_str(line);
                    output.push('\n');
                }
                (None, None) => panic!("output without a command: {line}"),
            },
            (false, _) => {}
        }
    }
    examples
}

fn output(command: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_paimon"));
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var_os("PATH").unwrap().display()
    );
    let output = Command::new("sh")
        .args(["-c", &format!("({command}) 2>&1")])
        .current_dir(Path::new(GUIDE).ancestors().nth(2).unwrap())
        .env("PATH", path)
        .env("TZ", "UTC")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_print_what_the_guide_shows() {
    let guide = std::fs::read_to_string(GUIDE).unwrap();
    let examples = examples(&guide);
    assert!(examples.len() > 10);
    for (command, expected) in examples {
        assert_eq!(output(&command), expected, "$ {command}");
    }
}
