import { useRef, useState } from "preact/hooks";
import type { ImportEvent, ImportOptions } from "../../api/interface.ts";
import { readEventStream } from "../../api/request.ts";
import { asRequestError, RequestError } from "../../api/request-error.ts";
import { counted } from "../../components/text.tsx";
import { say } from "../../state/page-visit.ts";
import { holdTab } from "../../state/router.ts";
import { useLeaving } from "../../state/use-service.ts";
import type { FileChoice } from "./file-choice.tsx";

export type ImportResult = NonNullable<Extract<ImportEvent, { readonly type: "error" }>["result"]>;

export interface WantedImport extends FileChoice {
  readonly options: ImportOptions;
}

interface BegunImport {
  readonly wanted: WantedImport;
  readonly isDryRun: boolean;
}

export interface EndedImport extends BegunImport {
  readonly kind: "ended";
  /** Null where it is unknown. */
  readonly result: ImportResult | null;
  /** Why the import ended early; null when it did not. */
  readonly error: RequestError | null;
}

interface RunningImport extends BegunImport {
  readonly kind: "running";
  readonly sentBytes: number;
  /** Null before the service answers. */
  readonly runId: string | null;
  /** Null before the first progress. */
  readonly rows: number | null;
}

type ImportState = { readonly kind: "idle" } | RunningImport | EndedImport;

export interface FileImport {
  readonly state: ImportState;
  /** Never rejects. */
  readonly start: (wanted: WantedImport, isDryRun: boolean) => Promise<void>;
  /** Ends the upload, and with it the import. */
  readonly abort: () => void;
}

/** Imports files one after another. Leaving the page ends a dry run, and no import. */
export function useImport(table: string): FileImport {
  const [state, setState] = useState<ImportState>({ kind: "idle" });
  const underWay = useRef(new AbortController());
  const left = useLeaving();

  async function start(wanted: WantedImport, isDryRun: boolean) {
    const controller = new AbortController();
    underWay.current = controller;
    const signal = isDryRun ? AbortSignal.any([controller.signal, left]) : controller.signal;
    const nothing = { sentBytes: 0, runId: null, rows: null };
    const begun = { kind: "running", wanted, isDryRun, ...nothing } as const;
    const know = (news: Partial<RunningImport>) =>
      setState((now) => ({ ...begun, ...now, ...news }));
    setState(begun);
    let result: ImportResult | null = null;
    let error: RequestError | null = null;
    const letGo = isDryRun ? () => {} : holdTab();
    try {
      const events = readEventStream("post /api/v1/sync/import/{table_name}", {
        path: { table_name: table },
        query: { ...wanted.form, ...wanted.options, dry_run: isDryRun ? "true" : "" },
        file: { ...wanted.file, onSent: (sentBytes) => know({ sentBytes }) },
        signal,
        onHeaders: (headers) => know({ runId: headers.get("x-run-id") }),
      });
      for await (const event of events) {
        if (event.type === "progress") know({ rows: event.rows });
        if (event.type === "done") result = event;
        if (event.type === "error") {
          result = event.result;
          error = new RequestError(0, { detail: event.error });
        }
      }
    } catch (failure) {
      const { aborted: isCancelled } = signal;
      error = isCancelled ? cancelled(isDryRun) : asRequestError(failure);
      if (!isDryRun && (isCancelled || error.code === "unreachable")) {
        error = new RequestError(0, { detail: error.detail, hint: leftBehind(wanted) });
      }
    }
    letGo();
    setState({ kind: "ended", wanted, isDryRun, result, error });
    // For somebody who has left the page.
    if (!isDryRun && left.aborted) say(endText(table, { result, error }));
  }

  return { state, start, abort: () => underWay.current.abort() };
}

function cancelled(isDryRun: boolean): RequestError {
  const detail = isDryRun ? "The preview was cancelled" : "The import was cancelled";
  return new RequestError(0, { detail });
}

/** What is there after an import that ended early, and whether to import the file again. */
function leftBehind({ options }: WantedImport): string {
  const again = options.append
    ? "The whole file again would add them once more: import the rest alone."
    : "To import the file again is safe, from its beginning.";
  return `Rows that were written before stay. ${again}`;
}

function endText(table: string, { result, error }: Pick<EndedImport, "result" | "error">): string {
  if (error !== null) return `The import into ${table} ended early: ${error.detail}`;
  const { written = 0, failed = 0 } = result ?? {};
  const others = failed === 0 ? "" : `, ${failed.toLocaleString()} failed`;
  return `The import into ${table} has ended: ${counted(written, "row")}${others}`;
}
