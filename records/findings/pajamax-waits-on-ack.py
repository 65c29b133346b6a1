"""HOST PORT [METHOD]: 100 calls by one write, with ACKs delayed and at once: the longest silence, ms."""
import socket, sys, time
def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
path = b"/" + (sys.argv[3] if len(sys.argv) > 3 else "helloworld.Greeter/SayHello").encode()
fields = [b":method", b"POST", b":scheme", b"http", b":path", path, b"content-type", b"application/grpc"]
head = b"".join((b"" if i % 2 else b"\0") + bytes([len(text)]) + text for i, text in enumerate(fields))
calls = b"".join(frame(1, 4, n, head) + frame(0, 1, n, bytes(5)) for n in range(1, 200, 2))
def silence(at_once, longest=0.0, came=b""):
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), 5) as server:
        server.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b""))
        time.sleep(0.3)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, at_once) or server.sendall(calls)
        while came.count(b"\x01\x05") < 100 and (last := time.monotonic()):  # HEADERS that end a stream
            came += server.recv(99999)
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, at_once)
            longest = max(longest, (time.monotonic() - last) * 1e3)
    return longest
print("%.1f ms with ACKs delayed, %.1f ms with ACKs at once" % (late := silence(0), soon := silence(1)))
sys.exit(late > 30 > 3 * soon)
