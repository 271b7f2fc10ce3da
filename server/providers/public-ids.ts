import type { Channel } from '../channels/channel.ts';
import { type Failure, ProviderFailure, type TaskError } from '../lib/failure.ts';
import type { AcceptedTask } from '../tasks/driver.ts';
import { objectField, textField } from './json.ts';
import { ProviderWords } from './provider-words.ts';
import { aboutOurAccount } from './rejection.ts';

/** Public ids by the provider's, of what a request refers to. */
export type PublicIds = Readonly<Record<string, string>>;

/** A provider's words with the public ids in the place of its own. */
function withPublicIds(words: string, publicIds: PublicIds): string {
  // The longest first: one id may be the beginning of another.
  const pairs = Object.entries(publicIds).toSorted(([left], [right]) => right.length - left.length);
  return pairs.reduce((reported, [upstreamId, id]) => reported.replaceAll(upstreamId, () => id), words);
}

/** The same for a failure that is reported to a client. */
export function failureWithPublicIds(failure: Failure, publicIds: PublicIds): Failure {
  const { status, code, message, retryAfter } = failure;
  return new ProviderFailure(status, code, withPublicIds(message, publicIds), { cause: failure, retryAfter });
}

/** The public ids that a task's facts hold as `public_ids`. */
export function publicIdsIn(facts: Readonly<Record<string, unknown>>): PublicIds {
  const pairs = Object.entries(objectField(facts, 'public_ids') ?? {});
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

/** Characters of a provider's words that are kept. */
const maxMessageLength = 2_000;

/**
 * The provider's code and words about a failed task, as far as clients may read them, without its own ids of the task
 * and of what the request refers to; `failed` stands in for what it does not say.
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
  const code = words.code(textField(error, 'code') ?? '') || failed.code;
  const message = words.text(textField(error, 'message') ?? failed.message, maxMessageLength);
  return { code: withPublicIds(code, publicIds), message: withPublicIds(message, publicIds) };
}
