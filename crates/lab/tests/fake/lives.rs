//! How long servers live: for a cell or for a round, and what happens when one dies.

use crate::rounds::{FakeRun, error, marks, measured, with_server};
use crate::test_folder::{CALL, count, serve};
use bookend_report::run::Report;
use bookend_results::suite::{Case, ServerLife};
use std::fs;
use std::time::Duration;

tests![
    a_server_that_dies_says_so_in_the_cell_in_which_it_died,
    what_a_server_served_before_it_died_is_marked,
    a_server_that_died_is_started_again_for_the_next_cell,
    a_server_that_cannot_start_is_given_up_in_its_round,
    a_fresh_server_a_cell_counts_that_cell_alone,
    a_shared_server_says_how_many_cells_it_had_served,
];

/// What the report of the stored run says about its servers' lives.
fn server_lives(fake_run: &FakeRun) -> Option<String> {
    let run = fake_run.store.latest_run().unwrap().unwrap();
    Report::new(&run, &fake_run.store.rows(run.id).unwrap()).server_lives()
}

fn a_server_that_dies_says_so_in_the_cell_in_which_it_died() {
    let text = format!(
        ": > ../calls-1; echo ready 1; while [ ! -s ../calls-1 ]; do sleep 0.01; done\n\
         echo out of luck >&2; exit 9\n{}",
        count(1)
    );
    let mut fake_run = with_server(&text);
    let slow =
        format!("{CALL}\nwhile kill -0 $(cat ../server.pid) 2> /dev/null; do sleep 0.01; done");
    fake_run.test_folder.subject("load", "instrument", &slow);
    fake_run.test_folder.subject("server", "server", &format!("echo $$ > ../server.pid\n{text}"));
    fake_run.settings.plan.cases.push("C=1 S=2".parse().unwrap());
    fake_run.settings.timeouts.grace = Duration::from_secs(2);
    let rows = fake_run.rows();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let expected = "the server ended while it was measured: out of luck (exit status: 9)";
        assert_eq!(error(row), expected);
    }
}

fn what_a_server_served_before_it_died_is_marked() {
    let dies_of_the_second = "\
: > ../calls-1
echo $$ > ../server.pid
echo ready 1
while [ $(wc -l < ../calls-1) -lt 2 ]; do sleep 0.01; done
echo out of luck >&2
exit 9
";
    let mut fake_run = with_server(dies_of_the_second);
    let call = format!(
        "{CALL}\nif [ $(wc -l < ../calls-1) -gt 1 ]; then\n\
         until grep -q '^State:.Z' /proc/$(cat ../server.pid)/status; do sleep 0.01; done\nfi"
    );
    fake_run.test_folder.subject("load", "instrument", &call);
    let cases = &mut fake_run.settings.plan.cases;
    cases.push("C=1 S=2".parse().unwrap());
    let rows = fake_run.rows();
    let died = "the server ended while it was measured: out of luck (exit status: 9)";
    let mark = format!("calls could not be counted: later in the round {died}");
    assert_eq!(marks(&rows[0]), [mark]);
    assert_eq!(error(&rows[1]), died);
}

/// Dies in the first cell that is measured, and not when it is started again.
const DIES_ONCE: &str = "\
: > ../calls-1
echo $$ > ../server.pid
echo ready 1
if [ ! -e ../died ]; then
  while [ ! -s ../calls-1 ]; do sleep 0.01; done
  touch ../died
  echo out of luck >&2
  exit 9
fi
cat > /dev/null
";

/// Calls, and waits in the first cell until the server is dead.
fn dying_once() -> FakeRun {
    let mut fake_run = with_server(&format!("{DIES_ONCE}{}", count(1)));
    let call = format!(
        "{CALL}\nif [ ! -e ../seen ]; then\n\
         until grep -q '^State:.Z' /proc/$(cat ../server.pid)/status; do sleep 0.01; done\n\
         touch ../seen\nfi"
    );
    fake_run.test_folder.subject("load", "instrument", &call);
    fake_run.settings.plan.cases = ["C=1 S=1", "C=1 S=2", "C=1 S=3"].map(case).to_vec();
    fake_run
}

fn case(text: &str) -> Case {
    text.parse().unwrap()
}

fn a_server_that_died_is_started_again_for_the_next_cell() {
    for life in [ServerLife::Round, ServerLife::Cell] {
        let mut fake_run = dying_once();
        fake_run.settings.plan.server_life = life;
        let rows = fake_run.rows();
        let died = "the server ended while it was measured: out of luck (exit status: 9)";
        assert_eq!(error(&rows[0]), died);
        for row in &rows[1..] {
            assert_eq!(measured(row).counts.ok, 10, "{life:?}");
            assert_eq!(marks(row), [""; 0], "{life:?}");
        }
        assert!(!rows[0].shares_server_with(&rows[1]), "{life:?}");
    }
}

fn a_server_that_cannot_start_is_given_up_in_its_round() {
    let mut fake_run = with_server("echo started >> ../starts; echo no port >&2; exit 3");
    fake_run.settings.plan.cases = ["C=1 S=1", "C=1 S=2", "C=1 S=3"].map(case).to_vec();
    fake_run.settings.plan.rounds = 2;
    let rows = fake_run.rows();
    let first = "no port (exit status: 3)";
    let last = "not measured: its server failed to start 2 times";
    let errors: Vec<&str> = rows.iter().map(error).collect();
    assert_eq!(errors, [first, first, last, first, first, last], "each round tries anew");
    let starts = fs::read_to_string(fake_run.test_folder.path().join("starts")).unwrap();
    assert_eq!(starts.lines().count(), 4);
}

fn a_fresh_server_a_cell_counts_that_cell_alone() {
    let mut fake_run = with_server(&serve(1));
    fake_run.settings.plan.cases = ["C=1 S=1", "C=1 S=2", "C=1 S=3"].map(case).to_vec();
    fake_run.settings.plan.server_life = ServerLife::Cell;
    for row in fake_run.rows() {
        assert!(row.has_own_server && row.cells_before.is_none());
        assert_eq!((row.served, marks(&row)), (Some(10), vec![]), "its own calls");
    }
    assert_eq!(server_lives(&fake_run), None);
}

fn a_shared_server_says_how_many_cells_it_had_served() {
    let mut fake_run = with_server(&serve(1));
    fake_run.settings.plan.cases = ["C=1 S=1", "C=1 S=2", "C=1 S=3"].map(case).to_vec();
    let rows = fake_run.rows();
    let before: Vec<Option<u32>> = rows.iter().map(|row| row.cells_before).collect();
    assert_eq!(before, [Some(0), Some(1), Some(2)]);
    assert!(rows.iter().all(|row| row.served == Some(30)), "{rows:?}");
    let said = "memory: of servers since their start, up to 2 cells earlier in the round";
    assert_eq!(server_lives(&fake_run).as_deref(), Some(said));
}
