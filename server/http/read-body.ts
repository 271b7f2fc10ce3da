import { isUtf8 } from 'node:buffer';
import type { NextFunction, Request, Response } from 'express';
import { Failure } from '../failure.ts';

const megabyte = 1024 * 1024;

/**
 * Reads a JSON body into `request.body`, up to the operation's limit. Only after the key check, so that a
 * stranger cannot make the gateway hold anything.
 */
export function readBody(defaultLimitMb: number) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { operation } = request.call;
    if (operation === undefined || operation.mediaTypes.request.length === 0) {
      next();
      return;
    }
    const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const hasBody =
      request.headers['transfer-encoding'] !== undefined ||
      Number(request.headers['content-length'] ?? 0) > 0;
    if (!hasBody)
      throw new Failure(
        400,
        'invalid_request',
        `body: is required, as ${operation.mediaTypes.request.join(' or ')}.`,
      );
    requireReadable(request, operation.mediaTypes.request, mediaType);
    // A form is read part by part, by `readForm`.
    if (mediaType !== 'application/json') {
      next();
      return;
    }
    collect(request, (operation.bodyLimitMb ?? defaultLimitMb) * megabyte)
      .then((bytes) => {
        const body = parse(bytes);
        requireShallow(body);
        request.body = body;
        next();
      })
      .catch(next);
  };
}

function requireReadable(request: Request, taken: readonly string[], mediaType: string): void {
  if (!taken.includes(mediaType)) {
    const sent = mediaType === '' ? 'missing' : mediaType.slice(0, 80);
    throw new Failure(415, 'unsupported_media_type', `content-type: is ${sent}; send ${taken.join(' or ')}.`);
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new Failure(415, 'unsupported_media_type', 'content-encoding: send the body uncompressed.');
  }
}

function collect(request: Request, limit: number): Promise<Buffer> {
  const tooLarge = () =>
    new Failure(
      413,
      'request_too_large',
      `body: is larger than ${limit / megabyte} MB, the limit of this route.`,
    );
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      reject(tooLarge());
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        request.removeAllListeners('data');
        reject(tooLarge());
        return;
      }
      chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    request.on('error', reject);
    request.on('aborted', () =>
      reject(new Failure(400, 'invalid_request', 'body: the client went away before its end.')),
    );
  });
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Failure(400, 'invalid_request', 'body: is not valid UTF-8.');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    const reason =
      cause instanceof Error ? cause.message.replace(/[\s"']+\.{0,3}.*is not valid JSON.*$/s, '') : '';
    throw new Failure(
      400,
      'invalid_request',
      `body: is not valid JSON${reason === '' ? '' : ` (${reason.trim()})`}.`,
      { cause },
    );
  }
}

/** Far more than any request has, and far less than what those who walk or write it could stumble over. */
const deepest = 100;

/** @throws Failure 400 for objects and lists nested too deep. Level by level, so that it cannot stumble itself. */
function requireShallow(body: unknown): void {
  let level = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) {
      throw new Failure(400, 'invalid_request', `body: is nested deeper than ${deepest} levels.`);
    }
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value).filter(isNested) : [],
    );
  }
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
