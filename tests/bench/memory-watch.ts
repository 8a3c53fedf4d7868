import { residentBytes, type Server } from "./child-process.ts";

const SAMPLE_MS = 20;

/** Memory of processes while something is measured. */
export interface MemoryWatch {
  /** The most that any of them has had in RAM so far. */
  peakBytes(): number;
  stop(): void;
}

/** Begins to look at what processes have in RAM, fifty times a second. */
export function watchMemory(...servers: readonly Server[]): MemoryWatch {
  let peak = 0;
  const sample = () => {
    peak = Math.max(peak, ...servers.map(({ pid }) => residentBytes(pid)));
    return peak;
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return { peakBytes: sample, stop: () => clearInterval(timer) };
}

/** Megabytes, as tables show them. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
