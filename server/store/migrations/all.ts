import { migration as initial } from './0001-initial.ts';
import type { Migration } from './migration.ts';

/** Every migration in order. Append only: a released migration is never changed, renamed or removed. */
export const migrations: readonly Migration[] = [initial];
