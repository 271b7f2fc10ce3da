import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, request } from 'undici';

export interface OpenedAddress {
  status: number;
  headers: IncomingHttpHeaders;
  body: Dispatcher.ResponseData['body'];
}

/** An address that is not even asked, or that leads nowhere. The message goes on from a subject. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

const maxRedirects = 3;
/** Bytes of a redirect's own body that are read for the sake of its connection. */
const droppedBody = 16_384;

/**
 * Asks an http or https address that somebody else chose. Redirects are followed by hand, so that what each leads to
 * is looked at like the first; the connections are the dispatcher's, which decides whom to reach.
 *
 * @throws AddressError for another kind of address or too many redirects, PrivateAddressError, and what undici throws
 */
export async function openAddress(
  dispatcher: Dispatcher,
  source: string,
  { headers = {}, signal }: { headers?: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<OpenedAddress> {
  let url = URL.parse(source);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (!url || !/^https?:$/.test(url.protocol)) throw new AddressError('is no http or https address');
    // Packed for the way, neither its length nor its first bytes would be those of the file.
    const sent = { 'accept-encoding': 'identity', ...headers };
    const {
      statusCode,
      headers: headersOfReply,
      body,
    } = await request(url, { dispatcher, headers: sent, signal });
    const { location } = headersOfReply;
    if (statusCode < 300 || statusCode > 399 || typeof location !== 'string')
      return { status: statusCode, headers: headersOfReply, body };
    await body.dump({ limit: droppedBody, signal });
    url = URL.parse(location, url);
  }
  throw new AddressError(`redirects more than ${maxRedirects} times`);
}
