//! From the flags to the plan.

use super::pacing::{ASYNC_IN_FLIGHT_MAX, ConcurrencyStep, Loop, concurrency_steps};
use super::{
    Call, Connecting, GrpcCall, LoadPlan, ReportLabels, ReportedPlan, Streaming, ThriftRun,
    thrift_flags,
};
use crate::capacity::Trial;
use crate::echo::echo;
use crate::flags::LoadFlags;
use crate::options::{CallOptions, FlagsError};
use crate::pace::Part;
use crate::prepare::{PrepareError, PreparedCall};
use bookend_contract::duration::{nanoseconds, unless_zero};
use bookend_contract::secrets;
use bookend_io::tls::ClientConfig;
use bookend_io::{Driver, Io};
use bookend_payload::metadata::strings;
use bookend_payload::thrift::ThriftCall;
use bookend_wire::grpc::gzip;
use bookend_wire::keepalive::CLIENT_TIME_MIN_NS;
use bookend_wire::{ConnectionConfig, Keepalive};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// A longer reply of Thrift is not waited for, unless the flags say so. Thrift's own libraries have
/// this limit (`DEFAULT_MAX_MESSAGE_SIZE`).
const REPLY_MAX_BYTES: u32 = 100 << 20;
/// Parts of replies by Thrift take no more, whatever servers send: as much as our own server keeps
/// for all of its clients.
const REPLIES_MAX_BYTES: u64 = 512 << 20;

impl LoadPlan {
    /// What the flags mean. Reads the files that they name, finds the addresses of the targets, and
    /// may ask the first of them for its schema. `input` is standard input, `cpus` how many
    /// processors this process may use.
    ///
    /// # Errors
    /// [`PrepareError`]. Flags that contradict each other are found before a server is asked.
    pub fn from_flags(
        flags: &LoadFlags,
        input: &mut impl Read,
        cpus: u32,
    ) -> Result<Self, PrepareError> {
        let (plan, _) = Self::of_part(flags, Part::default(), None, input, cpus)?;
        Ok(plan)
    }

    /// The same for one of several generators, with what a report says of the plan of all. What is
    /// done is the trial where there is one; what is reported are the flags.
    ///
    /// # Errors
    /// As [`LoadPlan::from_flags`], and where there are fewer connections than generators.
    pub fn of_part(
        flags: &LoadFlags,
        part: Part,
        trial: Option<Trial>,
        input: &mut impl Read,
        cpus: u32,
    ) -> Result<(Self, ReportedPlan), PrepareError> {
        let settings = Settings::read(flags, part)?;
        let called = called(flags, &settings.call, settings.http2, input)?;
        let mut whole = settings.plan(flags, called)?;
        let mut own = trial.map_or_else(|| whole.clone(), |trial| trial.plan(&whole));
        own.take_part(part);
        let cpus = cpus.min(threads_max(&own.pacing, &own.concurrency_steps));
        (own.driver, own.threads) =
            driver_and_threads(flags.io, own.connecting, own.connections, settings.threads, cpus)?;
        check_threads(own.threads, &own.pacing, &own.concurrency_steps)?;
        (whole.driver, whole.threads) = (own.driver, own.threads);
        whole.labels.options = echo(flags, &settings.call, &whole);
        own.labels.clone_from(&whole.labels);
        Ok((own, whole.reported()))
    }

    /// Checks what can be checked of the flags without a server, for that number of generators.
    ///
    /// # Errors
    /// [`FlagsError`].
    pub fn check(flags: &LoadFlags, generators: u32) -> Result<(), FlagsError> {
        Settings::read(flags, Part { number: 0, of: generators }).map(drop)
    }
}

/// What the flags mean, as far as that is known without a server.
struct Settings {
    call: CallOptions,
    pacing: Loop,
    concurrency_steps: Vec<ConcurrencyStep>,
    connections: u32,
    concurrency: u32,
    calls: Option<u64>,
    window: Option<Duration>,
    connecting: Connecting,
    http2: Http2Flags,
    threads: Option<u32>,
    labels: ReportLabels,
}

impl Settings {
    fn read(flags: &LoadFlags, part: Part) -> Result<Self, FlagsError> {
        let call = call_options(flags)?;
        let pacing = Loop::from_flags(&flags.pacing)?;
        let concurrency_steps = steps_of_concurrency(flags)?;
        let concurrency = concurrency(flags, &concurrency_steps)?;
        if flags.find_capacity.is_some() {
            check_capacity_flags(flags, &pacing)?;
        }
        let (connections, concurrency) = connections_and_concurrency(flags, concurrency)?;
        if connections < part.of {
            return Err(FlagsError::GeneratorsIdle { generators: part.of, connections });
        }
        let (calls, window) = calls_and_window(flags)?;
        Ok(Self {
            connecting: connecting(flags)?,
            http2: Http2Flags::read(flags)?,
            threads: flags.threads.map(|count| at_least_one("--threads", count)).transpose()?,
            labels: labels(flags, &call)?,
            call,
            pacing,
            concurrency_steps,
            connections,
            concurrency,
            calls,
            window,
        })
    }

    /// The plan of the whole run, but for its driver and its threads.
    fn plan(&self, flags: &LoadFlags, called: Call) -> Result<LoadPlan, PrepareError> {
        let call = &self.call;
        let targets = call.find_targets(flags.lb_strategy)?;
        let for_targets = connections_for(targets.count(), self.concurrency)?;
        Ok(LoadPlan {
            tls: call.connectors()?,
            tls_advice: call.tls_advice,
            targets,
            call: called,
            connecting: self.connecting,
            connections: self.connections.max(for_targets),
            concurrency: self.concurrency,
            concurrency_steps: self.concurrency_steps.clone(),
            pacing: self.pacing.clone(),
            threads: 1,
            driver: Driver::Epoll,
            wait: flags.wait,
            warmup_ns: nanoseconds(flags.warmup),
            window_ns: self.window.map(nanoseconds),
            calls: self.calls,
            timeout_ns: call.timeout.map(nanoseconds),
            connect_timeout_ns: call.connect_timeout.map_or(u64::MAX, nanoseconds),
            duration_stop: flags.duration_stop,
            count_errors: flags.count_errors,
            calls_skipped: flags.skip_first,
            calls_listed: if flags.lists_calls() { flags.calls_listed } else { 0 },
            labels: self.labels.clone(),
            part: Part::default(),
            first_connection: 0,
        })
    }
}

/// What is called, with which messages.
fn called(
    flags: &LoadFlags,
    options: &CallOptions,
    http2: Http2Flags,
    input: &mut impl Read,
) -> Result<Call, PrepareError> {
    match &flags.thrift.file {
        Some(file) => {
            let call = thrift_flags::read(file, flags, options, input)?;
            thrift_run(call, flags).map(Call::Thrift)
        }
        None => grpc_call(flags, options, http2, input).map(|call| Call::Grpc(Arc::new(call))),
    }
}

fn grpc_call(
    flags: &LoadFlags,
    options: &CallOptions,
    http2: Http2Flags,
    input: &mut impl Read,
) -> Result<GrpcCall, PrepareError> {
    let PreparedCall { path, method, messages, template, metadata, .. } =
        PreparedCall::read(options, input)?;
    let streaming = Streaming::of(&method, &flags.streaming);
    if streaming.is_some() && flags.one_shot {
        return Err(FlagsError::OneShotStreaming(path).into());
    }
    let Http2Flags { first_stream_id, keepalive } = http2;
    Ok(GrpcCall {
        path,
        authority: options.authority(),
        messages: messages_to_send(flags, messages)?,
        template,
        is_compressed: flags.enable_compression,
        streaming,
        response_max_bytes: flags.max_recv_message_size.map_or(u32::MAX, capped),
        metadata: metadata.constant,
        varying_metadata: options.metadata.varying.clone(),
        metadata_templates: metadata.templates,
        run_name: flags.name.clone().unwrap_or_default(),
        keepalive,
        config: ConnectionConfig { first_stream_id, ..ConnectionConfig::trusted() },
    })
}

fn thrift_run(call: Arc<ThriftCall>, flags: &LoadFlags) -> Result<ThriftRun, PrepareError> {
    let bytes = call.request_max_bytes();
    let limit_bytes = flags.max_send_message_size.unwrap_or(u64::MAX);
    if bytes as u64 > limit_bytes {
        return Err(FlagsError::MessageTooLarge { bytes, limit_bytes }.into());
    }
    let reply_max_bytes = flags.max_recv_message_size.map_or(REPLY_MAX_BYTES, capped);
    Ok(ThriftRun { call, reply_max_bytes, replies_max_bytes: REPLIES_MAX_BYTES })
}

/// The search for a capacity sets rates and calls in flight itself.
fn check_capacity_flags(flags: &LoadFlags, pacing: &Loop) -> Result<(), FlagsError> {
    let others = [
        ("a rate", pacing.open().is_some()),
        ("--concurrency-schedule", !concurrency_steps(&flags.pacing)?.is_empty()),
        ("--one-shot", flags.one_shot),
        ("--slo", !flags.slo.is_empty()),
        ("--fail-if", !flags.fail_if.is_empty()),
        ("--debug", flags.debug.is_some()),
        ("--hdr", flags.hdr.is_some()),
    ];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        Some((other, _)) => Err(FlagsError::Conflict("--find-capacity", other)),
        None => Ok(()),
    }
}

/// The messages as they go over the wire, but for their prefixes.
fn messages_to_send(flags: &LoadFlags, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, FlagsError> {
    let limit_bytes = flags.max_send_message_size.unwrap_or(u64::MAX);
    if let Some(too_large) = messages.iter().find(|message| message.len() as u64 > limit_bytes) {
        return Err(FlagsError::MessageTooLarge { bytes: too_large.len(), limit_bytes });
    }
    if !flags.enable_compression {
        return Ok(messages);
    }
    let compressed = |message: &Vec<u8>| {
        let mut compressed = Vec::new();
        gzip::compress(message, &mut compressed);
        compressed
    };
    Ok(messages.iter().map(compressed).collect())
}

fn capped(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn call_options(flags: &LoadFlags) -> Result<CallOptions, FlagsError> {
    thrift_flags::check(flags)?;
    let mut call = CallOptions::from_flags(&flags.call)?;
    if flags.thrift.file.is_some() {
        call.tls = call.tls.map(ClientConfig::without_alpn);
    }
    if let Some(name) = &flags.varying_metadata {
        call.metadata = call.metadata.with_varying(name)?;
    }
    Ok(call)
}

/// How the calls in flight change: in an open loop, as many as there may be. With `--async` nothing
/// bounds them, as in ghz.
fn steps_of_concurrency(flags: &LoadFlags) -> Result<Vec<ConcurrencyStep>, FlagsError> {
    let steps = concurrency_steps(&flags.pacing)?;
    if flags.one_shot && !steps.is_empty() {
        return Err(FlagsError::Conflict("--concurrency-schedule", "--one-shot"));
    }
    Ok(if flags.pacing.is_async { Vec::new() } else { steps })
}

/// Each thread makes its share of an open loop's calls, so the fewest that may be in flight are at
/// least one for each, unless no call may be in flight.
fn threads_max(pacing: &Loop, steps: &[ConcurrencyStep]) -> u32 {
    let bounded = steps.iter().filter(|step| pacing.open().is_some() && step.calls > 0);
    bounded.map(|step| step.calls).min().unwrap_or(u32::MAX)
}

fn check_threads(threads: u32, pacing: &Loop, steps: &[ConcurrencyStep]) -> Result<(), FlagsError> {
    let calls = threads_max(pacing, steps);
    if threads > calls {
        return Err(FlagsError::ThreadsIdle { threads, calls });
    }
    Ok(())
}

/// The calls in flight at most.
fn concurrency(flags: &LoadFlags, steps: &[ConcurrencyStep]) -> Result<u32, FlagsError> {
    if let Some(most) = steps.iter().map(|step| step.calls).max() {
        return at_least_one("--concurrency-schedule", most);
    }
    let concurrency = at_least_one("--concurrency", flags.concurrency)?;
    match (flags.pacing.is_async, flags.one_shot) {
        (true, true) => Err(FlagsError::Conflict("--async", "--one-shot")),
        (true, false) => Ok(concurrency.max(flags.connections).max(ASYNC_IN_FLIGHT_MAX)),
        (false, _) => Ok(concurrency),
    }
}

fn connections_and_concurrency(
    flags: &LoadFlags,
    concurrency: u32,
) -> Result<(u32, u32), FlagsError> {
    let connections = at_least_one("--connections", flags.connections)?;
    if flags.one_shot {
        return if connections == 1 || connections == concurrency {
            Ok((concurrency, concurrency))
        } else {
            Err(FlagsError::OneShotConnections { connections, concurrency })
        };
    }
    if let Some(connections) = thrift_flags::connections(flags, concurrency)? {
        return Ok((connections, concurrency));
    }
    if connections > concurrency {
        return Err(FlagsError::ConnectionsIdle { connections, concurrency });
    }
    Ok((connections, concurrency))
}

fn at_least_one<N: Default + PartialEq>(flag: &'static str, number: N) -> Result<N, FlagsError> {
    if number == N::default() { Err(FlagsError::Zero(flag)) } else { Ok(number) }
}

/// The connections that `addresses` addresses take: one each, and each carries a call.
fn connections_for(addresses: usize, concurrency: u32) -> Result<u32, FlagsError> {
    let targets = u32::try_from(addresses).unwrap_or(u32::MAX);
    if targets > concurrency {
        return Err(FlagsError::TargetsIdle { targets, concurrency });
    }
    Ok(targets)
}

/// A run is over at the first of its limits; it has at least one.
fn calls_and_window(flags: &LoadFlags) -> Result<(Option<u64>, Option<Duration>), FlagsError> {
    if flags.duration.and_then(unless_zero).is_some() {
        return Ok((None, flags.window()));
    }
    let calls = at_least_one("--total", flags.total)?;
    if flags.skip_first >= calls {
        return Err(FlagsError::AllSkipped { skipped: flags.skip_first, calls });
    }
    Ok((Some(calls), flags.window()))
}

fn connecting(flags: &LoadFlags) -> Result<Connecting, FlagsError> {
    match (flags.one_shot, flags.connects_in_window) {
        (true, _) if flags.thrift.is_pipelined => {
            Err(FlagsError::Conflict("--one-shot", "--thrift-pipelining"))
        }
        (true, true) => Err(FlagsError::Conflict("--one-shot", "--connects-in-window")),
        (true, false) => Ok(Connecting::PerCall),
        (false, true) => Ok(Connecting::InRun),
        (false, false) => Ok(Connecting::BeforeRun),
    }
}

/// What the flags of HTTP/2 mean, which are read before a server is asked for anything.
#[derive(Clone, Copy)]
struct Http2Flags {
    first_stream_id: u32,
    keepalive: Option<Keepalive>,
}

impl Http2Flags {
    fn read(flags: &LoadFlags) -> Result<Self, FlagsError> {
        let first_stream_id = first_stream_id(flags.first_stream_id)?;
        Ok(Self { first_stream_id, keepalive: keepalive(flags)? })
    }
}

/// Clients open streams with odd ids below 2^31 (RFC 9113 section 5.1.1).
fn first_stream_id(id: u32) -> Result<u32, FlagsError> {
    let is_odd = id % 2 == 1;
    if !is_odd || id >= 1 << 31 {
        return Err(FlagsError::FirstStreamId(id));
    }
    Ok(id)
}

/// As in ghz, a server may take as long for its answer as it may be silent. grpc-go raises a
/// silence of less than 10 s to that, and leaves the time for the answer alone. With `--one-shot` a
/// connection ends with its call, which has a deadline.
fn keepalive(flags: &LoadFlags) -> Result<Option<Keepalive>, FlagsError> {
    let time = unless_zero(flags.keepalive);
    if flags.one_shot && time.is_some() {
        return Err(FlagsError::Conflict("--one-shot", "--keepalive"));
    }
    Ok(time
        .map(nanoseconds)
        .map(|timeout_ns| Keepalive { time_ns: timeout_ns.max(CLIENT_TIME_MIN_NS), timeout_ns }))
}

/// All but the echo of the flags, which shows also what becomes of them in the plan.
fn labels(flags: &LoadFlags, call: &CallOptions) -> Result<ReportLabels, FlagsError> {
    let tags = match flags.tags.as_deref().map_or("", str::trim) {
        "" => BTreeMap::new(),
        json => strings(json, "--tags")?,
    };
    let targets = call.targets.iter().map(ToString::to_string);
    let mut labels = ReportLabels {
        name: flags.name.clone(),
        tags,
        targets: targets.collect(),
        options: Value::Null,
    };
    if !flags.call.show_secrets {
        labels.name = labels.name.as_deref().map(secrets::in_text);
        labels.targets.iter_mut().for_each(|target| *target = secrets::in_text(target));
        let tags = labels.tags.iter_mut();
        tags.for_each(|(name, value)| *value = secrets::shown(name, value).into_owned());
    }
    Ok(labels)
}

/// A thread of its own for each connection is cheapest, as long as there are processors for the
/// threads.
fn driver_and_threads(
    io: Io,
    connecting: Connecting,
    connections: u32,
    threads: Option<u32>,
    cpus: u32,
) -> Result<(Driver, u32), FlagsError> {
    let most = threads.unwrap_or(cpus.max(1));
    match io {
        Io::Auto if connecting == Connecting::PerCall => Ok((Driver::Epoll, connections.min(most))),
        Io::Auto if connections <= most => Ok((Driver::Blocking, connections)),
        Io::Auto | Io::Epoll => Ok((Driver::Epoll, connections.min(most))),
        Io::Uring => Ok((Driver::Uring, connections.min(most))),
        Io::Blocking => match threads {
            Some(threads) if threads < connections => {
                Err(FlagsError::ThreadsMissing { threads, connections })
            }
            _ => Ok((Driver::Blocking, connections)),
        },
    }
}
