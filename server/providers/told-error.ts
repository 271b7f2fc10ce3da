import type { AcceptedTask } from '../tasks/driver.ts';
import { textField } from './json.ts';
import { publicIdsIn, withPublicIds } from './public-ids.ts';

/** Characters of a provider's words that are kept. */
const longest = { code: 200, message: 2_000 };

/**
 * The provider's code and words about a failed task, without its own ids of the task and of what the request refers
 * to; `failed` stands in for what it does not tell.
 */
export function toldError(
  { id, upstreamId, facts }: AcceptedTask,
  error: unknown,
  failed: { code: string; message: string },
): { code: string; message: string } {
  const publicIds = { ...publicIdsIn(facts), [upstreamId]: id };
  const told = (name: 'code' | 'message') =>
    withPublicIds((textField(error, name) ?? failed[name]).slice(0, longest[name]), publicIds);
  return { code: told('code'), message: told('message') };
}
