import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { Failure, invalid } from '../lib/failure.ts';
import { runInContext } from '../telemetry/telemetry-context.ts';
import { bodyLimits, megabyte, overall, tooLarge } from './body-limits.ts';
import { bodyPacer, maxUnpacedBytes } from './body-pacer.ts';
import { type BodyParser, maxInlineBytes } from './body-parser.ts';
import type { Json } from './contract-schema.ts';
import { convertForm, formSchemas } from './convert-form.ts';
import type { FormValue } from './form-fields.ts';
import { formLimits } from './form-parts.ts';
import { type BodyJob, parseBody } from './parse-body.ts';
import { parseJsonBody } from './parse-json.ts';

export interface BodySettings {
  /** Limit of every body in megabytes. An operation may have a lower one. */
  maxMb: () => number;
  parser: BodyParser;
}

const json = 'application/json';

/**
 * Reads a body into `request.body`. A multipart form becomes the equivalent JSON body, so that validation and handlers
 * know one kind of body. Reading follows authentication, so that a client without a key cannot make the gateway allocate
 * memory.
 */
export function readBody(contract: () => object, { maxMb, parser }: BodySettings) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { context } = request;
    const { operation } = context;
    if (operation === undefined) {
      next();
      return;
    }
    if (request.readableEnded && hasBody(request))
      throw new Error('The body was read before the gateway: mount it before all body parsers.');
    const { request: accepted } = operation.mediaTypes;
    if (accepted.length === 0) {
      // The operation takes no body, so the gateway reads and drops up to 1 MB.
      if (hasBody(request)) collectBody(request, megabyte, next, { push: () => {}, end: () => next() });
      else next();
      return;
    }
    requireReadable(request, accepted);
    const limits = bodyLimits(operation, maxMb());
    const form = mediaTypeOf(request) === json ? undefined : formSchemas(contract() as Json, operation);
    const chunks: Buffer[] = [];
    const end = (size: number) => {
      context.bodyReservation?.shrink(size);
      if (form === undefined && size <= maxInlineBytes) {
        request.body = parseJsonBody(chunks, limits);
        next();
        return;
      }
      const contentType = request.headers['content-type'] ?? '';
      const job: BodyJob =
        form === undefined
          ? { kind: 'json', chunks, limits }
          : { kind: 'form', chunks, contentType, limits: formLimits(limits, form.files) };
      const parsed =
        size > maxInlineBytes ? parser.parse(job, context.caller?.userId, context.signal) : parseBody(job);
      parsed
        .then((value) => {
          context.isBodyPlain = true;
          request.body =
            form === undefined ? value : convertForm(value as FormValue, form.body, contract() as Json);
          next();
        })
        .catch(next);
    };
    collectBody(request, limits.bytes, next, { push: (chunk) => chunks.push(chunk), end });
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function mediaTypeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function requireReadable(request: IncomingMessage, accepted: readonly string[]): void {
  const types = accepted.join(' or ');
  if (!hasBody(request)) throw invalid('body', `is required, as ${types}.`);
  const mediaType = mediaTypeOf(request);
  if (!accepted.includes(mediaType)) {
    const sent = mediaType === '' ? 'missing' : mediaType.slice(0, 80);
    throw new Failure(415, 'unsupported_media_type', `content-type: is ${sent}; send ${types}.`);
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new Failure(415, 'unsupported_media_type', 'content-encoding: send the body uncompressed.');
}

/**
 * Reads a body of at most `maxBytes`, and pauses between the chunks of a large one. Calls `end` with the size in bytes
 * in the context of the request, or `next` with an error.
 *
 * @throws Failure 413 when the declared length is larger
 */
function collectBody(
  request: Request,
  maxBytes: number,
  next: NextFunction,
  { push, end }: { push: (chunk: Buffer) => void; end: (size: number) => void },
): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge('body', maxBytes, overall);
  let size = 0;
  let isOver = false;
  const fail = (error: unknown) => {
    if (isOver) return;
    isOver = true;
    request.off('data', collect);
    next(error);
  };
  const collect = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) {
      fail(tooLarge('body', maxBytes, overall));
      return;
    }
    push(chunk);
    if (size > maxUnpacedBytes) bodyPacer.pause(request);
  };
  request.on('data', collect);
  request.on('end', () => {
    if (isOver) return;
    isOver = true;
    // The HTTP parser emits the end in the async context of the connection, not of the request.
    runInContext(request.context, () => {
      try {
        end(size);
      } catch (error) {
        next(error);
      }
    });
  });
  request.on('error', fail);
  request.on('aborted', () => fail(invalid('body', 'the client disconnected before its end.')));
}
