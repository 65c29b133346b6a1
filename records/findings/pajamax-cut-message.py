"""HOST PORT [METHOD]: sends one message in two DATA frames, as a sender does whose window ends in it."""
import socket, sys
def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
method = (sys.argv[3] if len(sys.argv) > 3 else "helloworld.Greeter/SayHello").encode()
fields = [b":method", b"POST", b":scheme", b"http", b":path", b"/" + method, b":authority", b"x",
          b"te", b"trailers", b"content-type", b"application/grpc"]
head = b"".join((b"" if i % 2 else b"\0") + bytes([len(text)]) + text for i, text in enumerate(fields))
body = b"\0\0\0\0\x0c\x0a\x0acut in two"  # no compression, 12 bytes, field 1 = "cut in two"
server = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
server.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, head)
               + frame(0, 0, 1, body[:9]) + frame(0, 1, 1, body[9:]))
answer = server.makefile("rb")
try:
    while (header := answer.read(9)) and not (header[3] == 1 and header[4] & 1):  # HEADERS, END_STREAM
        answer.read(int.from_bytes(header[:3], "big"))
except ConnectionResetError:
    header = b""
sys.exit(0 if header else "the server closed the connection on a message in two DATA frames")
