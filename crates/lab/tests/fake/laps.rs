//! Cells that are measured by turns: fake instruments that make calls when they are told to.

use crate::rounds::{FakeRun, error, marks, measured};
use crate::test_folder::{CALL, TestFolder, serve};
use bookend_lab::process::interrupt::Interrupt;
use bookend_results::measurement::Row;
use bookend_results::suite::ServerLife;
use bookend_results::window::AskedTimes;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

tests![
    cells_with_the_same_case_and_instrument_are_called_by_turns,
    who_makes_no_laps_is_measured_in_a_window,
    a_server_that_dies_in_a_lap_fails_its_row_alone,
    what_a_server_does_while_others_are_called_is_in_no_row,
    laps_have_to_add_up_to_the_report,
    an_instrument_that_ends_early_fails_its_row_alone,
    windows_of_laps_are_made_longer_too,
    who_failed_in_one_round_is_measured_in_the_next,
    a_disturbed_group_is_measured_again_as_a_whole,
    an_interrupt_in_a_lap_ends_the_whole_group_and_keeps_no_part_of_it,
];

/// A million calls to warm up with, so that a lap is no longer than it has to be, and ten a lap.
/// `lap` is what it does in each lap.
fn obey(lap: &str) -> String {
    format!(
        "[ \"$BOOKEND_LAPS\" = 1 ] && [ -z \"$BOOKEND_MEASURE_MS$BOOKEND_WARMUP_MS\" ] || exit 7\n\
         server=${{BOOKEND_TARGET##*:}}\n\
         total=0\n\
         while read word length; do\n\
         if [ $word = warmup ]; then\n\
         echo 1000000 >> ../calls-$server; echo warmup 1000000\n\
         else\n\
         echo $server >> ../order; echo 10 >> ../calls-$server\n\
         {lap}\n\
         total=$((total + 10)); echo lap 10 0 ${{length}}000000\n\
         fi\n\
         done\n\
         echo 1000 $total\n\
         echo ok $total\n"
    )
}

/// Two servers, called by an instrument that runs `text`, in windows of four laps.
fn by_turns(servers: [&str; 2], text: &str) -> FakeRun {
    let test_folder = TestFolder::new();
    test_folder.subject("one", "server", servers[0]);
    test_folder.subject("two", "server", servers[1]);
    test_folder.subject_with("load", "instrument", text, "laps = true");
    let mut fake_run = FakeRun::new(test_folder, &["one", "two"], "load");
    let plan = &mut fake_run.settings.plan;
    (plan.lap_ms, plan.window_ms) = (Some(10), 40);
    fake_run
}

fn text(fake_run: &FakeRun, name: &str) -> String {
    fs::read_to_string(fake_run.test_folder.path().join(name)).unwrap()
}

/// The rows of both servers, in the order of their names.
fn both(fake_run: &mut FakeRun) -> [Row; 2] {
    let mut rows = fake_run.rows();
    rows.sort_by(|a, b| a.cell.subject.cmp(&b.cell.subject));
    rows.try_into().unwrap()
}

fn cells_with_the_same_case_and_instrument_are_called_by_turns() {
    for life in [ServerLife::Round, ServerLife::Cell] {
        let mut fake_run = by_turns([&serve(1), &serve(2)], &obey(""));
        fake_run.settings.plan.server_life = life;
        for row in both(&mut fake_run) {
            let window = measured(&row);
            assert_eq!((window.counts.ok, window.laps), (40, Some(4)));
            assert_eq!((window.counts.warmup, row.served), (1_000_000, Some(1_000_040)));
            assert_eq!((window.window_seconds, window.counts.unfinished), (0.04, 0));
            let intervals = window.intervals.as_ref().unwrap();
            assert_eq!((intervals.interval_ms, &intervals.counts[1..]), (10, &[10; 4][..]));
            assert_eq!((marks(&row), row.probe_calls), (vec![], 0));
            assert_eq!(row.has_own_server, life == ServerLife::Cell);
        }
        let order = text(&fake_run, "order");
        let order: Vec<&str> = order.lines().collect();
        assert_eq!(order.len(), 8);
        for block in order.chunks(4) {
            assert_ne!(block[0], block[1], "{order:?}");
            assert_eq!((block[0], block[1]), (block[3], block[2]), "{order:?}");
        }
    }
}

fn who_makes_no_laps_is_measured_in_a_window() {
    let mut fake_run = by_turns([&serve(1), &serve(2)], "");
    fake_run.test_folder.subject("load", "instrument", CALL);
    for row in both(&mut fake_run) {
        assert_eq!((measured(&row).counts.ok, measured(&row).laps), (10, None));
    }
}

fn a_server_that_dies_in_a_lap_fails_its_row_alone() {
    let mortal = "\
echo $$ > ../mortal
: > ../calls-1
echo ready 1
while [ ! -e ../die ]; do sleep 0.01; done
echo out of luck >&2
exit 9
";
    let kill = "\
if [ $server = 1 ] && [ $total = 10 ]; then
  touch ../die
  until grep -q '^State:.Z' /proc/$(cat ../mortal)/status; do sleep 0.01; done
fi";
    let mut fake_run = by_turns([mortal, &serve(2)], &obey(kill));
    let [one, two] = both(&mut fake_run);
    let expected = "the server ended while it was measured: out of luck (exit status: 9)";
    assert_eq!(error(&one), expected);
    assert_eq!((measured(&two).counts.ok, measured(&two).laps), (40, Some(4)));
    assert_eq!((marks(&two), two.served), (vec![], Some(1_000_040)));
    let order = text(&fake_run, "order");
    assert_eq!(order.lines().filter(|server| *server == "1").count(), 2, "it is called no more");
}

/// A server that works when its pipe is written to, and says so in another.
fn works(port: u16) -> String {
    let work = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
    format!(
        "mkfifo ../work-{port} ../done-{port}\n\
         while read line < ../work-{port}; do {work}; echo done > ../done-{port}; done &\n\
         {}kill $! \n",
        serve(port)
    )
}

fn what_a_server_does_while_others_are_called_is_in_no_row() {
    let work_both = "\
if [ $server = 2 ]; then
  for port in 1 2; do echo work > ../work-$port; read line < ../done-$port; done
fi";
    let mut fake_run = by_turns([&works(1), &works(2)], &obey(work_both));
    let [one, two] = both(&mut fake_run);
    let [idle, busy] = [&one, &two].map(|row| measured(row).ends.server.cpu_seconds);
    assert!(idle * 2.0 < busy, "both have worked as much: {idle} s, {busy} s");
}

fn laps_have_to_add_up_to_the_report() {
    let liar = "[ $server = 2 ] || total=$((total + 1))";
    let [one, two] = both(&mut by_turns([&serve(1), &serve(2)], &obey(liar)));
    let expected = "its laps add up to 40 calls that ended OK and 0 that did not, its report to 44 \
                    and 0";
    assert_eq!(error(&one), expected);
    assert_eq!(measured(&two).counts.ok, 40);
}

fn an_instrument_that_ends_early_fails_its_row_alone() {
    let quitter = "[ $server = 2 ] || { echo had enough >&2; exit 3; }";
    let [one, two] = both(&mut by_turns([&serve(1), &serve(2)], &obey(quitter)));
    assert_eq!(error(&one), "had enough (exit status: 3)");
    assert_eq!(measured(&two).counts.ok, 40);
}

fn windows_of_laps_are_made_longer_too() {
    let mut fake_run = by_turns([&serve(1), &serve(2)], &obey(""));
    let plan = &mut fake_run.settings.plan;
    (plan.window_ms, plan.window_max_ms, plan.rounds) = (100, Some(5000), 2);
    // A thousand calls take a second of such laps; the window has a quarter more.
    let chosen = AskedTimes { warmup_ms: 100, window_ms: 1300 };
    for row in fake_run.rows() {
        let window = measured(&row);
        assert_eq!((window.asked, window.counts.ok, window.laps), (Some(chosen), 1300, Some(130)));
        let in_no_row = if row.round == 0 { 1_000_100 } else { 0 };
        assert_eq!((marks(&row), row.probe_calls), (vec![], in_no_row));
    }
}

fn who_failed_in_one_round_is_measured_in_the_next() {
    let quitter = "\
if [ $server = 1 ] && [ ! -e ../quit ]; then touch ../quit; exit 3; fi";
    let mut fake_run = by_turns([&serve(1), &serve(2)], &obey(quitter));
    fake_run.settings.plan.rounds = 2;
    let rows = fake_run.rows();
    assert_eq!(rows.iter().filter(|row| row.outcome.window().is_some()).count(), 3);
    assert!(rows.iter().filter(|row| row.round == 1).all(|row| measured(row).counts.ok == 40));
}

/// Others may disturb it as well while tests run, so how its last try came out is not looked at.
fn a_disturbed_group_is_measured_again_as_a_whole() {
    let starts = "\
server=${BOOKEND_TARGET##*:}
[ -e ../tries-$server ] && touch ../again
echo try >> ../tries-$server
";
    // Laps of a tenth of a second, in which ticks of the kernel's clock do not matter.
    let text = format!("{starts}{}", obey("sleep 0.1"));
    let mut fake_run = by_turns([&serve(1), &serve(2)], &text);
    // Both ends have CPUs of their own, so that others on them are seen.
    fake_run.settings.isolation = true;
    let mut foreign = Command::new("sh")
        .args(["-c", "while [ ! -e again ]; do :; done"])
        .current_dir(fake_run.test_folder.path())
        .spawn()
        .unwrap();
    let rows = both(&mut fake_run);
    // It would go on for ever if there were no second try.
    fs::write(fake_run.test_folder.path().join("again"), "").unwrap();
    foreign.wait().unwrap();
    let tries = ["tries-1", "tries-2"].map(|name| text_lines(&fake_run, name));
    assert!((2..=3).contains(&tries[0]), "{tries:?}");
    assert_eq!(tries[0], tries[1], "both are called in each try");
    for row in rows {
        assert_eq!(measured(&row).counts.ok, 40, "the row is that of one try");
        assert_eq!(row.served, Some(tries[0] * 1_000_040), "the server has had all of them");
    }
}

fn text_lines(fake_run: &FakeRun, name: &str) -> u64 {
    text(fake_run, name).lines().count() as u64
}

fn an_interrupt_in_a_lap_ends_the_whole_group_and_keeps_no_part_of_it() {
    let hang = "[ -e ../go ] || [ $total = 0 ] || { touch ../hangs; sleep 1000; }";
    let mut fake_run = by_turns([&serve(1), &serve(2)], &obey(hang));
    fake_run.settings.plan.rounds = 2;
    let interrupt = fake_run.settings.spawner.interrupt.clone();
    let hangs = fake_run.test_folder.path().join("hangs");
    let user = std::thread::spawn(move || {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !hangs.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        interrupt.raise();
    });
    let interrupted = fake_run.run();
    user.join().unwrap();
    assert_eq!((interrupted.rounds, interrupted.exit_status()), (0, 130));
    fs::write(fake_run.test_folder.path().join("go"), "").unwrap();
    fake_run.settings.spawner.interrupt = Interrupt::new();
    fake_run.settings.resume = interrupted.id.is_some();
    let rows = fake_run.rows();
    assert_eq!(rows.len(), 4, "what was begun is measured as a whole");
    assert!(rows.iter().all(|row| measured(row).counts.ok == 40));
}
