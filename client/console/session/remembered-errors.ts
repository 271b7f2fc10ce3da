import type { APIError } from '../../index.ts';

/** An error response that this tab has received. */
export interface RememberedError {
  requestId: string;
  status: number;
  code: string | undefined;
  message: string;
  /** Unix time in milliseconds. */
  at: number;
}

/** Errors survive a reload. They end with the tab and with the session. */
const storageKey = 'unigate-errors';
const maxErrors = 50;

let errors: readonly RememberedError[] = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]');

/** Stores an error, because the request log has no entry for a call that the gateway refused. */
export function rememberError({ requestId, status, code, message }: APIError): void {
  if (requestId === undefined) return;
  const error = { requestId, status, code, message, at: Date.now() };
  errors = [error, ...errors].slice(0, maxErrors);
  sessionStorage.setItem(storageKey, JSON.stringify(errors));
}

/** Returns the error of a request. Undefined if this tab has not received one. */
export const rememberedError = (requestId: string): RememberedError | undefined =>
  errors.find((error) => error.requestId === requestId);

export function forgetErrors(): void {
  errors = [];
}
