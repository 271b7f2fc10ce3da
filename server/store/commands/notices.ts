import type { Kysely } from 'kysely';
import type { Database, TasksTable } from '../schema.ts';

/** What has to be known of a task to tell its receiver about a change, and when that is due. */
type ToldTask = Pick<TasksTable, (typeof toldColumns)[number]> & { due: number };

export const toldColumns = [
  'id',
  'format',
  'driver',
  'state',
  'error_code',
  'callback_url',
  'updated_at',
] as const satisfies readonly (keyof TasksTable)[];

/** The error code of tasks that their owner canceled, who needs no notice of it. */
const canceled = 'task_canceled';

/**
 * Puts notices of the states that tasks have just reached into the outbox, where their formats tell them. The tasks'
 * rows are locked, since the caller has changed them.
 */
export async function addNotices(trx: Kysely<Database>, tasks: readonly ToldTask[]): Promise<void> {
  const told = tasks.flatMap((task) => {
    const host = task.callback_url === null ? undefined : URL.parse(task.callback_url)?.host;
    return host === undefined || !tells(task) ? [] : [{ ...task, host }];
  });
  if (told.length === 0) return;
  const ids = told.map(({ id }) => id);
  const open = await trx
    .selectFrom('deliveries')
    .select('task_id')
    .where('task_id', 'in', ids)
    .where('closed_at', 'is', null)
    .execute();
  const waiting = new Set(open.map(({ task_id }) => task_id));
  const rows = told.map(({ id, state, host, updated_at, due }) => ({
    task_id: id,
    state,
    host,
    changed_at: updated_at,
    tries: 0,
    next_try_at: waiting.has(id) ? null : due,
    lease_owner: null,
    attempt: 0,
    outcome: null,
    closed_at: null,
  }));
  await trx
    .insertInto('deliveries')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['task_id', 'state']).doNothing())
    .execute();
}

/** Official tasks, whatever format they were made in, tell every change; music tells its end; others nothing. */
function tells({ format, driver, state, error_code }: ToldTask): boolean {
  if (error_code === canceled) return false;
  if (format === 'music') return state === 'completed' || state === 'failed';
  return format === 'official' || driver === 'official';
}
