import type { BodyLimits } from './body-limits.ts';
import type { FormValue } from './form-fields.ts';
import type { FormLimits } from './form-parts.ts';
import { parseForm } from './parse-form.ts';
import { parseJsonBody } from './parse-json.ts';
import { requirePlainValues } from './value-problem.ts';

/** A complete body and its format. It can be sent to a thread. */
export type BodyJob =
  | { readonly kind: 'json'; readonly pieces: readonly Uint8Array[]; readonly limits: BodyLimits }
  | {
      readonly kind: 'form';
      readonly pieces: readonly Uint8Array[];
      /** Value of the header, with the boundary. */
      readonly contentType: string;
      readonly limits: FormLimits;
    };

/** The values of a body. A wrapper, because the value itself may be anything. */
export interface ParsedBody<Kind extends BodyJob['kind'] = BodyJob['kind']> {
  readonly value: Kind extends 'form' ? Record<string, FormValue> : unknown;
}

/**
 * Parses a body and checks its values, see `requirePlainValues`.
 *
 * @throws Failure 400 or 413 that names the field and the limit
 */
export async function parseBody(job: BodyJob): Promise<ParsedBody> {
  const pieces = job.pieces.map(asBuffer);
  if (job.kind === 'form') return { value: await parseForm(pieces, job.contentType, job.limits) };
  const value = parseJsonBody(pieces, job.limits);
  requirePlainValues(value, 'body', job.limits.textBytes);
  return { value };
}

/** A thread receives buffers as plain arrays of bytes. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
