import process from "node:process";
import { Counter, Gauge, type Registry } from "prom-client";

/**
 * What the process uses, under the names that Prometheus clients share. The library's own set asks Bun for much that it
 * does not have, and keeps a timer running.
 */
export function addProcessMetrics(registry: Registry, startedAtMs: number): void {
  const registers = [registry];
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time, in seconds",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Memory in use, in bytes",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const help = "When the process started, in seconds since 1970";
  new Gauge({ name: "process_start_time_seconds", help, registers }).set(startedAtMs / 1000);
}
