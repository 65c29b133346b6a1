"""HOST PORT: sends a PING whose first six bytes come alone, as TCP may cut any frame."""
import socket, sys, time
ping = b"\0\0\x08\x06\0\0\0\0\0eightbyt"
server = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
server.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0")  # and empty SETTINGS
time.sleep(0.3)
server.sendall(ping[:6])
time.sleep(0.3)
server.settimeout(1)
try:
    server.sendall(ping[6:])
    while (came := server.recv(4096)) and ping[9:] not in came:
        pass
except TimeoutError:
    came = b"still open"  # without an acknowledgement, which is another fault
except ConnectionError:
    came = b""
sys.exit(0 if came else "the server closed the connection on a frame that came in two reads")
