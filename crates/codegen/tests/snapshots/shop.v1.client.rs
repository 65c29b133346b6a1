/// Calls the service `shop.v1.Orders`.
#[allow(dead_code)]
#[derive(Debug, Clone)]
pub struct OrdersClient(::bookend_client::Channel);
// A program need not call every method.
#[allow(dead_code)]
impl OrdersClient {
    /// The service's name on the wire.
    pub const NAME: &'static str = "shop.v1.Orders";
    /// Makes its calls over `channel`, which other clients may share.
    pub fn new(channel: ::bookend_client::Channel) -> Self {
        Self(channel)
    }
    /// Answers at once.
    pub fn price(
        &self,
        request: &Item,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::Unary<Money>> {
        ::bookend_client::typed::TypedCall::unary(&self.0, "/shop.v1.Orders/Price", request)
    }
    /// The method `Place`.
    pub fn place(
        &self,
        request: &Item,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::Unary<Money>> {
        ::bookend_client::typed::TypedCall::unary(&self.0, "/shop.v1.Orders/Place", request)
    }
    /// Tells what happens to an order.
    pub fn follow(
        &self,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::BidirectionalStreaming<Item, Money>> {
        ::bookend_client::typed::TypedCall::bidirectional(&self.0, "/shop.v1.Orders/Follow")
    }
    /// The method `List`.
    pub fn list(
        &self,
        request: &Item,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::ServerStreaming<Money>> {
        ::bookend_client::typed::TypedCall::server_streaming(&self.0, "/shop.v1.Orders/List", request)
    }
    /// The method `Sum`.
    pub fn sum(
        &self,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::ClientStreaming<Item, Money>> {
        ::bookend_client::typed::TypedCall::client_streaming(&self.0, "/shop.v1.Orders/Sum")
    }
    /// Takes its time.
    pub fn appraise(
        &self,
        request: &Item,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::Unary<Money>> {
        ::bookend_client::typed::TypedCall::unary(&self.0, "/shop.v1.Orders/Appraise", request)
    }
    /// The method `Search`.
    pub fn search(
        &self,
        request: &Item,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::ServerStreaming<Money>> {
        ::bookend_client::typed::TypedCall::server_streaming(&self.0, "/shop.v1.Orders/Search", request)
    }
    /// The method `Import`.
    pub fn import(
        &self,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::ClientStreaming<Item, Money>> {
        ::bookend_client::typed::TypedCall::client_streaming(&self.0, "/shop.v1.Orders/Import")
    }
    /// The method `Haggle`.
    pub fn haggle(
        &self,
    ) -> ::bookend_client::typed::TypedCall<::bookend_client::typed::BidirectionalStreaming<Item, Money>> {
        ::bookend_client::typed::TypedCall::bidirectional(&self.0, "/shop.v1.Orders/Haggle")
    }
}
