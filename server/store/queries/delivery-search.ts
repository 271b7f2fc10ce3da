import type { Kysely } from 'kysely';
import type { Database, DeliveriesTable } from '../schema.ts';

/** Which deliveries an operator looks for, whoever's they are; what is left out does not matter. */
export interface DeliverySearch {
  state?: DeliveryState | undefined;
  taskId?: string | undefined;
  /** Of the address, with its port where it names one. */
  host?: string | undefined;
  userId?: number | undefined;
  offset: number;
  limit: number;
}

export type DeliveryState = 'open' | NonNullable<DeliveriesTable['outcome']>;

/** A delivery as an operator is shown it, without its address. `user_id` is null where the task is there no more. */
export type FoundDelivery = Omit<DeliveriesTable, 'id' | 'attempt' | 'user_id'> & {
  id: number;
  user_id: number | null;
};

const columns = [
  'd.id',
  'd.task_id',
  'd.state',
  'd.host',
  'd.changed_at',
  'd.tries',
  'd.next_try_at',
  'd.lease_owner',
  'd.outcome',
  'd.closed_at',
  'd.last_try_at',
  'd.last_status',
  'd.last_error',
  't.user_id',
] as const;

const shown = (db: Kysely<Database>) =>
  db.selectFrom('deliveries as d').leftJoin('tasks as t', 't.id', 'd.task_id').select(columns);

/** A page of deliveries, newest first, and how many there are on all pages. */
export async function searchDeliveries(
  db: Kysely<Database>,
  { offset, limit, ...filter }: DeliverySearch,
): Promise<{ deliveries: FoundDelivery[]; total: number }> {
  const found = matching(db, filter);
  const { total } = await found
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  if (offset >= total) return { deliveries: [], total };
  const page = found.select('d.id').orderBy('d.id', 'desc').offset(offset).limit(limit);
  const deliveries = await shown(db).where('d.id', 'in', page).orderBy('d.id', 'desc').execute();
  return { deliveries, total: Math.max(total, offset + deliveries.length) };
}

/** The one delivery of that id, as a search shows it. */
export function findShownDelivery(db: Kysely<Database>, id: number): Promise<FoundDelivery | undefined> {
  return shown(db).where('d.id', '=', id).executeTakeFirst();
}

function matching(
  db: Kysely<Database>,
  { state, taskId, host, userId }: Omit<DeliverySearch, 'offset' | 'limit'>,
) {
  let query = db.selectFrom('deliveries as d');
  if (state === 'open') query = query.where('d.closed_at', 'is', null);
  else if (state !== undefined) query = query.where('d.outcome', '=', state);
  if (taskId !== undefined) query = query.where('d.task_id', '=', taskId);
  if (host !== undefined) query = query.where('d.host', '=', host);
  if (userId !== undefined)
    query = query.where('d.task_id', 'in', (eb) =>
      eb.selectFrom('tasks').select('tasks.id').where('tasks.user_id', '=', userId),
    );
  return query;
}
