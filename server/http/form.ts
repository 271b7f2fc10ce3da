import type { NextFunction, Request, Response } from 'express';
import { runInContext } from '../telemetry/telemetry-context.ts';
import { bodyLimits, megabyte } from './body-limits.ts';
import { collectBody } from './collect-body.ts';
import { type Json, property } from './contract-schema.ts';
import type { FormLimits } from './form-parts.ts';
import { convertForm, expandSchemas } from './form-types.ts';
import { type BodySettings, parseCollected } from './read-body.ts';

/** Largest image file in the contract, in bytes. */
const fileBytes = 20 * megabyte;
/** A data URL of the largest image or audio of any model, 30 MB. */
const partBytes = 41 * megabyte;
const maxParts = 500;

/**
 * Converts a multipart form to the equivalent JSON body, so that validation and handlers know one kind of body.
 */
export function readForm(contract: object, { maxMb, parser }: BodySettings) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { operation } = request.context;
    const accepted = operation?.mediaTypes.request.includes('multipart/form-data');
    // A JSON body was read before.
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
        runInContext(request.context, () => {
          parseCollected(request, { kind: 'form', pieces, contentType, limits }, size, parser)
            .then(({ value }) => {
              request.body = convertForm(value, schemaOf('application/json') ?? {}, root);
              request.context.isBodyPlain = true;
              next();
            })
            .catch(next);
        });
      },
      fail: next,
    });
  };
}

/** Names of the parts that are files in the form's schema. */
function fileNames(schema: Json | undefined, root: Json): Set<string> {
  const parts = expandSchemas([schema], root).flatMap((form) => Object.entries(form.properties ?? {}));
  return new Set(parts.filter(([, part]) => property(part, 'format') === 'binary').map(([name]) => name));
}
