import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';

/** A clip that a task is found to have made. */
export interface NewClip {
  /** The public id. */
  id: string;
  upstreamId: string;
  /** The upstream task that made it. */
  upstreamTaskId: string;
}

/** A task of which clips have been found. */
export interface ClipOwner {
  id: string;
  userId: number;
  channel: string;
  clips?: readonly NewClip[] | undefined;
}

/** No statement takes more values than some tens of thousands. */
const batch = 1_000;

/** Keeps the clips that are not known yet, with the change of the task that they came with. */
export async function addClips(trx: Kysely<Database>, owners: readonly ClipOwner[]): Promise<void> {
  const rows = owners.flatMap(({ id: task_id, userId: user_id, channel, clips = [] }) =>
    clips.map(({ id, upstreamId: upstream_id, upstreamTaskId: upstream_task_id }) => ({
      id,
      task_id,
      user_id,
      channel,
      upstream_id,
      upstream_task_id,
    })),
  );
  for (let from = 0; from < rows.length; from += batch) {
    await trx
      .insertInto('clips')
      .values(rows.slice(from, from + batch))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}
