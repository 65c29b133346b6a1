/// Sells things.
#[allow(dead_code)]
pub trait Orders: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// Answers at once.
    fn price(
        &self,
        request: Item,
        context: &::bookend_server::Context<'_>,
    ) -> ::core::result::Result<Money, ::bookend_server::Status>;
    /// The method `Place`.
    fn place(
        &self,
        request: Item,
        context: &::bookend_server::Context<'_>,
        responder: ::bookend_server::Responder<Money>,
    );
    /// Tells what happens to an order.
    fn follow(
        &self,
        context: &::bookend_server::Context<'_>,
    ) -> ::std::boxed::Box<dyn ::bookend_server::StreamHandler<Item, Money>>;
    /// The method `List`.
    fn list(
        &self,
        context: &::bookend_server::Context<'_>,
    ) -> ::std::boxed::Box<dyn ::bookend_server::StreamHandler<Item, Money>>;
    /// The method `Sum`.
    fn sum(
        &self,
        context: &::bookend_server::Context<'_>,
    ) -> ::std::boxed::Box<dyn ::bookend_server::StreamHandler<Item, Money>>;
    /// Takes its time.
    fn appraise(
        &self,
        request: Item,
        context: &::bookend_server::PoolContext,
    ) -> ::core::result::Result<Money, ::bookend_server::Status>;
    /// The method `Search`.
    fn search(
        &self,
        request: Item,
        replies: ::bookend_server::ReplySender<Money>,
        context: &::bookend_server::PoolContext,
    ) -> ::core::result::Result<(), ::bookend_server::Status>;
    /// The method `Import`.
    fn import(
        &self,
        requests: ::bookend_server::RequestReceiver<Item>,
        context: &::bookend_server::PoolContext,
    ) -> ::core::result::Result<Money, ::bookend_server::Status>;
    /// The method `Haggle`.
    fn haggle(
        &self,
        requests: ::bookend_server::RequestReceiver<Item>,
        replies: ::bookend_server::ReplySender<Money>,
        context: &::bookend_server::PoolContext,
    ) -> ::core::result::Result<(), ::bookend_server::Status>;
}
/// Serves an implementation of [`Orders`].
#[allow(dead_code)]
#[derive(Debug, Clone)]
pub struct OrdersServer<T>(T);
#[allow(dead_code)]
impl<T: Orders> OrdersServer<T> {
    /// The service's name on the wire.
    pub const NAME: &'static str = "shop.v1.Orders";
    /// Gives `service` the form that a server takes.
    pub fn new(service: T) -> Self {
        Self(service)
    }
}
impl<T: Orders> ::bookend_server::Service for OrdersServer<T> {
    fn name(&self) -> &'static str {
        Self::NAME
    }
    fn methods(&self) -> &'static [::bookend_server::MethodDescriptor] {
        &[
            ::bookend_server::MethodDescriptor { name: "Price", kind: ::bookend_server::HandlerKind::Inline },
            ::bookend_server::MethodDescriptor { name: "Place", kind: ::bookend_server::HandlerKind::Deferred },
            ::bookend_server::MethodDescriptor { name: "Follow", kind: ::bookend_server::HandlerKind::Stream },
            ::bookend_server::MethodDescriptor { name: "List", kind: ::bookend_server::HandlerKind::Stream },
            ::bookend_server::MethodDescriptor { name: "Sum", kind: ::bookend_server::HandlerKind::Stream },
            ::bookend_server::MethodDescriptor { name: "Appraise", kind: ::bookend_server::HandlerKind::Pool },
            ::bookend_server::MethodDescriptor { name: "Search", kind: ::bookend_server::HandlerKind::Pool },
            ::bookend_server::MethodDescriptor { name: "Import", kind: ::bookend_server::HandlerKind::PoolStream },
            ::bookend_server::MethodDescriptor { name: "Haggle", kind: ::bookend_server::HandlerKind::PoolStream },
        ]
    }
    fn descriptors(&self) -> &'static [u8] {
        FILE_DESCRIPTOR_SET
    }
    fn call(
        &self,
        method: usize,
        request: &[u8],
        context: &::bookend_server::Context<'_>,
        reply: ::bookend_server::Reply<'_>,
    ) {
        match method {
            0 => ::bookend_server::codec::inline(request, reply, |request| {
                self.0.price(request, context)
            }),
            1 => ::bookend_server::codec::deferred(request, reply, |request, responder| {
                self.0.place(request, context, responder)
            }),
            _ => reply.no_such_method(),
        }
    }
    fn decoder(
        &self,
        method: usize,
    ) -> ::core::option::Option<::bookend_server::RequestDecoder> {
        match method {
            0 => ::core::option::Option::Some(::bookend_server::codec::decode::<Item>),
            1 => ::core::option::Option::Some(::bookend_server::codec::decode::<Item>),
            _ => ::core::option::Option::None,
        }
    }
    fn open(
        &self,
        method: usize,
        context: &::bookend_server::Context<'_>,
    ) -> ::core::option::Option<::std::boxed::Box<dyn ::bookend_server::InlineStream>> {
        match method {
            2 => ::core::option::Option::Some(
                ::bookend_server::codec::stream(self.0.follow(context)),
            ),
            3 => ::core::option::Option::Some(
                ::bookend_server::codec::server_stream(self.0.list(context)),
            ),
            4 => ::core::option::Option::Some(
                ::bookend_server::codec::client_stream(self.0.sum(context)),
            ),
            _ => ::core::option::Option::None,
        }
    }
    fn work(&self, method: usize, call: ::bookend_server::PoolCall) {
        match method {
            5 => ::bookend_server::codec::pool_unary(call, |request, context| {
                self.0.appraise(request, context)
            }),
            6 => ::bookend_server::codec::pool_server_stream(call, |request, replies, context| {
                self.0.search(request, replies, context)
            }),
            7 => ::bookend_server::codec::pool_client_stream(call, |requests, context| {
                self.0.import(requests, context)
            }),
            8 => ::bookend_server::codec::pool_stream(call, |requests, replies, context| {
                self.0.haggle(requests, replies, context)
            }),
            _ => call.no_such_method(),
        }
    }
}
