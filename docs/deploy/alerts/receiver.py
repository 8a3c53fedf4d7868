# Takes alerts on 127.0.0.1, and prints their types and ids. Needs WEBHOOK_SECRET and PORT.
import hashlib, hmac, json, os, re, time
from http.server import BaseHTTPRequestHandler, HTTPServer

secret = os.environ["WEBHOOK_SECRET"].encode()

def is_genuine(header, body):
    match = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", header or "")
    if match is None or abs(time.time() - int(match[1])) > 300:
        return False
    expected = hmac.new(secret, match[1].encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, match[2])

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if is_genuine(self.headers["Repsync-Signature"], body):
            alert = json.loads(body)
            print(alert["type"], alert["id"], flush=True)
            self.send_response(204)
        else:
            self.send_response(401)
        self.end_headers()

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
