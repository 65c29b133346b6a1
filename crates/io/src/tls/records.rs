//! Where the records of TLS end.

/// Type, version and length of a record (RFC 8446, section 5.1).
const HEADER_BYTES: usize = 5;

/// The most that the length field of a record may say: 16 KiB and what encrypting may add
/// (RFC 5246, section 6.2.3; TLS 1.3 allows less).
const PAYLOAD_BYTES_MAX: usize = (16 << 10) + 2048;

/// The content types that a record may have: from change_cipher_spec to heartbeat.
const TYPES: std::ops::RangeInclusive<u8> = 20..=24;

/// How many of the first bytes are whole records: as many records as it takes to have `enough`
/// bytes, all that there are if they have less. What is no record counts as whole, so that it is
/// refused at once.
pub(crate) fn whole_bytes(bytes: &[u8], enough: usize) -> usize {
    let mut end = 0;
    while end < enough {
        match length(&bytes[end..]) {
            Some(Length::Foreign) => return bytes.len(),
            Some(Length::Bytes(length)) if end + length <= bytes.len() => end += length,
            Some(Length::Bytes(_)) | None => break,
        }
    }
    end
}

/// Whether these records are more than `count`.
pub(crate) fn are_more_than(mut bytes: &[u8], count: usize) -> bool {
    if bytes.len() <= count * HEADER_BYTES {
        return false;
    }
    let mut records = 0;
    while let Some(Length::Bytes(length)) = length(bytes)
        && records <= count
    {
        bytes = bytes.get(length..).unwrap_or_default();
        records += 1;
    }
    records > count
}

/// The length of the record that `bytes` begin with.
enum Length {
    Bytes(usize),
    /// It is no record.
    Foreign,
}

fn length(bytes: &[u8]) -> Option<Length> {
    if !TYPES.contains(bytes.first()?) {
        return Some(Length::Foreign);
    }
    let (header, _) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let payload = usize::from(u16::from_be_bytes([header[3], header[4]]));
    if payload <= PAYLOAD_BYTES_MAX {
        Some(Length::Bytes(HEADER_BYTES + payload))
    } else {
        Some(Length::Foreign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(payload_bytes: u16) -> Vec<u8> {
        let mut record = vec![23, 3, 3];
        record.extend(payload_bytes.to_be_bytes());
        record.resize(HEADER_BYTES + usize::from(payload_bytes), 0xff);
        record
    }

    #[test]
    fn only_whole_records_are_taken() {
        let bytes = [record(3), record(0), record(7)].concat();
        for (given, whole) in
            [(0, 0), (4, 0), (7, 0), (8, 8), (12, 8), (13, 13), (24, 13), (25, 25)]
        {
            assert_eq!(whole_bytes(&bytes[..given], usize::MAX), whole, "{given}");
        }
    }

    #[test]
    fn no_more_records_are_taken_than_are_enough() {
        let bytes = [record(3), record(3), record(3)].concat();
        for (enough, whole) in [(1, 8), (8, 8), (9, 16), (16, 16), (17, 24), (99, 24)] {
            assert_eq!(whole_bytes(&bytes, enough), whole, "{enough}");
        }
    }

    #[test]
    fn records_are_counted_as_far_as_that_matters() {
        let bytes = [record(0), record(3), record(7)].concat();
        for (count, are_more) in [(0, true), (2, true), (3, false), (4, false)] {
            assert_eq!(are_more_than(&bytes, count), are_more, "{count}");
        }
        assert!(!are_more_than(b"GET / HTTP/1.1", 0));
    }

    #[test]
    fn what_is_no_record_is_not_waited_for() {
        assert_eq!(whole_bytes(b"P", 100), 1);
        let longest = record(PAYLOAD_BYTES_MAX as u16);
        assert_eq!(whole_bytes(&longest, usize::MAX), longest.len());
        assert_eq!(whole_bytes(&longest[..100], usize::MAX), 0);
        let too_long = record(PAYLOAD_BYTES_MAX as u16 + 1);
        assert_eq!(whole_bytes(&too_long[..100], usize::MAX), 100);
        let behind_a_record = [record(3), b"GET / ".to_vec()].concat();
        assert_eq!(whole_bytes(&behind_a_record, usize::MAX), behind_a_record.len());
    }
}
