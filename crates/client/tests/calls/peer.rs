//! Servers in this process: one that does what a closure says, and some that misbehave.

use bookend_wire::grpc::Assembler;
use bookend_wire::{
    Connection, ConnectionConfig, ErrorCode, HeaderBlock, HeaderList, Initiator, Sender, Side,
    StreamKey, Visitor,
};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

/// Calls of this path are refused by their heads.
pub const REFUSED_PATH: &str = "/test.Echo/Refused";

/// A request whose end has come.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub fields: Vec<(String, String)>,
    pub messages: Vec<Vec<u8>>,
}

impl Request {
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(field, _)| field == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What the peer heard that a test may want to know.
#[derive(Debug)]
pub enum Heard {
    Request(Request),
    Reset(ErrorCode),
}

type Handler = dyn FnMut(&mut Sender, StreamKey, &Request) + Send;

/// Starts a server that answers every request by `handler`. Gives its address and what it hears.
pub fn serve(
    config: ConnectionConfig,
    handler: impl FnMut(&mut Sender, StreamKey, &Request) + Send + 'static,
) -> (String, mpsc::Receiver<Heard>) {
    let (tell, hear) = mpsc::channel();
    let mut handling = Handling {
        handler: Box::new(handler),
        requests: HashMap::new(),
        tell,
    };
    let address = misbehave(move |mut stream| {
        let mut connection = Connection::new(Side::Server, &config);
        drive(&mut stream, &mut connection, &mut handling);
    });
    (address, hear)
}

/// Starts a server that does to every connection what `behaviour` does.
pub fn misbehave(mut behaviour: impl FnMut(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            behaviour(stream);
        }
    });
    address
}

fn drive(stream: &mut TcpStream, connection: &mut Connection, handling: &mut Handling) {
    let mut inbox = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let output = std::mem::take(&mut connection.sender.output);
        if stream.write_all(&output).is_err() {
            return;
        }
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => inbox.extend_from_slice(&buffer[..read]),
            _ => return,
        }
        match connection.receive(&inbox, handling) {
            Ok(consumed) => drop(inbox.drain(..consumed)),
            Err(error) => panic!("the client broke HTTP/2: {error}"),
        }
    }
}

struct Handling {
    handler: Box<Handler>,
    requests: HashMap<u32, (Request, Assembler)>,
    tell: mpsc::Sender<Heard>,
}

impl Handling {
    fn end(&mut self, sender: &mut Sender, stream: StreamKey) {
        let (request, _) = self.requests.remove(&stream.id).unwrap();
        (self.handler)(sender, stream, &request);
        // A test that does not listen has gone on.
        let _ = self.tell.send(Heard::Request(request));
    }
}

impl Visitor for Handling {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        let fields = fields
            .iter()
            .map(|field| (text(field.name), text(field.value)))
            .collect();
        let request = Request {
            fields,
            messages: Vec::new(),
        };
        if request.field(":path") == Some(REFUSED_PATH) {
            sender.headers(stream, &mut head(&[(b"grpc-status", b"12")]), true);
            return None;
        }
        self.requests
            .insert(stream.id, (request, Assembler::default()));
        if end_stream {
            self.end(sender, stream);
        }
        None
    }

    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        sender.release(stream, data.len());
        let Some((request, assembler)) = self.requests.get_mut(&stream.id) else {
            return;
        };
        let keep = |message: bookend_wire::grpc::message::Message<'_>| {
            request.messages.push(message.octets.to_vec());
        };
        assembler.push(data, usize::MAX, keep).unwrap();
        if end_stream {
            self.end(sender, stream);
        }
    }

    fn reset(&mut self, _: &mut Sender, _: StreamKey, code: ErrorCode, _: Initiator) {
        let _ = self.tell.send(Heard::Reset(code));
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, _: ErrorCode, _: &[u8]) {}
}

/// A response's head with these fields behind the usual ones.
pub fn head(extra: &[(&[u8], &[u8])]) -> HeaderBlock {
    let mut fields: Vec<(&[u8], &[u8])> =
        vec![(b":status", b"200"), (b"content-type", b"application/grpc")];
    fields.extend_from_slice(extra);
    HeaderBlock::new(&fields)
}

/// Trailers with that status and these fields behind it.
pub fn trailers(status: &[u8], extra: &[(&[u8], &[u8])]) -> HeaderBlock {
    let mut fields: Vec<(&[u8], &[u8])> = vec![(b"grpc-status", status)];
    fields.extend_from_slice(extra);
    HeaderBlock::new(&fields)
}

/// Sends back every message that came, and OK.
pub fn echo(sender: &mut Sender, stream: StreamKey, request: &Request) {
    sender.headers(stream, &mut head(&[]), false);
    for message in &request.messages {
        sender.message(stream, false, |output| output.extend_from_slice(message));
    }
    sender.headers(stream, &mut trailers(b"0", &[]), true);
}
