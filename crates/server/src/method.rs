//! What a method is, and how its calls are handled.

/// A method of a [`Service`](crate::Service).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodDescriptor {
    /// The name on the wire, without the service.
    pub name: &'static str,
    /// How its calls are handled.
    pub kind: HandlerKind,
}

/// How the calls of a method are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HandlerKind {
    /// One request, answered before [`Service::call`](crate::Service::call) returns.
    #[default]
    Inline,
    /// One request, answered later from any thread.
    Deferred,
    /// Any number of messages in both directions, handled by an
    /// [`InlineStream`](crate::InlineStream).
    Stream,
    /// One request and any number of replies, handled by [`Service::work`](crate::Service::work).
    /// The request has arrived before the handler is called, so no thread waits for it.
    Pool,
    /// Any number of messages in both directions, handled by
    /// [`Service::work`](crate::Service::work). A call occupies a thread of the pool for as long as
    /// its client keeps it open.
    PoolStream,
}

/// The names of a method, in the two parts of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodPath {
    pub service: &'static str,
    pub method: &'static str,
}

/// A method among all methods of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub number: u32,
    pub kind: HandlerKind,
}
