import type { RequestError } from "../api/request-error.ts";
import { ActionButton } from "./action-button.tsx";

/** What was wrong, and what to do. Says itself to screen readers. */
export function ErrorNote({
  error,
  advice,
  onRetry,
}: {
  readonly error: RequestError | null;
  /** What to do; what usually helps when absent, nothing when empty. */
  readonly advice?: string;
  /** Tries again what failed. */
  readonly onRetry?: () => unknown;
}) {
  if (error === null) return null;
  const whatToDo = advice ?? adviceOn(error);
  return (
    <div class="note note-error" role="alert">
      <p>
        <bdi class="value">{error.detail}</bdi>
      </p>
      {whatToDo !== "" && <p>{whatToDo}</p>}
      {error.status >= 500 && error.requestId !== "" && (
        <p>
          The log has the details under <code>{error.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && <ActionButton onPress={onRetry}>Try again</ActionButton>}
    </div>
  );
}

function adviceOn({ status, code, retryAfterSeconds }: RequestError): string {
  if (code === "unreachable") return "Check that the service runs, and try again.";
  if (status === 429 || status === 503) {
    return retryAfterSeconds === null
      ? "Try again in a moment."
      : `Try again in ${retryAfterSeconds} s.`;
  }
  return status === 401 ? "Sign in again." : "";
}
