import type { Channel } from '../channels/channel.ts';
import type { TaskError } from '../failure.ts';
import type { AcceptedTask } from '../tasks/driver.ts';
import { textField } from './json.ts';
import { aboutOurAccount } from './provider-codes.ts';
import { ProviderWords } from './provider-words.ts';
import { publicIdsIn, withPublicIds } from './public-ids.ts';

/** Characters of a provider's words that are kept. */
const maxLength = { code: 200, message: 2_000 };

/**
 * The provider's code and words about a failed task, as far as clients may read them, without its own ids of the task
 * and of what the request refers to; `failed` stands in for what it does not tell.
 */
export function reportedError(
  { id, upstreamId, facts }: AcceptedTask,
  channel: Channel,
  error: unknown,
  failed: TaskError,
): { code: string; message: string } {
  if (aboutOurAccount(textField(error, 'code') ?? '')) return failed;
  const words = new ProviderWords(channel, facts.sent_hosts);
  const publicIds = { ...publicIdsIn(facts), [upstreamId]: id };
  const reported = (name: 'code' | 'message') =>
    withPublicIds(words.text(textField(error, name) ?? failed[name], maxLength[name]), publicIds);
  return { code: reported('code'), message: reported('message') };
}
