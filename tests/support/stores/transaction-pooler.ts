// A pooler in transaction mode, as PgBouncer is one: each transaction goes to the next of few connections to the server, and
// what one of them was told before is what others find.
import type { Socket } from "bun";

const SSL_REQUEST = 80_877_103;
const PROTOCOL = 196_608;
const READY = "Z";
const IDLE = "I";

/** One connection to the server. */
interface Server {
  readonly socket: Socket<Frames>;
  client: Client | null;
}

interface Client {
  readonly socket: Socket<Frames>;
  server: Server | null;
  /** Messages for a server that is not there yet. */
  readonly waiting: Buffer[];
  /** Answers that are to come. */
  open: number;
}

/** Cuts what comes into messages. */
interface Frames {
  rest: Buffer;
  /** Bytes before the length of a message. */
  typeBytes: 0 | 1;
  take: (frame: Buffer) => void;
}

const CALLBACKS = {
  data({ data }: Socket<Frames>, chunk: Buffer) {
    data.rest = Buffer.concat([data.rest, chunk]);
    for (;;) {
      const { rest, typeBytes } = data;
      if (rest.length < typeBytes + 4) return;
      const end = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < end) return;
      data.rest = rest.subarray(end);
      data.take(rest.subarray(0, end));
    }
  },
};

/** Pools connections of a user to a database that trusts it; resolves to what it is in the place of the server. */
export async function startPooler(address: string, connections: number) {
  const { hostname, port, username, pathname } = new URL(address);
  const idle: Server[] = [];
  const queue: Client[] = [];
  const opened: Socket<Frames>[] = [];

  const forward = (client: Client) => {
    for (const frame of client.waiting.splice(0)) {
      // A query by itself, and the end of one by parts.
      if ("QS".includes(String.fromCharCode(frame[0] ?? 0))) client.open++;
      client.server?.socket.write(frame);
    }
  };
  const assign = () => {
    while (idle.length > 0 && queue.length > 0) {
      const [server, client] = [idle.shift() as Server, queue.shift() as Client];
      server.client = client;
      client.server = server;
      forward(client);
    }
  };
  const connect = async () => {
    const ready = Promise.withResolvers<void>();
    const socket = await Bun.connect<Frames>({
      ...{ hostname, port: Number(port), socket: CALLBACKS },
      data: { rest: Buffer.alloc(0), typeBytes: 1, take: () => {} },
    });
    const server: Server = { socket, client: null };
    socket.data.take = (frame) => {
      const { client } = server;
      const isReady = String.fromCharCode(frame[0] ?? 0) === READY;
      if (client === null) {
        if (isReady) ready.resolve();
        return;
      }
      client.socket.write(frame);
      if (!isReady) return;
      client.open--;
      if (client.open > 0 || String.fromCharCode(frame[5] ?? 0) !== IDLE) return;
      server.client = client.server = null;
      idle.push(server);
      assign();
    };
    socket.write(startup({ user: username, database: pathname.slice(1) }));
    opened.push(socket);
    await ready.promise;
    idle.push(server);
  };
  for (let i = 0; i < connections; i++) await connect();

  const listener = Bun.listen<Frames>({
    ...{ hostname: "127.0.0.1", port: 0 },
    socket: {
      ...CALLBACKS,
      open(socket) {
        const client: Client = { socket, server: null, waiting: [], open: 0 };
        const take = (frame: Buffer) => {
          if (String.fromCharCode(frame[0] ?? 0) === "X") return;
          client.waiting.push(Buffer.from(frame));
          if (client.server !== null) forward(client);
          else if (!queue.includes(client)) queue.push(client);
          assign();
        };
        const begin = (frame: Buffer) => {
          if (frame.readInt32BE(4) === SSL_REQUEST) {
            socket.write("N");
            return;
          }
          socket.data.typeBytes = 1;
          socket.data.take = take;
          // It is let in, and may ask.
          socket.write(Buffer.from([...message("R", [0, 0, 0, 0]), ...message("Z", [73])]));
        };
        socket.data = { rest: Buffer.alloc(0), typeBytes: 0, take: begin };
      },
    },
  });
  const url = new URL(address);
  url.port = String(listener.port);
  return {
    url: url.href,
    close() {
      listener.stop(true);
      for (const socket of opened) socket.terminate();
    },
  };
}

function message(type: string, bytes: readonly number[]): number[] {
  return [type.charCodeAt(0), 0, 0, 0, 4 + bytes.length, ...bytes];
}

function startup(parameters: Readonly<Record<string, string>>): Buffer {
  const text = `${Object.entries(parameters).flat().join("\0")}\0\0`;
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + text.length, 0);
  head.writeInt32BE(PROTOCOL, 4);
  return Buffer.concat([head, Buffer.from(text)]);
}
