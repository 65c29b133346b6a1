module go-thrift-oldest

go 1.26.0

require (
	bookend-contract-go v0.0.0
	github.com/apache/thrift v0.12.0
)

require github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect

replace bookend-contract-go => ../../go-contract
