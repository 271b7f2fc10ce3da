import type { Month } from '../months.ts';
import { closedStatement, type Statement } from '../queries/statements.ts';
import type { Db } from '../schema.ts';

/** Stores the statement of a month, which then never changes. Returns the stored one, which another gateway can have stored before. */
export async function closeStatement(
  trx: Db,
  { userId, statement, now }: { userId: number; statement: Statement; now: number },
): Promise<Statement> {
  const month: Month = statement.month;
  await trx
    .insertInto('statements')
    .values({ user_id: userId, month, content: JSON.stringify(statement), closed_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await closedStatement(trx, { userId, month })) ?? statement;
}
