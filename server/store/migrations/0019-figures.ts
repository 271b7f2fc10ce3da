import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** What the request log comes to by hour, kept longer than its entries, and up to which entry that has been added up. */
export const migration: Migration = async (db, { engine }) => {
  let figures = db.schema
    .createTable('log_figures')
    .addColumn('hour', 'bigint', (col) => col.notNull())
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('model_name', 'text', (col) => col.notNull())
    .addColumn('channel', 'text', (col) => col.notNull())
    .addColumn('operation', 'text', (col) => col.notNull())
    .addColumn('unit', 'text', (col) => col.notNull())
    .addColumn('units', 'double precision', (col) => col.notNull());
  for (const name of sums) figures = figures.addColumn(name, 'bigint', (col) => col.notNull());
  await figures
    .addPrimaryKeyConstraint('log_figures_key', [
      'hour',
      'user_id',
      'model_name',
      'channel',
      'operation',
      'unit',
    ])
    .modifyEnd(engine === 'sqlite' ? sql`without rowid` : sql`with (fillfactor = 50)`)
    .execute();
  await db.schema
    .createTable('log_figures_mark')
    .addColumn('id', 'integer', (col) => col.primaryKey())
    .addColumn('rolled_to', 'bigint', (col) => col.notNull())
    .execute();
  await sql`insert into log_figures_mark (id, rolled_to) values (1, 0)`.execute(db);
};

const sums = [
  'requests',
  'errors',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'duration_ms',
  'longest_ms',
  'ms_50',
  'ms_100',
  'ms_200',
  'ms_500',
  'ms_1000',
  'ms_2000',
  'ms_5000',
  'ms_10000',
  'ms_20000',
  'ms_60000',
  'ms_300000',
];
