import { type CamelCased, snakeCased } from '../columns.ts';
import type { ClipsTable, Db } from '../schema.ts';

/** A clip that a provider's task has created. */
export type NewClip = Pick<CamelCased<ClipsTable>, 'id' | 'upstreamId' | 'upstreamTaskId'>;

/** A task with its clips so far. */
interface ClipOwner {
  id: string;
  userId: number;
  channel: string;
  clips?: readonly NewClip[] | undefined;
}

/** Rows of one insert, whose number of parameters is limited. */
const batchSize = 1_000;

/** Inserts the clips of tasks that do not exist yet. */
export async function addClips(trx: Db, owners: readonly ClipOwner[]): Promise<void> {
  const rows = owners.flatMap(({ id: taskId, userId, channel, clips = [] }) =>
    clips.map(({ id, upstreamId, upstreamTaskId }) =>
      snakeCased({ id, taskId, userId, channel, upstreamId, upstreamTaskId }),
    ),
  );
  for (let from = 0; from < rows.length; from += batchSize) {
    await trx
      .insertInto('clips')
      .values(rows.slice(from, from + batchSize))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}
