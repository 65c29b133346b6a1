//! How much a stream may send before it has to wait, and how much of it is kept meanwhile.

/// What one stream may send in one turn, bytes: four full frames. Then the other streams of its
/// thread have theirs. Large enough that a turn's fixed costs vanish behind it, small enough that a
/// thousand streams that all have something to say hear from their handlers a dozen times a second.
pub const STREAM_TURN_BYTES: usize = 64 << 10;

/// What the messages of one connection may come to by being inflated in one turn, bytes. A kilobyte
/// of gzip can stand for a megabyte, so that a read's worth of small frames would keep a thread for
/// a second, and everybody else on it waiting. What one inflates in a few milliseconds.
pub const INFLATED_TURN_BYTES: usize = 1 << 20;

/// What one stream may have waiting for its client's flow control, bytes, before its handler is to
/// stop: grpc-go's write quota. The message that goes beyond is still taken.
pub const STREAM_SEND_BUFFER_BYTES: usize = 64 << 10;

/// The same for all streams of a connection together: what the streams that strangers may have open
/// (250) can fill.
pub const CONNECTION_SEND_BUFFER_BYTES: usize = 16 << 20;

/// Output of one connection beyond which its streams wait until the driver has written it: a
/// quarter of what has the driver stop reading (`BACKLOG_LIMIT_BYTES`), so that unary answers and
/// signs of life still find room.
pub const CONNECTION_OUTPUT_BYTES: usize = 256 << 10;
