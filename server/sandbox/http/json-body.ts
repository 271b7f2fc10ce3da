import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { invalidParameter, NativeError } from './native-error.ts';

const maxBodyBytes = 1024 * 1024;

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a JSON object of at most `limit` bytes, 1 MiB by default. Throws a `NativeError` 400 or 413. */
export async function readJson(request: IncomingMessage, limit = maxBodyBytes): Promise<JsonObject> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > limit) throw createTooLargeError(limit);
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  // The gateway can run in the same process. Long work therefore yields to the event loop between its steps.
  const isLarge = length > maxBodyBytes;
  if (isLarge) await setImmediate();
  let body: unknown;
  try {
    const text = bytes.toString();
    if (isLarge) await setImmediate();
    body = JSON.parse(text);
  } catch {
    throw invalidParameter('The body is not valid JSON');
  }
  if (!isObject(body)) throw invalidParameter('The body must be a JSON object');
  return body;
}

function createTooLargeError(limit: number): NativeError {
  const message = `The body is larger than ${limit} bytes`;
  // The rest of the body is not read, so the connection cannot serve another request.
  return new NativeError(413, 'InvalidParameter.RequestTooLarge', message, { connection: 'close' });
}
