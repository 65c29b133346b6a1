use bookend_wire::grpc::{Assembler, MessageError, Status};
use bookend_wire::{Sender, Stream};

use crate::metadata::ResponseFields;
use crate::reply::{Answers, internal};
use crate::service::InlineStream;
use crate::stream_reply::{Progress, StreamReply};
use crate::unary;

/// A streaming call: its state machine, what has come of the next request, how far the answer is.
pub(crate) struct StreamCall {
    handler: Box<dyn InlineStream>,
    assembler: Assembler,
    progress: Progress,
}

impl StreamCall {
    pub fn new(handler: Box<dyn InlineStream>, fields: ResponseFields) -> Self {
        StreamCall {
            handler,
            assembler: Assembler::default(),
            progress: Progress::new(fields),
        }
    }

    pub fn has_ended(&self) -> bool {
        self.progress.ended
    }

    /// What is kept of a message that has not come whole.
    pub fn unfinished_bytes(&self) -> usize {
        self.assembler.partial_bytes()
    }

    /// Part of the body has come.
    pub fn received(
        &mut self,
        sender: &mut Sender,
        answers: &mut Answers,
        stream: Stream,
        data: &[u8],
        limit_bytes: usize,
    ) {
        let StreamCall {
            handler,
            assembler,
            progress,
        } = self;
        let mut reply = StreamReply {
            sender,
            answers,
            progress,
            stream,
        };
        let result = assembler.push(data, limit_bytes, |message| {
            if reply.ended() {
                return;
            }
            match message.compressed {
                true => reply.end(Err(unary::unexpected_compression())),
                false => handler.on_message(message.octets, &mut reply),
            }
        });
        if let Err(error) = result {
            reply.end(Err(unreadable(error)));
        }
    }

    /// The client sends no more.
    pub fn ended(&mut self, sender: &mut Sender, answers: &mut Answers, stream: Stream) {
        let StreamCall {
            handler,
            assembler,
            progress,
        } = self;
        let mut reply = StreamReply {
            sender,
            answers,
            progress,
            stream,
        };
        match assembler.is_empty() {
            true => handler.on_end(&mut reply),
            false => reply.end(Err(unary::cut_off())),
        }
    }

    /// What flow control held back is on its way.
    pub fn drained(&mut self, sender: &mut Sender, answers: &mut Answers, stream: Stream) {
        let progress = &mut self.progress;
        self.handler.on_drained(&mut StreamReply {
            sender,
            answers,
            progress,
            stream,
        });
    }

    pub fn fail(
        &mut self,
        sender: &mut Sender,
        answers: &mut Answers,
        stream: Stream,
        status: Status,
    ) {
        let progress = &mut self.progress;
        StreamReply {
            sender,
            answers,
            progress,
            stream,
        }
        .end(Err(status));
    }
}

fn unreadable(error: MessageError) -> Status {
    match error {
        MessageError::TooLarge {
            declared_bytes,
            limit_bytes,
        } => unary::too_large(declared_bytes as usize, limit_bytes),
        MessageError::BadFlag(_) => internal(error.to_string()),
    }
}
