//! The worked examples of RFC 7541, appendix C (C.1, integers, stands with the integers).

use bookend_wire::hpack::{
    DEFAULT_TABLE_BYTES, Decoder, Encoder, HeaderList, HpackError, Indexing,
};

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// One header block of an example: its bytes, its fields and the table behind it.
struct Step<'a> {
    block: &'a str,
    fields: Pairs<'a>,
    table: Pairs<'a>,
    table_bytes: usize,
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn list() -> HeaderList {
    HeaderList::new(16 * 1024, 100)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the examples are ASCII")
}

fn pairs<'a>(
    fields: impl Iterator<Item = bookend_wire::hpack::Field<'a>>,
) -> Vec<(String, String)> {
    fields.map(|field| (text(field.name), text(field.value))).collect()
}

fn owned(expected: Pairs<'_>) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

fn decode_all(table_bytes: usize, steps: &[Step<'_>]) {
    let mut decoder = Decoder::new(table_bytes);
    let mut list = list();
    for step in steps {
        decoder.decode(&bytes(step.block), &mut list).expect("a block of the RFC");
        assert_eq!(pairs(list.iter()), owned(step.fields));
        assert_eq!(pairs(decoder.table_fields()), owned(step.table));
        assert_eq!(decoder.table_bytes(), step.table_bytes);
    }
}

fn encode_all(table_bytes: usize, steps: &[Step<'_>]) {
    let mut encoder = Encoder::new(table_bytes);
    // The example's size is known to both ends: no update is part of it.
    encoder.begin_block(&mut Vec::new());
    for step in steps {
        let mut block = Vec::new();
        encoder.begin_block(&mut block);
        for (name, value) in step.fields {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            encoder.field(name, value, Indexing::Incremental, &mut block);
        }
        assert_eq!(block, bytes(step.block));
        assert_eq!(pairs(encoder.table_fields()), owned(step.table));
        assert_eq!(encoder.table_bytes(), step.table_bytes);
    }
}

/// A block cut anywhere is an error or, cut between fields, fewer fields.
fn cut_everywhere(table_bytes: usize, steps: &[Step<'_>]) {
    for cut_step in 0..steps.len() {
        let block = bytes(steps[cut_step].block);
        for cut in 0..block.len() {
            let mut decoder = Decoder::new(table_bytes);
            let mut list = list();
            for step in &steps[..cut_step] {
                decoder.decode(&bytes(step.block), &mut list).expect("a block of the RFC");
            }
            match decoder.decode(&block[..cut], &mut list) {
                Ok(()) => {
                    let whole = owned(steps[cut_step].fields);
                    assert!(list.len() < whole.len());
                    assert_eq!(pairs(list.iter()), whole[..list.len()]);
                }
                Err(error) => assert_eq!(error, HpackError::Truncated),
            }
        }
    }
}

const C_2_1: Step<'_> = Step {
    block: "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
    fields: &[("custom-key", "custom-header")],
    table: &[("custom-key", "custom-header")],
    table_bytes: 55,
};

const C_2_2: Step<'_> = Step {
    block: "040c 2f73 616d 706c 652f 7061 7468",
    fields: &[(":path", "/sample/path")],
    table: &[],
    table_bytes: 0,
};

const C_2_3: Step<'_> = Step {
    block: "1008 7061 7373 776f 7264 0673 6563 7265 74",
    fields: &[("password", "secret")],
    table: &[],
    table_bytes: 0,
};

const C_2_4: Step<'_> =
    Step { block: "82", fields: &[(":method", "GET")], table: &[], table_bytes: 0 };

const REQUEST_1: Pairs<'_> =
    &[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")];
const REQUEST_2: Pairs<'_> = &[
    (":method", "GET"),
    (":scheme", "http"),
    (":path", "/"),
    (":authority", "www.example.com"),
    ("cache-control", "no-cache"),
];
const REQUEST_3: Pairs<'_> = &[
    (":method", "GET"),
    (":scheme", "https"),
    (":path", "/index.html"),
    (":authority", "www.example.com"),
    ("custom-key", "custom-value"),
];

fn requests<'a>(blocks: [&'a str; 3]) -> [Step<'a>; 3] {
    const TABLE: Pairs<'_> = &[
        ("custom-key", "custom-value"),
        ("cache-control", "no-cache"),
        (":authority", "www.example.com"),
    ];
    [
        Step { block: blocks[0], fields: REQUEST_1, table: &TABLE[2..], table_bytes: 57 },
        Step { block: blocks[1], fields: REQUEST_2, table: &TABLE[1..], table_bytes: 110 },
        Step { block: blocks[2], fields: REQUEST_3, table: TABLE, table_bytes: 164 },
    ]
}

const PLAIN_REQUESTS: [&str; 3] = [
    "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
    "8286 84be 5808 6e6f 2d63 6163 6865",
    "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
];

const HUFFMAN_REQUESTS: [&str; 3] = [
    "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
    "8286 84be 5886 a8eb 1064 9cbf",
    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
];

const COOKIE: &str = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";

const RESPONSE_1: Pairs<'_> = &[
    (":status", "302"),
    ("cache-control", "private"),
    ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
    ("location", "https://www.example.com"),
];
const RESPONSE_2: Pairs<'_> = &[
    (":status", "307"),
    ("cache-control", "private"),
    ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
    ("location", "https://www.example.com"),
];
const RESPONSE_3: Pairs<'_> = &[
    (":status", "200"),
    ("cache-control", "private"),
    ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
    ("location", "https://www.example.com"),
    ("content-encoding", "gzip"),
    ("set-cookie", COOKIE),
];

/// The table of the responses' examples.
const RESPONSE_TABLE_BYTES: usize = 256;

fn responses<'a>(blocks: [&'a str; 3]) -> [Step<'a>; 3] {
    const TABLE_1: Pairs<'_> = &[
        ("location", "https://www.example.com"),
        ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
        ("cache-control", "private"),
        (":status", "302"),
    ];
    const TABLE_2: Pairs<'_> = &[
        (":status", "307"),
        ("location", "https://www.example.com"),
        ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
        ("cache-control", "private"),
    ];
    const TABLE_3: Pairs<'_> = &[
        ("set-cookie", COOKIE),
        ("content-encoding", "gzip"),
        ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
    ];
    [
        Step { block: blocks[0], fields: RESPONSE_1, table: TABLE_1, table_bytes: 222 },
        Step { block: blocks[1], fields: RESPONSE_2, table: TABLE_2, table_bytes: 222 },
        Step { block: blocks[2], fields: RESPONSE_3, table: TABLE_3, table_bytes: 215 },
    ]
}

const PLAIN_RESPONSES: [&str; 3] = [
    "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 \
     2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 \
     6c65 2e63 6f6d",
    "4803 3330 37c1 c0bf",
    "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d \
     54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 \
     5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e \
     3d31",
];

const HUFFMAN_RESPONSES: [&str; 3] = [
    "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 \
     2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
    "4883 640e ffc1 c0bf",
    "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab \
     77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f \
     9587 3160 65c0 03ed 4ee5 b106 3d50 07",
];

#[test]
fn c_2_the_four_representations_are_decoded() {
    for step in [C_2_1, C_2_2, C_2_3, C_2_4] {
        cut_everywhere(DEFAULT_TABLE_BYTES, std::slice::from_ref(&step));
        decode_all(DEFAULT_TABLE_BYTES, &[step]);
    }
}

#[test]
fn c_2_3_a_field_that_is_never_indexed_says_so() {
    let mut list = list();
    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    decoder.decode(&bytes(C_2_3.block), &mut list).expect("a block of the RFC");
    assert!(list.iter().all(|field| field.never_indexed));
    decoder.decode(&bytes(C_2_2.block), &mut list).expect("a block of the RFC");
    assert!(!list.iter().any(|field| field.never_indexed));
}

#[test]
fn c_2_4_an_indexed_field_is_encoded() {
    encode_all(DEFAULT_TABLE_BYTES, &[C_2_4]);
}

#[test]
fn c_3_requests_without_huffman_are_decoded() {
    decode_all(DEFAULT_TABLE_BYTES, &requests(PLAIN_REQUESTS));
    cut_everywhere(DEFAULT_TABLE_BYTES, &requests(PLAIN_REQUESTS));
}

#[test]
fn c_4_requests_with_huffman_are_decoded_and_encoded() {
    decode_all(DEFAULT_TABLE_BYTES, &requests(HUFFMAN_REQUESTS));
    encode_all(DEFAULT_TABLE_BYTES, &requests(HUFFMAN_REQUESTS));
    cut_everywhere(DEFAULT_TABLE_BYTES, &requests(HUFFMAN_REQUESTS));
}

#[test]
fn c_5_responses_without_huffman_are_decoded_with_eviction() {
    decode_all(RESPONSE_TABLE_BYTES, &responses(PLAIN_RESPONSES));
    cut_everywhere(RESPONSE_TABLE_BYTES, &responses(PLAIN_RESPONSES));
}

#[test]
fn c_6_responses_with_huffman_are_decoded_and_encoded_with_eviction() {
    decode_all(RESPONSE_TABLE_BYTES, &responses(HUFFMAN_RESPONSES));
    // "307" takes three bytes either way. The RFC codes it, the encoder leaves it: nothing gained.
    let encoded = [HUFFMAN_RESPONSES[0], PLAIN_RESPONSES[1], HUFFMAN_RESPONSES[2]];
    encode_all(RESPONSE_TABLE_BYTES, &responses(encoded));
    cut_everywhere(RESPONSE_TABLE_BYTES, &responses(HUFFMAN_RESPONSES));
}
