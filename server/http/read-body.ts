import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { Failure, invalid } from '../lib/failure.ts';
import { runInContext } from '../telemetry/telemetry-context.ts';
import { bodyLimits, megabyte } from './body-limits.ts';
import { type BodyParser, maxInlineBytes } from './body-parser.ts';
import { collectBody } from './collect-body.ts';
import { type BodyJob, type ParsedBody, parseBody } from './parse-body.ts';
import { parseJsonBody } from './parse-json.ts';

export interface BodySettings {
  /** Limit of every body in megabytes. An operation may have a lower one. */
  maxMb: () => number;
  parser: BodyParser;
}

/**
 * Reads a JSON body into `request.body`. It follows authentication, so that a client without a key cannot make the
 * gateway allocate memory. Forms are read by `readForm`.
 */
export function readBody({ maxMb, parser }: BodySettings) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { operation } = request.context;
    if (operation === undefined) {
      next();
      return;
    }
    if (request.readableEnded && hasBody(request))
      throw new Error('The body was read before the gateway: mount it before all body parsers.');
    const { request: accepted } = operation.mediaTypes;
    if (accepted.length === 0) {
      if (hasBody(request)) dropBody(request, next);
      else next();
      return;
    }
    if (!hasBody(request)) throw invalid('body', `is required, as ${accepted.join(' or ')}.`);
    const mediaType = mediaTypeOf(request);
    requireReadable(request, accepted, mediaType);
    if (mediaType !== 'application/json') {
      next();
      return;
    }
    const limits = bodyLimits(operation, maxMb());
    const chunks: Buffer[] = [];
    collectBody(request, limits.bytes, {
      push: (chunk) => chunks.push(chunk),
      end(size) {
        // The HTTP parser emits the end in the async context of the connection, not of the request.
        runInContext(request.context, () => {
          if (size <= maxInlineBytes) {
            request.context.bodyReservation?.shrink(size);
            request.body = parseJsonBody(chunks, limits);
            next();
            return;
          }
          parseCollected(request, { kind: 'json', pieces: chunks, limits }, size, parser)
            .then(({ value }) => {
              request.context.isBodyPlain = true;
              request.body = value;
              next();
            })
            .catch(next);
        });
      },
      fail: next,
    });
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

export function mediaTypeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function requireReadable(request: IncomingMessage, accepted: readonly string[], mediaType: string): void {
  if (!accepted.includes(mediaType)) {
    const sent = mediaType === '' ? 'missing' : mediaType.slice(0, 80);
    throw new Failure(
      415,
      'unsupported_media_type',
      `content-type: is ${sent}; send ${accepted.join(' or ')}.`,
    );
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new Failure(415, 'unsupported_media_type', 'content-encoding: send the body uncompressed.');
  }
}

/** Reads up to 1 MB of a body that the operation does not have. */
function dropBody(request: Request, next: NextFunction): void {
  const end = () => runInContext(request.context, () => next());
  collectBody(request, megabyte, { push: () => {}, end, fail: next });
}

/** Parses a collected body: in a thread when it is large. */
export function parseCollected<Job extends BodyJob>(
  { context }: Request,
  job: Job,
  size: number,
  parser: BodyParser,
): Promise<ParsedBody<Job['kind']>> {
  context.bodyReservation?.shrink(size);
  return size > maxInlineBytes ? parser.parse(job, context.caller?.userId, context.signal) : parseBody(job);
}
