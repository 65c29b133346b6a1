//! `bookend serve` and `bookend load` where `epoll_pwait2` is refused: on a kernel before Linux
//! 5.11, and in a container whose seccomp filter does not permit it.

#[path = "support/served.rs"]
mod served;

use bookend_io::faults::{ask_epoll_pwait2, refuse_epoll_pwait2};
use rustix::io::Errno;
use served::Served;
use std::process::Command;
use std::thread;

const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");

/// Serves, and measures that, in processes which have inherited the refusal of the thread that
/// starts them.
fn serve_and_measure() {
    let mut command = Command::new(BOOKEND);
    command.args(["serve", "--port", "0", "--io", "epoll", "--threads", "2"]);
    let server = Served::by(command);
    let target = format!("127.0.0.1:{}", server.port);
    let load = Command::new(BOOKEND)
        .args(["load", "--insecure", "--io", "epoll", "--format", "json"])
        .args(["--call", "helloworld.Greeter/SayHello", "--data", "{}"])
        .args(["--total", "500", "--concurrency", "20"])
        .args(["--connections", "4", &target])
        .output()
        .expect("bookend");
    let errors = String::from_utf8_lossy(&load.stderr);
    assert_eq!(load.status.code(), Some(0), "{errors}");
    let report: serde_json::Value = serde_json::from_slice(&load.stdout).expect("JSON");
    assert_eq!(report["statusCodeDistribution"]["OK"], 500, "{report}");
    server.end();
}

#[test]
fn both_ends_do_without_it() {
    for error in [Errno::NOSYS, Errno::PERM] {
        let refused = thread::spawn(move || {
            refuse_epoll_pwait2(error).unwrap();
            let answer = ask_epoll_pwait2().raw_os_error();
            assert_eq!(answer, Some(error.raw_os_error()), "the filter refuses");
            serve_and_measure();
        });
        refused.join().expect("the story ends well");
    }
}
