import { ActionButton } from "../../components/buttons.tsx";
import { ActionForm, CheckField, Field, NAME_HINTS, SelectField } from "../../components/form.tsx";
import { queryValue, queryValues, setQuery } from "../../state/router.ts";

/** Filters by column, kept in the address as `where`. */
export function ColumnFilters({ names }: { readonly names: readonly string[] }) {
  const filters = queryValues("where");
  const change = (where: readonly string[]) => setQuery({ where, cursor: "" });
  return (
    <>
      <search>
        <ActionForm
          name="Add filter"
          isRow
          isEmptied
          onSubmit={async (typed) => change([...filters, `${typed("column")}:${typed("text")}`])}
        >
          <SelectField label="Column" name="column" options={names} />
          <Field
            label="Holds"
            name="text"
            hint="Texts contain it, other values equal it"
            hints={NAME_HINTS}
          />
        </ActionForm>
      </search>
      {filters.length > 0 && (
        <ul class="picks" aria-label="Filters">
          {filters.map((filter) => (
            <li key={filter}>
              <bdi>{filter.replace(":", ": ")}</bdi>{" "}
              <ActionButton
                of={filter}
                onPress={() => change(filters.filter((other) => other !== filter))}
              >
                Remove
              </ActionButton>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The columns that the address chooses, or all. */
export function chosenColumns(names: readonly string[]): readonly string[] {
  const chosen = queryValue("columns").split(",");
  const shown = names.filter((name) => chosen.includes(name));
  return shown.length === 0 ? names : shown;
}

export function ColumnChoice({ names }: { readonly names: readonly string[] }) {
  const chosen = chosenColumns(names);
  const show = (name: string, isShown: boolean) => {
    const columns = names.filter((one) => (one === name ? isShown : chosen.includes(one)));
    setQuery({ columns: columns.length === names.length ? "" : columns.join(",") });
  };
  return (
    <details>
      <summary>
        Columns ({chosen.length} of {names.length})
      </summary>
      <fieldset class="picks">
        <legend class="for-readers">Columns that are shown</legend>
        {names.map((name) => (
          <CheckField
            key={name}
            label={name}
            isChecked={chosen.includes(name)}
            onChecked={(isShown) => show(name, isShown)}
          />
        ))}
      </fieldset>
    </details>
  );
}
