import type { Channel } from '../channels/channel.ts';
import { isAccountError } from '../channels/failure-kinds.ts';
import { type Failure, ProviderFailure, type TaskError } from '../lib/failure.ts';
import { objectField, textField } from '../lib/json.ts';
import type { AcceptedTask } from '../tasks/driver.ts';
import { ProviderRedactor } from './provider-redactor.ts';

/** Public ids by the provider's ids. */
export type PublicIds = Readonly<Record<string, string>>;

function withPublicIds(text: string, publicIds: PublicIds): string {
  // The longest first, because one id may be a prefix of another.
  const pairs = Object.entries(publicIds).toSorted(([left], [right]) => right.length - left.length);
  return pairs.reduce((reported, [upstreamId, id]) => reported.replaceAll(upstreamId, () => id), text);
}

export function failureWithPublicIds(failure: Failure, publicIds: PublicIds): Failure {
  const { status, code, message, retryAfter } = failure;
  return new ProviderFailure(status, code, withPublicIds(message, publicIds), { cause: failure, retryAfter });
}

export function publicIdsIn(facts: Readonly<Record<string, unknown>>): PublicIds {
  const pairs = Object.entries(objectField(facts, 'public_ids') ?? {});
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

const maxMessageLength = 2_000;

/** Builds a failed task's error from the provider's code and message, redacted and with public ids. `failed` is the default. */
export function taskErrorFrom(
  { id, upstreamId, facts }: AcceptedTask,
  channel: Channel,
  error: unknown,
  failed: TaskError,
): { code: string; message: string } {
  if (isAccountError(textField(error, 'code') ?? '')) return failed;
  const redactor = new ProviderRedactor(channel, facts.sent_hosts);
  const publicIds = { ...publicIdsIn(facts), [upstreamId]: id };
  const code = redactor.redactCode(textField(error, 'code') ?? '') || failed.code;
  const message = redactor.redact(textField(error, 'message') ?? failed.message, maxMessageLength);
  return { code: withPublicIds(code, publicIds), message: withPublicIds(message, publicIds) };
}
