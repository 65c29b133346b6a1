# An image of nothing but the command. Build it in an unpacked archive whose name ends with `musl`:
#
#     docker build -t bookend .
#     docker run --rm --network host bookend load --insecure --call pkg.Service/Method 127.0.0.1:50051
FROM scratch
COPY bookend /bookend
ENTRYPOINT ["/bookend"]
