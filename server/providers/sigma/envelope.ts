import { isAccountError, isRefusal } from '../../channels/failure-kinds.ts';
import { ProviderFailure } from '../../lib/failure.ts';
import { field, textField } from '../../lib/json.ts';
import { driverErrorForStatus } from '../../tasks/driver.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { defaultRejection, isThrottling, providerFailure, throttledFailure } from '../rejection.ts';
import { rejected } from '../task-request.ts';

const successCodes: ReadonlySet<unknown> = new Set(['success', 200, '200', 0, '0']);

/** Error code of a response with HTTP 200. Undefined for a success. */
export function failureCode(answer: unknown): string | undefined {
  const code = field(answer, 'code');
  return successCodes.has(code) || (typeof code !== 'string' && typeof code !== 'number')
    ? undefined
    : `${code}`;
}

/** Whether an error code means an unknown task or song. */
export function isNotFound(code: string): boolean {
  return /^(task|clip)_?not_?(exist|found)|^resource_not_found|^404$/i.test(code);
}

/** @throws DriverError for an error that was reported with HTTP 200 */
export function throwOnFailure(answer: unknown, redactor: ProviderRedactor): void {
  const code = failureCode(answer);
  if (code === undefined) return;
  const message = textField(answer, 'message') ?? textField(answer, 'msg');
  // Some providers put the status into the code.
  const status = /^[45]\d\d$/.test(code) ? Number(code) : undefined;
  if (isThrottling(code) || status === 429) throw driverErrorForStatus(429, throttledFailure());
  if (isAccountError(code) || (status !== undefined && isRefusal(status)))
    throw driverErrorForStatus(status ?? 401, providerFailure(502));
  if (status !== undefined && status >= 500) throw driverErrorForStatus(status, providerFailure(status));
  const text = redactor.redact(message ?? defaultRejection);
  throw rejected(new ProviderFailure(400, redactor.redactCode(code), text));
}
