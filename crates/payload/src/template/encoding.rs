//! Integers as text and as protobuf writes them.

/// Appends an integer in decimal digits.
#[inline]
pub(crate) fn write_integer(number: i64, text: &mut Vec<u8>) {
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a varint (protobuf's encoding of integers: seven bits a byte, the lowest first).
#[inline]
pub(crate) fn write_varint(number: u64, bytes: &mut Vec<u8>) {
    prost::encoding::encode_varint(number, bytes);
}

/// Appends what `write` does, with its length in front as a varint.
#[inline]
pub(crate) fn with_length<E>(
    bytes: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = bytes.len();
    bytes.push(0);
    write(bytes)?;
    let length = bytes.len() - start - 1;
    if length < 0x80 {
        bytes[start] = length as u8;
    } else {
        let mut varint = Vec::new();
        write_varint(length as u64, &mut varint);
        bytes.splice(start..=start, varint);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_takes_as_many_bytes_as_it_needs() {
        for length in [0, 1, 127, 128, 300, 20_000] {
            let mut bytes = b"before".to_vec();
            let written: Result<(), ()> = with_length(&mut bytes, |bytes| {
                bytes.extend(std::iter::repeat_n(7, length));
                Ok(())
            });
            assert_eq!(written, Ok(()));
            let mut expected = b"before".to_vec();
            write_varint(length as u64, &mut expected);
            expected.extend(std::iter::repeat_n(7, length));
            assert_eq!(bytes, expected);
        }
    }
}
