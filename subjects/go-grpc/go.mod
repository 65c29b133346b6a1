module go-grpc

go 1.26.0

require (
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect

require (
	bookend-contract-go v0.0.0
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace bookend-contract-go => ../go-contract
