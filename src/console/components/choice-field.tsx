import { useId } from "preact/hooks";

interface ChoiceFieldProps {
  readonly legend: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Values, which are their names too, and what each means. */
  readonly options: readonly (readonly [value: string, meaning: string])[];
}

/** A choice of one, where each has to be explained. */
export function ChoiceField({ legend, value, onValue, options }: ChoiceFieldProps) {
  const id = useId();
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {options.map(([option, meaning]) => (
        <div key={option} class="field field-check">
          <input
            id={`${id}-${option}`}
            type="radio"
            name={id}
            value={option}
            checked={option === value}
            aria-describedby={`${id}-${option}-hint`}
            onChange={() => onValue(option)}
          />
          <label for={`${id}-${option}`}>{option}</label>
          <p class="field-hint" id={`${id}-${option}-hint`}>
            {meaning}
          </p>
        </div>
      ))}
    </fieldset>
  );
}
