//! What the first two bytes of an input decide: limits, and how the owner of a connection behaves.

use bookend_testing::PREFACE;
use bookend_wire::{Connection, ConnectionConfig, HeaderBlock, Side};

/// How a connection is set up and used.
#[derive(Clone, Copy, Debug)]
pub struct Peculiarities {
    /// Whether the peer's greeting stands in front of the input, so that it need not be guessed.
    pub is_greeted: bool,
    /// Whether body bytes are given back to the windows at once.
    pub releases: bool,
    /// Whether a server answers as soon as it has heard a head.
    pub answers_early: bool,
    pub answer_bytes: usize,
    window_bytes: u32,
    table_bytes: u32,
    is_small: bool,
}

/// Requests that a client has made before it reads the input.
pub const REQUESTS: usize = 4;

const GREETING_OF_A_SERVER: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0";

const REQUEST: [(&[u8], &[u8]); 5] = [
    (b":method", b"POST"),
    (b":scheme", b"http"),
    (b":path", b"/helloworld.Greeter/SayHello"),
    (b":authority", b"localhost"),
    (b"te", b"trailers"),
];

impl Peculiarities {
    /// The peculiarities, and the bytes behind them.
    pub fn of(input: &[u8]) -> (Self, &[u8]) {
        let (&[first, second], rest) = input.split_first_chunk().unwrap_or((&[0; 2], &[]));
        let bit = |nth: u8| first >> nth & 1 == 1;
        let own = Self {
            is_greeted: !bit(0),
            releases: !bit(1),
            answers_early: bit(2),
            answer_bytes: [5, 100, 20_000, 70_000][usize::from(second & 3)],
            window_bytes: [65_535, 0, 10, (1 << 31) - 1][usize::from(second >> 2 & 3)],
            table_bytes: [4_096, 0, 100, 65_536][usize::from(second >> 4 & 3)],
            is_small: bit(3),
        };
        (own, rest)
    }

    /// The input as the connection is to get it.
    pub fn greeted(&self, side: Side, bytes: &[u8]) -> Vec<u8> {
        let preface = if side == Side::Server { &PREFACE[..] } else { &[] };
        if self.is_greeted {
            [preface, GREETING_OF_A_SERVER, bytes].concat()
        } else {
            bytes.to_vec()
        }
    }

    fn config(&self) -> ConnectionConfig {
        let mut config = ConnectionConfig::internet();
        config.settings.initial_window_bytes = self.window_bytes;
        config.settings.header_table_bytes = self.table_bytes;
        if self.is_small {
            config.settings.max_header_list_bytes = Some(300);
            config.settings.max_concurrent_streams = Some(3);
            config.max_header_fields = 8;
        }
        config
    }

    /// A connection; a client's has some requests open, the last with its body unfinished.
    pub fn connection(&self, side: Side) -> Connection {
        let mut connection = Connection::new(side, &self.config());
        if side == Side::Server {
            return connection;
        }
        let sender = &mut connection.sender;
        let mut head = HeaderBlock::new(&REQUEST);
        for nth in 0..REQUESTS {
            let opened = if nth + 1 < REQUESTS {
                sender.request(&mut head, &[], b"ping").map(|_| ())
            } else {
                sender.open().map(|stream| {
                    sender.headers(stream, &mut head, false);
                    sender.data(stream, &[7; 66_000], false);
                })
            };
            opened.expect("a new connection allows a hundred streams");
        }
        connection
    }
}
