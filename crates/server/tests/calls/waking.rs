//! Streams that are handled inline and woken from outside: subscriptions without a thread each.

use std::sync::{Arc, Mutex};

use bookend_server::prost::Message;
use bookend_server::{
    Code, Context, HandlerKind, InlineStream, MethodDescriptor, Replies, Reply, Service, Status,
    StreamHandler, StreamWaker, codec,
};
use bookend_wire::{ConnectionConfig, StreamKey};

use crate::pair::{Pair, fields, framed};
use crate::shop::{Item, Money};

/// What all subscribers get, each from where it is.
#[derive(Default)]
struct Feed {
    prices: Mutex<Vec<i64>>,
    closed: Mutex<bool>,
    subscribers: Mutex<Vec<StreamWaker>>,
    looks: Mutex<u64>,
}

impl Feed {
    fn publish(&self, cents: i64) {
        self.prices.lock().unwrap().push(cents);
        self.wake_all();
    }

    fn close(&self) {
        *self.closed.lock().unwrap() = true;
        self.wake_all();
    }

    fn wake_all(&self) {
        for waker in &*self.subscribers.lock().unwrap() {
            waker.wake();
        }
    }

    fn looks(&self) -> u64 {
        *self.looks.lock().unwrap()
    }
}

struct Subscription {
    feed: Arc<Feed>,
    sent: usize,
}

impl StreamHandler<Item, Money> for Subscription {
    fn on_message(&mut self, _: Item, replies: &mut Replies<'_, '_, Money>) -> Result<(), Status> {
        self.on_ready(replies)
    }

    fn on_ready(&mut self, replies: &mut Replies<'_, '_, Money>) -> Result<(), Status> {
        *self.feed.looks.lock().unwrap() += 1;
        let prices = self.feed.prices.lock().unwrap();
        while let Some(&cents) = prices.get(self.sent).filter(|_| !replies.is_full()) {
            replies.send(&Money { cents });
            self.sent += 1;
        }
        if *self.feed.closed.lock().unwrap() && self.sent == prices.len() {
            replies.end();
        }
        Ok(())
    }
}

struct Prices(Arc<Feed>);

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Watch", kind: HandlerKind::Stream },
    MethodDescriptor { name: "Talk", kind: HandlerKind::Stream },
];

impl Service for Prices {
    fn name(&self) -> &'static str {
        "test.Prices"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, _: usize, _: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        reply.no_such_method();
    }

    fn open(&self, method: usize, context: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        self.0.subscribers.lock().unwrap().push(context.waker());
        let handler = Box::new(Subscription { feed: Arc::clone(&self.0), sent: 0 });
        Some(match METHODS[method].name {
            "Watch" => codec::server_stream(handler),
            _ => codec::stream(handler),
        })
    }
}

fn served() -> (Pair, Arc<Feed>) {
    let feed = Arc::new(Feed::default());
    (Pair::over(Prices(Arc::clone(&feed))), feed)
}

fn subscribe(pair: &mut Pair) -> StreamKey {
    let stream = pair.open(&fields("/test.Prices/Watch"), false);
    let request = Item { name: "all".into() }.encode_to_vec();
    pair.client.sender.data(stream, &framed(&request), true);
    pair.pump();
    stream
}

fn received(pair: &Pair, stream: StreamKey) -> Vec<i64> {
    let Some(heard) = pair.listener.calls.get(&stream.id) else { return Vec::new() };
    heard.messages.iter().map(|message| Money::decode(&**message).unwrap().cents).collect()
}

#[test]
fn a_stream_that_is_woken_sends_its_news_and_goes_on_until_it_ends_itself() {
    let (mut pair, feed) = served();
    let streams: Vec<_> = (0..50).map(|_| subscribe(&mut pair)).collect();
    for cents in 1..=3 {
        feed.publish(cents);
        pair.wake();
        for stream in &streams {
            assert_eq!(received(&pair, *stream), (1..=cents).collect::<Vec<_>>());
            assert!(!pair.heard(*stream).ended);
        }
    }
    feed.close();
    pair.wake();
    assert!(streams.iter().all(|stream| pair.heard(*stream).cents() == [1, 2, 3]));
}

#[test]
fn a_stream_that_is_woken_often_before_it_looks_looks_once() {
    let (mut pair, feed) = served();
    let stream = subscribe(&mut pair);
    let before = feed.looks();
    for cents in 0..1_000 {
        feed.publish(cents);
    }
    pair.wake();
    assert_eq!(received(&pair, stream).len(), 1_000);
    assert_eq!(feed.looks(), before + 1);
}

#[test]
fn a_wake_up_while_replies_are_full_is_not_lost() {
    let feed = Arc::new(Feed::default());
    let config = ConnectionConfig::internet();
    let mut pair = Pair::over_with(Prices(Arc::clone(&feed)), &config);
    pair.listener.idles = true;
    let stream = subscribe(&mut pair);
    let messages = 200_000;
    feed.prices.lock().unwrap().extend(0..messages);
    feed.wake_all();
    pair.wake();
    let sent_before = received(&pair, stream).len();
    assert!(sent_before < messages as usize, "the client's window is smaller");
    feed.close();
    pair.wake();
    assert_eq!(received(&pair, stream).len(), sent_before);
    pair.read_on();
    assert_eq!(pair.heard(stream).cents().len(), messages as usize);
}

#[test]
fn a_wake_up_before_the_request_or_after_the_call_does_nothing() {
    let (mut pair, feed) = served();
    let stream = pair.open(&fields("/test.Prices/Watch"), false);
    pair.pump();
    feed.publish(7);
    pair.wake();
    assert_eq!((feed.looks(), pair.heard_nothing(stream)), (0, true));
    let request = Item { name: "all".into() }.encode_to_vec();
    pair.client.sender.data(stream, &framed(&request), true);
    feed.close();
    pair.pump();
    assert_eq!(pair.heard(stream).cents(), [7]);
    let looks = feed.looks();
    feed.wake_all();
    pair.wake();
    assert_eq!(feed.looks(), looks);
}

#[test]
fn a_talk_goes_on_after_the_client_has_said_all_it_had_to() {
    let (mut pair, feed) = served();
    let stream = pair.open(&fields("/test.Prices/Talk"), true);
    pair.pump();
    feed.publish(1);
    pair.wake();
    assert_eq!(received(&pair, stream), [1]);
    assert!(!pair.heard(stream).ended);
    feed.close();
    pair.wake();
    assert_eq!(pair.heard(stream).code(), Code::Ok);
}
