import type { HttpResponse } from '../outbound/send-request.ts';
import { type FailureKind, failureKindOfStatus } from './failure-kinds.ts';

/** Longest body of a refusal that is read. */
const maxBytes = 64 * 1024;

/** Classifies a response with the status of a refusal by the code in its body, which it reads. */
export async function failureKindOfRefusal({
  status,
  body,
}: Pick<HttpResponse, 'status' | 'body'>): Promise<FailureKind | undefined> {
  // A body that breaks off or is too large has no code.
  const bytes = await body.readAll(maxBytes).catch(() => undefined);
  return failureKindOfStatus(status, bytes && readCode(bytes));
}

/** Reads the code or type of an error body, at the top or under `error`. */
function readCode(bytes: Buffer): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  const error = memberOf(parsed, 'error') ?? parsed;
  const code = memberOf(error, 'code') ?? memberOf(error, 'type');
  return typeof code === 'string' ? code : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
