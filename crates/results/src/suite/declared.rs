//! Parses the text of `suite.toml` into a checked [`Suite`].

use super::checked::{
    FULL_ROUNDS_MIN, PlannedSubject, QUICK_ROUNDS_MIN, ROUNDS_MAX, Request, RequestMessage,
    SUITE_FILE, Schedule, ServerLife, ShortWindows, Suite, SuiteLimits, SuiteSubject, TestedEnd,
};
use super::grid::{Checked, DeclaredGridLine, cases, instruments};
use super::laps::LapSetting;
use super::units::{parse_duration, parse_size};
use crate::declaration::{DeclarationError, Source, is_method, read_text};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredSuite {
    name: Spanned<String>,
    title: String,
    #[serde(default)]
    analysis: String,
    instruments: Spanned<Vec<String>>,
    #[serde(default)]
    handler_waits: bool,
    published: Option<String>,
    request: Spanned<DeclaredRequest>,
    #[serde(default)]
    limits: DeclaredLimits,
    subjects: Spanned<Vec<DeclaredSubject>>,
    full: DeclaredSchedule,
    quick: Option<DeclaredSchedule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredRequest {
    method: Spanned<String>,
    proto: String,
    json: Option<String>,
    bytes: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredLimits {
    server_cpus: Option<Spanned<f64>>,
    server_memory: Option<Spanned<String>>,
    server_processes: Option<Spanned<u32>>,
    client_cpus: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredSubject {
    name: Spanned<String>,
    #[serde(default)]
    baseline: bool,
    #[serde(default)]
    calibration: bool,
    instruments: Option<Spanned<Vec<String>>>,
    concurrency_max: Option<Spanned<u32>>,
    #[serde(default)]
    concurrency: Vec<u32>,
    #[serde(default)]
    full_only: bool,
    backend: Option<Spanned<String>>,
    server_processes: Option<Spanned<u32>>,
    side: Option<TestedEnd>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredSchedule {
    warmup: Spanned<String>,
    window: Spanned<String>,
    window_max: Option<Spanned<String>>,
    #[serde(default)]
    short_windows: ShortWindows,
    laps: Option<Spanned<String>>,
    rounds: Spanned<u32>,
    server_life: Option<ServerLife>,
    deadline: Option<Spanned<String>>,
    backend: Option<Spanned<String>>,
    drain: Option<Spanned<String>>,
    grid: Spanned<Vec<DeclaredGridLine>>,
}

/// What a schedule must have, and what it has where it does not say.
#[derive(Clone, Copy)]
struct Defaults {
    rounds_min: u32,
    window_max: Duration,
    server_life: ServerLife,
}

const FULL: Defaults = Defaults {
    rounds_min: FULL_ROUNDS_MIN,
    window_max: Duration::from_secs(60),
    server_life: ServerLife::Cell,
};

const QUICK: Defaults = Defaults {
    rounds_min: QUICK_ROUNDS_MIN,
    window_max: Duration::from_secs(5),
    server_life: ServerLife::Round,
};

/// CPUs of a server under test where the suite does not say.
const SERVER_CPUS: f64 = 1.0;

/// What every suite has to say, and every schedule that it has.
const REQUIRED: [&str; 16] = [
    "name",
    "title",
    "instruments",
    "request",
    "request.method",
    "request.proto",
    "subjects",
    "full",
    "full.warmup",
    "full.window",
    "full.rounds",
    "full.grid",
    "quick.warmup",
    "quick.window",
    "quick.rounds",
    "quick.grid",
];

/// Deadlines are passed on in whole milliseconds.
const DEADLINE_MIN: Duration = Duration::from_millis(1);

impl Suite {
    /// Reads and checks `FOLDER/suite.toml`.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, has an unknown key, or asks for something
    /// impossible; the error names file, line and remedy.
    pub fn read(folder: &Path) -> Result<Self, DeclarationError> {
        let text = read_text(&folder.join(SUITE_FILE))?;
        Self::parse(folder, &text)
    }

    /// Checks the text of `FOLDER/suite.toml`. The last component of `FOLDER` must be the suite's
    /// name.
    ///
    /// # Errors
    /// As [`Suite::read`].
    pub fn parse(folder: &Path, text: &str) -> Result<Self, DeclarationError> {
        let file = folder.join(SUITE_FILE);
        let source = Source { file: &file, text };
        let declared: DeclaredSuite = source.parse_with(&REQUIRED)?;
        source.read(&declared.name, |name| called_as_its_folder(name, folder))?;
        let instruments = source.read(&declared.instruments, |names| instruments(names))?;
        let subjects = subjects(source, &declared.subjects, &instruments)?;
        let schedule = |declared, defaults| schedule(source, declared, defaults, &subjects);
        let quick = declared.quick.as_ref();
        Ok(Suite {
            request: request(source, &declared.request)?,
            limits: limits(source, &declared.limits)?,
            full: schedule(&declared.full, FULL)?,
            quick: quick.map(|quick| schedule(quick, QUICK)).transpose()?,
            subjects,
            name: declared.name.into_inner(),
            title: declared.title,
            analysis: declared.analysis,
            handler_waits: declared.handler_waits,
            published: declared.published,
            instruments,
            folder: folder.to_owned(),
            text: text.to_owned(),
        })
    }
}

fn called_as_its_folder(name: &str, folder: &Path) -> Result<(), String> {
    match folder.file_name().and_then(|folder| folder.to_str()) {
        Some(folder) if folder != name => {
            Err(format!("the suite in the folder `{folder}` must be called so"))
        }
        _ => Ok(()),
    }
}

fn request(source: Source<'_>, declared: &Spanned<DeclaredRequest>) -> Checked<Request> {
    let DeclaredRequest { method, proto, .. } = declared.as_ref();
    let message = format!("`{}` is not a method: write pkg.Service/Method", method.as_ref());
    source.ensure(is_method(method.as_ref()), method, message)?;
    let message = source.read(declared, |one| match (one.json.clone(), one.bytes.clone()) {
        (Some(file), None) => Ok(RequestMessage::Json(file)),
        (None, Some(file)) => Ok(RequestMessage::Bytes(file)),
        _ => Err("give the message as one of `json` and `bytes`, the name of a file"),
    })?;
    Ok(Request { method: method.as_ref().clone(), proto: proto.clone(), message })
}

fn limits(source: Source<'_>, declared: &DeclaredLimits) -> Checked<SuiteLimits> {
    Ok(SuiteLimits {
        server_processes: source.read_some(&declared.server_processes, processes)?,
        server_cpus: source.read_some(&declared.server_cpus, cpus)?.unwrap_or(SERVER_CPUS),
        client_cpus: source.read_some(&declared.client_cpus, cpus)?,
        server_memory_bytes: source.read_some(&declared.server_memory, |text| parse_size(text))?,
    })
}

fn processes(&most: &u32) -> Result<u32, &'static str> {
    let none = "a server is at least one process: leave it out for no limit";
    (most > 0).then_some(most).ok_or(none)
}

fn cpus(&cpus: &f64) -> Result<f64, &'static str> {
    let is_some = cpus.is_finite() && cpus > 0.0;
    is_some
        .then_some(cpus)
        .ok_or("both ends need some CPU: write 1, or 0.5 for half the time of one")
}

fn subjects(
    source: Source<'_>,
    declared: &Spanned<Vec<DeclaredSubject>>,
    default_instruments: &[String],
) -> Checked<Vec<SuiteSubject>> {
    let mut subjects: Vec<SuiteSubject> = Vec::new();
    for one in declared.as_ref() {
        let name = one.name.as_ref();
        let is_new = subjects.iter().all(|subject| subject.planned.name != *name);
        source.ensure(is_new, &one.name, format!("the subject `{name}` is listed twice"))?;
        let message = "a calibration line cannot be the baseline";
        source.ensure(!(one.baseline && one.calibration), &one.name, message)?;
        let none = "no case has 0 streams: leave it out to measure all cases";
        let planned = PlannedSubject {
            name: name.clone(),
            baseline: one.baseline,
            calibration: one.calibration,
            concurrency_max: source
                .read_some(&one.concurrency_max, |&max| (max > 0).then_some(max).ok_or(none))?,
            instruments: source
                .read_some(&one.instruments, |names| instruments(names))?
                .unwrap_or_else(|| default_instruments.to_vec()),
            concurrency: one.concurrency.clone(),
            backend: source.read_some(&one.backend, |name| backend(name))?,
            server_processes: source.read_some(&one.server_processes, processes)?,
            side: one.side,
        };
        subjects.push(SuiteSubject { planned, full_only: one.full_only });
    }
    let baselines = subjects.iter().filter(|subject| subject.planned.baseline).count();
    let message = "mark exactly one subject with `baseline = true`: ratios compare with it";
    source.ensure(baselines == 1, declared, message)?;
    Ok(subjects)
}

fn schedule(
    source: Source<'_>,
    declared: &DeclaredSchedule,
    Defaults { rounds_min, window_max, server_life }: Defaults,
    subjects: &[SuiteSubject],
) -> Checked<Schedule> {
    let duration = |text: &String| parse_duration(text);
    let rounds = *declared.rounds.as_ref();
    let message = format!("{rounds} rounds: at least {rounds_min}, at most {ROUNDS_MAX}");
    source.ensure((rounds_min..=ROUNDS_MAX).contains(&rounds), &declared.rounds, message)?;
    let window = source.read(&declared.window, duration)?;
    source.ensure(!window.is_zero(), &declared.window, "the window must have a length")?;
    let longest = source.read_some(&declared.window_max, |text| {
        let longest = parse_duration(text).map_err(|error| error.to_string())?;
        let message = "no window may be shorter than `window`: leave it out, or give it more";
        (longest >= window).then_some(longest).ok_or_else(|| message.to_owned())
    })?;
    let (cases, instruments_of) = cases(source, &declared.grid, subjects)?;
    Ok(Schedule {
        warmup: source.read(&declared.warmup, duration)?,
        window,
        window_max: longest.unwrap_or(window_max).max(window),
        short_windows: declared.short_windows,
        laps: source.read_some(&declared.laps, |text| text.parse())?.unwrap_or(LapSetting::Off),
        rounds,
        server_life: declared.server_life.unwrap_or(server_life),
        deadline: source.read_some(&declared.deadline, |text| deadline(text))?,
        backend: source.read_some(&declared.backend, |name| backend(name))?,
        drain: source.read_some(&declared.drain, duration)?,
        cases,
        instruments_of,
    })
}

fn deadline(text: &str) -> Result<Duration, String> {
    let deadline = parse_duration(text).map_err(|error| error.to_string())?;
    let is_some = deadline >= DEADLINE_MIN;
    let message = "a call needs at least 1ms: leave the deadline out for none";
    is_some.then_some(deadline).ok_or_else(|| message.to_owned())
}

fn backend(name: &str) -> Result<String, &'static str> {
    let message = "name a subject, as java-grpc/persistence, or leave it out";
    (!name.is_empty()).then(|| name.to_owned()).ok_or(message)
}
