//! Runs against real servers over loopback, well-behaved and not.

#[path = "support/plans.rs"]
mod plans;

use bookend_contract::in_flight::InFlightAtEnd;
use bookend_io::Driver;
use bookend_io::Target;
use bookend_load::capacity::{self, Trial};
use bookend_load::pace::{ArrivalProcess, RateSchedule};
use bookend_load::plan::pacing::{Loop, OpenLoop};
use bookend_load::plan::{DurationStop, LoadPlan};
use bookend_load::record::InFlightAges;
use bookend_load::run::{LoadError, WindowEdge, run};
use bookend_server::{
    ConnectionAge, Context, HandlerKind, Limits, MethodDescriptor, Reply, Server, ServerHandle,
    Service,
};
use bookend_wire::ConnectionConfig;
use bookend_wire::grpc::{Code, Status};
use plans::{SECOND_NS, measure, until_long_enough};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How late the slow method answers: more than the two shortest intervals after it was asked.
const LATENESS: Duration = Duration::from_millis(300);

/// What the service has seen.
#[derive(Default)]
struct Seen {
    calls: AtomicU64,
    requests: Mutex<Vec<Vec<u8>>>,
    traces: Mutex<Vec<Vec<u8>>>,
}

struct Echo(Arc<Seen>);

impl Service for Echo {
    fn name(&self) -> &'static str {
        "test.Echo"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        const METHODS: &[MethodDescriptor] = &[
            MethodDescriptor { name: "Echo", kind: HandlerKind::Inline },
            MethodDescriptor { name: "Keep", kind: HandlerKind::Inline },
            MethodDescriptor { name: "Fail", kind: HandlerKind::Inline },
            MethodDescriptor { name: "Late", kind: HandlerKind::Deferred },
        ];
        METHODS
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        if method == 1 {
            self.0.requests.lock().unwrap().push(request.to_vec());
            let trace = context.metadata().find("trace").unwrap_or_default();
            self.0.traces.lock().unwrap().push(trace.to_vec());
        }
        if method == 2 {
            return reply.fail(Status::new(Code::NotFound, "no café here"));
        }
        if method == 3 {
            let answerer = reply.defer();
            thread::spawn(move || {
                thread::sleep(LATENESS);
                answerer.message(Vec::new());
            });
            return;
        }
        reply.message(|output| output.extend_from_slice(request));
    }
}

fn serve() -> (ServerHandle, Arc<Seen>) {
    serve_with(Limits::trusted())
}

fn serve_with(limits: Limits) -> (ServerHandle, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let server = Server::builder()
        .add_service(Echo(Arc::clone(&seen)))
        .limits(limits)
        .bind("127.0.0.1:0")
        .unwrap()
        .spawn()
        .unwrap();
    (server, seen)
}

fn plan(target: impl Into<Target>, calls: u64) -> LoadPlan {
    plan_of("Echo", target, calls)
}

fn plan_of(method: &str, target: impl Into<Target>, calls: u64) -> LoadPlan {
    plans::plan(&format!("/test.Echo/{method}"), target.into(), calls)
}

#[test]
fn by_number_exactly_that_many_calls_are_made_and_each_is_counted() {
    for (driver, connections, concurrency, threads) in [
        (Driver::Blocking, 1, 1, 1),
        (Driver::Blocking, 1, 64, 1),
        (Driver::Epoll, 7, 50, 1),
        (Driver::Epoll, 10, 10, 3),
        (Driver::Uring, 1, 64, 1),
        (Driver::Uring, 7, 50, 1),
        (Driver::Uring, 10, 10, 3),
        (Driver::Blocking, 2, 10, 2),
    ] {
        let (server, seen) = serve();
        let plan = LoadPlan {
            driver,
            connections,
            concurrency,
            threads,
            ..plan(server.local_address(), 5_003)
        };
        let outcome = measure(plan);
        assert_eq!(outcome.ok, 5_003, "{driver:?} {connections} {concurrency} {threads}");
        assert_eq!(outcome.errors.total(), 0);
        assert_eq!(seen.calls.load(Ordering::Relaxed), 5_003);
        assert_eq!(outcome.latencies.histogram.len(), 5_003);
        assert_eq!(outcome.connections_opened, u64::from(connections));
        assert_eq!(outcome.unfinished, 0);
        assert_eq!(outcome.in_flight_at_end, InFlightAges::default());
    }
}

#[test]
fn by_time_the_counts_of_both_ends_agree() {
    until_long_enough(|times| {
        let (server, seen) = serve();
        let outcome = measure(LoadPlan {
            calls: None,
            warmup_ns: times * SECOND_NS / 20,
            window_ns: Some(times * SECOND_NS / 5),
            ..plan(server.local_address(), 0)
        });
        let all = outcome.warmup + outcome.ok + outcome.drained;
        assert_eq!(outcome.unfinished, 0);
        assert_eq!(seen.calls.load(Ordering::Relaxed), all);
        assert_eq!(outcome.window_ns, times * SECOND_NS / 5);
        outcome.ok > 0 && outcome.warmup > 0
    });
}

#[test]
fn intervals_hold_every_call_of_warm_up_and_window() {
    let (server, _) = serve();
    let outcome = measure(LoadPlan {
        calls: None,
        warmup_ns: SECOND_NS / 5,
        window_ns: Some(SECOND_NS * 3 / 10),
        ..plan(server.local_address(), 0)
    });
    let intervals = outcome.intervals.unwrap();
    assert_eq!((intervals.interval_ms, intervals.window_start), (100, 2));
    assert_eq!(intervals.counts.len(), 5);
    let counted: u64 = intervals.counts.iter().sum();
    assert_eq!(counted, outcome.warmup + outcome.ok);
}

#[test]
fn calls_of_the_warm_up_that_end_late_are_in_the_intervals_in_which_they_end() {
    let (server, _) = serve();
    let outcome = measure(LoadPlan {
        warmup_ns: SECOND_NS / 10,
        concurrency: 8,
        ..plan_of("Late", server.local_address(), 8)
    });
    // Those of the warm-up end in the window, and those of the window two intervals later.
    assert_eq!((outcome.warmup, outcome.ok), (8, 8));
    let intervals = outcome.intervals.unwrap();
    assert_eq!(intervals.counts[..intervals.window_start], [0]);
    let counted: u64 = intervals.counts.iter().sum();
    assert!((8..=16).contains(&counted), "{intervals:?}");
}

#[test]
fn by_number_after_a_warm_up_no_call_is_lost_from_the_counts() {
    let (server, seen) = serve();
    let outcome = measure(LoadPlan {
        warmup_ns: SECOND_NS / 50,
        concurrency: 200,
        ..plan(server.local_address(), 3_000)
    });
    assert_eq!((outcome.ok, outcome.errors.total()), (3_000, 0));
    let all = outcome.warmup + outcome.ok + outcome.drained;
    assert_eq!(outcome.unfinished, 0);
    assert_eq!(seen.calls.load(Ordering::Relaxed), all);
}

#[test]
fn messages_are_drawn_in_turn_and_metadata_varies() {
    let (server, seen) = serve();
    let messages: Vec<Vec<u8>> = (0..3).map(|number| vec![number; 3]).collect();
    measure(LoadPlan {
        concurrency: 1,
        ..plans::calling(plan_of("Keep", server.local_address(), 7), |call| {
            call.messages = messages.clone();
            call.varying_metadata = Some(b"trace".to_vec());
        })
    });
    let expected: Vec<_> = messages.iter().cycle().take(7).cloned().collect();
    assert_eq!(*seen.requests.lock().unwrap(), expected);
    let mut traces = seen.traces.lock().unwrap().clone();
    traces.dedup();
    assert_eq!(traces.len(), 7);
}

#[test]
fn what_the_end_of_the_window_cuts_off_is_counted_with_its_age() {
    for driver in [Driver::Blocking, Driver::Epoll, Driver::Uring] {
        let (server, _) = serve();
        let outcome = measure(LoadPlan {
            driver,
            calls: None,
            window_ns: Some(SECOND_NS / 20),
            ..plans::plan("/test.Echo/Late", Target::from(server.local_address()), 0)
        });
        let in_flight = InFlightAtEnd::from(&outcome.in_flight_at_end);
        assert_eq!(in_flight.calls, 10, "every stream was busy");
        assert_eq!(in_flight.calls, outcome.drained + outcome.unfinished);
        assert!(in_flight.age_mean_ns > 0 && in_flight.age_mean_ns <= in_flight.age_max_ns);
    }
}

#[test]
fn failed_calls_are_counted_by_code_and_text() {
    let (server, _) = serve();
    let outcome = measure(plan_of("Fail", server.local_address(), 100));
    assert_eq!(outcome.ok, 0);
    assert_eq!(outcome.errors.by_code[&Code::NotFound], 100);
    let text = "rpc error: code = NotFound desc = no café here";
    assert_eq!(outcome.errors.by_text[text], 100);
    let unknown = measure(plans::plan("/no/such", Target::from(server.local_address()), 5));
    assert_eq!(unknown.errors.by_code[&Code::Unimplemented], 5);
}

#[test]
fn calls_that_fail_before_the_window_are_not_said_to_be_answered() {
    let (server, seen) = serve();
    let outcome = measure(LoadPlan {
        warmup_ns: SECOND_NS / 50,
        ..plan_of("Fail", server.local_address(), 100)
    });
    assert_eq!((outcome.warmup, outcome.errors.total()), (0, 100));
    let all = seen.calls.load(Ordering::Relaxed);
    assert!(all > 100, "the warm-up made calls");
    assert_eq!(outcome.unfinished, all - 100);
}

#[test]
fn when_the_stream_ids_are_used_up_the_run_goes_on_over_a_new_connection() {
    for driver in [Driver::Blocking, Driver::Epoll, Driver::Uring] {
        let (server, seen) = serve();
        let mut config = ConnectionConfig::trusted();
        config.first_stream_id = (1 << 31) - 2_001;
        let late = plans::calling(plan(server.local_address(), 2_500), |call| call.config = config);
        let outcome = measure(LoadPlan { driver, ..late });
        assert_eq!(outcome.errors.by_text.len(), 0, "{:?}", outcome.errors);
        assert_eq!(outcome.ok, 2_500);
        assert_eq!(outcome.connections_opened, 3);
        assert_eq!(seen.calls.load(Ordering::Relaxed), 2_500);
    }
}

#[test]
fn connections_that_age_are_replaced_without_an_error_and_counted() {
    for (driver, connections) in [(Driver::Blocking, 1), (Driver::Epoll, 5)] {
        until_long_enough(|times| {
            let (server, seen) = serve_with(Limits {
                connection_age: Some(ConnectionAge::new(Duration::from_millis(100))),
                ..Limits::trusted()
            });
            let outcome = measure(LoadPlan {
                driver,
                connections,
                calls: None,
                window_ns: Some(times * SECOND_NS),
                duration_stop: DurationStop::Wait,
                ..plan(server.local_address(), 0)
            });
            assert_eq!(outcome.errors.by_text.len(), 0, "{:?}", outcome.errors);
            assert_eq!(outcome.ok, seen.calls.load(Ordering::Relaxed));
            let replaced = outcome.connections_opened - u64::from(connections);
            let said = "GOAWAY NO_ERROR, debug data: \"the connection has reached its age\"";
            let told = outcome.goaways.get(said).copied().unwrap_or_default();
            assert!(told >= replaced, "{outcome:?}");
            replaced > 0
        });
    }
}

#[test]
fn a_server_that_dies_in_mid_run_costs_counted_errors_and_no_hang() {
    for driver in [Driver::Blocking, Driver::Epoll, Driver::Uring] {
        until_long_enough(|times| {
            let (server, _) = serve();
            let plan = LoadPlan {
                driver,
                calls: None,
                window_ns: Some(times * SECOND_NS / 2),
                ..plan(server.local_address(), 0)
            };
            let server = Mutex::new(Some(server));
            let outcome = run(plan, &AtomicBool::new(false), |progress| {
                if progress == WindowEdge::Start
                    && let Some(server) = server.lock().unwrap().take()
                {
                    server.stop();
                    server.join().unwrap();
                }
            })
            .unwrap();
            let failed = outcome.errors.total();
            // Half a second of back-off from 100 ms leaves room for three attempts after the first.
            assert!(failed <= 20 * times, "{:?}", outcome.errors);
            let unavailable = outcome.errors.by_code.get(&Code::Unavailable);
            assert_eq!(failed, unavailable.copied().unwrap_or_default());
            assert_eq!(outcome.first_failure.is_some(), failed > 0);
            failed > 0
        });
    }
}

fn nothing_measured(target: SocketAddr) -> String {
    why_nothing_is_measured(plan(target, 10))
}

fn why_nothing_is_measured(plan: LoadPlan) -> String {
    match run(plan, &AtomicBool::new(false), |_| {}) {
        Err(LoadError::NoConnection(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// A server that does `behave` with its first connection.
fn misbehaving(behave: impl FnOnce(std::net::TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || behave(listener.accept().unwrap().0));
    address
}

#[test]
fn the_capacity_of_a_server_is_searched_between_rates_that_keep_an_objective_and_others() {
    let (server, _) = serve();
    let target = server.local_address().clone();
    let plan = LoadPlan { window_ns: Some(SECOND_NS / 5), calls: None, ..plan(target, 1) };
    let never = AtomicBool::new(false);
    let find = |objective: &str| {
        let trial = |trial: Trial| run(trial.plan(&plan), &never, |_| {});
        let objective = objective.parse().unwrap();
        capacity::find(plan.connections, plan.window_ns, &objective, &never, trial).unwrap()
    };
    let easy = find("p99<1m");
    assert!(easy.kept_rate.is_some() || easy.generator_was_limit, "{easy:?}");
    assert!(easy.closed_loops.len() >= 4, "{easy:?}");
    assert_eq!(easy.fit, capacity::fit(&easy.closed_loops));
    assert!(easy.trials.is_sorted_by(|one, other| one.rate <= other.rate));
    let impossible = find("p99<1ns");
    assert_eq!(impossible.kept_rate, None);
    assert!(impossible.trials.iter().all(|trial| trial.missed.is_some()));
}

#[test]
fn a_server_that_closes_at_once_may_want_tls_and_that_is_said() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    assert_eq!(
        nothing_measured(address),
        "the server closed the connection at once: if it wants TLS, set ChannelOptions::tls; else \
         it does not speak HTTP/2"
    );
}

#[test]
fn a_port_on_which_no_process_listens_is_an_error_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let told = format!("nobody listens at {address}: start the server, or correct the target");
    assert_eq!(nothing_measured(address), told);
}

#[test]
fn garbage_silence_and_an_early_close_are_different_errors() {
    let garbage = misbehaving(|mut socket| {
        socket.write_all(b"SSH-2.0-OpenSSH_9.6 and more of that\r\n").unwrap();
        let _ = socket.read_to_end(&mut Vec::new());
    });
    assert!(nothing_measured(garbage).contains("broke HTTP/2"));
    let web = misbehaving(|mut socket| {
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let _ = socket.read_to_end(&mut Vec::new());
    });
    assert!(nothing_measured(web).contains("the server speaks HTTP/1, and gRPC needs HTTP/2"));
    let silent = misbehaving(|mut socket| {
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let impatient = LoadPlan { connect_timeout_ns: SECOND_NS / 5, ..plan(silent, 10) };
    assert!(why_nothing_is_measured(impatient).contains("no SETTINGS"));
    let closing = misbehaving(drop);
    let why = nothing_measured(closing);
    assert!(why.contains("closed") || why.contains("reset"), "{why}");
}

#[test]
fn a_server_that_sends_settings_and_never_answers_costs_deadlines() {
    let address = misbehaving(|mut socket| {
        socket.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let outcome = measure(LoadPlan {
        timeout_ns: Some(SECOND_NS / 20),
        calls: None,
        window_ns: Some(SECOND_NS / 4),
        ..plan(address, 0)
    });
    assert_eq!(outcome.ok, 0);
    assert!(outcome.errors.by_code[&Code::DeadlineExceeded] >= 10);
}

#[test]
fn a_server_that_says_goodbye_to_everybody_is_not_stormed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
            let goaway = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            socket.write_all(&[&settings[..], &goaway].concat()).unwrap();
            let _ = socket.read_to_end(&mut Vec::new());
        }
    });
    let outcome = run(
        LoadPlan { calls: None, window_ns: Some(SECOND_NS / 2), ..plan(address, 0) },
        &AtomicBool::new(false),
        |_| {},
    );
    match outcome {
        // Back-off from 100 ms leaves room for three more attempts in half a second.
        Ok(outcome) => assert!(outcome.connections_opened <= 5, "{outcome:?}"),
        Err(LoadError::NoConnection(why)) => assert!(why.contains("GOAWAY"), "{why}"),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_has_measured() {
    let (server, _) = serve();
    let plan = LoadPlan { calls: None, ..plan(server.local_address(), 0) };
    let interrupt = AtomicBool::new(false);
    let outcome = run(plan, &interrupt, |progress| {
        if progress == WindowEdge::Start {
            interrupt.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert!(outcome.cancelled);
}

#[test]
fn a_run_that_is_interrupted_while_it_warms_up_ends_there() {
    let (server, seen) = serve();
    let plan = LoadPlan {
        calls: None,
        window_ns: Some(SECOND_NS),
        // Without the interrupt the run would take a million seconds.
        warmup_ns: 1_000_000 * SECOND_NS,
        ..plan(server.local_address(), 0)
    };
    let interrupt = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            while seen.calls.load(Ordering::Relaxed) < 100 {
                thread::yield_now();
            }
            interrupt.store(true, Ordering::Relaxed);
        });
        run(plan, &interrupt, |_| {}).unwrap()
    });
    assert!(outcome.cancelled);
    assert_eq!((outcome.ok, outcome.window_ns), (0, 0));
    let known = outcome.warmup + outcome.drained + outcome.unfinished;
    assert_eq!(known, seen.calls.load(Ordering::Relaxed));
}

/// A thousand calls a second, evenly.
fn open_loop(rate: f64) -> Loop {
    let schedule = RateSchedule::constant(rate);
    Loop::Open(OpenLoop { schedule, arrivals: ArrivalProcess::Even, seed: 1 })
}

#[test]
fn by_a_rate_exactly_the_calls_that_are_due_are_made() {
    for (driver, threads) in [(Driver::Blocking, 1), (Driver::Epoll, 2), (Driver::Uring, 1)] {
        let (server, seen) = serve();
        let plan = LoadPlan {
            driver,
            threads,
            connections: threads,
            concurrency: 1_000,
            calls: None,
            window_ns: Some(SECOND_NS / 2),
            pacing: open_loop(1_000.0),
            ..plan(server.local_address(), 1)
        };
        let outcome = measure(plan);
        let calls = outcome.open_loop.expect("it was an open loop");
        assert_eq!(calls.due(), 500, "{driver:?}");
        let ended = outcome.ok + outcome.drained;
        assert_eq!((calls.made, ended, outcome.errors.total()), (calls.made, calls.made, 0));
        assert_eq!(seen.calls.load(Ordering::Relaxed), calls.made);
        assert!(calls.from_intended.sum_ns >= outcome.latencies.sum_ns);
    }
}

#[test]
fn calls_that_are_listed_are_those_that_were_counted() {
    let (server, _) = serve();
    let plan = LoadPlan { calls_listed: 30, ..plan_of("Fail", server.local_address(), 50) };
    let outcome = measure(plan);
    let calls = outcome.calls.expect("calls were to be listed");
    let failures: Vec<_> = calls.in_order().map(|call| call.failure.unwrap()).collect();
    let error = "rpc error: code = NotFound desc = no café here";
    assert_eq!(failures, [(Code::NotFound, error); 30]);
}
