import type { IncomingHttpHeaders } from 'node:http';

/** Media type of a body without parameters. Empty without the header. */
export function mediaType({ 'content-type': contentType = '' }: IncomingHttpHeaders): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether the media type is JSON or missing. */
export function isJson(headers: IncomingHttpHeaders): boolean {
  return /^(?:|application\/(?:[\w.-]+\+)?json)$/.test(mediaType(headers));
}

export function isText(headers: IncomingHttpHeaders): boolean {
  return /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml)$|^application\/javascript$/.test(
    mediaType(headers),
  );
}

/** Returns the provider's own id of a request, as its response headers report it. Null without one, or when it is no plain id. */
export function providerRequestId(headers: IncomingHttpHeaders = {}): string | null {
  const id = headers['x-request-id'] ?? headers['request-id'];
  return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : null;
}
