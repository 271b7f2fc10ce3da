import type { NextFunction, Request, Response } from 'express';
import { imageSize } from 'image-size';
import { invalid } from '../failure.ts';
import { yieldToEventLoop } from '../runtime/timers.ts';
import { bodyLimits, megabyte } from './body-limits.ts';
import { nest } from './form-fields.ts';
import { type FormLimits, type FormPart, fieldName, isDataUrl, readParts } from './form-parts.ts';
import { expand, type Json, property, typed } from './form-types.ts';
import { requirePlain } from './value-problem.ts';

/** A file is a picture for a model, and these are the most that the contract allows. */
const fileBytes = 20 * megabyte;
/** A data URL of the largest image or audio that a model takes, 30 MB. */
const partBytes = 41 * megabyte;
const maxParts = 500;
/** So many characters are looked at before others have a turn. */
const slice = 8 * megabyte;

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
export function readForm(contract: object, settingMb: () => number) {
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
      ...bodyLimits(operation, settingMb()),
      fileBytes,
      partBytes,
      parts: maxParts,
      files: fileNames(schemaOf('multipart/form-data'), root),
    };
    readParts(request, limits)
      .then(async (parts) => {
        for (const { name, value } of parts) {
          if (typeof value === 'string' && isDataUrl(value)) await requirePlainMedia(name, value);
        }
        request.body = typed(nest(parts.map(field)), schemaOf('application/json') ?? {}, root);
        next();
      })
      .catch(next);
  };
}

/** A JSON body cannot hold control characters as they are, a form can. */
async function requirePlainMedia(name: string, url: string): Promise<void> {
  for (let from = 0; from < url.length; from += slice) {
    requirePlain(url.slice(from, from + slice), fieldName(name));
    if (url.length > slice) await yieldToEventLoop();
  }
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
