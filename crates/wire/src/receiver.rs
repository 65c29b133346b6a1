//! The half of a connection that reads: it checks frames, routes them, and calls the visitor.

mod body;
mod control;
mod headers;
mod last_response;
mod open_block;
mod unlisted;
mod waiting_bodies;
mod whole_request;
mod whole_response;

use crate::config::{ConnectionConfig, MAX_HEADER_BLOCK_LISTS};
use crate::error::{ConnectionError, ErrorCode, Initiator};
use crate::frame::{FrameHeader, HEADER_BYTES, PREFACE, flag, kind};
use crate::header_block_cache::HeaderBlockCache;
use crate::hpack::{DEFAULT_TABLE_BYTES, Decoder, HeaderList};
use crate::sender::Sender;
use crate::settings::Settings;
use crate::side::Side;
use crate::streams::StreamKey;
use crate::visitor::Visitor;
use alloc::boxed::Box;
use alloc::vec::Vec;
use last_response::LastResponse;
use open_block::OpenBlock;
use unlisted::UnlistedRequests;
use waiting_bodies::WaitingBodies;

/// The reading half of a connection.
#[derive(Debug)]
pub struct Receiver {
    side: Side,
    own: Settings,
    decoder: Decoder,
    fields: HeaderList,
    cache: HeaderBlockCache,
    /// Where responses come whole, the last one that did.
    last_response: Option<Box<LastResponse>>,
    /// Requests of this read whose streams are not in the table.
    unlisted: UnlistedRequests,
    /// Bodies of this read whose streams have not ended.
    bodies: WaitingBodies,
    /// A header block that still needs CONTINUATION frames.
    open_block: Option<OpenBlock>,
    /// Memory held for header blocks, their fields and the table, as of the last block.
    held_bytes: usize,
    max_block_bytes: usize,
    preface_came: bool,
    settings_came: bool,
    /// Streams whose blocked data has all gone out; kept to reuse the allocation.
    drained: Vec<StreamKey>,
}

impl Receiver {
    pub(crate) fn new(side: Side, config: &ConnectionConfig) -> Self {
        let own_table_bytes = config.settings.header_table_bytes as usize;
        let max_list_bytes = config.settings.max_header_list_bytes.unwrap_or(u32::MAX) as usize;
        Self {
            side,
            own: config.settings.announceable(),
            // Until the peer has seen our SETTINGS, it relies on the default.
            decoder: Decoder::new(own_table_bytes.max(DEFAULT_TABLE_BYTES)),
            fields: HeaderList::new(max_list_bytes, config.max_header_fields),
            cache: HeaderBlockCache::default(),
            last_response: None,
            unlisted: UnlistedRequests::default(),
            bodies: WaitingBodies::default(),
            open_block: None,
            held_bytes: 0,
            max_block_bytes: max_list_bytes.saturating_mul(MAX_HEADER_BLOCK_LISTS),
            preface_came: side == Side::Client,
            settings_came: false,
            drained: Vec::new(),
        }
    }

    pub(crate) fn side(&self) -> Side {
        self.side
    }

    /// Resets the half for a new connection and keeps its allocations.
    pub(crate) fn renew(&mut self, config: &ConnectionConfig) {
        let own_table_bytes = config.settings.header_table_bytes as usize;
        let max_list_bytes = config.settings.max_header_list_bytes.unwrap_or(u32::MAX) as usize;
        self.own = config.settings.announceable();
        self.fields.renew(max_list_bytes, config.max_header_fields);
        self.max_block_bytes = max_list_bytes.saturating_mul(MAX_HEADER_BLOCK_LISTS);
        self.decoder.renew(own_table_bytes.max(DEFAULT_TABLE_BYTES));
        self.open_block = None;
        self.count_held();
        self.last_response = None;
        self.unlisted = UnlistedRequests::default();
        self.bodies = WaitingBodies::default();
        self.preface_came = self.side == Side::Client;
        self.settings_came = false;
        self.drained.clear();
    }

    /// The stream whose header block has begun but is not complete.
    pub fn open_block(&self) -> Option<u32> {
        self.open_block.as_ref().map(|open| open.stream_id)
    }

    /// Memory held for header blocks that are open or remembered, the fields of the last one, and
    /// the dynamic table, bytes.
    #[inline]
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Memory held for the queues of a read, bytes. It is bounded, and kept for the next read.
    pub fn queue_bytes(&self) -> usize {
        self.unlisted.held_bytes()
            + self.bodies.held_bytes()
            + self.drained.capacity() * size_of::<StreamKey>()
    }

    /// Gives back what is kept for the next header blocks. Their tokens are forgotten: see
    /// [`Visitor::headers`].
    pub fn give_back(&mut self) {
        self.cache.forget();
        self.fields.give_back();
        if !self.unlisted.is_used() && self.bodies.is_empty() {
            self.unlisted = UnlistedRequests::default();
            self.bodies = WaitingBodies::default();
        }
        self.drained = Vec::new();
        self.count_held();
    }

    fn count_held(&mut self) {
        let open_bytes = self.open_block.as_ref().map_or(0, |open| open.bytes.capacity());
        self.held_bytes = open_bytes
            + self.fields.held_bytes()
            + self.decoder.held_bytes()
            + self.cache.held_bytes();
    }

    /// RFC 9113, section 4.2.
    #[inline]
    pub(crate) fn receive<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        input: &[u8],
        visitor: &mut V,
    ) -> Result<usize, ConnectionError> {
        let mut rest = input;
        if !self.preface_came && !self.take_preface(&mut rest)? {
            return Ok(0);
        }
        loop {
            let whole_bytes = self.whole_message(sender, rest, visitor);
            if whole_bytes > 0 {
                rest = &rest[whole_bytes..];
            } else {
                let Some((bytes, behind)) = rest.split_first_chunk::<HEADER_BYTES>() else {
                    break;
                };
                let header = FrameHeader::parse(bytes);
                if header.length > self.own.max_frame_bytes as usize {
                    let reason = "a frame above SETTINGS_MAX_FRAME_SIZE";
                    return Err(ConnectionError::frame_size(reason));
                }
                let Some((payload, behind)) = behind.split_at_checked(header.length) else {
                    break;
                };
                rest = behind;
                if header.kind == kind::DATA {
                    rest = self.data_before(sender, header, payload, behind, input, visitor)?;
                } else {
                    if !self.bodies.is_empty() {
                        self.tell_bodies(sender, input, visitor)?;
                    }
                    self.frame(sender, header, payload, visitor)?;
                }
            }
            if visitor.wants_a_break() {
                break;
            }
        }
        if !self.bodies.is_empty() {
            self.tell_bodies(sender, input, visitor)?;
        }
        if self.unlisted.is_used() {
            self.enlist_all(sender, visitor);
        }
        Ok(input.len() - rest.len())
    }

    /// Takes the whole request or response that the bytes begin with, where the visitor takes such.
    /// Returns how many bytes it has; 0 where they begin with anything else.
    #[inline]
    fn whole_message<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        bytes: &[u8],
        visitor: &mut V,
    ) -> usize {
        if self.open_block.is_some() || !self.settings_came {
            return 0;
        }
        let taken = match self.side {
            Side::Client if V::TAKES_WHOLE_RESPONSES => self.whole_response(sender, bytes, visitor),
            Side::Server if V::TAKES_WHOLE_REQUESTS => self.whole_request(sender, bytes, visitor),
            _ => None,
        };
        taken.unwrap_or(0)
    }

    /// The preface comes first; a wrong byte is an error as soon as it arrives.
    /// RFC 9113, section 3.4.
    fn take_preface(&mut self, rest: &mut &[u8]) -> Result<bool, ConnectionError> {
        let known = rest.len().min(PREFACE.len());
        if rest[..known] != PREFACE[..known] {
            return Err(ConnectionError::protocol("this is not the preface of HTTP/2"));
        }
        self.preface_came = known == PREFACE.len();
        if self.preface_came {
            *rest = &rest[known..];
        }
        Ok(self.preface_came)
    }

    /// RFC 9113, section 6.9.
    #[inline]
    fn frame<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        if self.open_block.is_some() || !self.settings_came {
            self.check_order(header)?;
        }
        if !self.unlisted.is_empty() {
            self.enlist_before(sender, header, visitor);
        }
        match header.kind {
            kind::DATA => self.data(sender, header, payload, visitor),
            kind::HEADERS => self.headers(sender, header, payload, visitor),
            _ => self.rare_frame(sender, header, payload, visitor),
        }
    }

    /// Checks what may come in the middle of a header block, and what must come first of all.
    /// RFC 9113, sections 3.4, 5.5, 6.2 and 6.10.
    #[cold]
    fn check_order(&mut self, header: FrameHeader) -> Result<(), ConnectionError> {
        if let Some(open) = &self.open_block
            && (header.kind != kind::CONTINUATION || header.stream_id != open.stream_id)
        {
            return Err(ConnectionError::protocol("a header block was broken off"));
        }
        if !self.settings_came && (header.kind != kind::SETTINGS || header.has(flag::ACK)) {
            return Err(ConnectionError::protocol("the first frame is not SETTINGS"));
        }
        Ok(())
    }

    /// RFC 9113, sections 5.5, 6.5.2, 6.6 and 8.4.
    #[inline(never)]
    fn rare_frame<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        header: FrameHeader,
        payload: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        match header.kind {
            kind::CONTINUATION => self.continuation(sender, header, payload, visitor),
            kind::WINDOW_UPDATE => self.window_update(sender, header, payload, visitor),
            kind::SETTINGS => self.settings(sender, header, payload, visitor),
            kind::PING => self.ping(sender, header, payload, visitor),
            kind::RST_STREAM => self.rst_stream(sender, header, payload, visitor),
            kind::GOAWAY => self.goaway(sender, header, payload, visitor),
            kind::PRIORITY => self.priority(sender, header, payload, visitor),
            kind::PUSH_PROMISE => Err(ConnectionError::protocol("a push that nobody allowed")),
            // RFC 9113 section 4.1: unknown types are ignored.
            _ => {
                sender.glitches.note();
                Ok(())
            }
        }
    }

    /// A frame came for a stream that is not alive. It is ignored if it may still have been on its
    /// way when we reset the stream; otherwise the peer broke a rule.
    /// RFC 9113, section 5.1.
    fn check_gone(&self, sender: &mut Sender, id: u32) -> Result<(), ConnectionError> {
        if sender.is_ignored(id) {
            sender.glitches.note();
            return Ok(());
        }
        if self.is_idle(sender, id) {
            return Err(ConnectionError::protocol("a frame on an idle stream"));
        }
        let reason = "a frame on a stream that had ended";
        Err(ConnectionError::new(ErrorCode::STREAM_CLOSED, reason))
    }

    /// Whether the stream is idle, so that the peer cannot have had a reason for a frame on it.
    fn is_idle(&self, sender: &Sender, id: u32) -> bool {
        match self.side {
            // Streams that the peer opened before it read our GOAWAY were ignored, and it may reset
            // them.
            Side::Server if sender.goaway_sent && id % 2 == 1 => false,
            Side::Client => !sender.was_opened_here(id),
            Side::Server => id.is_multiple_of(2) || id > sender.last_peer_id,
        }
    }

    /// The peer broke a rule on one stream: resets the stream and notifies its owner.
    fn stream_error<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        code: ErrorCode,
        visitor: &mut V,
    ) {
        sender.reset(stream, code);
        visitor.reset(sender, stream, code, Initiator::Library);
    }
}

/// The frame at the front of the bytes, its payload, and the bytes behind.
#[inline]
fn split_frame(bytes: &[u8]) -> Option<(FrameHeader, &[u8], &[u8])> {
    let (header, behind) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let header = FrameHeader::parse(header);
    let (payload, behind) = behind.split_at_checked(header.length)?;
    Some((header, payload, behind))
}

/// The bytes behind an empty DATA frame that ends the stream of the DATA frame before it.
#[inline]
fn behind_empty_end(before: FrameHeader, bytes: &[u8]) -> Option<&[u8]> {
    if before.kind != kind::DATA || before.flags != 0 || before.length == 0 {
        return None;
    }
    let (header, behind) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let end = FrameHeader { length: 0, flags: flag::END_STREAM, ..before };
    (FrameHeader::parse(header) == end).then_some(behind)
}

/// Removes the padding from a payload, RFC 9113 section 6.1.
fn without_padding(header: FrameHeader, payload: &[u8]) -> Result<&[u8], ConnectionError> {
    if !header.has(flag::PADDED) {
        return Ok(payload);
    }
    let Some((&pad_bytes, rest)) = payload.split_first() else {
        return Err(ConnectionError::frame_size("a padded frame without a pad length"));
    };
    match rest.len().checked_sub(usize::from(pad_bytes)) {
        Some(length) => Ok(&rest[..length]),
        None => Err(ConnectionError::protocol("padding longer than its frame")),
    }
}
