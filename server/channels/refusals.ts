import { field, parseJson } from '../lib/json.ts';
import type { HttpResponse } from '../outbound/send-request.ts';
import { type FailureKind, failureKindOfStatus, isRefusal } from './failure-kinds.ts';

/** Longest body of a refusal that is read. */
const maxBytes = 64 * 1024;

/**
 * Classifies a response. Reads the body of a refusal, whose code states what was refused. Undefined for a success and for an
 * error that the request itself caused.
 */
export async function failureKindOfResponse({
  status,
  body,
}: Pick<HttpResponse, 'status' | 'body'>): Promise<FailureKind | undefined> {
  if (!isRefusal(status)) return failureKindOfStatus(status);
  // A body that breaks off or is too large has no code.
  const bytes = await body.readAll(maxBytes).catch(() => undefined);
  return failureKindOfStatus(status, bytes && readCode(bytes));
}

/** Reads the code or type of an error body, at the top or under `error`. */
function readCode(bytes: Buffer): string | undefined {
  const parsed = parseJson(bytes);
  const error = field(parsed, 'error') ?? parsed;
  const code = field(error, 'code') ?? field(error, 'type');
  return typeof code === 'string' ? code : undefined;
}
