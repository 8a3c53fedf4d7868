// Services with ten thousand people to look up, each with a business that looks them up.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Checkout } from "./beside/checkout.ts";
import type { Server } from "./child-process.ts";
import { hasWrk, loadWithWrk, type Target } from "./lookup-load.ts";
import type { Turn } from "./lookup-rounds.ts";
import { lookUpEverybody, makeCaller, makePeople } from "./lookup-scene.ts";
import type { Reporter } from "./result.ts";
import type { BenchStore } from "./stores.ts";

const WARM_UP_SECONDS = 4;

/** A service, and what its people are looked up with. */
export interface LookupService extends Server, Target {
  /** Of its place in the store. */
  readonly label: string;
  /** The bytes of a lookup's reply. */
  readonly body: string;
}

/** Starts what a measurement of lookups needs, and stops all of it at the end. */
export class LookupScene {
  readonly store: BenchStore;
  /** For scratch files. */
  readonly folder = mkdtempSync(join(tmpdir(), "repsync-bench-"));
  readonly #servers: Server[] = [];

  private constructor(store: BenchStore) {
    this.store = store;
  }

  /** Sets a scene, lets `measure` work in it, and clears it away. Says so when there is no `wrk`. */
  static async use(
    store: BenchStore,
    { say }: Pick<Reporter, "say">,
    measure: (scene: LookupScene) => Promise<void>,
  ): Promise<void> {
    if (!hasWrk()) {
      say("  Left out: there is no wrk on the PATH (apt-get install wrk)");
      return;
    }
    const scene = new LookupScene(store);
    const removeFolder = () => rmSync(scene.folder, { recursive: true, force: true });
    process.once("exit", removeFolder);
    try {
      await measure(scene);
    } finally {
      for (const server of scene.#servers) await server.stop();
      removeFolder();
      process.off("exit", removeFolder);
    }
  }

  /** Starts a service of its own place, in which everybody has been looked up before. */
  async startService(
    checkout?: Checkout,
    env: Readonly<Record<string, string>> = {},
  ): Promise<LookupService> {
    const label = `lookups_${Math.random().toString(36).slice(2)}`;
    const server = await this.startInstance(label, checkout, env);
    const copyConsent = (usernames: readonly string[]) => this.store.copyConsent(label, usernames);
    await makePeople({ url: server.url, copyConsent });
    const key = await makeCaller(server.url);
    const body = await lookUpEverybody(server.url, key);
    await this.loadFor(WARM_UP_SECONDS, { url: server.url, key })();
    return { ...server, label, key, body };
  }

  /** Starts an instance of the service on the place of that label. */
  async startInstance(
    label: string,
    checkout?: Checkout,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    return this.keep(await this.store.startService(label, env, checkout));
  }

  /** Stops the server at the end. */
  keep(server: Server): Server {
    this.#servers.push(server);
    return server;
  }

  /** A turn that looks people up for some seconds. */
  loadFor(seconds: number, target: Target, connections?: number): Turn {
    const options = { folder: this.folder, seconds };
    return () =>
      loadWithWrk(target, connections === undefined ? options : { ...options, connections });
  }
}
