//! Messages that are read and written in place: a handler that allocates nothing. `build.rs` says
//! which methods are served so.
//!
//! `cargo run -p bookend-examples --bin borrowed_server [ADDRESS]`
#![forbid(unsafe_code)]

use bookend_examples::till::borrowed::{BasketView, ReceiptWriter};
use bookend_examples::till::{Till, TillServer};
use bookend_server::{Code, Context, Server, Status};

struct Cashier;

impl Till for Cashier {
    fn total(
        &self,
        basket: BasketView<'_>,
        receipt: &mut ReceiptWriter<'_>,
        _: &Context<'_>,
    ) -> Result<(), Status> {
        let mut total_cents = 0;
        receipt.customer(basket.customer);
        for item in basket.items {
            let cents = item.cents * i64::from(item.count);
            total_cents += cents;
            receipt.lines(|line| {
                line.text(format_args!("{} x {}", item.count, item.name)).cents(cents);
            });
        }
        if basket.items.is_empty() {
            // Nothing of what was written goes out.
            return Err(Status::new(Code::InvalidArgument, "the basket is empty"));
        }
        receipt.total_cents(total_cents);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server =
        Server::builder().add_service(TillServer::new(Cashier)).bind(bookend_examples::address())?;
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
