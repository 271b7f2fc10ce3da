import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { seenBy } from './lineage.ts';

/** Determines which rows a caller sees. For the caller, others do not exist. */
export interface Viewer {
  userId: number;
  /**
   * A key with limits, which sees only rows that it or its descendants created. The session key of a member sees rows that any key
   * of the member created. Undefined: all rows of the user.
   */
  family?: number | undefined;
}

type KeyColumn = `${'tasks' | 'assets' | 'voices' | 'verification_sessions'}.token_id`;

/** Condition that a viewer sees a row, given the key that created it. Costs a few look-ups for each row. */
export function isSeen({ family }: Viewer, column: KeyColumn): RawBuilder<SqlBool> {
  if (family === undefined) return sql<SqlBool>`1 = 1`;
  return sql<SqlBool>`exists (
    with recursive line (id, maker_id, member_id) as (
      select k.id, k.maker_id, k.member_id from tokens k where k.id = ${sql.ref(column)}
      union
      select k.id, k.maker_id, k.member_id from tokens k join line on k.id = line.maker_id
    )
    select 1 from line where line.id = ${family}
      or line.member_id = (select s.member_id from tokens s where s.id = ${family} and s.session = 1))`;
}

/** The same condition for lists. It collects the family once for all rows. */
export function areSeen({ family }: Viewer, column: KeyColumn): RawBuilder<SqlBool> {
  if (family === undefined) return sql<SqlBool>`1 = 1`;
  return sql<SqlBool>`${sql.ref(column)} in ${seenBy(family)}`;
}
