//! The generated code of a small service, as `bookend-codegen`'s own test records it, and an
//! implementation that does whatever the name of an item says.

use std::sync::{Arc, Mutex};

use bookend_server::{
    Cancellation, Code, Context, PoolContext, Replies, ReplySender, RequestReceiver, Responder,
    Status, StreamHandler, prost,
};

include!("../../../codegen/tests/snapshots/shop.v1.rs");

/// Reflection is tested with the descriptors of reflection itself.
const FILE_DESCRIPTOR_SET: &[u8] = &[];

#[derive(Clone, PartialEq, prost::Message)]
pub struct Item {
    #[prost(string, tag = "1")]
    pub name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Money {
    #[prost(int64, tag = "1")]
    pub cents: i64,
}

/// Calls of `Place` that wait for their answer.
pub type Waiting = Arc<Mutex<Vec<(Item, Responder<Money>)>>>;

pub struct Shop {
    pub waiting: Waiting,
    /// Of the calls of `Place` that are named "cancel".
    pub cancellations: Cancellations,
}

pub type Cancellations = Arc<Mutex<Vec<Cancellation>>>;

pub fn service(waiting: &Waiting) -> OrdersServer<Shop> {
    cancellable_service(waiting, &Cancellations::default())
}

pub fn cancellable_service(waiting: &Waiting, cancellations: &Cancellations) -> OrdersServer<Shop> {
    OrdersServer::new(Shop {
        waiting: Arc::clone(waiting),
        cancellations: Arc::clone(cancellations),
    })
}

impl Orders for Shop {
    fn price(&self, request: Item, context: &Context<'_>) -> Result<Money, Status> {
        match request.name.as_str() {
            "unknown" => Err(Status::new(Code::NotFound, "100 % unknown: \u{fc}\n")),
            "fine" => Err(Status::new(Code::Ok, "a mistake")),
            "panic" => panic!("as it was asked to"),
            "echo" => {
                let text = context.metadata().text("x-echo").unwrap_or("none").to_owned();
                context.add_header("x-echo", text.as_bytes());
                context.add_trailer("x-after", b"bye");
                Ok(Money { cents: 1 })
            }
            "deadline" => {
                let remaining = context.remaining().map_or(-1, |time| time.as_millis() as i64);
                Ok(Money { cents: remaining })
            }
            name => Ok(Money { cents: name.len() as i64 }),
        }
    }

    fn place(&self, request: Item, context: &Context<'_>, responder: Responder<Money>) {
        if request.name == "panic" {
            panic!("with the responder in hand");
        }
        if request.name == "echo" {
            context.add_trailer("x-after", b"later");
        }
        if request.name == "cancel" {
            let cancellation = context.cancellation();
            self.cancellations.lock().unwrap().push(cancellation);
        }
        self.waiting.lock().unwrap().push((request, responder));
    }

    fn list(&self, _: &Context<'_>) -> Box<dyn StreamHandler<Item, Money>> {
        Box::new(Follow { told: 0 })
    }

    fn sum(&self, _: &Context<'_>) -> Box<dyn StreamHandler<Item, Money>> {
        Box::new(Sum(0))
    }

    fn appraise(&self, request: Item, context: &PoolContext) -> Result<Money, Status> {
        assert_ne!(request.name, "panic", "as it was asked to");
        if request.name == "echo" {
            let bytes = context.metadata().find_binary("x-bytes-bin")?;
            context.add_binary_header("x-before-bin", &bytes.unwrap_or_default());
            context.add_trailer("x-after", b"bye");
        }
        Ok(Money { cents: request.name.len() as i64 })
    }

    /// A reply for each letter, and an error for an exclamation mark.
    fn search(
        &self,
        request: Item,
        replies: ReplySender<Money>,
        _: &PoolContext,
    ) -> Result<(), Status> {
        for letter in request.name.bytes() {
            if letter == b'!' {
                return Err(Status::new(Code::Aborted, "a bad letter"));
            }
            replies.send(&Money { cents: letter.into() })?;
        }
        Ok(())
    }

    fn import(&self, requests: RequestReceiver<Item>, _: &PoolContext) -> Result<Money, Status> {
        let mut cents = 0;
        for request in requests {
            cents += request?.name.len() as i64;
        }
        Ok(Money { cents })
    }

    fn haggle(
        &self,
        requests: RequestReceiver<Item>,
        replies: ReplySender<Money>,
        _: &PoolContext,
    ) -> Result<(), Status> {
        for request in requests {
            let cents = request?.name.len() as i64;
            replies.send(&Money { cents })?;
        }
        Ok(())
    }

    fn follow(&self, _: &Context<'_>) -> Box<dyn StreamHandler<Item, Money>> {
        Box::new(Follow { told: 0 })
    }
}

struct Sum(i64);

impl StreamHandler<Item, Money> for Sum {
    fn on_message(&mut self, request: Item, _: &mut Replies<'_, '_, Money>) -> Result<(), Status> {
        self.0 += request.name.len() as i64;
        Ok(())
    }

    fn on_end(&mut self, replies: &mut Replies<'_, '_, Money>) -> Result<(), Status> {
        replies.send(&Money { cents: self.0 });
        Ok(())
    }
}

/// Tells the length of each name and, at the end, how many there were.
struct Follow {
    told: i64,
}

impl StreamHandler<Item, Money> for Follow {
    fn on_message(
        &mut self,
        request: Item,
        replies: &mut Replies<'_, '_, Money>,
    ) -> Result<(), Status> {
        match request.name.as_str() {
            "stop" => return Err(Status::new(Code::Aborted, "stopped")),
            "panic" => panic!("in the middle of a stream"),
            name => replies.send(&Money { cents: name.len() as i64 }),
        }
        self.told += 1;
        Ok(())
    }

    fn on_end(&mut self, replies: &mut Replies<'_, '_, Money>) -> Result<(), Status> {
        replies.send(&Money { cents: self.told });
        Ok(())
    }
}
