import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { AddressTest } from '../settings/address-ranges.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Returns the base URL at which the client reaches the gateway: `PUBLIC_URL`, or the host of the request. A trusted proxy
 * can set scheme and host with `x-forwarded-proto` and `x-forwarded-host`. Undefined without a valid host.
 */
export function clientBaseUrl(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  { publicUrl, tls }: Pick<Settings, 'publicUrl' | 'tls'>,
  isTrusted: AddressTest,
): string | undefined {
  if (publicUrl !== undefined) return publicUrl;
  const own = tls === undefined ? 'http' : 'https';
  const isProxy = isTrusted(socket.remoteAddress ?? '');
  const forwarded = (name: string) => (isProxy ? last(headers[name]) : undefined);
  const proto = forwarded('x-forwarded-proto')?.toLowerCase();
  const scheme = proto === 'http' || proto === 'https' ? proto : own;
  return originOf(`${scheme}://${forwarded('x-forwarded-host') ?? headers.host ?? ''}`);
}

/** Parsed origins, since most requests have the same few hosts. `false`: the text is no origin. */
const origins = new LRUCache<string, string | false>({ max: 100 });

/** Returns the normalized origin. Undefined if the text has more than an origin, or none. */
function originOf(text: string): string | undefined {
  let origin = origins.get(text);
  if (origin === undefined) {
    const url = URL.parse(text);
    origin = url !== null && url.href === `${url.origin}/` && url.origin;
    origins.set(text, origin);
  }
  return origin || undefined;
}

/** The last value of a header, which the nearest proxy added. */
const last = (header: string | string[] | undefined) =>
  [header].flat().join(',').split(',').at(-1)?.trim() || undefined;
