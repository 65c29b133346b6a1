//! Server reflection as its clients use it.

use bookend_server::prost::{self, Message};
use bookend_server::prost_types::FileDescriptorProto;

use crate::pair::{Pair, fields, framed};

/// A request of one question: a field of `ServerReflectionRequest` with a string.
fn question(tag: u32, text: &str) -> Vec<u8> {
    let mut request = Vec::new();
    prost::encoding::string::encode(tag, &text.to_owned(), &mut request);
    request
}

/// The parts of `ServerReflectionResponse` that are looked at here.
#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    list: Option<List>,
    #[prost(message, optional, tag = "7")]
    error: Option<Error>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    encoded: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct List {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Named>,
}

#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Error {
    #[prost(int32, tag = "1")]
    code: i32,
}

fn ask(version: &str, questions: &[Vec<u8>]) -> Vec<Response> {
    let mut pair = Pair::new();
    let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
    let stream = pair.open(&fields(&path), false);
    for question in questions {
        pair.client.sender.data(stream, &framed(question), false);
    }
    pair.client.sender.data(stream, b"", true);
    pair.pump();
    let heard = pair.heard(stream);
    assert_eq!(heard.field("grpc-status"), Some("0"));
    heard.messages.iter().map(|message| Response::decode(&**message).unwrap()).collect()
}

#[test]
fn all_services_are_listed_in_both_versions() {
    for version in ["v1", "v1alpha"] {
        let [response] = &ask(version, &[question(7, "")])[..] else { panic!("one response") };
        let services = &response.list.as_ref().unwrap().services;
        let names: Vec<_> = services.iter().map(|service| service.name.as_str()).collect();
        let expected = [
            "grpc.reflection.v1.ServerReflection",
            "grpc.reflection.v1alpha.ServerReflection",
            "shop.v1.Orders",
            "test.Raw",
            "test.Streams",
        ];
        assert_eq!(names, expected);
    }
}

#[test]
fn a_file_is_found_by_what_it_declares_and_by_its_name() {
    let questions = [
        question(4, "grpc.reflection.v1.ServerReflection"),
        question(4, "grpc.reflection.v1.ServerReflection.ServerReflectionInfo"),
        question(3, "grpc/reflection/v1/reflection.proto"),
    ];
    for response in ask("v1", &questions) {
        let files = response.files.unwrap().encoded;
        let file = FileDescriptorProto::decode(&*files[0]).unwrap();
        assert_eq!(file.name(), "grpc/reflection/v1/reflection.proto");
        assert_eq!(file.service[0].method.len(), 1);
    }
}

#[test]
fn what_is_not_there_is_an_error_and_the_stream_goes_on() {
    let questions = [question(4, "nothing.Here"), question(3, "nothing.proto"), vec![]];
    let codes: Vec<_> =
        ask("v1", &questions).into_iter().map(|response| response.error.unwrap().code).collect();
    assert_eq!(codes, [5, 5, 3]);
}
