import { isUtf8 } from 'node:buffer';
import type { NextFunction, Request, Response } from 'express';
import { Failure } from '../failure.ts';
import { parseJson } from './json-text.ts';

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
        request.body = parse(bytes);
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
  return parseJson(bytes.toString('utf8'), 'body');
}
