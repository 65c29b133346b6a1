//! Races: what is said of two servers, and how often that is wrong.

use bookend_contract::gate::{Gate, GateKind, GateOutcome};
use bookend_report::race::RaceAnswer;
use bookend_results::race::{
    BLOCK_LAPS, Block, EarlierRace, Race, RaceCell, RaceError, RaceLap, RaceServerName,
    RaceVerdict, RatedCalls, Standing,
};
use bookend_results::statistics::{ALPHA, ConfidenceSequence, median};
use bookend_results::suite::TestedEnd;
use fastrand::Rng;
use serde_json::Value;
use std::f64::consts::TAU;

/// Blocks of a race of a minute.
const BLOCKS: usize = 150;

/// And its starts.
const STARTS: usize = 30;

/// How the cost of a call wanders, as shares of it.
struct Noise {
    /// Of both servers alike, and how much of it is left after a lap.
    common: (f64, f64),
    /// Of each server by itself.
    own: (f64, f64),
    /// Of each lap by itself.
    white: f64,
    /// How many laps are disturbed by something else.
    spikes: f64,
}

/// A machine whose speed drifts by far more than what is measured, servers that have phases of
/// their own, and a neighbour.
const NOISY: Noise = Noise { common: (0.05, 0.98), own: (0.01, 0.7), white: 0.02, spikes: 0.02 };

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (TAU * random.f64()).cos()
}

fn wander(value: &mut f64, (size, kept): (f64, f64), random: &mut Rng) {
    *value = kept * *value + (1.0 - kept * kept).sqrt() * size * normal(random);
}

/// How far a start of one server is from another start of it: nine in ten by about 0.7 %, and the
/// others, whose memory lies badly, by far more.
fn start_effect(random: &mut Rng) -> f64 {
    let size = if random.f64() < 0.1 { 0.04 } else { 0.007 };
    size * normal(random)
}

/// The noise of a machine, and the server that each lap is of. Its numbers are of a fork, which
/// mixes the seed: first numbers of neighbouring seeds are evenly spread rather than random.
struct Laps<'a> {
    noise: &'a Noise,
    common: f64,
    own: [f64; 2],
    random: Rng,
}

impl Laps<'_> {
    /// The ratio of a round of four laps, where the second server differs by `difference`.
    fn round(&mut self, difference: f64) -> f64 {
        let Self { noise, common, own, random } = self;
        let outer = usize::from(random.bool());
        let mut value = 0.0;
        for server in [outer, 1 - outer, 1 - outer, outer] {
            wander(common, noise.common, random);
            own.iter_mut().for_each(|own| wander(own, noise.own, random));
            let mut lap = *common + own[server] + noise.white * normal(random);
            if random.f64() < noise.spikes {
                lap -= 0.3 * random.f64();
            }
            value += if server == 0 { -lap / 2.0 } else { (lap + difference) / 2.0 };
        }
        value
    }
}

/// Whether the sequence of a race ever leaves the truth, and whether it excludes equality at last.
fn simulated(noise: &Noise, difference: f64, seed: u64) -> (bool, bool) {
    let mut sequence = ConfidenceSequence::default();
    let mut laps = Laps { noise, common: 0.0, own: [0.0; 2], random: Rng::with_seed(seed).fork() };
    let mut is_wrong = false;
    for _ in 0..BLOCKS {
        sequence.push(laps.round(difference));
        let interval = sequence.interval();
        is_wrong |= interval.is_some_and(|interval| !interval.contains(difference));
    }
    let excludes = sequence.interval().is_some_and(|interval| !interval.contains(0.0));
    (is_wrong, excludes)
}

/// The same of a race of thirty starts of five rounds each, from when it covers starts on.
fn simulated_starts(noise: &Noise, difference: f64, seed: u64) -> (bool, bool) {
    let mut standing = Standing::default();
    let mut laps = Laps { noise, common: 0.0, own: [0.0; 2], random: Rng::with_seed(seed).fork() };
    let mut is_wrong = false;
    for _ in 0..STARTS {
        let between = start_effect(&mut laps.random) - start_effect(&mut laps.random);
        for _ in 0..BLOCKS / STARTS {
            let ratio = laps.round(difference + between);
            standing.push(&[block_of(ratio)]).expect("it has calls");
        }
        standing.end_start();
        let interval = standing.cost_interval().filter(|_| standing.covers_starts());
        is_wrong |= interval.is_some_and(|interval| !interval.contains(difference.exp()));
    }
    let excludes = standing.cost_interval().is_some_and(|interval| !interval.contains(1.0));
    (is_wrong, excludes)
}

/// A block that comes to this ratio, as a logarithm.
fn block_of(ratio: f64) -> Block {
    let first = lap(0, 1_000_000_000);
    let second = lap(1, (1e9 * (-ratio).exp()) as u64);
    [first, second, second, first]
}

#[test]
fn looking_after_every_block_is_wrong_in_at_most_five_of_a_hundred_races() {
    let races = 10_000;
    let wrong = (0..races).filter(|seed| simulated(&NOISY, 0.0, *seed).0).count();
    assert!(wrong as f64 <= ALPHA * races as f64, "{wrong} of {races}");
    let steady = Noise { common: (0.0, 0.0), own: (0.0, 0.0), white: 0.02, spikes: 0.0 };
    let wrong = (0..1_000).filter(|seed| simulated(&steady, 0.0, *seed).0).count();
    assert!(wrong as f64 <= ALPHA * 1_000.0, "{wrong} of 1,000");
}

#[test]
fn starts_that_differ_are_wrong_in_at_most_five_of_a_hundred_races() {
    let races = 10_000;
    let wrong = (0..races).filter(|seed| simulated_starts(&NOISY, 0.0, *seed).0).count();
    assert!(wrong as f64 <= ALPHA * races as f64, "{wrong} of {races}");
    // What a race of one start says of such servers: its rounds agree with each other, and not
    // with those of another start.
    let one_start = |seed: u64| {
        let mut random = Rng::with_seed(seed).fork();
        let between = start_effect(&mut random) - start_effect(&mut random);
        simulated(&NOISY, between, seed).1
    };
    let wrong = (0..1_000).filter(|seed| one_start(*seed)).count();
    assert!(wrong as f64 > ALPHA * 1_000.0, "{wrong} of 1,000: restarts were for nothing");
}

#[test]
fn a_difference_of_three_percent_is_found_among_starts_that_differ_by_two() {
    let found = (0..200).filter(|seed| simulated_starts(&NOISY, 0.03, *seed).1).count();
    assert!(found >= 180, "{found} of 200");
}

#[test]
fn a_difference_of_two_percent_is_found_in_that_noise() {
    let found = (0..200).filter(|seed| simulated(&NOISY, 0.02, *seed).1).count();
    assert!(found >= 180, "{found} of 200");
}

#[test]
fn an_interval_is_of_no_use_before_the_third_block() {
    let mut sequence = ConfidenceSequence::default();
    assert!(sequence.interval().is_none());
    [0.01, 0.02].into_iter().for_each(|value| sequence.push(value));
    assert!(sequence.interval().is_none_or(|interval| interval.contains(0.0)));
    // Equal values have no variance, and there is nothing to doubt.
    let mut equal = ConfidenceSequence::default();
    (0..20).for_each(|_| equal.push(0.5));
    let interval = equal.interval().expect("twenty values");
    assert!(interval.contains(0.5) && interval.high - interval.low < 1e-9);
}

/// Of a hundred sequences of normal values. The spread of thirty is known to an eighth, and what it
/// takes goes with its square. Means of six values, which count later, make it take a tenth more.
#[test]
fn when_an_interval_will_be_narrow_is_foretold_from_its_first_values() {
    let mut random = Rng::with_seed(7);
    let mut errors: Vec<f64> = (0..100).map(|_| foretold_over_true(&mut random)).collect();
    errors.sort_by(f64::total_cmp);
    assert!((0.8..1.1).contains(&median(&errors).expect("some")), "{errors:?}");
    assert!(errors[5] > 0.4 && errors[94] < 2.0, "{errors:?}");
}

/// How many values it was said to take, from the first thirty, over how many it takes.
fn foretold_over_true(random: &mut Rng) -> f64 {
    const HALF: f64 = 0.2;
    let mut sequence = ConfidenceSequence::of_starts();
    (0..30).for_each(|_| sequence.push(normal(random)));
    let foretold = sequence.values_until(HALF, ALPHA).expect("it ends") as f64;
    let is_wide = |sequence: &ConfidenceSequence| {
        sequence.interval().is_none_or(|interval| interval.high - interval.low > 2.0 * HALF)
    };
    while is_wide(&sequence) {
        sequence.push(normal(random));
    }
    foretold / sequence.count() as f64
}

#[test]
fn nothing_is_foretold_without_an_interval_or_for_ever() {
    let mut sequence = ConfidenceSequence::of_starts();
    assert_eq!(sequence.values_until(0.1, ALPHA), None);
    [1.0, -1.0].repeat(10).into_iter().for_each(|value| sequence.push(value));
    assert_eq!(sequence.values_until(1e-6, ALPHA), None);
    assert_eq!(sequence.values_until(10.0, ALPHA), Some(sequence.count()), "it is so now");
}

fn lap(server: usize, cpu_ns: u64) -> RaceLap {
    RaceLap { server, ok: 1_000, failed: 0, length_ns: 100_000_000, cpu_ns, rated: None }
}

/// Each call of the second server takes that share of the first one's CPU time, give or take a
/// little.
fn race(share: f64, blocks: u64) -> Race {
    let block = |number: u64| {
        let first = 50_000_000 + number % 7 * 100_000;
        let second = (first as f64 * share) as u64 + number % 3 * 100_000;
        [lap(0, first), lap(1, second), lap(1, second), lap(0, first)]
    };
    let named = |name: &str| RaceServerName { name: name.into(), command: format!("./{name}") };
    Race {
        tested: TestedEnd::Server,
        servers: vec![named("old"), named("new")],
        cells: vec![RaceCell { connections: 1, concurrency: 50 }],
        rps: None,
        lap_ms: 100,
        margin: 0.01,
        seed: 7,
        doubts: vec!["both servers were asked in the dark".into()],
        functions: None,
        machine: None,
        build: None,
        command: None,
        started: None,
        starts: vec![(0..blocks).map(|number| vec![block(number)]).collect()],
        dropped: Vec::new(),
    }
}

#[test]
fn there_are_four_answers() {
    let verdict = |race: &Race| race.standing().unwrap().verdict(race.margin);
    assert_eq!(verdict(&race(0.9, 40)), RaceVerdict::Better(1));
    assert_eq!(verdict(&race(1.1, 40)), RaceVerdict::Better(0));
    assert_eq!(verdict(&race(0.998, 40)), RaceVerdict::Equivalent);
    assert_eq!(verdict(&race(0.998, 3)), RaceVerdict::Inconclusive);
    for (share, blocks, begins) in [
        (0.9, 40, "new is better: new answers 10.9 % more calls per CPU-second than old"),
        (1.1, 40, "old is better: new answers 9.3 % fewer calls"),
        (0.998, 40, "old and new are equivalent within 1 %: "),
        (0.998, 3, "Inconclusive: "),
    ] {
        let answer = RaceAnswer::new(&race(share, blocks), None).text().unwrap();
        assert!(answer.starts_with(begins), "{answer}");
        assert!(answer.lines().count() <= 5, "{answer}");
    }
}

#[test]
fn the_answer_says_what_a_call_costs_what_failed_and_what_to_doubt() {
    let mut race = race(0.9, 40);
    race.starts[0][0][0][0].failed = 3;
    let answer = RaceAnswer::new(&race, None).text().unwrap();
    for part in [
        "A call costs 50.3 µs of CPU time in old and 45.4 µs in new",
        "Calls failed, and are in no figure: 3 of old (<0.1 %), 0 of new.",
        "at C=1 S=50, in 1 start with 40 rounds of four laps of 100 ms",
        "Doubt it for this: both servers were asked in the dark.",
    ] {
        assert!(answer.contains(part), "{answer}");
    }
    let json = RaceAnswer::new(&race, None).json().unwrap();
    assert_eq!((&json["verdict"], &json["better"]), (&"better".into(), &"new".into()));
    assert_eq!(json["servers"][0]["calls_failed"], 3);
}

#[test]
fn a_lap_without_calls_or_without_cpu_time_is_no_measurement() {
    let block = |second: RaceLap| [lap(0, 1), second, second, lap(0, 1)];
    let mut standing = Standing::default();
    let no_calls = RaceLap { ok: 0, ..lap(1, 1) };
    assert_eq!(standing.push(&[block(no_calls)]), Err(RaceError::NoCalls(1)));
    assert_eq!(standing.push(&[block(lap(1, 0))]), Err(RaceError::NoCpuTime(1)));
    assert_eq!(standing.rounds(), 0);
}

#[test]
fn a_gate_is_decided_only_where_that_is_shown_for_other_starts() {
    use GateOutcome::{Met, Missed, NotDecided};
    let judged = |race: &Race, gate: &str| {
        let condition = gate.parse().unwrap_or_else(|error| panic!("{error}"));
        race.judge(&Gate { kind: GateKind::FailIf, condition }).unwrap().outcome
    };
    let one_start = race(1.1, 40);
    let mut slower = one_start.clone();
    slower.starts =
        one_start.rounds().cloned().collect::<Vec<_>>().chunks(4).map(<[_]>::to_vec).collect();
    assert_eq!(judged(&slower, "new<0.95"), Missed);
    assert_eq!(judged(&slower, "new < 0.85"), Met);
    assert_eq!(judged(&slower, "old>1.05"), Missed);
    assert_eq!(judged(&slower, "ratio<=95%"), Missed);
    let within = format!("new<{}", slower.standing().unwrap().cost_ratio());
    assert_eq!(judged(&slower, &within), NotDecided, "the bound lies in the interval");
    assert_eq!(judged(&one_start, "new<0.95"), NotDecided, "another start may differ");
    assert_eq!(judged(&race(1.1, 2), "new<0.95"), NotDecided, "two blocks show nothing");
    let clients = Race { tested: TestedEnd::Client, ..one_start };
    assert_eq!(judged(&clients, "new<0.95"), Missed, "each lap is a start");
}

#[test]
fn a_race_comes_back_from_its_file() {
    let race = race(0.9, BLOCK_LAPS as u64);
    let text = serde_json::to_string(&race).unwrap();
    assert_eq!(serde_json::from_str::<Race>(&text).unwrap(), race);
}

#[test]
fn several_cells_have_a_line_each_and_count_alike() {
    let mut race = race(0.9, 40);
    let faster: Vec<_> = race.rounds().map(|round| round[0]).collect();
    race.cells.push(RaceCell { connections: 10, concurrency: 100 });
    for (round, mut block) in race.starts.iter_mut().flatten().zip(faster) {
        block.iter_mut().for_each(|lap| lap.server = 1 - lap.server);
        round.push(block);
    }
    let standing = race.standing().unwrap();
    assert!(
        (standing.cost_ratio() - 1.0).abs() < 1e-9,
        "one cell is the other the wrong way round"
    );
    assert_eq!(standing.verdict(race.margin), RaceVerdict::Equivalent);
    let answer = RaceAnswer::new(&race, None).text().unwrap();
    let lines: Vec<&str> = answer.lines().collect();
    assert!(lines[1].starts_with("C=1 S=50 ") && lines[1].contains("+10.9 %"), "{answer}");
    assert!(lines[2].starts_with("C=10 S=100 ") && lines[2].contains("-9.8 %"), "{answer}");
    assert!(lines.iter().take(3).all(|line| line.len() <= 100), "{answer}");
}

/// The second server of a race alone, as a race of its own.
fn alone(share: f64) -> Race {
    let mut race = race(share, 40);
    race.servers.remove(0);
    for block in race.starts.iter_mut().flatten().flatten() {
        (block[0], block[3]) = (block[1], block[2]);
        block.iter_mut().for_each(|lap| lap.server = 0);
    }
    race
}

#[test]
fn one_server_is_measured_and_compared_with_what_was_kept_of_it() {
    let now = alone(0.9);
    let answer = RaceAnswer::new(&now, None).text().unwrap();
    let begins = "A call costs 45.4 µs (between 45.3 µs and 45.5 µs) of CPU time in new";
    assert!(answer.starts_with(begins), "{answer}");
    let kept = EarlierRace::of(race(1.0, 40), &now).expect("the same cells");
    assert_eq!(kept.name(), "new", "the server of the same name");
    let answer = RaceAnswer::new(&now, Some(&kept)).text().unwrap();
    assert!(answer.starts_with("new answers 11.1 % more calls per CPU-second"), "{answer}");
    assert!(answer.contains("not called by turns"), "{answer}");
    let other_cells = Race { cells: Vec::new(), ..race(1.0, 40) };
    assert!(EarlierRace::of(other_cells, &now).is_none());
}

#[test]
fn one_server_is_not_done_before_it_can_be_compared_later() {
    let mut done = alone(1.0);
    let rounds = std::mem::take(&mut done.starts[0]);
    for round in rounds {
        done.starts[0].push(round);
        if done.standing().unwrap().is_within(0.25) {
            break;
        }
    }
    let kept = EarlierRace::of(done.clone(), &done).expect("the same cells");
    let answer = RaceAnswer::new(&done, Some(&kept)).text().unwrap();
    assert!(answer.contains("calls per CPU-second than new did earlier"), "{answer}");
}

/// The same race, its rounds divided among `starts` starts.
fn restarted(race: Race, starts: usize) -> Race {
    let rounds: Vec<_> = race.rounds().cloned().collect();
    let starts = rounds.chunks(rounds.len() / starts).map(<[_]>::to_vec).collect();
    Race { starts, ..race }
}

/// A race whose calls were made by a rate; of the second server they take `slower` times as long,
/// and `share_held_back` of them had to wait.
fn rated(slower: f64, share_held_back: f64) -> Race {
    let mut race = Race { rps: Some(10_000.0), ..race(1.0, 40) };
    for (number, lap) in race.starts.iter_mut().flatten().flatten().flatten().enumerate() {
        let slower = if lap.server == 1 { slower } else { 1.0 };
        let noise = 1.0 + number as f64 % 7.0 / 100.0;
        lap.rated = Some(RatedCalls {
            due: 1_000,
            held_back: if lap.server == 1 { (share_held_back * 1_000.0) as u64 } else { 0 },
            lag_ns: 50_000,
            p50_ns: (100_000.0 * slower * noise) as u64,
            p99_ns: (300_000.0 * slower * noise) as u64,
        });
    }
    race
}

#[test]
fn calls_by_a_rate_are_compared_by_their_latency_from_when_they_were_due() {
    let race = rated(1.2, 0.0);
    let answer = RaceAnswer::new(&race, None).text().unwrap();
    assert!(answer.contains("half were answered within 103 µs and 124 µs (between +"), "{answer}");
    assert!(answer.contains("and 99 % within 309 µs and 371 µs"), "{answer}");
    assert!(answer.contains("at C=1 S=50 with 10000 calls a second"), "{answer}");
    assert_eq!(answer.lines().count(), 4, "{answer}");
    let json = RaceAnswer::new(&race, None).json().unwrap();
    let ratio = json["ratios"]["latency_p99"].as_f64().expect("a number");
    assert!((ratio - 1.2).abs() < 0.01, "{json}");
    assert!(json["cells"][0]["servers"][1]["latency_p50_ns"].as_f64() > Some(119_000.0), "{json}");
    let closed = self::race(1.0, 40);
    assert_eq!(
        RaceAnswer::new(&closed, None).json().unwrap()["ratios"]["latency_p99"],
        Value::Null
    );
    assert!(EarlierRace::of(closed, &race).is_none(), "calls were made in another way");
}

#[test]
fn a_rate_that_cannot_be_held_is_refused_with_whose_fault_it_is() {
    assert_eq!(rated(1.0, 0.05).check_rate(), Ok(()));
    assert_eq!(race(1.0, 40).check_rate(), Ok(()), "it has no rate");
    let error = rated(1.0, 0.93).check_rate().unwrap_err().to_string();
    let said = "new does not keep up with 10000 calls a second at C=1 S=50: 93 % of them had to \
                wait, because 50 were in flight. Give a lower --rps, or a larger -c";
    assert_eq!(error, said);
    let mut late = rated(1.0, 0.93);
    for lap in late.starts.iter_mut().flatten().flatten().flatten() {
        lap.rated = lap.rated.map(|rated| RatedCalls { lag_ns: 23_000_000, ..rated });
    }
    let error = late.check_rate().unwrap_err().to_string();
    assert!(error.starts_with("bookend itself does not keep up with 10000 calls"), "{error}");
    assert!(error.contains("they were 23.0 ms late"), "{error}");
    late.starts[0].truncate(1);
    assert_eq!(late.check_rate(), Ok(()), "one round may have been disturbed");
}

#[test]
fn a_small_difference_may_be_one_of_starts_and_that_is_said() {
    let is_said = |share: f64, starts| {
        let answer = RaceAnswer::new(&restarted(race(share, 40), starts), None).text().unwrap();
        answer.contains("two starts of one program may differ as much")
    };
    assert!(is_said(0.98, 1) && is_said(1.02, 1));
    assert!(!is_said(0.98, 8), "several starts tell how much they differ");
    assert!(!is_said(0.9, 1), "starts differ by less");
    assert!(!is_said(0.998, 1), "nothing is claimed of equivalent servers");
    let answer = RaceAnswer::new(&restarted(race(0.98, 40), 5), None).text().unwrap();
    assert!(answer.starts_with("Inconclusive: there are too few starts"), "{answer}");
    let answer = RaceAnswer::new(&restarted(race(0.98, 40), 8), None).text().unwrap();
    assert!(answer.contains("in 8 starts with 40 rounds"), "{answer}");
    assert!(answer.contains("holds with 95 % and for other starts like these"), "{answer}");
    let answer = RaceAnswer::new(&race(0.98, 1), None).text().unwrap();
    assert!(answer.contains("in 1 start with 1 round of four laps"), "{answer}");
}

#[test]
fn one_more_start_would_not_change_a_verdict() {
    let answer = |share: f64, starts| {
        RaceAnswer::new(&restarted(race(share, 40), starts), None).text().unwrap()
    };
    let few = answer(0.99, 8);
    assert!(few.starts_with("Inconclusive: new answers 0.81 % more calls"), "{few}");
    assert!(few.contains("(between +"), "the interval leaves out equality: {few}");
    assert!(few.contains(" %), and one more start may change that. A larger --budget"), "{few}");
    for (share, starts) in [(0.98, 20), (0.9, 8)] {
        let answer = answer(share, starts);
        assert!(answer.starts_with("new is better: "), "{answer}");
        assert!(!answer.contains("one more start"), "{answer}");
    }
}

#[test]
fn a_start_that_was_cut_short_is_no_value_beside_whole_ones() {
    let mut race = restarted(race(0.98, 40), 8);
    let whole = race.standing().unwrap();
    let last = race.starts[0][..2].to_vec();
    race.starts.push(last);
    let standing = race.standing().unwrap();
    assert_eq!((standing.starts(), standing.rounds()), (8, 42));
    assert_eq!(standing.cost_interval(), whole.cost_interval());
}

#[test]
fn starts_that_became_shorter_count_as_well() {
    let mut race = restarted(race(0.98, 40), 8);
    race.starts[7].truncate(2);
    race.starts[6].truncate(2);
    assert_eq!(race.standing().unwrap().starts(), 8);
}

/// A race of which `dropped` rounds have a lap in which the second server failed.
fn flaky(dropped: u64) -> Race {
    let mut flaky = race(0.98, 40);
    flaky.dropped = race(0.98, dropped).starts.remove(0);
    for block in flaky.dropped.iter_mut().flatten() {
        block[2] = RaceLap { ok: 0, failed: 30, ..block[2] };
    }
    flaky
}

#[test]
fn no_race_hides_calls_that_failed() {
    let mut race = race(0.9, 40);
    for lap in race.starts.iter_mut().flatten().flatten().flatten() {
        lap.failed = if lap.server == 1 { lap.ok * 264 / 736 } else { lap.ok * 5 / 995 };
    }
    let text = RaceAnswer::new(&race, None).text().unwrap();
    let verdict = text.lines().next().expect("a line");
    assert!(verdict.starts_with("! new is better: ! new answers "), "{text}");
    assert!(verdict.ends_with(", while 26.4 % of new's calls failed."), "{text}");
    assert!(text.contains(" of CPU time in ! old and "), "{text}");
    assert!(text.contains(" of old (0.5 %), ") && text.contains(" of new (26.4 %)."), "{text}");
    let json = RaceAnswer::new(&race, None).json().unwrap();
    let share = json["cells"][0]["servers"][1]["failed_share"].as_f64().expect("a share");
    assert!((share - 0.264).abs() < 0.001, "{json}");
    let condition = "new>=1".parse().expect("a condition");
    let judged = race.judge(&Gate { kind: GateKind::Slo, condition }).unwrap();
    assert!(judged.measured.ends_with(", while 26.4 % of new's calls failed"), "{judged:?}");
    // In several cells each has its own.
    race.cells.push(RaceCell { connections: 10, concurrency: 50 });
    race.starts.iter_mut().flatten().for_each(|round| round.push(round[0]));
    let text = RaceAnswer::new(&race, None).text().unwrap();
    assert!(text.contains(" (26.4 % failed)") && text.contains(" (0.5 % failed)"), "{text}");
    // One server alone has a verdict too: its cost.
    race.cells.pop();
    race.servers.remove(0);
    for round in race.starts.iter_mut().flatten() {
        round.pop();
        round[0] = [round[0][1]; BLOCK_LAPS].map(|lap| RaceLap { server: 0, ..lap });
    }
    let text = RaceAnswer::new(&race, None).text().unwrap();
    assert!(text.contains(" in ! new, while 26.4 % of new's calls failed; calls"), "{text}");
}

#[test]
fn rounds_that_were_dropped_are_said_with_what_failed_in_them() {
    let answer = RaceAnswer::new(&flaky(3), None).text().unwrap();
    let said = "Calls failed, and are in no figure: 0 of old, 90 of new (0.1 %).\n\
                3 of 43 rounds had a lap in which new answered no call; they are in no figure.";
    assert!(answer.contains(said), "{answer}");
    let json = RaceAnswer::new(&flaky(3), None).json().unwrap();
    assert_eq!((&json["rounds"], &json["rounds_dropped"]), (&40.into(), &3.into()));
    assert_eq!(json["servers"][1]["calls_failed"], 90);
    assert_eq!(json["cells"][0]["servers"][1]["calls_failed"], 90);
    assert!(!RaceAnswer::new(&race(0.98, 40), None).text().unwrap().contains("in no figure"));
}

#[test]
fn a_race_of_which_more_than_a_tenth_is_dropped_has_failed() {
    assert_eq!(flaky(4).check_dropped(), Ok(()));
    let error = flaky(5).check_dropped().unwrap_err().to_string();
    let said = "5 of 45 rounds had a lap in which new answered no call: 150 calls to it failed in \
                these, so there is nothing to compare";
    assert_eq!(error, said);
    let short = Race { starts: race(0.98, 3).starts, ..flaky(2) };
    assert_eq!(short.check_dropped(), Ok(()), "others may have needed the CPUs");
}

#[test]
fn what_is_undecided_has_no_direction_that_the_costs_do_not_have() {
    let mut undecided = race(1.0, 40);
    undecided.cells.push(RaceCell { connections: 1, concurrency: 1 });
    for (number, round) in undecided.starts[0].iter_mut().enumerate() {
        // In the mean of the two cells the second is the cheaper one, in the sum the dearer one.
        let noise = if number % 2 == 0 { 1.6 } else { 0.6 };
        let of = |first: f64, second: f64| {
            let [first, second] = [first, second * noise].map(|cpu_ns| cpu_ns as u64);
            [lap(0, first), lap(1, second), lap(1, second), lap(0, first)]
        };
        *round = vec![of(10e6, 5e6), of(100e6, 150e6)];
    }
    let standing = undecided.standing().unwrap();
    assert_eq!(standing.verdict(undecided.margin), RaceVerdict::Inconclusive);
    assert!(standing.cost_ratio() > 1.1);
    let answer = RaceAnswer::new(&undecided, None).text().unwrap();
    let line = answer.lines().find(|line| line.starts_with("Inconclusive: ")).expect(&answer);
    assert!(line.contains("new answers between ") && line.contains(" fewer and "), "{line}");
    let costs =
        answer.lines().find(|line| line.starts_with("A call costs 55.0 µs")).expect(&answer);
    assert!(costs.contains("over all calls together, where cells do not count alike"), "{costs}");
    // Where both say the same, the estimate is said.
    let answer = RaceAnswer::new(&restarted(race(0.99, 40), 8), None).text().unwrap();
    assert!(answer.starts_with("Inconclusive: new answers 0.81 % more calls"), "{answer}");
    assert!(!answer.contains("over all calls together"), "{answer}");
}

#[test]
fn what_is_undecided_says_how_much_more_it_takes() {
    let mut undecided = race(1.0, 10);
    undecided.margin = 0.000_1;
    let answer = RaceAnswer::new(&undecided, None).text().unwrap();
    assert!(answer.starts_with("Inconclusive: "), "{answer}");
    assert!(answer.contains(" times as large would decide it."), "{answer}");
    let answer = RaceAnswer::new(&restarted(race(0.98, 40), 5), None).text().unwrap();
    assert!(answer.contains("5 starts of 8: a --budget about 1.6 times as large"), "{answer}");
}
