import type { components } from '../generated/http.ts';
import { UnigateError } from './errors.ts';

type Schemas = components['schemas'];

/** A callback delivery that the gateway sent. */
export type Delivery = DeliveryDetails & DeliveredTask;

/** A task in the format of its callbacks. */
export type DeliveredTask =
  | { kind: 'music'; task: Extract<Schemas['MusicTaskCallback'], { action: 'MUSIC' }> }
  | { kind: 'lyrics'; task: Extract<Schemas['MusicTaskCallback'], { action: 'LYRICS' }> }
  | { kind: 'video'; task: Schemas['OfficialTaskCallback'] }
  | { kind: 'image'; task: Schemas['ImageJob'] };

/** An event that an endpoint received. `event.type` distinguishes its kinds; later versions add some. */
export type DeliveredEvent = DeliveryDetails & { event: Schemas['EventCallback'] };

interface DeliveryDetails {
  /** Identical in every attempt, so that receivers can ignore duplicates. */
  id: string;
  /** Time of this attempt. */
  sentAt: Date;
}

export interface VerifyOptions {
  /** Maximum age of an attempt, and maximum clock skew, in milliseconds. Default: 300,000. */
  toleranceMs?: number;
}

/** Request headers, as in `fetch` or in Node's HTTP server. */
export type ReceivedHeaders = Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>;

/**
 * A request to a callback address is not a valid delivery; respond with 400. `reason` is `header` for a missing header, `time`
 * for a timestamp outside the tolerance, `signature` for an invalid signature and `body` for an unknown body.
 */
export class DeliveryError extends UnigateError {
  readonly reason: 'header' | 'time' | 'signature' | 'body';

  constructor(reason: DeliveryError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const defaultToleranceMs = 300_000;
/** Prefix of secrets whose rest is the Base64 of the key. */
const encodedSecretPrefix = 'whsec_';

/**
 * Verifies a delivery and parses it. `body` is the raw request body, as bytes or text. `secret` is the callback secret of the
 * gateway, or both secrets during a rotation. Requires Web Crypto. Throws DeliveryError, or UnigateError for an invalid
 * secret.
 *
 * @example const { id, kind, task } = await verifyDelivery(await request.text(), request.headers, secret);
 */
export async function verifyDelivery(
  body: string | Uint8Array,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Delivery> {
  const details = await verifySignature(body, headers, secret, options);
  return { ...details, ...readBody(parseBody(body)) };
}

/**
 * Verifies an event and parses it. `secret` is that of the endpoint. During a rotation, the old secret and the new one both
 * verify it. Throws as `verifyDelivery`.
 *
 * @example const { event } = await verifyEvent(await request.text(), request.headers, secret);
 */
export async function verifyEvent(
  body: string | Uint8Array,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<DeliveredEvent> {
  const details = await verifySignature(body, headers, secret, options);
  const event = parseBody(body);
  if (typeof event !== 'object' || event === null || !('type' in event && 'timestamp' in event))
    throw new DeliveryError('body', 'The delivery is not an event.');
  return { ...details, event: event as Schemas['EventCallback'] };
}

async function verifySignature(
  body: string | Uint8Array,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options: VerifyOptions,
): Promise<DeliveryDetails> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new UnigateError('body must be the raw bytes or text of the request, not a parsed value.');
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature');
  const sentAt = readTime(timestamp, options.toleranceMs ?? defaultToleranceMs);
  const signed = join(`${id}.${timestamp}.`, body);
  for (const key of await Promise.all([secret].flat().map(importKey))) {
    for (const signature of readSignatures(signatures)) {
      // Web Crypto compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return { id, sentAt };
    }
  }
  throw new DeliveryError('signature', 'The signature of the delivery is invalid.');
}

function readHeader(headers: ReceivedHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  const single = typeof value === 'object' && value?.length === 1 ? value[0] : value;
  if (typeof single !== 'string' || single === '')
    throw new DeliveryError('header', `The delivery has no ${name} header.`);
  return single;
}

function isHeaders(headers: ReceivedHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function';
}

function readTime(timestamp: string, tolerance: number): Date {
  const at = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1_000 : Number.NaN;
  if (!(Math.abs(Date.now() - at) <= tolerance))
    throw new DeliveryError('time', 'The timestamp of the delivery is outside the tolerance.');
  return new Date(at);
}

/** Returns the signatures of version 1 and ignores other versions. */
function readSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header.split(' ').flatMap((signature) => {
    const bytes = signature.startsWith('v1,') ? decode(signature.slice(3)) : undefined;
    return bytes ? [bytes] : [];
  });
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith(encodedSecretPrefix)
    ? decode(secret.slice(encodedSecretPrefix.length))
    : new TextEncoder().encode(secret);
  if (!bytes?.length) throw new UnigateError('secret must not be empty, and must be Base64 after whsec_.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function join(head: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const first = new TextEncoder().encode(head);
  const second = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function parseBody(body: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
  } catch (cause) {
    throw new DeliveryError('body', 'The delivery is not JSON.', { cause });
  }
}

/** Detects the kind of a task by its fields. */
function readBody(task: unknown): DeliveredTask {
  if (typeof task === 'object' && task !== null) {
    if ('task_id' in task && 'action' in task) {
      const record = task as Schemas['MusicTaskCallback'];
      return record.action === 'LYRICS' ? { kind: 'lyrics', task: record } : { kind: 'music', task: record };
    }
    if ('buttons' in task && 'action' in task) return { kind: 'image', task: task as Schemas['ImageJob'] };
    if ('model' in task && 'status' in task)
      return { kind: 'video', task: task as Schemas['OfficialTaskCallback'] };
  }
  throw new DeliveryError('body', 'The kind of the delivery is unknown.');
}
