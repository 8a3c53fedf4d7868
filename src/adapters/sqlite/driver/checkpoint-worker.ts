// Copies the log in a thread of its own, as a long log takes tenths of a second.
import { Database } from "bun:sqlite";

declare const self: Worker;

self.onmessage = ({ data: path }: MessageEvent<string>) => {
  const database = new Database(path, { create: false, readwrite: true });
  try {
    database.run("PRAGMA wal_checkpoint(PASSIVE)");
  } finally {
    database.close();
    self.postMessage(null);
  }
};
