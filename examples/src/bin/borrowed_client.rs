//! One call: the client has messages of prost, and need not know how the server reads them.
//!
//! `cargo run -p bookend-examples --bin borrowed_client [ADDRESS]`
#![forbid(unsafe_code)]

use bookend_client::{Channel, ChannelOptions};
use bookend_examples::till::{Basket, Item, TillClient};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let channel = Channel::connect(&bookend_examples::address(), ChannelOptions::default())?;
    let item = |name: &str, count, cents| Item { name: name.to_owned(), count, cents };
    let items = vec![item("apple", 3, 40), item("bread", 1, 350)];
    let basket = Basket { customer: "Ada".to_owned(), items };
    let receipt = TillClient::new(channel).total(&basket).wait()?;
    println!("{}", receipt.customer);
    for line in receipt.lines {
        println!("{:>6} {}", line.cents, line.text);
    }
    println!("{:>6} in all", receipt.total_cents);
    Ok(())
}
