// A way to a server that a test can make silent: what is sent then comes nowhere, and no side hears of it.
import type { Socket } from "bun";

interface Way {
  other: Socket<Way> | null;
  isSilent: boolean;
  readonly waiting: Uint8Array[];
}

export interface TcpRelay {
  readonly port: number;
  /** Makes the connections that there are silent; new ones are not. */
  silence(): void;
  close(): void;
}

/** Relays to a port of 127.0.0.1, at a free port or at `port`. */
export function startRelay(toPort: number, port = 0): TcpRelay {
  const ways = new Set<Socket<Way>>();
  const data = (socket: Socket<Way>, chunk: Uint8Array) => {
    const { other, isSilent, waiting } = socket.data;
    if (isSilent) return;
    if (other === null) waiting.push(Uint8Array.from(chunk));
    else other.write(chunk);
  };
  const close = (socket: Socket<Way>) => {
    ways.delete(socket);
    if (!socket.data.isSilent) socket.data.other?.end();
  };
  const server = Bun.listen<Way>({
    hostname: "127.0.0.1",
    port,
    socket: {
      async open(socket) {
        socket.data = { other: null, isSilent: false, waiting: [] };
        ways.add(socket);
        const other = await Bun.connect<Way>({
          hostname: "127.0.0.1",
          port: toPort,
          data: { other: socket, isSilent: false, waiting: [] },
          socket: { data, close },
        });
        ways.add(other);
        socket.data.other = other;
        for (const chunk of socket.data.waiting.splice(0)) other.write(chunk);
      },
      data,
      close,
    },
  });
  return {
    port: server.port,
    silence() {
      for (const { data } of ways) data.isSilent = true;
    },
    close() {
      server.stop(true);
      for (const socket of ways) socket.terminate();
    },
  };
}
