import type { NextFunction, Request, Response } from 'express';
import { within } from '../telemetry/work.ts';
import { bodyLimits, megabyte } from './body-limits.ts';
import { collectBody } from './collect-body.ts';
import type { FormLimits } from './form-parts.ts';
import { expand, type Json, property, typed } from './form-types.ts';
import { type BodySettings, parseCollected } from './read-body.ts';

/** A file is a picture for a model, and these are the most that the contract allows. */
const fileBytes = 20 * megabyte;
/** A data URL of the largest image or audio that a model takes, 30 MB. */
const partBytes = 41 * megabyte;
const maxParts = 500;

/**
 * Turns a multipart form into the JSON body that it means, so that from here on there is one kind of request: one
 * contract, one handler.
 */
export function readForm(contract: object, { maxMb, parser }: BodySettings) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { operation } = request.call;
    const accepted = operation?.mediaTypes.request.includes('multipart/form-data');
    // A body that came as JSON is here already.
    if (operation === undefined || !accepted || request.body !== undefined) {
      next();
      return;
    }
    const root = contract as Json;
    const schemaOf = (mediaType: string) =>
      ['paths', operation.path, operation.method, 'requestBody', 'content', mediaType, 'schema'].reduce(
        property,
        root,
      );
    const limits: FormLimits = {
      ...bodyLimits(operation, maxMb()),
      fileBytes,
      partBytes,
      parts: maxParts,
      files: fileNames(schemaOf('multipart/form-data'), root),
    };
    const contentType = request.headers['content-type'] ?? '';
    const pieces: Buffer[] = [];
    collectBody(request, limits.bytes, {
      push: (piece) => pieces.push(piece),
      end(size) {
        within(request.call, () => {
          parseCollected(request, { kind: 'form', pieces, contentType, limits }, size, parser)
            .then(({ value }) => {
              request.body = typed(value, schemaOf('application/json') ?? {}, root);
              request.call.isBodyPlain = true;
              next();
            })
            .catch(next);
        });
      },
      fail: next,
    });
  };
}

/** The parts that the form's schema describes as bytes. */
function fileNames(schema: Json | undefined, root: Json): Set<string> {
  const parts = expand([schema], root).flatMap((form) => Object.entries(form.properties ?? {}));
  return new Set(parts.filter(([, part]) => property(part, 'format') === 'binary').map(([name]) => name));
}
