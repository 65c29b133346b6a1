//! Messages on standard input and output: four bytes of length, then the message.

use std::io::{self, Read, Write};

use bookend_server::prost::Message;

/// The runner's messages carry requests of a few hundred kilobytes at most. A larger length is an
/// error: the two ends no longer agree on where a message begins.
const MAX_MESSAGE_BYTES: u32 = 64 << 20;

/// The next message; `None` where the input ends before it.
///
/// # Errors
/// Where the input ends within a message, or is not made of messages.
pub fn read<M: Message + Default>(input: &mut impl Read) -> io::Result<Option<M>> {
    let mut length = [0; 4];
    if input.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    input.read_exact(&mut length[1..])?;
    let length = u32::from_be_bytes(length);
    if length > MAX_MESSAGE_BYTES {
        return Err(invalid(format!("a message of {length} bytes")));
    }
    let mut bytes = vec![0; length as usize];
    input.read_exact(&mut bytes)?;
    M::decode(bytes.as_slice()).map(Some).map_err(invalid)
}

/// Writes a message, and sends it off.
///
/// # Errors
/// The output's.
pub fn write(output: &mut impl Write, message: &impl Message) -> io::Result<()> {
    let bytes = message.encode_to_vec();
    let length = u32::try_from(bytes.len()).map_err(invalid)?;
    output.write_all(&length.to_be_bytes())?;
    output.write_all(&bytes)?;
    output.flush()
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::messages::ServerCompatResponse;

    fn response(port: u32) -> ServerCompatResponse {
        ServerCompatResponse { host: "127.0.0.1".to_owned(), port, ..Default::default() }
    }

    #[test]
    fn messages_come_out_as_they_went_in_and_then_none() {
        let mut pipe = Vec::new();
        write(&mut pipe, &response(1)).unwrap();
        write(&mut pipe, &ServerCompatResponse::default()).unwrap();
        let mut input = pipe.as_slice();
        assert_eq!(read(&mut input).unwrap(), Some(response(1)));
        assert_eq!(read(&mut input).unwrap(), Some(ServerCompatResponse::default()));
        assert_eq!(read::<ServerCompatResponse>(&mut input).unwrap(), None);
    }

    #[test]
    fn a_message_that_is_cut_off_is_an_error() {
        let mut pipe = Vec::new();
        write(&mut pipe, &response(1)).unwrap();
        for end in 1..pipe.len() {
            assert!(read::<ServerCompatResponse>(&mut &pipe[..end]).is_err());
        }
    }

    #[test]
    fn a_length_that_can_be_none_is_an_error_before_anything_is_stored() {
        let text: &[u8] = b"FATAL: not a message";
        assert!(read::<ServerCompatResponse>(&mut &*text).is_err());
    }
}
