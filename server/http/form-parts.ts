import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { type Failure, invalid } from '../lib/failure.ts';
import { quoted } from '../models/catalogue.ts';
import { type BodyLimits, besideMedia, megabyte, tooLarge } from './body-limits.ts';

/** A part of a form: text, or the bytes of a file. */
export interface FormPart {
  name: string;
  value: string | Buffer;
}

export interface FormLimits extends BodyLimits {
  fileBytes: number;
  /** Bytes of one text part, which may be a data URL. */
  partBytes: number;
  parts: number;
  /** Names of the parts that may be files, one of each. */
  files: ReadonlySet<string>;
}

/** Limits of a form whose parts `files` may be files. */
export function formLimits(limits: BodyLimits, files: ReadonlySet<string>): FormLimits {
  // The largest image file in the contract, and a data URL of the largest image or audio of any model, 30 MB.
  return { ...limits, fileBytes: 20 * megabyte, partBytes: 41 * megabyte, parts: 500, files };
}

/**
 * Reads the parts of a multipart form. Rejects with Failure 400 when the form is malformed, and 413 when a part, a file
 * or all texts together are too large.
 *
 * @param contentType value of the header, with the boundary
 */
export function readParts(body: Readable, contentType: string, limits: FormLimits): Promise<FormPart[]> {
  const { textBytes, fileBytes, partBytes } = limits;
  return new Promise((resolve, reject) => {
    const parts: FormPart[] = [];
    const reader = openReader(contentType, limits);
    let textSize = 0;
    const fail = (failure: Failure) => {
      body.unpipe(reader);
      reader.destroy();
      reject(failure);
    };
    const files = new Set<string>();
    reader.on('field', (name = '', value, { valueTruncated }) => {
      if (valueTruncated) return fail(tooLarge(fieldName(name), partBytes, ', the limit of a part'));
      // Inline media does not count as text.
      textSize += /^data:/i.test(value) ? 0 : value.length;
      if (textSize > textBytes) return fail(tooLarge('body', textBytes, besideMedia));
      parts.push({ name, value });
    });
    reader.on('file', (name = '', file) => {
      // A truncated form also emits an error on the file, which the reader reports.
      file.on('error', () => {});
      if (!limits.files.has(name)) return fail(invalid(fieldName(name), 'must not be a file.'));
      if (files.has(name)) return fail(invalid(name, 'must be one file only.'));
      files.add(name);
      const chunks: Buffer[] = [];
      file.on('limit', () => fail(tooLarge(name, fileBytes, ', the limit of a file')));
      file.on('data', (chunk: Buffer) => chunks.push(chunk));
      file.on('end', () => parts.push({ name, value: Buffer.concat(chunks) }));
    });
    reader.on('partsLimit', () => fail(invalid('body', `has more than ${limits.parts} parts.`)));
    reader.on('error', () => fail(invalid('body', 'is not a well-formed multipart form.')));
    reader.on('close', () => resolve(parts));
    body.pipe(reader);
  });
}

function openReader(contentType: string, { partBytes, fileBytes, parts }: FormLimits) {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      // busboy reports a limit that is reached, not exceeded.
      limits: { fieldSize: partBytes + 1, fileSize: fileBytes + 1, parts: parts + 1 },
    });
  } catch {
    throw invalid('content-type', 'must be multipart/form-data with its boundary.');
  }
}

/** The name of a part for a message. */
export function fieldName(name: string): string {
  return /^[\w.[\]-]{1,80}$/.test(name) ? name : quoted(name);
}
