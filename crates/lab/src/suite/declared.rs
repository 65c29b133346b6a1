//! From the letters of `suite.toml` to a checked [`Suite`].

use super::{
    Case, FULL_ROUNDS_MIN, Limits, QUICK_ROUNDS_MIN, ROUNDS_MAX, Request, RequestMessage,
    SUITE_FILE, Schedule, Suite, SuiteSubject, parse_duration, parse_size,
};
use crate::declaration::{DeclarationError, Source};
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredSchedule {
    warmup: Spanned<String>,
    window: Spanned<String>,
    rounds: Spanned<u32>,
    grid: Spanned<Vec<DeclaredGridLine>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredGridLine {
    connections: u32,
    concurrency: Spanned<Vec<u32>>,
}

type Checked<T> = Result<T, DeclarationError>;

pub(super) fn parse(folder: &Path, text: &str) -> Checked<Suite> {
    let file = folder.join(SUITE_FILE);
    let source = Source { file: &file, text };
    let declared: DeclaredSuite = source.parse()?;
    check_name(source, folder, &declared.name)?;
    let instruments = instruments(source, &declared.instruments)?;
    let quick = declared.quick.as_ref();
    Ok(Suite {
        request: request(source, declared.request)?,
        limits: limits(source, &declared.limits)?,
        subjects: subjects(source, &declared.subjects, &instruments)?,
        full: schedule(source, &declared.full, FULL_ROUNDS_MIN)?,
        quick: quick
            .map(|quick| schedule(source, quick, QUICK_ROUNDS_MIN))
            .transpose()?,
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
        Some(folder) if folder != name.as_ref() => Err(source.invalid(
            name.span(),
            format!("the suite in the folder `{folder}` must be called so"),
        )),
        _ => Ok(()),
    }
}

fn instruments(source: Source<'_>, declared: &Spanned<Vec<String>>) -> Checked<Vec<String>> {
    let names = declared.as_ref();
    let twice = (1..names.len()).any(|i| names[..i].contains(&names[i]));
    if names.is_empty() || twice {
        let message = "name at least one instrument, each once: [\"bookend-load\"]";
        return Err(source.invalid(declared.span(), message.to_owned()));
    }
    Ok(names.clone())
}

fn request(source: Source<'_>, declared: Spanned<DeclaredRequest>) -> Checked<Request> {
    let span = declared.span();
    let declared = declared.into_inner();
    let method = declared.method.as_ref();
    let is_method = |(service, name): (&str, &str)| {
        !service.is_empty() && !name.is_empty() && !name.contains('/')
    };
    if !method.split_once('/').is_some_and(is_method) {
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
    Ok(Request {
        method: method.clone(),
        proto: declared.proto,
        message,
    })
}

fn limits(source: Source<'_>, declared: &DeclaredLimits) -> Checked<Limits> {
    let server_cpus = *declared.server_cpus.as_ref();
    if !(server_cpus.is_finite() && server_cpus > 0.0) {
        let message = "a server needs some CPU: write 1, or 0.5 for half the time of one";
        return Err(source.invalid(declared.server_cpus.span(), message.to_owned()));
    }
    let size = |text: &Spanned<String>| {
        let complain = |error: super::UnitError| source.invalid(text.span(), error.to_string());
        parse_size(text.as_ref()).map_err(complain)
    };
    Ok(Limits {
        server_cpus,
        server_memory_bytes: declared.server_memory.as_ref().map(size).transpose()?,
    })
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
            return Err(complain(
                "a calibration line cannot be the baseline".to_owned(),
            ));
        }
        let own = one.instruments.as_ref().map(|own| instruments(source, own));
        subjects.push(SuiteSubject {
            name: name.clone(),
            baseline: one.baseline,
            calibration: one.calibration,
            instruments: own
                .transpose()?
                .unwrap_or_else(|| default_instruments.to_vec()),
        });
    }
    if subjects.iter().filter(|subject| subject.baseline).count() == 1 {
        return Ok(subjects);
    }
    let message = "mark exactly one subject with `baseline = true`: ratios compare with it";
    Err(source.invalid(declared.span(), message.to_owned()))
}

fn schedule(source: Source<'_>, declared: &DeclaredSchedule, rounds_min: u32) -> Checked<Schedule> {
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
    Ok(Schedule {
        warmup: duration(source, &declared.warmup)?,
        window,
        rounds,
        cases: cases(source, &declared.grid)?,
    })
}

fn duration(source: Source<'_>, declared: &Spanned<String>) -> Checked<Duration> {
    let complain = |error: super::UnitError| source.invalid(declared.span(), error.to_string());
    parse_duration(declared.as_ref()).map_err(complain)
}

fn cases(source: Source<'_>, grid: &Spanned<Vec<DeclaredGridLine>>) -> Checked<Vec<Case>> {
    let mut cases = Vec::new();
    for line in grid.as_ref() {
        for &concurrency in line.concurrency.as_ref() {
            let complain = |message| source.invalid(line.concurrency.span(), message);
            let case = Case::new(line.connections, concurrency)
                .map_err(|error| complain(error.to_string()))?;
            if cases.contains(&case) {
                return Err(complain(format!("{case} stands in the grid twice")));
            }
            cases.push(case);
        }
    }
    if cases.is_empty() {
        return Err(source.invalid(grid.span(), "the grid has no case".to_owned()));
    }
    Ok(cases)
}
