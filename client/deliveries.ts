import type { components } from '../generated/http.ts';
import { UnigateError } from './errors.ts';

type Schemas = components['schemas'];

/** What the gateway posts to an address that a request named. */
export type Delivery = DeliveryFacts & DeliveredTask;

/** A task as the callbacks of its kind show it. */
export type DeliveredTask =
  | { kind: 'music'; task: Extract<Schemas['MusicTaskCallback'], { action: 'MUSIC' }> }
  | { kind: 'lyrics'; task: Extract<Schemas['MusicTaskCallback'], { action: 'LYRICS' }> }
  | { kind: 'video'; task: Schemas['OfficialTaskCallback'] }
  | { kind: 'image'; task: Schemas['ImageJob'] };

interface DeliveryFacts {
  /** The same in every try; who has seen it can drop the repeat. */
  id: string;
  /** When this try was made. */
  sentAt: Date;
}

export interface VerifyOptions {
  /** How old a try may be, and how far ahead its clock, in milliseconds; 300,000 when it is left out. */
  toleranceMs?: number;
}

/** The headers of a request: those of `fetch`, or those of Node's server and its like. */
export type ReceivedHeaders = Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>;

/**
 * Something came to a callback address that the gateway did not send just so; answer it with 400. `reason` says what is
 * wrong: a header of the three is missing, the time is too far off, no signature fits, or the body is of no known kind.
 */
export class DeliveryError extends UnigateError {
  readonly reason: 'header' | 'time' | 'signature' | 'body';

  constructor(reason: DeliveryError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const toleranceMs = 300_000;
/** How secrets begin whose rest is the Base64 of the key. */
const encoded = 'whsec_';

/**
 * Checks that a delivery is the gateway's and gives what it says. `body` is the request's body as it came: bytes or text,
 * not parsed. `secret` is the gateway's callback secret; while it is being replaced, the old and the new one. Works where
 * Web Crypto does. Throws DeliveryError, or UnigateError for a secret that cannot be used.
 *
 * @example const { id, kind, task } = await verifyDelivery(await request.text(), request.headers, secret);
 */
export async function verifyDelivery(
  body: string | Uint8Array,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Delivery> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new UnigateError('body: give the bytes or the text as they came, not what was parsed from them.');
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature');
  const sentAt = readTime(timestamp, options.toleranceMs ?? toleranceMs);
  const signed = join(`${id}.${timestamp}.`, body);
  for (const key of await Promise.all([secret].flat().map(importKey))) {
    for (const signature of readSignatures(signatures)) {
      // The platform compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed))
        return { id, sentAt, ...readBody(body) };
    }
  }
  throw new DeliveryError('signature', 'No signature of the delivery fits.');
}

function readHeader(headers: ReceivedHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  const single = typeof value === 'object' && value?.length === 1 ? value[0] : value;
  if (typeof single !== 'string' || single === '')
    throw new DeliveryError('header', `The delivery has no header ${name}.`);
  return single;
}

function isHeaders(headers: ReceivedHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function';
}

function readTime(timestamp: string, tolerance: number): Date {
  const at = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1_000 : Number.NaN;
  if (!(Math.abs(Date.now() - at) <= tolerance))
    throw new DeliveryError('time', 'The delivery was made too long ago, or ahead of the clock.');
  return new Date(at);
}

/** The signatures of the one version that there is; others are not ours to judge. */
function readSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header.split(' ').flatMap((signature) => {
    const bytes = signature.startsWith('v1,') ? decode(signature.slice(3)) : undefined;
    return bytes ? [bytes] : [];
  });
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith(encoded)
    ? decode(secret.slice(encoded.length))
    : new TextEncoder().encode(secret);
  if (!bytes?.length) throw new UnigateError('secret: empty, or not Base64 after whsec_.');
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

/** What a body is, by the fields that only its kind has. */
function readBody(body: string | Uint8Array): DeliveredTask {
  let task: unknown;
  try {
    task = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
  } catch (cause) {
    throw new DeliveryError('body', 'The delivery is not JSON.', { cause });
  }
  if (typeof task === 'object' && task !== null) {
    if ('task_id' in task && 'action' in task) {
      const record = task as Schemas['MusicTaskCallback'];
      return record.action === 'LYRICS' ? { kind: 'lyrics', task: record } : { kind: 'music', task: record };
    }
    if ('buttons' in task && 'action' in task) return { kind: 'image', task: task as Schemas['ImageJob'] };
    if ('model' in task && 'status' in task)
      return { kind: 'video', task: task as Schemas['OfficialTaskCallback'] };
  }
  throw new DeliveryError('body', 'The delivery is of no kind that this package knows.');
}
