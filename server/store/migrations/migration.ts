import type { Kysely } from 'kysely';

export type Engine = 'sqlite' | 'postgres';

/** One forward step of the schema, in one transaction. It has no table types, since those describe the newest schema. */
export interface Migration {
  readonly name: string;
  readonly run: (db: Kysely<unknown>, engine: Engine) => Promise<void>;
}
