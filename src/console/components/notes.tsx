// Parts of pages, and notes about their data.
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Reply, ReplyOperation, RequestOptions } from "../api/interface.ts";
import { useTitle } from "../state/page-visit.ts";
import { type Resource, useReply } from "../state/use-service.ts";
import { ErrorNote } from "./buttons.tsx";

interface CardProps {
  readonly title: ComponentChildren;
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, beside, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  );
}

interface PageHeadProps {
  readonly back: ComponentChildren;
  /** For the title of the tab. */
  readonly shown: string;
  readonly children?: ComponentChildren;
}

/** The head of a page below another one. */
export function PageHead({ back, shown, children }: PageHeadProps) {
  useTitle(shown);
  return (
    <>
      <p>{back}</p>
      {children !== undefined && <h2>{children}</h2>}
    </>
  );
}

/** A part that appears on a user's action: it gets the focus, and is scrolled to. */
export function Focused({ children }: { readonly children: ComponentChildren }) {
  const part = useRef<HTMLDivElement>(null);
  // Before paint, as the former focus is gone.
  useLayoutEffect(() => {
    const { top = 0 } = part.current?.getBoundingClientRect() ?? {};
    part.current?.focus({ preventScroll: true });
    part.current?.scrollIntoView({ block: top < 0 ? "start" : "nearest" });
  }, []);
  return (
    <div ref={part} tabIndex={-1}>
      {children}
    </div>
  );
}

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** Says that there is nothing, and what to do next. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/** `idle` has no colour. */
export type Tone = "good" | "bad" | "warning" | "busy" | "idle";

/** A word for a state; the colour only repeats it. */
export function StatusBadge({ tone, text }: { readonly tone: Tone; readonly text: string }) {
  return <span class={`badge small ${tone}`}>{text}</span>;
}

type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values. Null entries are left out. */
export function Facts({ facts }: { readonly facts: readonly (Fact | null)[] }) {
  return (
    <dl>
      {facts
        .filter((fact) => fact !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

interface ProgressBarProps {
  readonly label: string;
  readonly done: number;
  /** Null for an unknown amount. */
  readonly total: number | null;
  /** Beside the bar, such as `1,200 of 5,000 rows, 300 rows/s`. */
  readonly text?: string;
}

export function ProgressBar({ label, done, total, text }: ProgressBarProps) {
  const id = useId();
  const known = total === null ? {} : { max: Math.max(total, done, 1), value: done };
  return (
    <div class="progress">
      <label for={id}>{label}</label>
      <progress id={id} {...known} />
      {text !== undefined && <span class="quiet">{text}</span>}
    </div>
  );
}

interface ViewProps<T> {
  /** What is loaded, such as `the API keys`. */
  readonly name: string;
  /** In place of a failure where the service has no such thing. */
  readonly missing?: ComponentChildren;
  readonly children: (data: T) => ComponentChildren;
}

interface ResourceViewProps<T> extends ViewProps<T> {
  readonly resource: Pick<Resource<T>, "data" | "error" | "reload">;
}

/** Loaded data, their progress, or their failure. */
export function ResourceView<T>({ resource, name, missing, children }: ResourceViewProps<T>) {
  const { data, error, reload } = resource;
  if (missing !== undefined && error?.status === 404) return <>{missing}</>;
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      {data === null && error === null && (
        <div class="loading">
          <ProgressBar label={`Loading ${name}`} done={0} total={null} />
        </div>
      )}
      {data !== null && children(data)}
    </>
  );
}

const POLL_MS = 15_000;

interface LoadedProps<O extends ReplyOperation> extends ViewProps<Reply<O>> {
  readonly from: O;
  readonly options?: RequestOptions<O>;
  readonly isPolled?: boolean;
}

/** The reply to a request in a `ResourceView`. */
export function Loaded<O extends ReplyOperation>({
  from,
  options,
  isPolled,
  ...view
}: LoadedProps<O>) {
  const pollMs = isPolled ? POLL_MS : null;
  const resource = useReply(from, options ?? ({} as RequestOptions<O>), pollMs);
  return <ResourceView resource={resource} {...view} />;
}
