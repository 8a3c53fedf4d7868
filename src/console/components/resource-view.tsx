import type { ComponentChildren } from "preact";
import type { Resource } from "../api/use-resource.ts";
import { ErrorNote } from "./error-note.tsx";
import { ProgressBar } from "./progress-bar.tsx";

/** Something that is loaded: that it is on its way, why it does not come, or what `children` make of it. */
export function ResourceView<T>({
  resource,
  name,
  children,
}: {
  readonly resource: Resource<T>;
  /** What is loaded, such as `the API keys`. */
  readonly name: string;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { data, error, reload } = resource;
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
