import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';

/**
 * A named, closed write: it runs whole in one transaction, or not at all. It may run again after a conflict,
 * so it touches nothing but the database. Arguments and result are plain data (they cross a thread). It waits
 * for nothing but its own queries, since on SQLite it holds the only writer.
 */
export type Command<Args, Result> = (trx: Kysely<Database>, args: Args) => Promise<Result>;
