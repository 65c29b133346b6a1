/// Sells things.
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
}
/// Serves an implementation of [`Orders`].
#[derive(Debug, Clone)]
pub struct OrdersServer<T>(T);
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
    fn methods(&self) -> &'static [::bookend_server::Method] {
        &[
            ::bookend_server::Method { name: "Price", kind: ::bookend_server::Kind::Inline },
            ::bookend_server::Method { name: "Place", kind: ::bookend_server::Kind::Deferred },
            ::bookend_server::Method { name: "Follow", kind: ::bookend_server::Kind::Stream },
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
    fn open(
        &self,
        method: usize,
        context: &::bookend_server::Context<'_>,
    ) -> ::core::option::Option<::std::boxed::Box<dyn ::bookend_server::InlineStream>> {
        match method {
            2 => ::core::option::Option::Some(
                ::bookend_server::codec::stream(self.0.follow(context)),
            ),
            _ => ::core::option::Option::None,
        }
    }
}
