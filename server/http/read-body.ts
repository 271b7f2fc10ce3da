import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { Failure, invalid } from '../failure.ts';
import { within } from '../telemetry/work.ts';
import { type BodyLimits, bodyLimits, overall, tooLarge } from './body-limits.ts';
import { JsonReader } from './json-reader.ts';

/**
 * Reads a JSON body into `request.body`, up to the operation's limit and `settingMb`. Only after the key check, so
 * that nobody without a key can make the gateway hold anything.
 */
export function readBody(settingMb: () => number) {
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
    if (!hasBody) throw invalid('body', `is required, as ${operation.mediaTypes.request.join(' or ')}.`);
    requireReadable(request, operation.mediaTypes.request, mediaType);
    // A form is read part by part, by `readForm`.
    if (mediaType !== 'application/json') {
      next();
      return;
    }
    const goOn = ({ value }: { value: unknown }) => {
      request.body = value;
      next();
    };
    collect(
      request,
      bodyLimits(operation, settingMb()),
      // The parser, which tells of the end, works for every request of the connection.
      (reader) =>
        within(request.call, () => {
          const read = reader.end();
          if (read instanceof Promise) read.then(goOn).catch(next);
          else goOn(read);
        }),
      next,
    );
  };
}

function requireReadable(request: IncomingMessage, taken: readonly string[], mediaType: string): void {
  if (!taken.includes(mediaType)) {
    const sent = mediaType === '' ? 'missing' : mediaType.slice(0, 80);
    throw new Failure(415, 'unsupported_media_type', `content-type: is ${sent}; send ${taken.join(' or ')}.`);
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new Failure(415, 'unsupported_media_type', 'content-encoding: send the body uncompressed.');
  }
}

/** Reads a body to its end. Calls back once: with it, or with why it cannot be read. */
function collect(
  request: IncomingMessage,
  limits: BodyLimits,
  whole: (reader: JsonReader) => void,
  failed: (error: unknown) => void,
): void {
  if (Number(request.headers['content-length'] ?? 0) > limits.bytes)
    throw tooLarge('body', limits.bytes, overall);
  const reader = new JsonReader(limits);
  let size = 0;
  let over = false;
  const fail = (error: unknown) => {
    if (over) return;
    over = true;
    failed(error);
  };
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    try {
      if (size > limits.bytes) throw tooLarge('body', limits.bytes, overall);
      reader.take(piece);
    } catch (error) {
      request.removeAllListeners('data');
      fail(error);
    }
  });
  request.on('end', () => {
    if (over) return;
    over = true;
    try {
      whole(reader);
    } catch (error) {
      failed(error);
    }
  });
  request.on('error', fail);
  request.on('aborted', () => fail(invalid('body', 'the client went away before its end.')));
}
