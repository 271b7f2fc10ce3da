import type { Engine } from '../migration.ts';

/** Type of a column that numbers its rows and never uses a number again. */
export const idColumn = (engine: Engine): string =>
  engine === 'sqlite' ? 'integer primary key autoincrement' : 'bigserial primary key';
