import type { AcceptedTask } from '../tasks/driver.ts';
import { textField } from './json.ts';
import { publicIdsIn, withPublicIds } from './public-ids.ts';

/**
 * The provider's code and words about a failed task, without its own ids of the task and of what the request refers
 * to; `failed` stands in for what it does not tell.
 */
export function toldError(
  { id, upstreamId, facts }: AcceptedTask,
  error: unknown,
  failed: { code: string; message: string },
): { code: string; message: string } {
  const message = textField(error, 'message') ?? failed.message;
  const publicIds = { ...publicIdsIn(facts), [upstreamId]: id };
  return { code: textField(error, 'code') ?? failed.code, message: withPublicIds(message, publicIds) };
}
