import type { NextFunction, Request, Response } from 'express';
import { imageSize } from 'image-size';
import { invalid } from '../failure.ts';
import { nest } from './form-fields.ts';
import { type FormLimits, type FormPart, readParts } from './form-parts.ts';
import { expand, type Json, property, typed } from './form-types.ts';

const megabyte = 1024 * 1024;
/** A file is a picture for a model, and these are the most that the contract allows. */
const fileBytes = 20 * megabyte;
const mostParts = 500;

const pictures: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['bmp', 'image/bmp'],
]);

/**
 * Turns a multipart form into the JSON body that it means, so that from here on there is one kind of request: one
 * contract, one handler.
 */
export function readForm(contract: object, defaultLimitMb: number) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { operation } = request.call;
    const taken = operation?.mediaTypes.request.includes('multipart/form-data');
    // A body that came as JSON is here already.
    if (operation === undefined || !taken || request.body !== undefined) {
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
      bodyBytes: (operation.bodyLimitMb ?? defaultLimitMb) * megabyte,
      fileBytes,
      parts: mostParts,
      files: fileNames(schemaOf('multipart/form-data'), root),
    };
    readParts(request, limits)
      .then((parts) => {
        request.body = typed(nest(parts.map(field)), schemaOf('application/json') ?? {}, root);
        next();
      })
      .catch(next);
  };
}

/** The parts that the form's schema describes as bytes. */
function fileNames(schema: Json | undefined, root: Json): Set<string> {
  const parts = expand([schema], root).flatMap((form) => Object.entries(form.properties ?? {}));
  return new Set(parts.filter(([, part]) => property(part, 'format') === 'binary').map(([name]) => name));
}

/** A file part stands for the JSON form of a picture: an object with a data URL. */
function field({ name, value }: FormPart): readonly [string, string | { image_url: string }] {
  if (typeof value === 'string') return [name, value];
  return [name, { image_url: `data:${pictureType(name, value)};base64,${value.toString('base64')}` }];
}

function pictureType(name: string, bytes: Buffer): string {
  const mediaType = pictures.get(formatOf(bytes) ?? '');
  if (mediaType === undefined) throw invalid(name, 'must be a JPEG, PNG, WEBP or BMP picture.');
  return mediaType;
}

function formatOf(bytes: Buffer): string | undefined {
  try {
    return imageSize(bytes).type;
  } catch {
    return undefined;
  }
}
