//! The generated code of a service with every type of field, as `bookend-codegen`'s own test
//! records it, and its messages as prost has them.

// Each test uses a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;

use bookend_server::{Code, Context, Status, prost};

include!("../../../codegen/tests/snapshots/every.v1.rs");

/// Reflection is tested with the descriptors of reflection itself.
const FILE_DESCRIPTOR_SET: &[u8] = &[];

#[derive(Clone, PartialEq, prost::Message)]
pub struct Record {
    #[prost(double, tag = "1")]
    pub a_double: f64,
    #[prost(float, tag = "2")]
    pub a_float: f32,
    #[prost(int32, tag = "3")]
    pub an_int32: i32,
    #[prost(int64, tag = "4")]
    pub an_int64: i64,
    #[prost(uint32, tag = "5")]
    pub a_uint32: u32,
    #[prost(uint64, tag = "6")]
    pub a_uint64: u64,
    #[prost(sint32, tag = "7")]
    pub a_sint32: i32,
    #[prost(sint64, tag = "8")]
    pub a_sint64: i64,
    #[prost(fixed32, tag = "9")]
    pub a_fixed32: u32,
    #[prost(fixed64, tag = "10")]
    pub a_fixed64: u64,
    #[prost(sfixed32, tag = "11")]
    pub a_sfixed32: i32,
    #[prost(sfixed64, tag = "12")]
    pub a_sfixed64: i64,
    #[prost(bool, tag = "13")]
    pub a_bool: bool,
    #[prost(string, tag = "14")]
    pub r#type: String,
    #[prost(bytes = "vec", tag = "15")]
    pub blob: Vec<u8>,
    #[prost(enumeration = "record::Color", tag = "16")]
    pub color: i32,
    #[prost(message, optional, tag = "17")]
    pub part: Option<record::Part>,
    #[prost(int32, optional, tag = "18")]
    pub maybe_number: Option<i32>,
    #[prost(string, optional, tag = "19")]
    pub maybe_text: Option<String>,
    #[prost(string, repeated, tag = "23")]
    pub names: Vec<String>,
    #[prost(bytes = "vec", repeated, tag = "24")]
    pub blobs: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "25")]
    pub parts: Vec<record::Part>,
    #[prost(sint32, repeated, tag = "26")]
    pub numbers: Vec<i32>,
    #[prost(double, repeated, tag = "27")]
    pub doubles: Vec<f64>,
    #[prost(enumeration = "record::Color", repeated, tag = "28")]
    pub colors: Vec<i32>,
    #[prost(btree_map = "string, message", tag = "29")]
    pub by_name: BTreeMap<String, record::Part>,
    #[prost(message, optional, tag = "30")]
    pub nothing: Option<record::Nothing>,
    #[prost(int32, tag = "1000")]
    pub far: i32,
    #[prost(oneof = "record::Choice", tags = "20, 21, 22")]
    pub choice: Option<record::Choice>,
    #[prost(oneof = "record::Flag", tags = "31, 32")]
    pub flag: Option<record::Flag>,
}

pub mod record {
    use bookend_server::prost;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
    #[repr(i32)]
    pub enum Color {
        Black = 0,
        Red = 1,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Part {
        #[prost(string, tag = "1")]
        pub label: String,
        #[prost(message, repeated, tag = "2")]
        pub leaves: Vec<part::Leaf>,
    }

    pub mod part {
        use bookend_server::prost;

        #[derive(Clone, Copy, PartialEq, prost::Message)]
        pub struct Leaf {
            #[prost(uint32, tag = "1")]
            pub lifetime: u32,
        }
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct Nothing {}

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub enum Choice {
        #[prost(string, tag = "20")]
        Note(String),
        #[prost(bool, tag = "21")]
        Agreed(bool),
        #[prost(message, tag = "22")]
        SparePart(Part),
    }

    #[derive(Clone, Copy, PartialEq, prost::Oneof)]
    pub enum Flag {
        #[prost(int32, tag = "31")]
        NumberFlag(i32),
        #[prost(bool, tag = "32")]
        BoolFlag(bool),
    }
}

/// Sends back what came, unless the record asks for something else.
pub struct Mirror;

impl Every for Mirror {
    fn echo(
        &self,
        record: borrowed::RecordView<'_>,
        reply: &mut borrowed::RecordWriter<'_>,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        record.copy_to(reply);
        match record.r#type {
            "refuse" => Err(Status::new(Code::NotFound, "as it was asked to")),
            "panic" => panic!("as it was asked to"),
            "header" => {
                context.add_header("x-mirror", b"late");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn copy(&self, record: Record, _: &Context<'_>) -> Result<Record, Status> {
        Ok(record)
    }
}
