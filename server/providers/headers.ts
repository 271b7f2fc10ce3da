import type { IncomingHttpHeaders } from 'node:http';

/** The media type of a body, without parameters; empty when there is none. */
export function mediaType({ 'content-type': contentType = '' }: IncomingHttpHeaders): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether a body can be JSON: it says so, or says nothing. */
export function isJson(headers: IncomingHttpHeaders): boolean {
  return /^(?:|application\/(?:[\w.-]+\+)?json)$/.test(mediaType(headers));
}

/** Whether a body says that it is text, be it of a program: no audio, picture or video. */
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
