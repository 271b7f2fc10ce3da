import type { Kysely } from 'kysely';

export type Engine = 'sqlite' | 'postgres';

/**
 * One forward step of the schema. It runs in one transaction with the record that it ran. It has no table types, since those of the
 * program describe the newest schema.
 */
export interface Migration {
  readonly name: string;
  readonly run: (db: Kysely<unknown>, engine: Engine) => Promise<void>;
}
