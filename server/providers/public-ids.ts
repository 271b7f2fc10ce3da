import { type Failure, ProviderFailure } from '../failure.ts';
import { objectField } from './json.ts';

/** Public ids by the provider's, of what a request refers to. */
export type PublicIds = Readonly<Record<string, string>>;

/** A provider's words with the public ids in the place of its own. */
export function withPublicIds(words: string, publicIds: PublicIds): string {
  // The longest first: one id may be the beginning of another.
  const pairs = Object.entries(publicIds).toSorted(([left], [right]) => right.length - left.length);
  return pairs.reduce((reported, [upstreamId, id]) => reported.replaceAll(upstreamId, () => id), words);
}

/** The same for a failure that is reported to a client. */
export function failureWithPublicIds(failure: Failure, publicIds: PublicIds): Failure {
  const { status, code, message, retryAfter } = failure;
  const options = { cause: failure, ...(retryAfter !== undefined && { retryAfter }) };
  return new ProviderFailure(status, code, withPublicIds(message, publicIds), options);
}

/** The public ids that a task's facts hold as `public_ids`. */
export function publicIdsIn(facts: Readonly<Record<string, unknown>>): PublicIds {
  const pairs = Object.entries(objectField(facts, 'public_ids') ?? {});
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}
