//! The check that a frame may come in pieces: TCP keeps no boundary of what was written, so a read
//! may end anywhere in a frame, and hold none that is whole.

use super::check::CheckError;
use super::check_context::CheckContext;
use super::check_request::HeadFraming;
use super::raw_connection::setting;
use bookend_wire::ErrorCode;
use bookend_wire::frame::kind;
use bookend_wire::hpack::DEFAULT_TABLE_BYTES;
use std::thread;

/// Every kind of frame that a client sends and no specification discourages, with its name there.
const KINDS: [(u8, &str); 7] = [
    (kind::HEADERS, "HEADERS"),
    (kind::CONTINUATION, "CONTINUATION"),
    (kind::DATA, "DATA"),
    (kind::RST_STREAM, "RST_STREAM"),
    (kind::SETTINGS, "SETTINGS"),
    (kind::PING, "PING"),
    (kind::WINDOW_UPDATE, "WINDOW_UPDATE"),
];

/// What became of one kind of frame.
enum Taken {
    /// The call with the frame in pieces was good.
    Yes,
    /// It was not, and the same call with the frame in one piece was.
    OnlyWhole(CheckError),
    /// Neither was: another check says what is wrong with frames of this kind.
    NotEvenWhole(CheckError),
}

/// Sends a frame of each kind in three pieces, cut in its header and in its payload, each kind on a
/// connection of its own and all at once, so that the pauses between the pieces are paid once.
pub(super) fn cut_frames(context: &CheckContext<'_>) -> Result<(), CheckError> {
    let taken = thread::scope(|scope| {
        KINDS.map(|(kind, _)| scope.spawn(move || take(context, kind))).map(|each| each.join())
    });
    let mut failed: Vec<(String, Vec<&str>)> = Vec::new();
    let mut first_untried = None;
    let mut any_taken = false;
    for (taken, (_, name)) in taken.into_iter().zip(KINDS) {
        match taken {
            Ok(Taken::Yes) => any_taken = true,
            Ok(Taken::OnlyWhole(error @ CheckError::NotChecked(_))) => return Err(error),
            Ok(Taken::OnlyWhole(error)) => {
                let error = error.to_string();
                match failed.iter_mut().find(|(known, _)| *known == error) {
                    Some((_, names)) => names.push(name),
                    None => failed.push((error, vec![name])),
                }
            }
            Ok(Taken::NotEvenWhole(error)) => first_untried = first_untried.or(Some(error)),
            Err(_) => return Err(CheckError::NotChecked("its thread ended early".to_owned())),
        }
    }
    match first_untried {
        Some(error) if !any_taken && failed.is_empty() => Err(error),
        _ if failed.is_empty() => Ok(()),
        _ => {
            let said = failed.iter().map(|(error, names)| format!("{}: {error}", names.join(", ")));
            Err(CheckError::Unsupported(said.collect::<Vec<_>>().join("; ")))
        }
    }
}

fn take(context: &CheckContext<'_>, kind: u8) -> Taken {
    let Err(error) = call_with(context, kind, Some(kind)) else {
        return Taken::Yes;
    };
    match call_with(context, kind, None) {
        Ok(()) => Taken::OnlyWhole(error),
        Err(_) => Taken::NotEvenWhole(error),
    }
}

/// A call on a connection on which a frame of the kind `sent` goes out; the first one of the kind
/// `cut` goes in pieces.
fn call_with(context: &CheckContext<'_>, sent: u8, cut: Option<u8>) -> Result<(), CheckError> {
    let mut request = context.plain();
    context.on_connection(&[], |connection| {
        connection.cut = cut;
        match sent {
            kind::CONTINUATION => request.head_framing = HeadFraming::Continued,
            kind::RST_STREAM => {
                let cancelled = connection.begin(&request)?;
                let code = ErrorCode::CANCEL.0.to_be_bytes();
                connection.send(kind::RST_STREAM, 0, cancelled, &code)?;
            }
            kind::SETTINGS => {
                // What holds without it as well.
                let mut entry = setting::HEADER_TABLE_SIZE.to_be_bytes().to_vec();
                entry.extend_from_slice(&(DEFAULT_TABLE_BYTES as u32).to_be_bytes());
                connection.send(kind::SETTINGS, 0, 0, &entry)?;
            }
            kind::PING => connection.send(kind::PING, 0, 0, b"in parts")?,
            kind::WINDOW_UPDATE => {
                connection.send(kind::WINDOW_UPDATE, 0, 0, &1u32.to_be_bytes())?;
            }
            _ => {}
        }
        connection.call_and_wait(&request)?.check()
    })
}
