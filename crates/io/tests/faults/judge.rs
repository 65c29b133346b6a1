//! Whether a session has lost no more than it may.

use crate::session::{
    CHANNEL_CALLS, CONNECTIONS, Ended, LOAD_CALLS, LOAD_STREAMS, Played, Setting, Side,
};
use bookend_client::Code;
use bookend_io::faults::SystemCall;
use std::collections::BTreeMap;

/// What one call that fails may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing: it is made again, later or in another way.
    Nothing,
    /// The connection that it was made for, and the calls that were on it.
    Connection,
}

/// A session without faults: what one with a fault is compared with.
pub struct Clean {
    pub calls: BTreeMap<SystemCall, u64>,
}

/// Says what is wrong with a session whose fault was of that kind.
pub fn judge(setting: Setting, clean: &Clean, loss: Loss, played: &Played) -> Result<(), String> {
    expect(played.leaked_descriptors == 0, || {
        format!("{} descriptors leaked", played.leaked_descriptors)
    })?;
    expect_no_spin(clean, played)?;
    let Some(server) = played.server else {
        return expect(setting.side == Side::Server, || "no server".to_owned());
    };
    let most_accepted = match loss {
        Loss::Nothing => CONNECTIONS,
        Loss::Connection => CONNECTIONS + 1,
    };
    expect(server.io.accepted <= most_accepted, || {
        format!("{} connections were made", server.io.accepted)
    })?;
    let load = played.load.as_ref().ok_or("no load")?;
    let (failed, channels_hit) = channel_failures(played)?;
    let load_errors = load.errors.total();
    expect(load.ok + load_errors == LOAD_CALLS, || {
        format!("{} + {load_errors} calls of {LOAD_CALLS}", load.ok)
    })?;
    expect(load.unfinished == 0, || "calls without an end".to_owned())?;
    let lost_connections =
        channels_hit + usize::from(load_errors > 0) + usize::from(!played.last_was_answered);
    match loss {
        Loss::Nothing => expect(lost_connections == 0, || {
            format!("calls were lost: {failed} and {load_errors}")
        })?,
        Loss::Connection => expect(lost_connections <= 1, || {
            format!("{lost_connections} connections have lost calls")
        })?,
    }
    expect(failed <= 1, || format!("{failed} calls of a channel were lost"))?;
    expect(load_errors <= u64::from(LOAD_STREAMS), || {
        format!("{load_errors} calls of one connection were lost: {:?}", load.errors)
    })?;
    agree(&server, played, load.ok, load_errors)
}

/// Every call has an end of one of two kinds. How many failed, and on how many channels.
fn channel_failures(played: &Played) -> Result<(usize, usize), String> {
    let mut failed = Vec::new();
    for codes in &played.channels {
        expect(codes.len() == CHANNEL_CALLS, || "calls were not made".to_owned())?;
        let other = codes.iter().find(|code| ![Code::Ok, Code::Unavailable].contains(code));
        expect(other.is_none(), || format!("a call ended with {other:?}"))?;
        failed.push(codes.iter().filter(|code| **code != Code::Ok).count());
    }
    let hit = failed.iter().filter(|count| **count > 0).count();
    Ok((failed.iter().sum(), hit))
}

/// What the server says it has done is what the clients have seen, but for what was lost.
fn agree(server: &Ended, played: &Played, load_ok: u64, load_errors: u64) -> Result<(), String> {
    let answers = played.channels.iter().flatten();
    let channel_ok = answers.filter(|code| **code == Code::Ok).count() as u64;
    let seen = channel_ok + load_ok + u64::from(played.last_was_answered);
    let lost =
        2 * CHANNEL_CALLS as u64 - channel_ok + load_errors + u64::from(!played.last_was_answered);
    let counts = server.calls;
    let text = || format!("{seen} seen, {lost} lost, {} handled, {counts:?}", played.handled);
    expect(counts.answered_error + counts.panics == 0, text)?;
    // The handler of a call that was lost may end after its server, which does not hear of it.
    let counted = counts.answered_ok + counts.late;
    expect((counted..=counted + lost).contains(&played.handled), text)?;
    expect((seen..=seen + lost).contains(&played.handled), text)
}

/// A busy loop makes many more calls than a session has.
fn expect_no_spin(clean: &Clean, played: &Played) -> Result<(), String> {
    let made: u64 = played.calls.values().sum();
    let most = 3 * clean.calls.values().sum::<u64>() + 100;
    expect(made <= most, || {
        format!("{made} system calls, where {most} are plenty: {:?}", played.calls)
    })
}

fn expect(holds: bool, text: impl FnOnce() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(text()),
    }
}
