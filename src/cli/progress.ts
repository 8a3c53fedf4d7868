// A bar on a terminal, plain lines elsewhere.
import { Presets, SingleBar } from "cli-progress";

/** Shows how far a job has come. */
export interface Progress {
  /** Counts rows that are done. */
  advance(rows: number): void;
  /** Ends the display; call it once, also after a failure. */
  finish(): void;
}

/** Part of the job after which a plain line is written. */
const PLAIN_STEP = 0.25;

/** Starts a display on stderr for a job of `totalRows`, 1 or more. */
export function startProgress(label: string, totalRows: number): Progress {
  return process.stderr.isTTY ? startBar(label, totalRows) : startLines(label, totalRows);
}

/** A whole number with separators, such as `171,075`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function startBar(label: string, totalRows: number): Progress {
  const startedAtMs = performance.now();
  let doneRows = 0;
  const bar = new SingleBar(
    {
      format: `${label} [{bar}] {percentage}% | {done}/{all} rows | {rate} rows/s`,
      hideCursor: true,
      barsize: 30,
    },
    Presets.shades_classic,
  );
  const payload = () => ({
    done: formatCount(doneRows),
    all: formatCount(totalRows),
    rate: formatCount(doneRows / Math.max(0.001, (performance.now() - startedAtMs) / 1000)),
  });
  bar.start(totalRows, 0, payload());
  return {
    advance: (rows) => {
      doneRows += rows;
      bar.update(doneRows, payload());
    },
    finish: () => bar.stop(),
  };
}

function startLines(label: string, totalRows: number): Progress {
  let doneRows = 0;
  let shownPart = 0;
  return {
    advance: (rows) => {
      doneRows += rows;
      const part = Math.floor(doneRows / totalRows / PLAIN_STEP) * PLAIN_STEP;
      if (part <= shownPart) return;
      shownPart = part;
      const percent = Math.round((100 * doneRows) / totalRows);
      console.error(`${label} ${percent}% (${formatCount(doneRows)} rows)`);
    },
    finish: () => {},
  };
}
