// Names the fields of replies as the wire has them, by the schema that the document shows; fields that it lacks do not go out.
import type { TSchema } from "@sinclair/typebox";
import { type FieldName, fieldName } from "../domain/shared/wire-names.ts";

/** A value of a schema with the names of this code. */
export type Named<Wire> = Wire extends readonly (infer Item)[]
  ? readonly Named<Item>[]
  : Wire extends object
    ? { readonly [Name in keyof Wire as FieldName<Name & string>]: Named<Wire[Name]> }
    : Wire;

/** Null where a value stays as it is. */
type Naming = ((value: unknown) => unknown) | null;

/** The parts of JSON Schema that names depend on. */
interface Shape {
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  /** The shape of the values of a record with free names, such as those of tables. */
  readonly patternProperties?: Readonly<Record<string, Shape>>;
}

/** Makes a function that copies a value with the names of its schema, in their order; rows in it are not copied. */
export function namingOf(schema: TSchema): (value: unknown) => unknown {
  return combine([schema as Shape]) ?? ((value) => value);
}

/** Joins the fields of all parts of a choice, as a name means the same in each. */
function combine(choice: readonly Shape[]): Naming {
  const shapes = choice.flatMap(partsOf);
  const properties = new Map<string, Shape[]>();
  for (const [name, shape] of shapes.flatMap((s) => Object.entries(s.properties ?? {}))) {
    properties.set(name, [...(properties.get(name) ?? []), shape]);
  }
  if (properties.size > 0) return nameFields(properties);
  const items = shapes.flatMap((shape) => shape.items ?? []);
  if (items.length > 0) return nameItems(combine(items));
  const entries = shapes.flatMap((shape) => Object.values(shape.patternProperties ?? {}));
  return entries.length > 0 ? nameEntries(combine(entries)) : null;
}

function partsOf(shape: Shape): readonly Shape[] {
  return shape.anyOf?.flatMap(partsOf) ?? [shape];
}

function nameFields(properties: ReadonlyMap<string, readonly Shape[]>): Naming {
  const fields = Array.from(properties, ([wire, shapes]) => ({
    wire,
    own: fieldName(wire),
    naming: combine(shapes),
  }));
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    const named: Record<string, unknown> = {};
    for (const { wire, own, naming } of fields) {
      const field = (value as Readonly<Record<string, unknown>>)[own];
      if (field !== undefined) named[wire] = naming === null ? field : naming(field);
    }
    return named;
  };
}

function nameItems(naming: Naming): Naming {
  if (naming === null) return null;
  return (value) => (Array.isArray(value) ? value.map(naming) : value);
}

function nameEntries(naming: Naming): Naming {
  if (naming === null) return null;
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, naming(entry)]));
  };
}
