//! DATA, RFC 9113 section 6.1.

use super::{Receiver, without_padding};
use crate::error::{ConnectionError, ErrorCode};
use crate::frame::{FrameHeader, flag};
use crate::sender::Sender;
use crate::stream_state::RemoteState;
use crate::visitor::Visitor;

impl Receiver {
    /// RFC 9113, sections 5.1 and 6.9.
    #[inline]
    pub(super) fn data<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        if !sender.credit.receive(payload.len()) {
            return Err(ConnectionError::flow_control("more than the connection's window"));
        }
        let data = without_padding(header, payload)?;
        let Some(stream) = sender.streams.find(header.stream_id) else {
            return self.data_nowhere(sender, header.stream_id, payload.len());
        };
        let Some(state) = sender.streams.state(stream) else {
            return Ok(());
        };
        let end_stream = header.has(flag::END_STREAM);
        let fault = if state.remote != RemoteState::Open {
            Some(match state.remote {
                RemoteState::Closed => ErrorCode::STREAM_CLOSED,
                _ => ErrorCode::PROTOCOL_ERROR,
            })
        } else if !state.credit.receive(payload.len()) {
            Some(ErrorCode::FLOW_CONTROL_ERROR)
        } else if !state.matches_content_length(data.len(), end_stream) {
            Some(ErrorCode::PROTOCOL_ERROR)
        } else {
            None
        };
        if let Some(code) = fault {
            sender.release_connection(payload.len() as u32);
            self.stream_error(sender, stream, code, visitor);
            return Ok(());
        }
        state.unreleased_bytes += payload.len() as u32;
        if end_stream {
            state.remote = RemoteState::Closed;
        }
        let padding_bytes = payload.len() - data.len();
        if padding_bytes > 0 {
            sender.release(stream, padding_bytes);
        }
        if !data.is_empty() || end_stream {
            visitor.data(sender, stream, data, end_stream);
        } else {
            sender.glitches.note();
        }
        if end_stream {
            sender.settle(stream);
        }
        Ok(())
    }

    /// DATA for a stream that is not alive: its bytes count against the connection's window, so
    /// they are given back.
    /// RFC 9113, section 6.8.
    #[cold]
    fn data_nowhere(
        &mut self,
        sender: &mut Sender,
        id: u32,
        bytes: usize,
    ) -> Result<(), ConnectionError> {
        if id == 0 {
            return Err(ConnectionError::protocol("DATA on stream 0"));
        }
        self.check_gone(sender, id)?;
        sender.release_connection(bytes as u32);
        Ok(())
    }
}
