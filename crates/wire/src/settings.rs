//! SETTINGS: what each side announces about itself, RFC 9113 section 6.5.

use crate::error::{ConnectionError, ErrorCode};
use crate::flow::MAX_WINDOW_BYTES;
use alloc::vec::Vec;
use core::iter;

/// The window of a stream and of a connection unless SETTINGS or WINDOW_UPDATE change it.
pub const DEFAULT_WINDOW_BYTES: u32 = 65_535;
/// The largest payload by default, which is also the smallest limit that may be announced.
pub const DEFAULT_MAX_FRAME_BYTES: u32 = 16_384;
/// The largest payload limit that may be announced.
pub const MAX_MAX_FRAME_BYTES: u32 = (1 << 24) - 1;
/// The size of HPACK's dynamic table by default.
pub const DEFAULT_HEADER_TABLE_BYTES: u32 = 4_096;

const HEADER_TABLE_SIZE: u16 = 0x1;
const ENABLE_PUSH: u16 = 0x2;
const MAX_CONCURRENT_STREAMS: u16 = 0x3;
const INITIAL_WINDOW_SIZE: u16 = 0x4;
const MAX_FRAME_SIZE: u16 = 0x5;
const MAX_HEADER_LIST_SIZE: u16 = 0x6;

/// The current settings of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of the HPACK table that this side keeps for decoding.
    pub header_table_bytes: u32,
    /// Whether this side accepts pushed responses.
    pub enable_push: bool,
    /// Streams that the other side may have open; `None` means no limit.
    pub max_concurrent_streams: Option<u32>,
    /// Window of a new stream.
    pub initial_window_bytes: u32,
    /// Largest payload that this side accepts.
    pub max_frame_bytes: u32,
    /// Largest header list that this side accepts; `None` means no limit.
    pub max_header_list_bytes: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            header_table_bytes: DEFAULT_HEADER_TABLE_BYTES,
            enable_push: true,
            max_concurrent_streams: None,
            initial_window_bytes: DEFAULT_WINDOW_BYTES,
            max_frame_bytes: DEFAULT_MAX_FRAME_BYTES,
            max_header_list_bytes: None,
        }
    }
}

impl Settings {
    /// Applies the payload of a SETTINGS frame, in its order.
    ///
    /// # Errors
    /// When the peer broke a rule, with the code that RFC 9113 section 6.5.2 names.
    /// RFC 9113, section 6.5.3.
    pub fn apply(&mut self, payload: &[u8]) -> Result<(), ConnectionError> {
        if !payload.len().is_multiple_of(6) {
            return Err(ConnectionError::frame_size("SETTINGS is not a multiple of six bytes"));
        }
        for entry in payload.as_chunks::<6>().0 {
            let id = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
            self.apply_one(id, value)?;
        }
        Ok(())
    }

    /// These settings, with sizes within what may be announced and has to be taken: RFC 9113,
    /// sections 4.2 and 6.5.2.
    pub(crate) fn announceable(mut self) -> Self {
        self.max_frame_bytes =
            self.max_frame_bytes.clamp(DEFAULT_MAX_FRAME_BYTES, MAX_MAX_FRAME_BYTES);
        self.initial_window_bytes = self.initial_window_bytes.min(MAX_WINDOW_BYTES);
        self
    }

    /// The smallest SETTINGS_HEADER_TABLE_SIZE in a payload, which may have several, bytes.
    pub(crate) fn smallest_table_bytes(payload: &[u8]) -> Option<u32> {
        payload
            .as_chunks::<6>()
            .0
            .iter()
            .filter(|entry| entry[..2] == HEADER_TABLE_SIZE.to_be_bytes())
            .map(|&[_, _, a, b, c, d]| u32::from_be_bytes([a, b, c, d]))
            .min()
    }

    /// RFC 9113, sections 5.5 and 6.5.3.
    fn apply_one(&mut self, id: u16, value: u32) -> Result<(), ConnectionError> {
        match id {
            HEADER_TABLE_SIZE => self.header_table_bytes = value,
            ENABLE_PUSH if value > 1 => {
                return Err(ConnectionError::protocol("SETTINGS_ENABLE_PUSH is neither 0 nor 1"));
            }
            ENABLE_PUSH => self.enable_push = value == 1,
            MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = Some(value),
            INITIAL_WINDOW_SIZE if value > MAX_WINDOW_BYTES => {
                let reason = "SETTINGS_INITIAL_WINDOW_SIZE is above 2^31-1";
                return Err(ConnectionError::new(ErrorCode::FLOW_CONTROL_ERROR, reason));
            }
            INITIAL_WINDOW_SIZE => self.initial_window_bytes = value,
            MAX_FRAME_SIZE if !(DEFAULT_MAX_FRAME_BYTES..=MAX_MAX_FRAME_BYTES).contains(&value) => {
                let reason = "SETTINGS_MAX_FRAME_SIZE is outside 2^14 to 2^24-1";
                return Err(ConnectionError::protocol(reason));
            }
            MAX_FRAME_SIZE => self.max_frame_bytes = value,
            MAX_HEADER_LIST_SIZE => self.max_header_list_bytes = Some(value),
            // Unknown settings are ignored, RFC 9113 section 6.5.2.
            _ => {}
        }
        Ok(())
    }

    /// Appends the payload of a SETTINGS frame with the values that differ from the defaults.
    pub fn write(&self, output: &mut Vec<u8>) {
        for ((id, value), (_, initial)) in iter::zip(self.entries(), Self::default().entries()) {
            if let Some(value) = value.filter(|_| value != initial) {
                output.extend_from_slice(&id.to_be_bytes());
                output.extend_from_slice(&value.to_be_bytes());
            }
        }
    }

    /// Each setting by its id; `None` where there is no limit.
    fn entries(&self) -> [(u16, Option<u32>); 6] {
        [
            (HEADER_TABLE_SIZE, Some(self.header_table_bytes)),
            (ENABLE_PUSH, Some(self.enable_push.into())),
            (MAX_CONCURRENT_STREAMS, self.max_concurrent_streams),
            (INITIAL_WINDOW_SIZE, Some(self.initial_window_bytes)),
            (MAX_FRAME_SIZE, Some(self.max_frame_bytes)),
            (MAX_HEADER_LIST_SIZE, self.max_header_list_bytes),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            header_table_bytes: 0,
            enable_push: false,
            max_concurrent_streams: Some(7),
            initial_window_bytes: 1,
            max_frame_bytes: 20_000,
            max_header_list_bytes: Some(8_192),
        }
    }

    #[test]
    fn settings_read_back_as_they_were_written() {
        let mut payload = Vec::new();
        settings().write(&mut payload);
        let mut read = Settings::default();
        read.apply(&payload).unwrap();
        assert_eq!(read, settings());
    }

    #[test]
    fn a_cut_payload_is_a_frame_size_error() {
        let mut payload = Vec::new();
        settings().write(&mut payload);
        for cut in (1..payload.len()).filter(|cut| cut % 6 != 0) {
            let error = Settings::default().apply(&payload[..cut]).unwrap_err();
            assert_eq!(error.code, ErrorCode::FRAME_SIZE_ERROR);
        }
    }

    #[test]
    fn values_out_of_range_have_the_codes_of_the_rfc() {
        let code = |id: u16, value: u32| {
            let mut payload = id.to_be_bytes().to_vec();
            payload.extend_from_slice(&value.to_be_bytes());
            Settings::default().apply(&payload).map_err(|error| error.code)
        };
        assert_eq!(code(ENABLE_PUSH, 2), Err(ErrorCode::PROTOCOL_ERROR));
        assert_eq!(code(INITIAL_WINDOW_SIZE, 1 << 31), Err(ErrorCode::FLOW_CONTROL_ERROR));
        assert_eq!(code(MAX_FRAME_SIZE, 16_383), Err(ErrorCode::PROTOCOL_ERROR));
        assert_eq!(code(MAX_FRAME_SIZE, 1 << 24), Err(ErrorCode::PROTOCOL_ERROR));
        assert_eq!(code(0xff, 1), Ok(()));
    }
}
