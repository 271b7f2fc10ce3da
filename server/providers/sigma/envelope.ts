import { ProviderFailure } from '../../lib/failure.ts';
import { DriverError, refusedBy } from '../../tasks/driver.ts';
import { field, textField } from '../json.ts';
import type { ProviderWords } from '../provider-words.ts';
import { aboutOurAccount, isThrottling, providerFailure, throttled } from '../rejection.ts';

/** How providers write that all is well. */
const successes: ReadonlySet<unknown> = new Set(['success', 200, '200', 0, '0']);

/** The code of a failure that came with HTTP 200; undefined when there is none. */
export function failureCode(answer: unknown): string | undefined {
  const code = field(answer, 'code');
  return successes.has(code) || (typeof code !== 'string' && typeof code !== 'number')
    ? undefined
    : `${code}`;
}

/** Whether a provider says that it knows no such task or song. */
export function isUnknown(code: string): boolean {
  return /^(task|clip)_?not_?(exist|found)|^resource_not_found|^404$/i.test(code);
}

/** @throws DriverError for a refusal that came with HTTP 200 */
export function refuseFailure(answer: unknown, words: ProviderWords): void {
  const code = failureCode(answer);
  if (code === undefined) return;
  const message = textField(answer, 'message') ?? textField(answer, 'msg');
  // Some write the status there.
  const status = /^[45]\d\d$/.test(code) ? Number(code) : undefined;
  if (isThrottling(code) || status === 429) throw refusedBy(429, throttled());
  if (aboutOurAccount(code) || status === 401 || status === 403) throw refusedBy(401, providerFailure(502));
  if (status !== undefined && status >= 500) throw refusedBy(status, providerFailure(status));
  const said = words.text(message ?? 'The provider refused the request.');
  throw new DriverError('rejected', new ProviderFailure(400, words.code(code), said));
}
