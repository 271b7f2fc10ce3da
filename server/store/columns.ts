type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

export type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name;

/** A row whose columns have their names in camelCase. */
export type CamelCased<Row> = { [Name in keyof Row & string as CamelCase<Name>]: Row[Name] };

export type SnakeCased<Fields> = { [Name in keyof Fields & string as SnakeCase<Name>]: Fields[Name] };

const columns = new Map<string, string>();

/** Returns the column of a field: `columnOf('userId')` is `user_id`. */
export function columnOf(field: string): string {
  let column = columns.get(field);
  if (column === undefined) {
    column = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columns.set(field, column);
  }
  return column;
}

/** Returns the row of a record: `snakeCased({ userId: 1 })` is `{ user_id: 1 }`. */
export function snakeCased<Fields extends object>(fields: Fields): SnakeCased<Fields> {
  const row = Object.entries(fields).map(([field, value]) => [columnOf(field), value]);
  return Object.fromEntries(row) as SnakeCased<Fields>;
}

type Split<List extends string, Names extends string = never> = List extends `${infer Name}, ${infer Rest}`
  ? Split<Rest, Names | Name>
  : Names | List;

/** Returns the names of lists as in SQL: `columnNames('id, name', 'user_id')` is `['id', 'name', 'user_id']`. */
export function columnNames<List extends string>(...lists: readonly List[]): Split<List>[] {
  return lists.flatMap((list) => list.split(', ')) as Split<List>[];
}

/** Selects columns under their names in camelCase: `camelCased('id, user_id')` is `['id', 'user_id as userId']`. */
export function camelCased<List extends string>(...lists: readonly List[]) {
  return columnNames(...lists).map((name) => {
    const field = name
      .replace(/^\w+\./, '')
      .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return name.includes('_') ? `${name} as ${field}` : name;
  }) as CamelAlias<Split<List>>[];
}

type CamelAlias<Name extends string> = Name extends `${string}_${string}`
  ? `${Name} as ${CamelCase<Name extends `${string}.${infer Column}` ? Column : Name>}`
  : Name;
