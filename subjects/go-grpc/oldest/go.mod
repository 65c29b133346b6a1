module go-grpc-oldest

go 1.26.0

replace bookend-contract-go => ../../go-contract

require (
	bookend-contract-go v0.0.0
	github.com/golang/protobuf v1.2.0
	golang.org/x/net v0.60.0
	google.golang.org/grpc v1.3.0
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto v0.0.0-20180817151627-c66870c02cf8 // indirect
)
