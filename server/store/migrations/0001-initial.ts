import { sql } from 'kysely';
import { events } from './initial/events.ts';
import { keys } from './initial/keys.ts';
import { ledger } from './initial/ledger.ts';
import { media } from './initial/media.ts';
import { operation } from './initial/operation.ts';
import { requestLog } from './initial/request-log.ts';
import { tasks } from './initial/tasks.ts';
import type { Migration } from './migration.ts';

/** Creates the schema of release 0.1.0. */
export const migration: Migration = {
  name: '0001-initial',
  async run(db, engine) {
    const areas = [operation, keys, ledger, requestLog, tasks, events, media];
    for (const statement of areas.flatMap((area) => area(engine))) await sql.raw(statement).execute(db);
  },
};
