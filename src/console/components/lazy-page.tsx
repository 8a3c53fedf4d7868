import type { FunctionComponent } from "preact";
import { RequestError } from "../api/request-error.ts";
import { useResource } from "../api/use-resource.ts";
import { ResourceView } from "./notes.tsx";

type Params = Readonly<Record<string, string>>;

const MAX_WAIT_MS = 30_000;

const GONE = new RequestError(0, {
  detail: "This page of the console could not be loaded",
  hint: "Load the page again: the service may have been replaced by another version",
});

/** Rejects when the wait is over. */
function late(): Promise<never> {
  return new Promise((_, reject) => setTimeout(reject, MAX_WAIT_MS));
}

/** A page in a file of its own, which is loaded when the page is first opened. */
export function lazyPage(
  load: () => Promise<FunctionComponent<Params>>,
): FunctionComponent<Params> {
  let loaded: FunctionComponent<Params> | null = null;
  return function LazyPage(params: Params) {
    const page = useResource(async () => {
      loaded ??= await Promise.race([load(), late()]).catch(() => {
        throw GONE;
      });
      return loaded;
    });
    const Content = loaded;
    if (Content !== null) return <Content {...params} />;
    return (
      <ResourceView resource={page} name="the page">
        {(Page) => <Page {...params} />}
      </ResourceView>
    );
  };
}
