// A page with one of every component, for tests: it stands in for the script of the console.
import { render } from "preact";
import { readEventStream } from "../../../src/console/api/request.ts";
import { RequestError } from "../../../src/console/api/request-error.ts";
import { ActionButton, CopyButton, ErrorNote } from "../../../src/console/components/buttons.tsx";
import { ConfirmButton } from "../../../src/console/components/confirm-dialog.tsx";
import { DataTable } from "../../../src/console/components/data-table.tsx";
import { CheckField, Field, Refusal, SelectField } from "../../../src/console/components/form.tsx";
import {
  EmptyState,
  ProgressBar,
  StatusBadge,
  type Tone,
} from "../../../src/console/components/notes.tsx";
import { LongText, TimeText } from "../../../src/console/components/text.tsx";
import { LineChart } from "../../../src/console/components/time-charts.tsx";
import { PointBars } from "../../../src/console/pages/own/my-reputation-page.tsx";

const HOSTILE = "<script>alert(1)</script>";
const TURNED = "\u202Egnp.exe";
const LONG = "x".repeat(10_000);
const TONES: readonly Tone[] = ["good", "bad", "warning", "busy", "idle"];
const MINUTES = Array.from({ length: 30 }, (_, i) => i);

const ROWS = [
  { id: 1, name: HOSTILE, note: LONG, rows: 12_345 },
  { id: 2, name: TURNED, note: "short", rows: 0 },
];

const REFUSAL = new RequestError(400, {
  errors: [{ pointer: "/name", detail: "Must be a name" }],
});

const tried: string[] = [];

async function confirm() {
  tried.push("tried");
  if (tried.length === 1) throw new RequestError(409, { code: "conflict", detail: "Not yet" });
}

let presses = 0;

async function tryTwice() {
  presses++;
  if (presses === 1) throw new RequestError(503, { detail: "Not at the first press" });
}

function Everything() {
  return (
    <main>
      <h1>Components</h1>
      <h2>Table</h2>
      <DataTable
        caption="Names"
        rows={ROWS}
        keyOf={({ id }) => id}
        columns={[
          { title: "Name", cell: ({ name }) => <LongText text={name} />, isHeader: true },
          { title: "A note of some length", cell: ({ note }) => <LongText text={note} /> },
          { title: "Rows", cell: ({ rows }) => rows.toLocaleString(), isNumber: true },
          { title: "Seen", cell: () => <TimeText at="2026-03-01T12:00:00.000Z" /> },
          { title: "Never", cell: () => <TimeText at={null} /> },
          { title: "State", cell: () => <StatusBadge tone="good" text="done" /> },
        ]}
      />
      <DataTable
        caption="Nothing"
        rows={[]}
        keyOf={() => ""}
        columns={[]}
        empty={<EmptyState title="No rows yet">Push some.</EmptyState>}
      />
      <p>
        {TONES.map((tone) => (
          <StatusBadge key={tone} tone={tone} text={tone} />
        ))}
      </p>
      <form class="form">
        <Refusal.Provider value={REFUSAL}>
          <Field label="Name" name="name" hint="Any" value={HOSTILE} />
        </Refusal.Provider>
        <SelectField
          label="Direction"
          value="pull"
          options={[
            ["pull", "Pull"],
            ["push", "Push"],
          ]}
        />
        <CheckField label="Full" hint="From the start" isChecked />
      </form>
      <div class="actions">
        <ActionButton>Plain</ActionButton>
        <ActionButton look="main">Main</ActionButton>
        <ActionButton isBusy>Busy</ActionButton>
        <ActionButton isDisabled>Not now</ActionButton>
        <ActionButton onPress={tryTwice}>Twice</ActionButton>
        <ConfirmButton
          name="Revoke"
          of="the key"
          question={`Revoke ${TURNED}?`}
          onConfirm={confirm}
        >
          <p>It cannot be undone.</p>
          <CopyButton text="from the dialog" of="the text" />
        </ConfirmButton>
        <CopyButton text="text with ünï" of="the key" />
      </div>
      <ErrorNote error={new RequestError(503, { detail: "The store cannot be reached" })} />
      <ProgressBar label="Known" done={30} total={100} text="30 of 100 rows, 12 rows/s" />
      <ProgressBar label="Unknown" done={30} total={null} text="30 rows" />
      <PointBars
        points={[
          { platform: "github", points: 20 },
          { platform: HOSTILE.repeat(20), points: 5 },
        ]}
        score={25}
      />
      <LineChart
        title="Rows moved"
        name="Rows"
        points={MINUTES.map((i) => ({
          at: new Date(Date.UTC(2026, 2, 1, 12, i)).toISOString(),
          count: (i % 7) * 100,
        }))}
      />
    </main>
  );
}

/** For tests that read a stream in the page. */
async function readAll(path: string): Promise<{ events: unknown[]; comments: string[] }> {
  const events: unknown[] = [];
  const comments: string[] = [];
  const { signal } = new AbortController();
  const onComment = (text: string) => comments.push(text);
  for await (const event of readEventStream(`get ${path}` as "post /v1/admin/audit/verify", {
    signal,
    onComment,
  }))
    events.push(event);
  return { events, comments };
}

Object.assign(window, { readAll });
const root = document.getElementById("console");
if (root !== null) render(<Everything />, root);
