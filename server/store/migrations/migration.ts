import type { Kysely } from 'kysely';

export type Engine = 'sqlite' | 'postgres';

/** Type of a column that numbers its rows and never reuses a number. */
export const idColumn = (engine: Engine): string =>
  engine === 'sqlite' ? 'integer primary key autoincrement' : 'bigserial primary key';

/** One forward step of the schema, in one transaction. It has no table types, since those describe the newest schema. */
export interface Migration {
  readonly name: string;
  readonly run: (db: Kysely<unknown>, engine: Engine) => Promise<void>;
}
