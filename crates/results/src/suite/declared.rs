//! Parses the text of `suite.toml` into a checked [`Suite`].

use super::checked::{
    FULL_ROUNDS_MIN, QUICK_ROUNDS_MIN, ROUNDS_MAX, Request, RequestMessage, SUITE_FILE, Schedule,
    Suite, SuiteLimits, SuiteSubject, TestedEnd,
};
use super::grid::{DeclaredGridLine, cases};
use super::instruments::{Checked, instruments};
use super::units::{UnitError, parse_duration, parse_size};
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
    analysis: String,
    instruments: Spanned<Vec<String>>,
    #[serde(default)]
    handler_waits: bool,
    published: Option<String>,
    request: Spanned<DeclaredRequest>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredLimits {
    server_cpus: Spanned<f64>,
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
    side: Option<TestedEnd>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredSchedule {
    warmup: Spanned<String>,
    window: Spanned<String>,
    rounds: Spanned<u32>,
    deadline: Option<Spanned<String>>,
    backend: Option<Spanned<String>>,
    drain: Option<Spanned<String>>,
    grid: Spanned<Vec<DeclaredGridLine>>,
}

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
        parse(folder, text)
    }
}

fn parse(folder: &Path, text: &str) -> Checked<Suite> {
    let file = folder.join(SUITE_FILE);
    let source = Source { file: &file, text };
    let declared: DeclaredSuite = source.parse()?;
    check_name(source, folder, &declared.name)?;
    let instruments = instruments(source, &declared.instruments)?;
    let subjects = subjects(source, &declared.subjects, &instruments)?;
    let schedule = |declared, rounds_min| schedule(source, declared, rounds_min, &subjects);
    let quick = declared.quick.as_ref();
    Ok(Suite {
        request: request(source, declared.request)?,
        limits: limits(source, &declared.limits)?,
        full: schedule(&declared.full, FULL_ROUNDS_MIN)?,
        quick: quick.map(|quick| schedule(quick, QUICK_ROUNDS_MIN)).transpose()?,
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

fn check_name(source: Source<'_>, folder: &Path, name: &Spanned<String>) -> Checked<()> {
    match folder.file_name().and_then(|folder| folder.to_str()) {
        Some(folder) if folder != name.as_ref() => Err(source
            .invalid(name.span(), format!("the suite in the folder `{folder}` must be called so"))),
        _ => Ok(()),
    }
}

fn request(source: Source<'_>, declared: Spanned<DeclaredRequest>) -> Checked<Request> {
    let span = declared.span();
    let declared = declared.into_inner();
    let method = declared.method.as_ref();
    if !is_method(method) {
        let message = format!("`{method}` is not a method: write pkg.Service/Method");
        return Err(source.invalid(declared.method.span(), message));
    }
    let message = match (declared.json, declared.bytes) {
        (Some(file), None) => RequestMessage::Json(file),
        (None, Some(file)) => RequestMessage::Bytes(file),
        _ => {
            let message = "give the message as one of `json` and `bytes`, the name of a file";
            return Err(source.invalid(span, message.to_owned()));
        }
    };
    Ok(Request { method: method.clone(), proto: declared.proto, message })
}

fn limits(source: Source<'_>, declared: &DeclaredLimits) -> Checked<SuiteLimits> {
    let client_cpus = declared.client_cpus.as_ref();
    let processes = declared.server_processes.as_ref();
    if let Some(none) = processes.filter(|processes| *processes.as_ref() == 0) {
        let message = "a server is at least one process: leave it out for no limit";
        return Err(source.invalid(none.span(), message.to_owned()));
    }
    let size = |text: &Spanned<String>| {
        let complain = |error: UnitError| source.invalid(text.span(), error.to_string());
        parse_size(text.as_ref()).map_err(complain)
    };
    Ok(SuiteLimits {
        server_cpus: cpus(source, &declared.server_cpus)?,
        server_processes: processes.map(|processes| *processes.as_ref()),
        client_cpus: client_cpus.map(|given| cpus(source, given)).transpose()?,
        server_memory_bytes: declared.server_memory.as_ref().map(size).transpose()?,
    })
}

fn cpus(source: Source<'_>, declared: &Spanned<f64>) -> Checked<f64> {
    let cpus = *declared.as_ref();
    if cpus.is_finite() && cpus > 0.0 {
        return Ok(cpus);
    }
    let message = "both ends need some CPU: write 1, or 0.5 for half the time of one";
    Err(source.invalid(declared.span(), message.to_owned()))
}

fn subjects(
    source: Source<'_>,
    declared: &Spanned<Vec<DeclaredSubject>>,
    default_instruments: &[String],
) -> Checked<Vec<SuiteSubject>> {
    let mut subjects: Vec<SuiteSubject> = Vec::new();
    for one in declared.as_ref() {
        let name = one.name.as_ref();
        let complain = |message: String| source.invalid(one.name.span(), message);
        if subjects.iter().any(|subject| subject.name == *name) {
            return Err(complain(format!("the subject `{name}` is listed twice")));
        }
        if one.baseline && one.calibration {
            return Err(complain("a calibration line cannot be the baseline".to_owned()));
        }
        let concurrency_max = one.concurrency_max.as_ref();
        if let Some(none) = concurrency_max.filter(|max| *max.as_ref() == 0) {
            let message = "no case has 0 streams: leave it out to measure all cases";
            return Err(source.invalid(none.span(), message.to_owned()));
        }
        let own = one.instruments.as_ref().map(|own| instruments(source, own));
        subjects.push(SuiteSubject {
            name: name.clone(),
            baseline: one.baseline,
            calibration: one.calibration,
            instruments: own.transpose()?.unwrap_or_else(|| default_instruments.to_vec()),
            concurrency_max: concurrency_max.map(|max| *max.as_ref()),
            concurrency: one.concurrency.clone(),
            full_only: one.full_only,
            backend: backend(source, one.backend.as_ref())?,
            side: one.side,
        });
    }
    if subjects.iter().filter(|subject| subject.baseline).count() == 1 {
        return Ok(subjects);
    }
    let message = "mark exactly one subject with `baseline = true`: ratios compare with it";
    Err(source.invalid(declared.span(), message.to_owned()))
}

fn schedule(
    source: Source<'_>,
    declared: &DeclaredSchedule,
    rounds_min: u32,
    subjects: &[SuiteSubject],
) -> Checked<Schedule> {
    let rounds = *declared.rounds.as_ref();
    if !(rounds_min..=ROUNDS_MAX).contains(&rounds) {
        let message = format!("{rounds} rounds: at least {rounds_min}, at most {ROUNDS_MAX}");
        return Err(source.invalid(declared.rounds.span(), message));
    }
    let window = duration(source, &declared.window)?;
    if window.is_zero() {
        let message = "the window must have a length".to_owned();
        return Err(source.invalid(declared.window.span(), message));
    }
    let (cases, instruments_of) = cases(source, &declared.grid, subjects)?;
    Ok(Schedule {
        warmup: duration(source, &declared.warmup)?,
        window,
        rounds,
        deadline: deadline(source, declared.deadline.as_ref())?,
        backend: backend(source, declared.backend.as_ref())?,
        drain: declared.drain.as_ref().map(|drain| duration(source, drain)).transpose()?,
        cases,
        instruments_of,
    })
}

fn duration(source: Source<'_>, declared: &Spanned<String>) -> Checked<Duration> {
    let complain = |error: UnitError| source.invalid(declared.span(), error.to_string());
    parse_duration(declared.as_ref()).map_err(complain)
}

fn deadline(source: Source<'_>, declared: Option<&Spanned<String>>) -> Checked<Option<Duration>> {
    let Some(declared) = declared else {
        return Ok(None);
    };
    let deadline = duration(source, declared)?;
    if deadline < DEADLINE_MIN {
        let message = "a call needs at least 1ms: leave the deadline out for none".to_owned();
        return Err(source.invalid(declared.span(), message));
    }
    Ok(Some(deadline))
}

fn backend(source: Source<'_>, declared: Option<&Spanned<String>>) -> Checked<Option<String>> {
    match declared {
        Some(name) if name.as_ref().is_empty() => {
            let message = "name a subject, as java-grpc/persistence, or leave it out".to_owned();
            Err(source.invalid(name.span(), message))
        }
        name => Ok(name.map(|name| name.as_ref().clone())),
    }
}
