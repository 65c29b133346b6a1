package main

// request has the values of proto/benchmark_message_equal.json: field5 is there, as published. The
// file of the contract is not read, because it holds the message in protobuf.
var request = &message{
	Field1:   sentence,
	Field2:   100_000,
	Field3:   100_000,
	Field4:   sentence,
	Field5:   100_000,
	Field6:   100_000,
	Field7:   sentence,
	Field9:   sentence,
	Field12:  true,
	Field13:  true,
	Field14:  true,
	Field16:  100_000,
	Field17:  true,
	Field18:  sentence,
	Field22:  100_000,
	Field23:  100_000,
	Field24:  true,
	Field25:  100_000,
	Field29:  100_000,
	Field30:  true,
	Field59:  true,
	Field60:  100_000,
	Field67:  100_000,
	Field68:  100_000,
	Field78:  true,
	Field80:  true,
	Field81:  true,
	Field100: 100_000,
	Field101: 100_000,
	Field102: sentence,
	Field103: sentence,
	Field104: 100_000,
	Field128: 100_000,
	Field129: sentence,
	Field130: 100_000,
	Field131: 100_000,
	Field150: 100_000,
	Field271: 100_000,
	Field272: 100_000,
	Field280: 100_000,
}

// sentence has 54 bytes, three a character.
const sentence = "今日はよい天気で、川の水がとても青い"
