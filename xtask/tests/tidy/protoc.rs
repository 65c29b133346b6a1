//! Nothing here may need a system's protoc. The scripts point `PROTOC` at nothing before they
//! build, so that a build which asks for it fails; this keeps them doing so.

use crate::offence::Offence;

const POINTS_AT_NOTHING: &str = "export PROTOC=/nonexistent";

/// Steps of a script that run before protoc is out of reach, all of them if it never is.
pub fn builds_that_could_find_protoc(path: &str, text: &str) -> Vec<Offence> {
    let before = text.lines().enumerate().take_while(|(_, line)| *line != POINTS_AT_NOTHING);
    let runs = |line: &str| line.starts_with("step ") || line.starts_with("cargo ");
    let steps = before.filter(|(_, line)| runs(line.trim_start()));
    steps.map(|(index, _)| Offence::new(path, index + 1, "protoc is in reach here")).collect()
}

#[test]
fn a_step_before_the_export_is_an_offence() {
    let script = |first: &str, second: &str| format!("#!/bin/sh\n{first}\n{second}\n");
    let build = "step build cargo build";
    assert_eq!(builds_that_could_find_protoc("a", &script(POINTS_AT_NOTHING, build)), []);
    assert_eq!(builds_that_could_find_protoc("a", &script(build, POINTS_AT_NOTHING)).len(), 1);
    let hidden = format!("# {POINTS_AT_NOTHING}");
    assert_eq!(builds_that_could_find_protoc("a", &script(&hidden, build)).len(), 1);
}
